// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/softhca/softhca/internal/output"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

// A statRow is a counter of a device.
type statRow struct {
	Device  string `json:"dev" out:"list"`
	Counter string `json:"counter" out:"list"`
	Value   uint64 `json:"value" out:"list"`
}

// A rateRow is a counter that changed.
type rateRow struct {
	statRow
	// PerSecond is the change since the last look, by the time between.
	PerSecond float64 `json:"per_second" out:"list"`
}

func newStats(a *app) *cobra.Command {
	var (
		watch    bool
		prom     bool
		interval time.Duration
		count    int
	)
	cmd := &cobra.Command{
		Use:   "stats [DEV] [--watch | --prometheus]",
		Short: "Show counters",
		Long: `Show the counters of the device DEV, or of all devices.

With --watch, show again and again the counters that changed, and by how much
a second, until interrupted.

With --prometheus, write the counters of devices, ports and queue pairs in the
text format of Prometheus, for instance for node_exporter's textfile collector. That
may read the file at any time, so it gets it whole, by mv.`,
		Example: `  ibctl stats shca0
  ibctl stats --watch
  cd /var/lib/node_exporter && ibctl stats --prometheus >x.$$ && mv x.$$ softhca.prom`,
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			device := strings.Join(args, "")
			if !watch && (cmd.Flags().Changed("interval") || cmd.Flags().Changed("count")) {
				return usagef(cmd, "--interval and --count go with --watch")
			}
			if interval <= 0 {
				return usagef(cmd, "--interval must be more than 0")
			}
			if watch && prom {
				return usagef(cmd, "--watch and --prometheus exclude each other")
			}
			return a.with(func(c *genl.Client) error {
				switch {
				case watch:
					return a.watchStats(cmd, c, device, interval, count)
				case prom:
					return writePrometheus(a.Stdout, c, device)
				}
				rows, err := readStats(c, device)
				if err != nil {
					return err
				}
				return a.printer().List(rows)
			})
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show changes until interrupted")
	cmd.Flags().BoolVar(&prom, "prometheus", false, "write the text format of Prometheus")
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "time between two looks, with --watch")
	numberVar(cmd.Flags(), &count, "count", "number of looks, with --watch; 0 means no end")
	return cmd
}

func readStats(c *genl.Client, device string) ([]statRow, error) {
	all, err := c.Stats(device)
	if err != nil {
		return nil, err
	}
	var rows []statRow
	for _, s := range all {
		for _, counter := range s.Counters {
			rows = append(rows, statRow{s.Device, counter.Name, counter.Value})
		}
	}
	return rows, nil
}

func (a *app) watchStats(cmd *cobra.Command, c *genl.Client, device string, interval time.Duration, count int) error {
	type key struct{ device, counter string }
	var (
		last   map[key]uint64
		lastAt time.Time
		p      = a.printer()
		tick   = time.NewTicker(interval)
	)
	defer tick.Stop()

	for looks := 0; ; {
		rows, err := readStats(c, device)
		if err != nil {
			return err
		}
		now, at := make(map[key]uint64), time.Now()
		var changed []rateRow
		for _, r := range rows {
			k := key{r.Device, r.Counter}
			now[k] = r.Value
			// Less than before is another device of the same name.
			if was, ok := last[k]; ok && r.Value > was {
				changed = append(changed, rateRow{r, float64(r.Value-was) / at.Sub(lastAt).Seconds()})
			}
		}
		if last != nil {
			if p.Format == output.Table {
				heading := fmt.Sprintf("Counters that change, each %v:", interval)
				if err := a.clear(heading, "none", len(changed)); err != nil {
					return err
				}
			}
			if err := p.List(changed); err != nil {
				return err
			}
			if looks++; looks == count {
				return nil
			}
		}
		last, lastAt = now, at

		select {
		case <-cmd.Context().Done():
			return nil
		case <-tick.C:
		}
	}
}

// clear makes a terminal empty but for a heading of so many lines to come, and what is
// said if there are none.
func (a *app) clear(heading, none string, lines int) error {
	if lines > 0 {
		none = "\n" // a line apart
	} else {
		none = " " + none
	}
	_, err := fmt.Fprintln(a.Stdout, "\x1b[H\x1b[2J"+heading+none)
	return err
}

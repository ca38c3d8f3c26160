// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

// A topRow is what a queue pair, a process or a device does in a second.
type topRow struct {
	Device      string `json:"dev" out:"list"`
	QPN         uint32 `json:"qpn" out:"list"`
	PID         uint32 `json:"pid" out:"list"`
	Comm        string `json:"comm" out:"list"`
	QPs         uint64 `json:"qps" out:"list"`
	TXMessages  uint64 `json:"tx_messages_s" out:"list"`
	RXMessages  uint64 `json:"rx_messages_s" out:"list"`
	TXBytes     uint64 `json:"tx_bytes_s" out:"list"`
	RXBytes     uint64 `json:"rx_bytes_s" out:"list"`
	Retransmits uint64 `json:"retransmits_s" out:"list"`
	RNRNAKs     uint64 `json:"rnr_naks_s" out:"list"`
	Copied      uint64 `json:"tx_bytes_copied_s" out:"list"`
}

// topColumns are what rows can be sorted by, most first.
var topColumns = []struct {
	name, title string
	value       func(*topRow) uint64
}{
	{"tx_bytes", "TX B/S", func(r *topRow) uint64 { return r.TXBytes }},
	{"rx_bytes", "RX B/S", func(r *topRow) uint64 { return r.RXBytes }},
	{"tx_messages", "TX MSG/S", func(r *topRow) uint64 { return r.TXMessages }},
	{"rx_messages", "RX MSG/S", func(r *topRow) uint64 { return r.RXMessages }},
	{"retransmits", "RETRY/S", func(r *topRow) uint64 { return r.Retransmits }},
	{"rnr_naks", "RNR/S", func(r *topRow) uint64 { return r.RNRNAKs }},
	{"tx_bytes_copied", "COPIED B/S", func(r *topRow) uint64 { return r.Copied }},
}

func topColumn(name string) int {
	return slices.IndexFunc(topColumns, func(c struct {
		name, title string
		value       func(*topRow) uint64
	}) bool {
		return c.name == name
	})
}

func topColumnNames() []string {
	var names []string
	for _, c := range topColumns {
		names = append(names, c.name)
	}
	return names
}

// topGroups are what a row can stand for.
var topGroups = []string{"qp", "process", "device"}

// A sampler turns counters into rates.
type sampler struct {
	read func() ([]genl.QP, error)
	last map[topKey]genl.QP
	at   time.Time
}

type topKey struct {
	device string
	qpn    uint32
}

// sample reads the counters, and returns what happened in each second since the
// last time: nothing at first.
func (s *sampler) sample(now time.Time) ([]topRow, error) {
	qps, err := s.read()
	if err != nil {
		return nil, err
	}
	first := s.last == nil
	seconds := now.Sub(s.at).Seconds()
	next := make(map[topKey]genl.QP)
	var rows []topRow
	for _, q := range qps {
		key := topKey{q.Device, q.QPN}
		next[key] = q
		// One that was not there counts from 0, and so does another one of the
		// same number.
		was := s.last[key]
		if was.TXPackets > q.TXPackets || was.RXPackets > q.RXPackets {
			was = genl.QP{}
		}
		rate := func(now, was uint64) uint64 {
			if first || now < was || seconds <= 0 {
				return 0
			}
			return uint64(float64(now-was)/seconds + 0.5)
		}
		rows = append(rows, topRow{
			Device: q.Device, QPN: q.QPN, PID: q.PID, Comm: q.Comm, QPs: 1,
			TXMessages: rate(q.TXMessages, was.TXMessages), RXMessages: rate(q.RXMessages, was.RXMessages),
			TXBytes: rate(q.TXBytes, was.TXBytes), RXBytes: rate(q.RXBytes, was.RXBytes),
			Retransmits: rate(q.Retransmits, was.Retransmits), RNRNAKs: rate(q.RXRNRNAKs, was.RXRNRNAKs),
			Copied: rate(q.TXBytesCopied, was.TXBytesCopied),
		})
	}
	s.last, s.at = next, now
	return rows, nil
}

// A topView is what to show, and in which order.
type topView struct {
	group  string
	sort   int // of topColumns
	filter string
}

// arrange groups, filters and sorts rows.
func (v topView) arrange(rows []topRow) []topRow {
	var out []topRow
	for _, r := range rows {
		switch v.group {
		case "process":
			r.QPN, r.Device = 0, ""
		case "device":
			r.QPN, r.PID, r.Comm = 0, 0, ""
		}
		same := func(o topRow) bool {
			return o.Device == r.Device && o.QPN == r.QPN && o.PID == r.PID && o.Comm == r.Comm
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].add(&r)
		} else {
			out = append(out, r)
		}
	}
	out = slices.DeleteFunc(out, func(r topRow) bool {
		text := fmt.Sprint(r.Device, " ", r.QPN, " ", r.PID, " ", r.Comm)
		return !strings.Contains(text, v.filter)
	})
	value := topColumns[v.sort].value
	slices.SortStableFunc(out, func(a, b topRow) int {
		return cmp.Or(cmp.Compare(value(&b), value(&a)), cmp.Compare(a.Device, b.Device), cmp.Compare(a.QPN, b.QPN),
			cmp.Compare(a.PID, b.PID))
	})
	return out
}

func (r *topRow) add(o *topRow) {
	r.QPs += o.QPs
	r.TXMessages += o.TXMessages
	r.RXMessages += o.RXMessages
	r.TXBytes += o.TXBytes
	r.RXBytes += o.RXBytes
	r.Retransmits += o.Retransmits
	r.RNRNAKs += o.RNRNAKs
	r.Copied += o.Copied
}

func newTop(a *app) *cobra.Command {
	var (
		view     = topView{}
		sort     string
		interval time.Duration
		count    int
	)
	cmd := &cobra.Command{
		Use:   "top [DEV]",
		Short: "Show who does how much, live",
		Long: `Show what queue pairs, processes or devices do in a second, live: messages, bytes,
repeats, waits for a receiver and bytes copied. No privilege is needed.

On a terminal these keys work:

  g  group by queue pair, process or device
  s  sort by the next column
  /  show only rows that have this text; Enter ends it, Esc takes it back
  f  freeze, and go on
  q  leave

Otherwise there is a table each interval, without end or --count times.`,
		Example: `  ibctl top
  ibctl top --by process --sort tx_messages
  ibctl -j top shca0 --count 1`,
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			view.sort = topColumn(sort)
			switch {
			case !slices.Contains(topGroups, view.group):
				return usagef(cmd, "--by is one of %s", list(topGroups))
			case view.sort < 0:
				return usagef(cmd, "--sort is one of %s", list(topColumnNames()))
			case interval <= 0:
				return usagef(cmd, "--interval must be more than 0")
			}
			return a.with(func(c *genl.Client) error {
				s := &sampler{read: func() ([]genl.QP, error) {
					return c.QPs(genl.QPFilter{Device: strings.Join(args, "")})
				}}
				if a.Terminal && !a.json && !a.pretty && count == 0 {
					return a.screen(cmd.Context(), s, view, interval)
				}
				return a.tables(cmd.Context(), s, view, interval, count)
			})
		},
	}
	cmd.Flags().StringVar(&view.group, "by", "qp", "what a row is: qp, process or device")
	cmd.Flags().StringVar(&sort, "sort", "tx_bytes", "column to sort by")
	offerFlag(cmd, "by", completeWords(topGroups...))
	offerFlag(cmd, "sort", completeWords(topColumnNames()...))
	cmd.Flags().StringVar(&view.filter, "filter", "", "only rows that have this text")
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "time between two looks")
	numberVar(cmd.Flags(), &count, "count", "number of tables; 0 means no end")
	return cmd
}

// tables writes a table each interval.
func (a *app) tables(ctx context.Context, s *sampler, view topView, interval time.Duration, count int) error {
	if _, err := s.sample(time.Now()); err != nil {
		return err
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for n := 0; count == 0 || n < count; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		rows, err := s.sample(time.Now())
		if err != nil {
			return err
		}
		if err := a.printer().List(view.arrange(rows)); err != nil {
			return err
		}
	}
	return nil
}

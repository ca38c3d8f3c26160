// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

// An eventRow is what "monitor" shows of an event.
type eventRow struct {
	Time  string         `json:"time" out:"list"`
	Event genl.EventType `json:"event" out:"list"`
	genl.Device
}

func newMonitor(a *app) *cobra.Command {
	var count int
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Show changes as they happen",
		Long: `Show every device that is created, deleted or changed, until interrupted.

An event is new, set, del, or lost, which means that the kernel had to drop
events because they were not read fast enough. With -j there is an event a line.`,
		Example: "  ibctl monitor",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(c *genl.Client) error {
				m, err := c.Monitor()
				if err != nil {
					return err
				}
				defer m.Close()
				defer context.AfterFunc(cmd.Context(), func() { m.Close() })()

				p := a.printer()
				for n := 0; count == 0 || n < count; n++ {
					e, err := m.Next()
					if errors.Is(err, os.ErrClosed) {
						return nil
					}
					if err != nil {
						return err
					}
					row := eventRow{time.Now().Format("2006-01-02T15:04:05.000Z07:00"), e.Type, e.Device}
					if err := p.Next(row); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&count, "count", 0, "end after so many events; 0 means no end")
	return cmd
}

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

// An eventRow is what "monitor" shows of an event, before the object.
type eventRow struct {
	Time  string         `json:"time" out:"list"`
	Event genl.EventType `json:"event" out:"list"`
}

// row is what "monitor" shows of an event: the object's fields after its own.
func row(e genl.Event) any {
	head := eventRow{time.Now().Format("2006-01-02T15:04:05.000Z07:00"), e.Type}
	switch {
	case e.Cable != nil:
		return struct {
			eventRow
			genl.Cable
		}{head, *e.Cable}
	case e.Switch != nil:
		return struct {
			eventRow
			genl.Switch
		}{head, *e.Switch}
	}
	return struct {
		eventRow
		genl.Device
	}{head, e.Device}
}

func newMonitor(a *app) *cobra.Command {
	var count int
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Show changes as they happen",
		Long: `Show every device, cable and switch that is created, deleted or changed, until
interrupted. Cables and switches need the privilege of the changing commands.

An event is new, set or del, of a device; cable-new, cable-set (the link came or
went) or cable-del; switch-new or switch-del; or lost, which means that the kernel
had to drop events because they were not read fast enough. The fields that follow
are those of "dev list", "cable list" or "switch list". With -j there is an event
a line.`,
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
					if err := p.Next(row(e)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	numberVar(cmd.Flags(), &count, "count", "end after so many events; 0 means no end")
	return cmd
}

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

// A netdevs names the network interfaces of devices in events: those of other
// namespaces the kernel does not name to listeners, of whom it does not know what
// they may see, but to who asks and may. The key is the device's index.
type netdevs map[uint32]genl.Device

func (n netdevs) name(c *genl.Client, e *genl.Event) {
	d := &e.Device
	if e.Cable != nil || e.Switch != nil || d.Netdev != "" || d.NetnsInode == 0 {
		return
	}
	known, ok := n[d.Index]
	if !ok && e.Type != genl.EventDel {
		now, err := c.Device(d.Name)
		if err != nil || now.Index != d.Index {
			return // gone or renamed meanwhile, which is another event
		}
		known, n[d.Index] = now, now
	}
	d.Netdev, d.NetdevIndex = known.Netdev, known.NetdevIndex
	if e.Type == genl.EventDel {
		delete(n, d.Index)
	}
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

				devices, err := c.Devices()
				if err != nil {
					return err
				}
				p, seen := a.printer(), netdevs{}
				for _, d := range devices {
					seen[d.Index] = d
				}
				for n := 0; count == 0 || n < count; n++ {
					e, err := m.Next()
					if errors.Is(err, os.ErrClosed) {
						return nil
					}
					if err != nil {
						return err
					}
					seen.name(c, &e)
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

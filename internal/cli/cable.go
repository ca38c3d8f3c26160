// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

func newCable(a *app) *cobra.Command {
	add := &cobra.Command{
		Use:   "add A B",
		Short: "Join two ports",
		Long: `Plug a cable into the ports A and B, as NODE/PORT; NODE alone is its port 1.

The ports come up and wait for a subnet manager, such as OpenSM.`,
		Example: `  ibctl cable add shca0/1 shca1/1
  ibctl cable add shca2/1 sw0/1`,
		Args: exactArgs("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var p [2]genl.Port
			for i := range p {
				var err error
				if p[i], err = genl.ParsePort(args[i]); err != nil {
					return usagef(cmd, "%v", err)
				}
			}
			return a.with(func(c *genl.Client) error { return c.AddCable(p[0], p[1]) })
		},
	}

	del := &cobra.Command{
		Use:     "del PORT",
		Short:   "Pull the cable of a port",
		Long:    "Pull the cable that is plugged into PORT, at both ends.",
		Example: "  ibctl cable del shca0/1",
		Args:    exactArgs("PORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := genl.ParsePort(args[0])
			if err != nil {
				return usagef(cmd, "%v", err)
			}
			return a.with(func(c *genl.Client) error { return c.DeleteCable(p) })
		},
	}

	ls := &cobra.Command{
		Use:     "list",
		Short:   "List the cables",
		Long:    "List the cables of this host. It needs the privilege of the changing commands.",
		Example: "  ibctl cable list",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			return a.with(func(c *genl.Client) error {
				cables, err := c.Cables()
				if err != nil {
					return err
				}
				return a.printer().List(cables)
			})
		},
	}

	return group(&cobra.Command{
		Use:   "cable COMMAND",
		Short: "Cables between native InfiniBand ports",
		Long:  "Plug, pull and list the cables between native InfiniBand ports.",
	}, add, del, ls)
}

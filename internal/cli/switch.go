// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"strconv"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

func newSwitch(a *app) *cobra.Command {
	add := &cobra.Command{
		Use:   "add NAME ports N [guid GUID]",
		Short: "Create a switch",
		Long: `Create the switch NAME with N external ports, 1 to 63.

GUID names it in the subnet; a random one is taken without it. Ports of other
switches and of devices with link ib are connected with "ibctl cable add".`,
		Example: `  ibctl switch add sw0 ports 8
  ibctl cable add shca0/1 sw0/1`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := switchConfig(cmd, args)
			if err != nil {
				return err
			}
			return a.with(func(c *genl.Client) error { return c.AddSwitch(cfg) })
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return noFiles(nil) // a name that is not there yet
			}
			return noFiles(nextKeywords(args[1:], "ports", "guid"))
		},
	}

	del := &cobra.Command{
		Use:               "del NAME",
		Short:             "Delete a switch",
		Long:              "Delete the switch NAME. Its cables are pulled.",
		Example:           "  ibctl switch del sw0",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: a.completeSwitches,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.with(func(c *genl.Client) error { return c.DeleteSwitch(args[0]) })
		},
	}

	ls := &cobra.Command{
		Use:     "list",
		Short:   "List the switches",
		Long:    "List the switches of this host. It needs the privilege of the changing commands.",
		Example: "  ibctl switch list",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			return a.with(func(c *genl.Client) error {
				switches, err := c.Switches()
				if err != nil {
					return err
				}
				return a.printer().List(switches)
			})
		},
	}

	show := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show the ports of a switch",
		Long:              "Show the external ports of the switch NAME; with -j or -p, all that is known of it.",
		Example:           "  ibctl switch show sw0",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: a.completeSwitches,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.with(func(c *genl.Client) error {
				s, err := c.Switch(args[0])
				if err != nil {
					return err
				}
				if a.json || a.pretty {
					return a.printer().Object(s)
				}
				return a.printer().List(s.Ports)
			})
		},
	}

	return group(&cobra.Command{
		Use:   "switch COMMAND",
		Short: "Switches of native InfiniBand",
		Long:  "Create, delete, list and show switches of native InfiniBand.",
	}, add, del, ls, show)
}

// switchConfig is what the arguments of "switch add" say.
func switchConfig(cmd *cobra.Command, args []string) (genl.SwitchConfig, error) {
	if len(args) == 0 {
		return genl.SwitchConfig{}, usagef(cmd, "NAME is missing")
	}
	cfg := genl.SwitchConfig{Name: args[0]}
	kv, err := keywords(cmd, args[1:], "ports", "guid")
	if err != nil {
		return cfg, err
	}
	if kv["ports"] == "" {
		return cfg, usagef(cmd, "ports N is missing")
	}
	n, err := strconv.ParseUint(kv["ports"], 10, 32)
	if err != nil {
		return cfg, usagef(cmd, "ports must be a number, not %q", kv["ports"])
	}
	cfg.Ports = uint32(n)
	if kv["guid"] != "" {
		if cfg.GUID, err = genl.ParseGUID(kv["guid"]); err != nil {
			return cfg, usagef(cmd, "%v", err)
		}
	}
	return cfg, nil
}

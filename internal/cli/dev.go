// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"slices"
	"strconv"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

// settings are the keys of "dev set".
var settings = map[string]func(*genl.Settings, *uint32){
	"window": func(s *genl.Settings, v *uint32) { s.Window = v },
	"burst":  func(s *genl.Settings, v *uint32) { s.Burst = v },
}

var settingNames = []string{"window", "burst"}

func newDev(a *app) *cobra.Command {
	add := &cobra.Command{
		Use:   "add NAME netdev IF [link roce]",
		Short: "Create a device over a network interface",
		Long: `Create the device NAME over the network interface IF.

The device is a RoCEv2 adapter (link roce). Its addresses are those of the
interface. It uses UDP port 4791 of the interface's network namespace.`,
		Example: "  ibctl dev add shca0 netdev eth0",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(cmd, "NAME is missing")
			}
			kv, err := keywords(cmd, args[1:], "netdev", "link")
			if err != nil {
				return err
			}
			cfg := genl.DeviceConfig{Name: args[0], Netdev: kv["netdev"]}
			if cfg.Netdev == "" {
				return usagef(cmd, "netdev IF is missing")
			}
			if link := kv["link"]; link != "" && link != genl.LinkRoCE.String() {
				return usagef(cmd, "link must be roce, not %q", link)
			}
			return a.with(func(c *genl.Client) error { return c.AddDevice(cfg) })
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 1:
				return []string{"netdev"}, cobra.ShellCompDirectiveNoFileComp
			case len(args) == 3:
				return []string{"link"}, cobra.ShellCompDirectiveNoFileComp
			case len(args) == 4:
				return []string{"roce"}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}

	del := &cobra.Command{
		Use:   "del NAME",
		Short: "Delete a device",
		Long: `Delete the device NAME.

It does not matter whether programs use it: their queue pairs go to the error
state, and every call that they make on the device afterwards fails.`,
		Example:           "  ibctl dev del shca0",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: a.completeDevices,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.with(func(c *genl.Client) error { return c.DeleteDevice(args[0]) })
		},
	}

	ls := &cobra.Command{
		Use:     "list",
		Short:   "List the devices",
		Long:    "List the devices that the caller's network namespace may use.",
		Example: "  ibctl dev list",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			return a.with(func(c *genl.Client) error {
				devs, err := c.Devices()
				if err != nil {
					return err
				}
				return a.printer().List(devs)
			})
		},
	}

	show := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show everything about a device",
		Example:           "  ibctl dev show shca0",
		Args:              exactArgs("NAME"),
		ValidArgsFunction: a.completeDevices,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.with(func(c *genl.Client) error {
				d, err := c.Device(args[0])
				if err != nil {
					return err
				}
				return a.printer().Object(d)
			})
		},
	}

	set := &cobra.Command{
		Use:   "set NAME KEY VALUE",
		Short: "Change a setting of a device",
		Long: `Change a setting of the device NAME, at once and for all its queue pairs.

The keys are:

  window  packets that a queue pair may have in flight, 1 to 1024
  burst   packets that are handed to the link at a time, 1 to 32`,
		Example: "  ibctl dev set shca0 window 64",
		Args:    exactArgs("NAME", "KEY", "VALUE"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return settingNames, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeDevices(cmd, args, toComplete)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(settingNames, args[1]) {
				return usagef(cmd, "unknown key %q; there are %s", args[1], list(settingNames))
			}
			n, err := strconv.ParseUint(args[2], 0, 32)
			if err != nil {
				return usagef(cmd, "%s must be a number, not %q", args[1], args[2])
			}
			var s genl.Settings
			v := uint32(n)
			settings[args[1]](&s, &v)
			return a.with(func(c *genl.Client) error { return c.SetDevice(args[0], s) })
		},
	}

	return group(&cobra.Command{
		Use:   "dev COMMAND",
		Short: "Devices",
		Long:  "Create, delete, list, show and set up devices.",
	}, add, del, ls, show, set)
}

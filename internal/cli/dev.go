// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"slices"

	"github.com/softhca/softhca/internal/number"
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
		Use:   "add NAME netdev IF [link roce] | add NAME link ib [guid GUID]",
		Short: "Create a device",
		Long: `Create the device NAME.

With netdev it is a RoCEv2 adapter over the network interface IF. Its addresses
are those of the interface. It uses UDP port 4791 of the interface's network
namespace.

With link ib it is an adapter with a native InfiniBand port, which "ibctl cable"
connects and a subnet manager brings up. GUID names the adapter and its port; a
random one is taken without it.`,
		Example: `  ibctl dev add shca0 netdev eth0
  ibctl dev add shca1 link ib`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := deviceConfig(cmd, args)
			if err != nil {
				return err
			}
			return a.with(func(c *genl.Client) error { return c.AddDevice(cfg) })
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var next []string
			switch {
			case len(args) > 1 && args[len(args)-1] == "link":
				next = []string{"roce", "ib"}
			case len(args) > 1 && args[len(args)-1] == "netdev":
				next = completeNetdevs()
			case len(args) == 1:
				next = []string{"netdev", "link"}
			case len(args) == 3 && args[1] == "netdev":
				next = []string{"link"}
			case len(args) == 3 && args[2] == "ib":
				next = []string{"guid"}
			}
			return next, cobra.ShellCompDirectiveNoFileComp
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
			n, err := number.Parse(args[2], 32)
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

// deviceConfig is what the arguments of "dev add" say.
func deviceConfig(cmd *cobra.Command, args []string) (genl.DeviceConfig, error) {
	if len(args) == 0 {
		return genl.DeviceConfig{}, usagef(cmd, "NAME is missing")
	}
	cfg := genl.DeviceConfig{Name: args[0]}
	kv, err := keywords(cmd, args[1:], "netdev", "link", "guid")
	if err != nil {
		return cfg, err
	}
	cfg.Netdev = kv["netdev"]
	if link := kv["link"]; link != "" {
		if err := cfg.Link.UnmarshalText([]byte(link)); err != nil {
			return cfg, usagef(cmd, "link must be roce or ib, not %q", link)
		}
	}
	guid := kv["guid"]
	switch {
	case cfg.Link == genl.LinkIB && cfg.Netdev != "":
		return cfg, usagef(cmd, "a device with link ib has no netdev")
	case cfg.Link == genl.LinkRoCE && cfg.Netdev == "":
		return cfg, usagef(cmd, "netdev IF is missing")
	case cfg.Link == genl.LinkRoCE && guid != "":
		return cfg, usagef(cmd, "guid is for link ib")
	}
	if guid != "" {
		if cfg.GUID, err = genl.ParseGUID(guid); err != nil {
			return cfg, usagef(cmd, "%v", err)
		}
	}
	return cfg, nil
}

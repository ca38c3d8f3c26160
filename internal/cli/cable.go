// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"net/netip"
	"strconv"

	"github.com/softhca/softhca/internal/number"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

func newCable(a *app) *cobra.Command {
	add := &cobra.Command{
		Use:   "add A B | add A remote ADDRESS id N [port P]",
		Short: "Join two ports",
		Long: `Plug a cable into the ports A and B, as NODE/PORT; NODE alone is its port 1.

With remote the other end is at another host, which does the same with the same N
and with the address of this host. Packets travel over UDP, from and to port P
(47911 without it), in the network namespace of the caller; the cable goes with
that namespace. They are neither encrypted nor signed: who can send with the
other host's address is in the subnet. There is a link while both hosts hear each
other.

The ports come up and wait for a subnet manager, such as OpenSM.`,
		Example: `  ibctl cable add shca0/1 shca1/1
  ibctl cable add shca2/1 sw0/1
  ibctl cable add sw0/8 remote 192.0.2.7 id 1`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && args[1] == "remote" {
				return a.addRemoteCable(cmd, args)
			}
			if err := exactArgs("A", "B")(cmd, args); err != nil {
				return err
			}
			var p [2]genl.Port
			for i := range p {
				var err error
				if p[i], err = genl.ParsePort(args[i]); err != nil {
					return usagef(cmd, "%v", err)
				}
			}
			return a.with(func(c *genl.Client) error { return c.AddCable(p[0], p[1]) })
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return noFiles(a.ports(args, false))
			case len(args) == 1:
				return noFiles(append(a.ports(args, false), "remote"))
			case args[1] == "remote":
				return noFiles(nextKeywords(args[1:], "id", "port"))
			}
			return noFiles(nil)
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
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return noFiles(nil)
			}
			return noFiles(a.ports(nil, true))
		},
	}

	ls := &cobra.Command{
		Use:   "list",
		Short: "List the cables",
		Long: `List the cables of this host. It needs the privilege of the changing commands.

Of a cable to another host there is no B, but what is known of the port over there:
silent (nothing heard for two seconds), disabled, deaf (it does not hear us) or
ready. With -j there are counters of what was lost.`,
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

func (a *app) addRemoteCable(cmd *cobra.Command, args []string) error {
	p, err := genl.ParsePort(args[0])
	if err != nil {
		return usagef(cmd, "%v", err)
	}
	r, err := remoteOf(cmd, args[1:])
	if err != nil {
		return err
	}
	return a.with(func(c *genl.Client) error { return c.AddRemoteCable(p, r) })
}

// remoteOf reads "remote ADDRESS id N [port P]".
func remoteOf(cmd *cobra.Command, args []string) (r genl.Remote, err error) {
	kv, err := keywords(cmd, args, "remote", "id", "port")
	if err != nil {
		return r, err
	}
	if r.Addr, err = netip.ParseAddr(kv["remote"]); err != nil {
		return r, usagef(cmd, "%q is no IP address", kv["remote"])
	}
	text, ok := kv["id"]
	if !ok {
		return r, usagef(cmd, "id N is missing")
	}
	id, err := number.Parse(text, 32)
	if err != nil {
		return r, usagef(cmd, "id must be a number below 2^32, not %q", text)
	}
	r.ID = uint32(id)
	if text, ok := kv["port"]; ok {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return r, usagef(cmd, "port must be 1 to 65535, not %q", text)
		}
		r.Port = uint16(port)
	}
	return r, nil
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"os"

	"github.com/softhca/softhca/pkg/fabric"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

func newFabric(a *app) *cobra.Command {
	apply := &cobra.Command{
		Use:   "apply FILE.yaml",
		Short: "Make the fabric that a file declares",
		Long: `Create the switches, devices and cables that FILE declares and that are not there.

  switches:
    sw0: {ports: 8}                         # guid: GUID, if it matters
  devices:
    shca0:                                  # or {guid: GUID}
    shca1:
  cables:
    - [shca0, sw0/1]
    - [shca1, sw0/2]
    - {port: sw0/8, remote: 192.0.2.7, id: 1}   # to another host; udp_port: P

What is there already stays as it is, and so does what FILE does not declare. If
something there contradicts FILE, nothing is made. Cables to other hosts go through
the network namespace of the caller.`,
		Example:           "  ibctl fabric apply docs/fabrics/star.yaml",
		Args:              exactArgs("FILE"),
		ValidArgsFunction: completeFile("yaml", "yml"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := readFabric(args[0])
			if err != nil {
				return err
			}
			return a.with(f.Apply)
		},
	}

	var all bool
	del := &cobra.Command{
		Use:   "delete FILE.yaml | delete --all",
		Short: "Delete a fabric",
		Long: `Delete the devices and switches that FILE declares, as far as they are there, and
so their cables. With --all, delete all native InfiniBand devices and switches of
this host.`,
		Example: `  ibctl fabric delete docs/fabrics/star.yaml
  ibctl fabric delete --all`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeFile("yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all {
				if err := exactArgs()(cmd, args); err != nil {
					return err
				}
				return a.with(func(c *genl.Client) error {
					h, err := fabric.Read(c)
					if err != nil {
						return err
					}
					return h.Delete(c)
				})
			}
			if err := exactArgs("FILE")(cmd, args); err != nil {
				return err
			}
			f, err := readFabric(args[0])
			if err != nil {
				return err
			}
			return a.with(f.Delete)
		},
	}
	del.Flags().BoolVar(&all, "all", false, "delete all there is")

	var format string
	show := &cobra.Command{
		Use:   "show [-o text|dot|yaml]",
		Short: "Show the fabric of this host",
		Long: `Show all native InfiniBand switches and devices of this host, and what their ports
are cabled to. With -o dot it is a graph for Graphviz, in which a cable without a
link is dashed; with -o yaml a file for "ibctl fabric apply".`,
		Example: `  ibctl fabric show
  ibctl fabric show -o dot | dot -Tsvg >fabric.svg`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			draw := fabric.Host.Text
			switch format {
			case "text":
			case "dot":
				draw = fabric.Host.Dot
			case "yaml":
				draw = fabric.Host.YAML
			default:
				return usagef(cmd, "-o must be text, dot or yaml, not %q", format)
			}
			return a.with(func(c *genl.Client) error {
				h, err := fabric.Read(c)
				if err != nil {
					return err
				}
				return draw(h, a.Stdout)
			})
		},
	}
	show.Flags().StringVarP(&format, "output", "o", "text", "text, dot or yaml")
	offerFlag(show, "output", completeWords("text", "dot", "yaml"))

	return group(&cobra.Command{
		Use:   "fabric COMMAND",
		Short: "Declared fabrics of native InfiniBand",
		Long:  "Make, delete and show whole fabrics of native InfiniBand.",
	}, apply, del, show)
}

func readFabric(name string) (*fabric.Fabric, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return fabric.Parse(name, text)
}

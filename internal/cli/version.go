// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is set by the build, with -ldflags "-X ...". Without it, it is what
// Go knows.
var Version string

type versionView struct {
	Version string `json:"version"`
	Go      string `json:"go"`
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version of ibctl",
		Example: "  ibctl -j version",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			v := versionView{Version: Version}
			if info, ok := debug.ReadBuildInfo(); ok {
				v.Go = info.GoVersion
				if v.Version == "" {
					v.Version = info.Main.Version
				}
			}
			return a.printer().Object(v)
		},
	}
}

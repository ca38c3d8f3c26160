// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Write a manual page for every command into the directory DIR.

The date in them is that of SOURCE_DATE_EPOCH, or today.`,
		Example: "  ibctl man /usr/share/man/man8",
		Args:    exactArgs("DIR"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return noFiles(nil)
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			err := doc.GenManTree(root, &doc.GenManHeader{
				Section: "8", Source: "softhca", Manual: "softhca",
			}, args[0])
			if err != nil {
				return fmt.Errorf("man %s: %w", args[0], err)
			}
			return nil
		},
	}
}

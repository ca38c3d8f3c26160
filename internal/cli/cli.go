// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package cli is the command ibctl. It only parses arguments and writes
// results: all it can do, package genl can do from another program.
//
// Every noun has a file.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/softhca/softhca/internal/output"
	"github.com/softhca/softhca/pkg/capture"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// An Env is what ibctl needs from its surroundings.
type Env struct {
	Stdout, Stderr io.Writer
	// Terminal means that a person reads Stdout.
	Terminal bool
	// Connect opens the connection to the kernel. Commands that need none do
	// not call it.
	Connect func() (*genl.Client, error)
	// Trace opens traces of the kernel.
	Trace Tracer
	// Capture records packets until the context ends.
	Capture func(context.Context, capture.Options) (capture.Result, error)
}

// Exit codes.
const (
	exitOK      = 0
	exitRefused = 1
	exitUsage   = 2
)

// Main runs ibctl and returns its exit code. Cancelling ctx ends commands that
// run for ever.
func Main(ctx context.Context, args []string, env Env) int {
	root := newRoot(&app{Env: env})
	root.SetArgs(args)

	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if err != errHelped {
		fmt.Fprintf(env.Stderr, "ibctl: %v\n", explainError(err))
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitRefused
}

// IsTerminal tells whether f is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// An app is one run of ibctl.
type app struct {
	Env
	json, pretty bool
}

func newRoot(a *app) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "ibctl [-j] [-p] COMMAND",
		Short: "Configure and observe softhca devices",
		Long: `ibctl configures and observes softhca devices, which are InfiniBand and RoCE
host channel adapters in software.

Reading needs no privilege and shows the devices that the network namespace of
the caller may use. Changing needs CAP_NET_ADMIN in the initial user namespace.
A network interface is looked up in the namespace of the caller.

On a terminal, lists are tables. Otherwise they are columns without titles,
separated by one tab, with "-" for an empty field; new columns are only ever
added on the right.

The exit status is 0, or 1 when the kernel refused, or 2 when the command line
was wrong.`,
		Example: `  ibctl dev add shca0 netdev eth0
  ibctl dev list
  ibctl -j qp list shca0 | jq '.[] | select(.state == "err")'`,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	refuse := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return refuse(cmd, args)
		}
		cmd.SetOut(a.Stderr)
		if err := cmd.Help(); err != nil {
			return err
		}
		return errHelped
	}
	root.SetOut(a.Stdout) // before there are scripts for completion, which keep it
	root.SetErr(a.Stderr)
	root.PersistentFlags().BoolVarP(&a.json, "json", "j", false, "write JSON")
	root.PersistentFlags().BoolVarP(&a.pretty, "pretty", "p", false, "write indented JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef(cmd, "%v", err)
	})
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newDev(a), newSwitch(a), newCable(a), newFabric(a), newQP(a), newStats(a), newTop(a), newTrace(a), newCapture(a),
		newMonitor(a), newMan(), newVersion(a))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseLikeOthers(root)
	plainUsage(root)
	// A group is a command that only refuses; one usage line is enough for it.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"{{if .HasAvailableSubCommands}}\n  {{.CommandPath}} [command]{{end}}", "", 1))
	return root
}

// group makes a command that only has subcommands.
func group(cmd *cobra.Command, sub ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(sub...)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		if len(args) > 0 {
			return usagef(cmd, "unknown command %q; there are %s", args[0], list(names))
		}
		return usagef(cmd, "a command is missing; there are %s", list(names))
	}
	return cmd
}

// refuseLikeOthers makes cobra's own command "completion" take what makes no sense for
// what it is; it would show its help and be content.
func refuseLikeOthers(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		group(c)
		for _, shell := range c.Commands() {
			shell.Args = exactArgs()
		}
	}
}

// newHelp makes the command that shows help for another one.
func newHelp() *cobra.Command {
	find := func(cmd *cobra.Command, args []string) (*cobra.Command, error) {
		found, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return nil, usagef(cmd, "there is no command %q", strings.Join(args, " "))
		}
		return found, nil
	}
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Help for any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := find(cmd, args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag() // for its list of flags
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			found, err := find(cmd, args)
			if err != nil {
				return noFiles(nil)
			}
			var names []string
			for _, c := range found.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return noFiles(names)
		},
	}
}

// plainUsage keeps cobra from adding "[flags]" to every usage line.
func plainUsage(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	for _, c := range cmd.Commands() {
		plainUsage(c)
	}
}

// printer makes the printer that the flags ask for.
func (a *app) printer() *output.Printer {
	p := &output.Printer{W: a.Stdout, Format: output.Columns}
	switch {
	case a.pretty:
		p.Format = output.Pretty
	case a.json:
		p.Format = output.JSON
	case a.Terminal:
		p.Format = output.Table
	}
	return p
}

// with runs fn with a connection to the kernel.
func (a *app) with(fn func(*genl.Client) error) error {
	c, err := a.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	return fn(c)
}

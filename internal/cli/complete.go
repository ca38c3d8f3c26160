// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

// What the shell offers behind a Tab. It is never a file unless a command says so
// (newRoot), and nothing where the kernel does not answer.

// noFiles is an answer that the shell adds no names of files to.
func noFiles(words []string) ([]string, cobra.ShellCompDirective) {
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeWords offers words that are known beforehand.
func completeWords(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// completeFile offers, as the first argument, files of these endings.
func completeFile(endings ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return noFiles(nil)
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// offerFlag lets a flag of cmd, which exists, be completed.
func offerFlag(cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic(err)
	}
}

// offerFlagFile is offerFlag for the name of a file.
func offerFlagFile(cmd *cobra.Command, flag string, endings ...string) {
	if err := cmd.MarkFlagFilename(flag, endings...); err != nil {
		panic(err)
	}
}

// nextKeywords are the keywords that may follow KEYWORD VALUE pairs: none if it is the
// turn of a value.
func nextKeywords(args []string, known ...string) []string {
	if len(args)%2 != 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(known), func(word string) bool {
		for i := 0; i < len(args); i += 2 {
			if args[i] == word {
				return true
			}
		}
		return false
	})
}

// ask collects names from the kernel, without those of args.
func (a *app) ask(args []string, fn func(c *genl.Client, offer func(string)) error) []string {
	var names []string
	offer := func(name string) {
		word, _, _ := strings.Cut(name, "\t")
		if !slices.Contains(args, word) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	_ = a.with(func(c *genl.Client) error { return fn(c, offer) }) // Without the kernel, no names.
	return names
}

// completeFirst completes the first argument to the names of what list has.
func completeFirst[T any](a *app, args []string, list func(*genl.Client) ([]T, error), name func(T) string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return noFiles(nil)
	}
	return noFiles(a.ask(nil, func(c *genl.Client, offer func(string)) error {
		all, err := list(c)
		for _, one := range all {
			offer(name(one))
		}
		return err
	}))
}

// completeDevices completes the first argument to the name of a device.
func (a *app) completeDevices(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeFirst(a, args, (*genl.Client).Devices, func(d genl.Device) string { return d.Name })
}

// completeSwitches completes the first argument to the name of a switch.
func (a *app) completeSwitches(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeFirst(a, args, (*genl.Client).Switches, func(s genl.Switch) string { return s.Name })
}

// completeDeviceQPN completes DEV QPN.
func (a *app) completeDeviceQPN(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.completeDevices(cmd, args, text)
	case 1:
		return a.completeQPs(qpnWord)(cmd, args, text)
	}
	return noFiles(nil)
}

// qpnWord is the number of a queue pair, and in words whose it is.
func qpnWord(q *genl.QP) string {
	return fmt.Sprintf("%d\t%s (%d) on %s", q.QPN, q.Comm, q.PID, q.Device)
}

// completeQPs completes to what value has of each queue pair: of the device that is
// the first argument, if there is one. "" is left out.
func (a *app) completeQPs(value func(*genl.QP) string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return noFiles(a.ask(nil, func(c *genl.Client, offer func(string)) error {
			var f genl.QPFilter
			if len(args) > 0 {
				f.Device = args[0]
			}
			qps, err := c.QPs(f)
			for i := range qps {
				if s := value(&qps[i]); s != "" {
					offer(s)
				}
			}
			return err
		}))
	}
}

// offerQPFlags completes --qpn, --pid and --comm, if cmd has them.
func (a *app) offerQPFlags(cmd *cobra.Command) {
	for flag, value := range map[string]func(*genl.QP) string{
		"qpn": qpnWord,
		"pid": func(q *genl.QP) string {
			if q.PID == 0 {
				return ""
			}
			return fmt.Sprintf("%d\t%s", q.PID, q.Comm)
		},
		"comm": func(q *genl.QP) string { return q.Comm },
	} {
		if cmd.Flag(flag) != nil {
			offerFlag(cmd, flag, a.completeQPs(value))
		}
	}
}

// ports are those that have a cable, or that have none; not those of args.
func (a *app) ports(args []string, cabled bool) []string {
	return a.ask(args, func(c *genl.Client, offer func(string)) error {
		cables, err := c.Cables()
		if err != nil {
			return err
		}
		used := make(map[genl.Port]bool)
		for _, cable := range cables {
			used[cable.A], used[cable.B] = true, true
		}
		port := func(node string, n uint32) {
			if p := (genl.Port{Node: node, Number: n}); used[p] == cabled {
				offer(p.String())
			}
		}
		devs, err := c.Devices()
		if err != nil {
			return err
		}
		for _, d := range devs {
			if d.Link == genl.LinkIB {
				port(d.Name, 1)
			}
		}
		switches, err := c.Switches()
		for _, s := range switches {
			for n := range s.PortCount {
				port(s.Name, n+1)
			}
		}
		return err
	})
}

// completeNetdevs are the network interfaces of the caller's namespace.
func completeNetdevs() []string {
	var names []string
	all, _ := net.Interfaces() // If that fails, none.
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}

// completeRDMADevices completes the first argument to a device of any driver.
func completeRDMADevices(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		entries, _ := os.ReadDir(rdmaDevices) // Without it, there are none.
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	return noFiles(names)
}

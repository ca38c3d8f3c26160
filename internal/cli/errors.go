// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

// A usageError is a command line that makes no sense.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

// errHelped is a command line without a command, about which all is said.
var errHelped error = &usageError{"a command is missing"}

// usagef says what is wrong with a command line, and how it should look.
func usagef(cmd *cobra.Command, format string, a ...any) error {
	return &usageError{fmt.Sprintf(format, a...) + "; usage: " + cmd.UseLine()}
}

// exactArgs wants an argument for each name.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef(cmd, "%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return usagef(cmd, "%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// optionalArg wants at most one argument.
func optionalArg(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef(cmd, "%q is one argument too many", args[1])
	}
	return nil
}

// keywords reads KEYWORD VALUE pairs, as in "netdev eth0 link roce".
func keywords(cmd *cobra.Command, args []string, known ...string) (map[string]string, error) {
	values := make(map[string]string)
	for len(args) > 0 {
		key := args[0]
		ok := false
		for _, k := range known {
			ok = ok || k == key
		}
		if !ok {
			return nil, usagef(cmd, "unknown keyword %q; there are %s", key, list(known))
		}
		if len(args) == 1 {
			return nil, usagef(cmd, "a value is missing after %s", key)
		}
		if _, twice := values[key]; twice {
			return nil, usagef(cmd, "%s is given twice", key)
		}
		values[key] = args[1]
		args = args[2:]
	}
	return values, nil
}

// explainError adds to the kernel's reason what the user can do.
func explainError(err error) error {
	var e *genl.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, os.ErrNotExist) && e.Attr == "netdev-name":
		return fmt.Errorf("%w; 'ip link' lists them", err)
	case errors.Is(err, os.ErrNotExist) && e.Attr == "qpn":
		return fmt.Errorf("%w; 'ibctl qp list' lists them", err)
	case errors.Is(err, os.ErrNotExist) && e.Attr == "name" && strings.HasSuffix(e.Op, " switch"):
		return fmt.Errorf("%w; 'ibctl switch list' lists them", err)
	case errors.Is(err, os.ErrNotExist) && (e.Attr == "name" || e.Attr == "dev"):
		return fmt.Errorf("%w; 'ibctl dev list' lists them", err)
	case errors.Is(err, os.ErrExist) && e.Attr == "name":
		return fmt.Errorf("%w; choose another name", err)
	}
	return err
}

// list joins words as in a sentence.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

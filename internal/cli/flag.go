// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"strconv"

	"github.com/softhca/softhca/internal/number"
	"github.com/spf13/pflag"
)

// A numberFlag is the value of a flag that is a number like all others of a command
// line; those of package pflag may be octal.
type numberFlag[T int | uint32] struct{ p *T }

// numberVar defines a flag that is 0 or more, and 0 when it is not given.
func numberVar[T int | uint32](fs *pflag.FlagSet, p *T, name, usage string) {
	fs.Var(numberFlag[T]{p}, name, usage)
}

func (f numberFlag[T]) Set(s string) error {
	bits := 32
	if f.Type() == "int" {
		bits = 31
	}
	n, err := number.Parse(s, bits)
	*f.p = T(n)
	return err
}

func (f numberFlag[T]) String() string {
	if f.p == nil { // pflag asks so what a zero value is.
		return "0"
	}
	return strconv.FormatUint(uint64(*f.p), 10)
}

// Type is the word for the value in help texts.
func (f numberFlag[T]) Type() string {
	switch any(f.p).(type) {
	case *int:
		return "int"
	}
	return "uint32"
}

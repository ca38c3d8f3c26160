// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Picture draws what was recorded in a guest (scripts/pictures):
//
//	picture screen ROWS COLS TITLE <RECORD >FILE.svg
//	picture timeline FROM TO <FILE.json >FILE.svg		(in microseconds)
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/softhca/softhca/internal/picture"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 4 && args[0] == "screen":
		rows, err1 := strconv.Atoi(args[1])
		cols, err2 := strconv.Atoi(args[2])
		record, err3 := io.ReadAll(in)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		s := picture.NewScreen(rows, cols)
		if err := s.Play(record); err != nil {
			return err
		}
		return s.SVG(out, args[3])
	case len(args) == 3 && args[0] == "timeline":
		from, err1 := strconv.ParseFloat(args[1], 64)
		to, err2 := strconv.ParseFloat(args[2], 64)
		t, err3 := picture.ReadTimeline(in)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		return t.SVG(out, from, to)
	}
	return errors.New("usage: picture screen ROWS COLS TITLE | picture timeline FROM TO")
}

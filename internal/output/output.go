// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package output writes structs as tables for people, as columns for scripts
// and as JSON, all from the same struct.
//
// A field's json tag is its name in every form. The tag out:"list" puts the
// field into lists; the full struct shows when it is printed alone. Columns
// keep their order, and new ones go at the end.
package output

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// A Format is a way to write.
type Format int

// Formats.
const (
	// Columns separates fields by a tab and has no titles: for scripts.
	Columns Format = iota
	// Table aligns fields under titles: for people.
	Table
	// JSON writes a value a line.
	JSON
	// Pretty writes indented JSON.
	Pretty
)

// A Printer writes values to W.
type Printer struct {
	W      io.Writer
	Format Format

	titled reflect.Type // of what has got its titles, by Next
}

// List writes a slice of structs.
func (p *Printer) List(list any) error {
	v := reflect.ValueOf(list)
	if p.Format >= JSON {
		if v.Len() == 0 { // A nil slice is a list too.
			return p.json([]struct{}{})
		}
		return p.json(list)
	}

	w := tabwriter.NewWriter(p.W, 0, 0, 2, ' ', 0)
	out := io.Writer(w)
	if p.Format == Columns {
		out = p.W
	}
	for i := range v.Len() {
		fields := fieldsOf(v.Index(i), true)
		if i == 0 && p.Format == Table {
			if err := line(out, titles(fields)); err != nil {
				return err
			}
		}
		if err := line(out, values(fields)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Each writes a slice of structs as List does, but in JSON a value a line, as Next
// does: for lists that come again and again.
func (p *Printer) Each(list any) error {
	if p.Format < JSON {
		return p.List(list)
	}
	v := reflect.ValueOf(list)
	for i := range v.Len() {
		if err := p.json(v.Index(i).Interface()); err != nil {
			return err
		}
	}
	return nil
}

// Object writes one struct with all its fields, one a line.
func (p *Printer) Object(obj any) error {
	if p.Format >= JSON {
		return p.json(obj)
	}
	w := tabwriter.NewWriter(p.W, 0, 0, 2, ' ', 0)
	out := io.Writer(w)
	if p.Format == Columns {
		out = p.W
	}
	for _, f := range fieldsOf(reflect.ValueOf(obj), false) {
		if err := line(out, []string{f.name, text(f.value)}); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Next writes one more struct of a list that has no end. A table has new titles
// where another type begins.
func (p *Printer) Next(obj any) error {
	if p.Format >= JSON {
		return p.json(obj)
	}
	fields := fieldsOf(reflect.ValueOf(obj), true)
	if p.Format == Columns {
		return line(p.W, values(fields))
	}
	if t := reflect.TypeOf(obj); p.titled != t {
		p.titled = t
		if err := line(p.W, pad(titles(fields))); err != nil {
			return err
		}
	}
	return line(p.W, pad(values(fields)))
}

func (p *Printer) json(v any) error {
	enc := json.NewEncoder(p.W)
	enc.SetEscapeHTML(false)
	if p.Format == Pretty {
		enc.SetIndent("", "    ")
	}
	return enc.Encode(v)
}

type field struct {
	name  string
	value reflect.Value
}

func fieldsOf(v reflect.Value, listOnly bool) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || listOnly && f.Tag.Get("out") != "list" {
			continue
		}
		fields = append(fields, field{name, v.FieldByIndex(f.Index)})
	}
	return fields
}

func titles(fields []field) []string {
	var s []string
	for _, f := range fields {
		s = append(s, strings.ToUpper(f.name))
	}
	return s
}

func values(fields []field) []string {
	var s []string
	for _, f := range fields {
		s = append(s, text(f.value))
	}
	return s
}

// text is a field's value. It is never empty, so that columns can be counted,
// and never has control characters, which a process might put into its name.
func text(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "-"
		}
		v = v.Elem()
	}
	var s string
	switch x := v.Interface().(type) {
	case encoding.TextMarshaler: // As in JSON, so before fmt.Stringer.
		b, err := x.MarshalText()
		if err != nil {
			return "-"
		}
		s = string(b)
	case fmt.Stringer:
		s = x.String()
	default:
		s = fmt.Sprint(x)
	}
	if s == "" {
		return "-"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		s = strings.Trim(strconv.QuoteToGraphic(s), `"`)
	}
	return s
}

func pad(s []string) []string {
	for i := range s[:len(s)-1] {
		s[i] = fmt.Sprintf("%-12s", s[i])
	}
	return []string{strings.Join(s, "  ")}
}

func line(w io.Writer, s []string) error {
	_, err := fmt.Fprintln(w, strings.Join(s, "\t"))
	return err
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package output

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
)

type inner struct {
	Name string `json:"name" out:"list"`
	Size uint32 `json:"size"`
}

type row struct {
	inner
	Addr   netip.Addr `json:"addr" out:"list"`
	Count  *uint64    `json:"count" out:"list"`
	hidden int
	Secret string `json:"-"`
}

func rows() []row {
	n := uint64(7)
	return []row{
		{inner: inner{Name: "one", Size: 1}, Addr: netip.MustParseAddr("::ffff:10.0.0.1"), Count: &n},
		{inner: inner{Name: "a longer name", Size: 2}, hidden: 1, Secret: "x"},
	}
}

func TestList(t *testing.T) {
	for _, tt := range []struct {
		format Format
		want   string
	}{
		{Columns, "one\t::ffff:10.0.0.1\t7\na longer name\tinvalid IP\t-\n"},
		{Table, "NAME           ADDR             COUNT\none            ::ffff:10.0.0.1  7\na longer name  invalid IP       -\n"},
		{JSON, `[{"name":"one","size":1,"addr":"::ffff:10.0.0.1","count":7},{"name":"a longer name","size":2,"addr":"","count":null}]` + "\n"},
	} {
		var b strings.Builder
		p := Printer{W: &b, Format: tt.format}
		if err := p.List(rows()); err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(tt.want, "invalid IP", "-"); lines(b.String()) != lines(want) {
			t.Errorf("format %d:\n%s\nwant:\n%s", tt.format, b.String(), want)
		}
	}
}

// lines squeezes runs of blanks, which depend on the longest cell.
func lines(s string) string {
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, strings.Join(strings.Fields(l), " "))
	}
	return strings.Join(out, "\n")
}

func TestEmptyList(t *testing.T) {
	for format, want := range map[Format]string{Columns: "", Table: "", JSON: "[]\n", Pretty: "[]\n"} {
		var b strings.Builder
		p := Printer{W: &b, Format: format}
		if err := p.List([]row(nil)); err != nil || b.String() != want {
			t.Errorf("format %d: %q, %v", format, b.String(), err)
		}
	}
}

func TestObject(t *testing.T) {
	for _, tt := range []struct {
		format Format
		want   string
	}{
		{Columns, "name\tone\nsize\t1\naddr\t::ffff:10.0.0.1\ncount\t7\n"},
		{Table, "name   one\nsize   1\naddr   ::ffff:10.0.0.1\ncount  7\n"},
		{JSON, `{"name":"one","size":1,"addr":"::ffff:10.0.0.1","count":7}` + "\n"},
		{Pretty, "{\n    \"name\": \"one\",\n    \"size\": 1,\n    \"addr\": \"::ffff:10.0.0.1\",\n    \"count\": 7\n}\n"},
	} {
		var b strings.Builder
		p := Printer{W: &b, Format: tt.format}
		if err := p.Object(rows()[0]); err != nil || b.String() != tt.want {
			t.Errorf("format %d: %q, want %q, %v", tt.format, b.String(), tt.want, err)
		}
	}
}

func TestEach(t *testing.T) {
	for _, f := range []Format{Columns, Table} {
		var list, each bytes.Buffer
		if err := (&Printer{W: &list, Format: f}).List(rows()); err != nil {
			t.Fatal(err)
		}
		if err := (&Printer{W: &each, Format: f}).Each(rows()); err != nil {
			t.Fatal(err)
		}
		if each.String() != list.String() {
			t.Errorf("format %d:\n%snot\n%s", f, &each, &list)
		}
	}
	var each, next bytes.Buffer
	p := &Printer{W: &next, Format: JSON}
	for _, r := range rows() {
		if err := p.Next(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&Printer{W: &each, Format: JSON}).Each(rows()); err != nil {
		t.Fatal(err)
	}
	if each.String() != next.String() || each.Len() == 0 {
		t.Errorf("JSON:\n%snot\n%s", &each, &next)
	}
}

func TestNext(t *testing.T) {
	for _, tt := range []struct {
		format Format
		want   string
	}{
		{Columns, "one\t::ffff:10.0.0.1\t7\none\t::ffff:10.0.0.1\t7\n"},
		{Table, "NAME          ADDR          COUNT\none           ::ffff:10.0.0.1  7\none           ::ffff:10.0.0.1  7\n"},
	} {
		var b strings.Builder
		p := Printer{W: &b, Format: tt.format}
		for range 2 {
			if err := p.Next(rows()[0]); err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != tt.want {
			t.Errorf("format %d: %q, want %q", tt.format, b.String(), tt.want)
		}
	}
}

// A process chooses its name; it must not reach the terminal as a command, nor
// look like two columns.
func TestControlCharacters(t *testing.T) {
	var b strings.Builder
	p := Printer{W: &b, Format: Columns}
	if err := p.List([]inner{{Name: "evil\x1b[2J\tname\n"}}); err != nil {
		t.Fatal(err)
	}
	if want := `evil\x1b[2J\tname\n` + "\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package nlgen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// TestCommitted fails when somebody changed the spec and did not run "go
// generate ./...", or edited a generated file.
func TestCommitted(t *testing.T) {
	spec, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Generate(spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		have, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("%s is not what %s says; run go generate ./... (-want +have):\n%s", name, Source, diff)
		}
		head, _, _ := strings.Cut(string(have), "\n\n")
		if !strings.Contains(strings.Join(strings.SplitN(head, "\n", 3)[:2], "\n"), "enerated by internal/nlgen") {
			t.Errorf("%s does not say that it is generated", name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const good = `
name: x
definitions:
  - {type: const, name: top, value: 9, doc: Top.}
  - {type: enum, name: kind, doc: Kind., entries: [{name: a, doc: A.}]}
attribute-sets:
  - name: s
    doc: Set.
    attributes:
      - {name: k, type: u32, enum: kind, doc: Kind.}
      - {name: n, type: u32, doc: Number., checks: {min: 1, max: top}}
operations:
  list:
    - {name: get, doc: Get., attribute-set: s, do: {request: {attributes: [n]}, reply: {attributes: [k]}}}
    - {name: ntf, doc: Ntf., notify: get, mcgrp: g}
mcast-groups: {list: [{name: g, doc: Group.}]}
`
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct{ name, old, new, want string }{
		{"unknown key", "name: x", "name: x\nnonsense: 1", "nonsense"},
		{"unknown type", "n, type: u32", "n, type: uint", `unknown type "uint"`},
		{"unknown definition", "type: const", "type: flags", `unknown type "flags"`},
		{"unknown enum", "enum: kind", "enum: kinds", `unknown enum "kinds"`},
		{"unknown limit", "max: top", "max: bottom", `bad limit "bottom"`},
		{"half a range", "min: 1, max: top", "max: top", "go together"},
		{"limit beyond s16", "value: 9", "value: 40000", `bad limit "top"`},
		{"unknown attribute", "request: {attributes: [n]}", "request: {attributes: [m]}", `no attribute "m"`},
		{"unknown set", "attribute-set: s", "attribute-set: t", `unknown set "t"`},
		{"unknown group", "mcgrp: g", "mcgrp: h", `unknown group "h"`},
		{"unknown notify", "notify: get", "notify: got", `notifies of "got"`},
		{"no sentence", "doc: Number.", "doc: ''", "no doc sentence"},
		{"nested nothing", "n, type: u32", "n, type: nest", "nested-attributes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(strings.Replace(good, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	s := &Spec{Name: "x", Definitions: []*Definition{
		{Named: Named{Name: "top"}, Type: "const", Value: 9},
		{Named: Named{Name: "a-b"}, Type: "enum", Entries: []Named{{Name: "c"}, {Name: "d"}}},
	}}
	attr := func(typ string, set func(*Attr)) *Attr {
		a := &Attr{Type: typ}
		set(a)
		return a
	}
	for _, tt := range []struct {
		a           *Attr
		want, words string
	}{
		{attr("u32", func(*Attr) {}), "{ .type = NLA_U32 }", ""},
		{attr("u32", func(a *Attr) { a.Checks.Min, a.Checks.Max = "1", "top" }), "NLA_POLICY_RANGE(NLA_U32, 1, X_TOP)", "1 to 9"},
		{attr("u32", func(a *Attr) { a.Enum = "a-b" }), "NLA_POLICY_MAX(NLA_U32, X_A_B_MAX)", "one of c, d"},
		{attr("string", func(a *Attr) { a.Checks.MaxLen = "top" }), "{ .type = NLA_NUL_STRING, .len = X_TOP }", "at most 9 bytes"},
	} {
		got, err := s.policy(tt.a)
		if err != nil || got != tt.want {
			t.Errorf("policy(%+v) = %q, %v, want %q", tt.a, got, err, tt.want)
		}
		if got := s.words(tt.a); got != tt.words {
			t.Errorf("words(%+v) = %q, want %q", tt.a, got, tt.words)
		}
	}
	if got := s.words(attr("binary", func(a *Attr) { a.Checks.ExactLen = "16" })); got != "16 bytes" {
		t.Errorf("words of a binary are %q", got)
	}
	if _, err := s.policy(attr("nest", func(*Attr) {})); err == nil {
		t.Error("a nest in a request has a policy")
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ in, c, goName string }{
		{"dev-get", "dev_get", "DevGet"},
		{"qp-type", "qp_type", "QPType"},
		{"roce", "roce", "RoCE"},
		{"last-heard-ms", "last_heard_ms", "LastHeardMS"},
	} {
		if got := cName(tt.in); got != tt.c {
			t.Errorf("cName(%q) = %q, want %q", tt.in, got, tt.c)
		}
		if got := goName(tt.in); got != tt.goName {
			t.Errorf("goName(%q) = %q, want %q", tt.in, got, tt.goName)
		}
	}
}

func TestComment(t *testing.T) {
	got := comment(" * @X:", " *\t", strings.Repeat("word ", 20))
	for line := range strings.SplitSeq(got, "\n") {
		if width(line) > 80 {
			t.Errorf("%d columns: %q", width(line), line)
		}
	}
	if n := strings.Count(got, "word"); n != 20 {
		t.Errorf("%d words of 20", n)
	}
}

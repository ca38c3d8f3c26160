// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package nlgen makes the C and Go halves of softhca's generic netlink family
// and its protocol page from one description in the kernel's netlink-spec format.
//
// The kernel's own generator emits split operations, which Linux 6.1 lacks.
// This one emits struct genl_ops with a policy per operation, and covers just
// the part of the format that the description uses: anything else in the
// file is an error, never silently dropped.
package nlgen

//go:generate go run ./cmd -root ../..

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// A Spec is a netlink-spec file.
type Spec struct {
	Name         string
	Protocol     string
	Version      int
	Doc          string
	CFamilyName  string `yaml:"c-family-name"`
	CVersionName string `yaml:"c-version-name"`
	KernelPolicy string `yaml:"kernel-policy"`
	UAPIHeader   string `yaml:"uapi-header"`
	Definitions  []*Definition
	Sets         []*AttrSet `yaml:"attribute-sets"`
	Operations   struct {
		NamePrefix string `yaml:"name-prefix"`
		List       []*Op
	}
	McastGroups struct{ List []Named } `yaml:"mcast-groups"`
}

// Named is a thing with a name and a sentence about it.
type Named struct{ Name, Doc string }

// A Definition is a constant or an enum.
type Definition struct {
	Named      `yaml:",inline"`
	Type       string
	Value      int
	ValueStart int `yaml:"value-start"`
	Entries    []Named
}

// Max is the largest value of an enum.
func (d *Definition) Max() int { return d.ValueStart + len(d.Entries) - 1 }

// An AttrSet is a numbering space of attributes. The first one is 1.
type AttrSet struct {
	Named `yaml:",inline"`
	Attrs []*Attr `yaml:"attributes"`
}

// An Attr is an attribute of a set.
type Attr struct {
	Named       `yaml:",inline"`
	Type        string
	Enum        string
	Nested      string `yaml:"nested-attributes"`
	Multi       bool   `yaml:"multi-attr"`
	DisplayHint string `yaml:"display-hint"`
	Checks      struct {
		Min, Max string
		MaxLen   string `yaml:"max-len"`
		ExactLen string `yaml:"exact-len"`
	}
	Value int `yaml:"-"`
}

// An Op is an operation or, if Notify is set, a notification.
type Op struct {
	Named  `yaml:",inline"`
	Set    string `yaml:"attribute-set"`
	Flags  []string
	Do     *Mode
	Dump   *Mode
	Notify string
	Mcgrp  string
	Value  int `yaml:"-"`
}

// A Mode is one way to call an operation.
type Mode struct{ Request, Reply *Msg }

// A Msg lists the attributes of a message.
type Msg struct{ Attributes []string }

// Parse reads and validates a netlink-spec file.
func Parse(b []byte) (*Spec, error) {
	s := &Spec{}
	if err := yaml.Load(b, s, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	for _, set := range s.Sets {
		for i, a := range set.Attrs {
			a.Value = i + 1
		}
	}
	for i, op := range s.Operations.List {
		op.Value = i + 1
	}
	return s, s.validate()
}

// Set is the attribute set called name.
func (s *Spec) Set(name string) *AttrSet {
	return find(s.Sets, func(a *AttrSet) bool { return a.Name == name })
}

// Op is the operation called name.
func (s *Spec) Op(name string) *Op {
	return find(s.Operations.List, func(o *Op) bool { return o.Name == name })
}

// Def is the definition called name.
func (s *Spec) Def(name string) *Definition {
	return find(s.Definitions, func(d *Definition) bool { return d.Name == name })
}

// Attr is the attribute called name.
func (set *AttrSet) Attr(name string) *Attr {
	return find(set.Attrs, func(a *Attr) bool { return a.Name == name })
}

// Request lists what requests may carry, for a do and a dump together, by
// number.
func (s *Spec) Request(o *Op) []*Attr {
	var attrs []*Attr
	for _, m := range []*Mode{o.Do, o.Dump} {
		if m == nil || m.Request == nil {
			continue
		}
		for _, name := range m.Request.Attributes {
			if a := s.Set(o.Set).Attr(name); !slices.Contains(attrs, a) {
				attrs = append(attrs, a)
			}
		}
	}
	slices.SortFunc(attrs, func(a, b *Attr) int { return a.Value - b.Value })
	return attrs
}

// Number is the value of a check, which is a number or the name of a constant.
func (s *Spec) Number(check string) (int, error) {
	if d := s.Def(check); d != nil && d.Type == "const" {
		return d.Value, nil
	}
	return strconv.Atoi(check)
}

func (s *Spec) validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	doc := func(what, doc string) {
		if doc == "" || doc[len(doc)-1] != '.' {
			bad("%s: no doc sentence", what)
		}
	}

	for _, d := range s.Definitions {
		doc(d.Name, d.Doc)
		for _, e := range d.Entries {
			doc(d.Name+" "+e.Name, e.Doc)
		}
		if d.Type != "const" && d.Type != "enum" {
			bad("%s: unknown type %q", d.Name, d.Type)
		}
	}
	for _, set := range s.Sets {
		doc(set.Name, set.Doc)
		for _, a := range set.Attrs {
			what := set.Name + " " + a.Name
			doc(what, a.Doc)
			if !slices.Contains([]string{"u32", "u64", "string", "binary", "nest", "pad"}, a.Type) {
				bad("%s: unknown type %q", what, a.Type)
			}
			if d := s.Def(a.Enum); a.Enum != "" && (d == nil || d.Type != "enum" || a.Type != "u32") {
				bad("%s: unknown enum %q", what, a.Enum)
			}
			if (a.Type == "nest") != (s.Set(a.Nested) != nil) {
				bad("%s: unknown nested-attributes %q", what, a.Nested)
			}
			for _, c := range []string{a.Checks.Min, a.Checks.Max, a.Checks.MaxLen, a.Checks.ExactLen} {
				// struct nla_policy holds limits as s16.
				if n, err := s.Number(c); c != "" && (err != nil || n < 0 || n > math.MaxInt16) {
					bad("%s: bad limit %q", what, c)
				}
			}
		}
	}
	for _, o := range s.Operations.List {
		doc(o.Name, o.Doc)
		if o.Notify != "" {
			get := s.Op(o.Notify)
			if get == nil || get.Do == nil || get.Do.Reply == nil {
				bad("%s: notifies of %q, which has no reply", o.Name, o.Notify)
			}
			if !slices.ContainsFunc(s.McastGroups.List, func(n Named) bool { return n.Name == o.Mcgrp }) {
				bad("%s: unknown group %q", o.Name, o.Mcgrp)
			}
			continue
		}
		set := s.Set(o.Set)
		if set == nil || (o.Do == nil && o.Dump == nil) {
			bad("%s: no do and no dump, or unknown set %q", o.Name, o.Set)
			continue
		}
		for _, m := range []*Mode{o.Do, o.Dump} {
			if m == nil {
				continue
			}
			for _, msg := range []*Msg{m.Request, m.Reply} {
				if msg == nil {
					continue
				}
				for _, name := range msg.Attributes {
					if set.Attr(name) == nil {
						bad("%s: no attribute %q in %q", o.Name, name, o.Set)
					}
				}
			}
		}
	}
	return errors.Join(errs...)
}

func find[T any](list []*T, ok func(*T) bool) *T {
	if i := slices.IndexFunc(list, ok); i >= 0 {
		return list[i]
	}
	return nil
}

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
	"strings"

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
	McastGroups struct{ List []*Group } `yaml:"mcast-groups"`
}

// Named is a thing with a name and a sentence about it.
type Named struct{ Name, Doc string }

func (n Named) called(name string) bool { return n.Name == name }

// A Group is a multicast group. With the flag admin-perm it takes CAP_NET_ADMIN to
// join.
type Group struct {
	Named `yaml:",inline"`
	Flags []string
}

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

// An Op is an operation or a notification: one that is like the reply of operation
// Notify, or one with attributes of its own, Event.
type Op struct {
	Named  `yaml:",inline"`
	Set    string `yaml:"attribute-set"`
	Flags  []string
	Do     *Mode
	Dump   *Mode
	Notify string
	Event  *Msg
	Mcgrp  string
	Value  int `yaml:"-"`
}

// A Mode is one way to call an operation.
type Mode struct{ Request, Reply *Msg }

// A Msg lists the attributes of a message.
type Msg struct{ Attributes []string }

// Notification tells whether nobody asks for it.
func (o *Op) Notification() bool { return o.Notify != "" || o.Event != nil }

func (o *Op) modes() []*Mode {
	return slices.DeleteFunc([]*Mode{o.Do, o.Dump}, func(m *Mode) bool { return m == nil })
}

// messages are all that list attributes of their own.
func (o *Op) messages() []*Msg {
	all := []*Msg{o.Event}
	for _, m := range o.modes() {
		all = append(all, m.Request, m.Reply)
	}
	return slices.DeleteFunc(all, func(m *Msg) bool { return m == nil })
}

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

// Set is the attribute set called name, or nil.
func (s *Spec) Set(name string) *AttrSet { return find(s.Sets, name) }

// Op is the operation called name, or nil.
func (s *Spec) Op(name string) *Op { return find(s.Operations.List, name) }

// Def is the definition called name, or nil.
func (s *Spec) Def(name string) *Definition { return find(s.Definitions, name) }

// Attr is the attribute called name, or nil.
func (set *AttrSet) Attr(name string) *Attr { return find(set.Attrs, name) }

func find[T any, P interface {
	*T
	called(string) bool
}](list []P, name string) P {
	if i := slices.IndexFunc(list, func(p P) bool { return p.called(name) }); i >= 0 {
		return list[i]
	}
	return nil
}

// Request lists what requests may carry, for a do and a dump together, by
// number.
func (s *Spec) Request(o *Op) []*Attr {
	var attrs []*Attr
	for _, m := range o.modes() {
		if m.Request == nil {
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
	check := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	sentence := func(what string, n Named) {
		check(strings.HasSuffix(n.Doc, "."), "%s%s: no doc sentence", what, n.Name)
	}

	for _, d := range s.Definitions {
		sentence("", d.Named)
		for _, e := range d.Entries {
			sentence(d.Name+" ", e)
		}
		check(d.Type == "const" || d.Type == "enum", "%s: unknown type %q", d.Name, d.Type)
	}
	for _, set := range s.Sets {
		sentence("", set.Named)
		for _, a := range set.Attrs {
			sentence(set.Name+" ", a.Named)
			check(strings.Contains(" u32 u64 string binary nest pad ", " "+a.Type+" "), "%s: unknown type %q", a.Name, a.Type)
			if d := s.Def(a.Enum); a.Enum != "" {
				check(d != nil && d.Type == "enum" && a.Type == "u32", "%s: unknown enum %q", a.Name, a.Enum)
			}
			check((a.Type == "nest") == (s.Set(a.Nested) != nil), "%s: unknown nested-attributes %q", a.Name, a.Nested)
			c := a.Checks
			check((c.Min == "") == (c.Max == ""), "%s: min and max go together", a.Name)
			for _, c := range []string{c.Min, c.Max, c.MaxLen, c.ExactLen} {
				// struct nla_policy holds limits as s16.
				n, err := s.Number(c)
				check(c == "" || err == nil && n >= 0 && n <= math.MaxInt16, "%s: bad limit %q", a.Name, c)
			}
		}
	}
	for _, o := range s.Operations.List {
		sentence("", o.Named)
		if o.Notification() {
			check(find(s.McastGroups.List, o.Mcgrp) != nil, "%s: unknown group %q", o.Name, o.Mcgrp)
		}
		if o.Notify != "" {
			get := s.Op(o.Notify)
			check(get != nil && slices.ContainsFunc(get.modes(), func(m *Mode) bool { return m.Reply != nil }),
				"%s: notifies of %q, which has no reply", o.Name, o.Notify)
			continue
		}
		set := s.Set(o.Set)
		if check(set != nil, "%s: unknown set %q", o.Name, o.Set); set == nil {
			continue
		}
		check(len(o.modes()) > 0 || o.Event != nil, "%s: no do and no dump", o.Name)
		for _, msg := range o.messages() {
			for _, name := range msg.Attributes {
				check(set.Attr(name) != nil, "%s: no attribute %q in %q", o.Name, name, o.Set)
			}
		}
	}
	for _, g := range s.McastGroups.List {
		for _, f := range g.Flags {
			check(f == "admin-perm", "%s: unknown flag %q", g.Name, f)
		}
	}
	return errors.Join(errs...)
}

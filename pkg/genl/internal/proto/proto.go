// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package proto is what package genl and its fake kernel share: the protocol's
// numbers, what each operation accepts, and the connection between the two.
package proto

import (
	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
)

// An Attr describes an attribute.
type Attr struct {
	Name, Type string
	// Min and Max bound an integer. 0 means no bound.
	Min, Max uint64
	// MaxLen bounds a string, without the NUL.
	MaxLen int
	// Limits says the same in words, after "must be".
	Limits string
}

// A Request describes what an operation accepts.
type Request struct {
	// Attrs is the set, indexed by attribute.
	Attrs []Attr
	// Admin means that the caller must be an administrator.
	Admin bool
	// Do and Dump are the attributes that may occur. Nil means that the
	// operation has no such mode.
	Do, Dump []uint16
}

// A Conn is a generic netlink connection. *genetlink.Conn is one.
type Conn interface {
	GetFamily(name string) (genetlink.Family, error)
	JoinGroup(group uint32) error
	Execute(m genetlink.Message, family uint16, flags netlink.HeaderFlags) ([]genetlink.Message, error)
	Receive() ([]genetlink.Message, []netlink.Message, error)
	Close() error
}

var _ Conn = (*genetlink.Conn)(nil)

// NewClient makes a *genl.Client on connections that dial opens. Package genl
// sets it; it exists so that package genlfake can make clients without an
// exported constructor, which would leak netlink types.
var NewClient func(dial func() (Conn, error)) (client any, err error)

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A Port is a port of a node, where a cable goes in.
type Port struct {
	// Node is the name of a device or switch.
	Node string
	// Number is 1 for a device's only port.
	Number uint32
}

// ParsePort reads a port as String writes it. Without a number it is port 1.
func ParsePort(s string) (Port, error) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return Port{s, 1}, nil
	}
	n, err := strconv.ParseUint(s[i+1:], 10, 32)
	if err != nil || i == 0 || n < 1 || n > PortMax {
		return Port{}, fmt.Errorf("%q is no port; one looks like shca0/1", s)
	}
	return Port{s[:i], uint32(n)}, nil
}

// String writes NODE/NUMBER.
func (p Port) String() string { return fmt.Sprintf("%s/%d", p.Node, p.Number) }

// MarshalText makes encoding/json write p as String does.
func (p Port) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// A Cable joins two native InfiniBand ports.
type Cable struct {
	A         Port      `json:"a" out:"list"`
	B         Port      `json:"b" out:"list"`
	LinkState LinkState `json:"link_state" out:"list"`
}

// Cables lists the cables. It needs the privilege of AddDevice.
func (c *Client) Cables() ([]Cable, error) {
	return dump(c, request{op: "list cables", cmd: proto.CmdCableGet, flags: flagsDump}, decodeCable)
}

// AddCable plugs a cable into two ports. If one has a cable already,
// errors.Is(err, syscall.EBUSY).
func (c *Client) AddCable(a, b Port) error {
	_, err := c.execute(request{
		op: "add cable", object: fmt.Sprintf("%v to %v", a, b), cmd: proto.CmdCableNew, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) {
			ae.String(proto.CableNode, a.Node)
			ae.Uint32(proto.CablePort, a.Number)
			ae.String(proto.CablePeerNode, b.Node)
			ae.Uint32(proto.CablePeerPort, b.Number)
		},
	})
	return err
}

// DeleteCable pulls the cable of a port. If it has none, errors.Is(err,
// os.ErrNotExist).
func (c *Client) DeleteCable(p Port) error {
	_, err := c.execute(request{
		op: "delete cable", object: p.String(), cmd: proto.CmdCableDel, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) {
			ae.String(proto.CableNode, p.Node)
			ae.Uint32(proto.CablePort, p.Number)
		},
	})
	return err
}

func decodeCable(ad *netlink.AttributeDecoder, c *Cable) {
	switch ad.Type() {
	case proto.CableNode:
		c.A.Node = ad.String()
	case proto.CablePort:
		c.A.Number = ad.Uint32()
	case proto.CablePeerNode:
		c.B.Node = ad.String()
	case proto.CablePeerPort:
		c.B.Number = ad.Uint32()
	case proto.CableLinkState:
		c.LinkState = LinkState(ad.Uint32())
	}
}

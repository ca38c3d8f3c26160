// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"fmt"
	"net/netip"
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

// String writes NODE/NUMBER, or nothing of a port without a node.
func (p Port) String() string {
	if p.Node == "" {
		return ""
	}
	return fmt.Sprintf("%s/%d", p.Node, p.Number)
}

// MarshalText makes encoding/json write p as String does.
func (p Port) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// A Cable joins two native InfiniBand ports, or one with a port of another host.
type Cable struct {
	A Port `json:"a" out:"list"`
	// B is the other end. It has no node if Remote is set.
	B         Port      `json:"b" out:"list"`
	LinkState LinkState `json:"link_state" out:"list"`
	// Remote is the end at another host, or nil, as are the next two.
	Remote    *Remote         `json:"remote,omitempty" out:"list"`
	PeerState *PeerState      `json:"peer_state,omitempty" out:"list"`
	Counters  *RemoteCounters `json:"counters,omitempty"`
}

// A Remote is the end of a cable that is at another host.
type Remote struct {
	// Addr is that host's, IPv4 or IPv6 without a zone.
	Addr netip.Addr `json:"addr"`
	// Port is the UDP port of both hosts. In AddRemoteCable 0 means
	// CableUDPPort.
	Port uint16 `json:"udp_port"`
	// ID is the number of the cable, the same at both ends.
	ID uint32 `json:"id"`
}

// String writes r as "ibctl cable add" reads it.
func (r Remote) String() string {
	if r.Port == 0 || r.Port == CableUDPPort {
		return fmt.Sprintf("%v id %d", r.Addr, r.ID)
	}
	return fmt.Sprintf("%v id %d port %d", r.Addr, r.ID, r.Port)
}

// RemoteCounters count what a cable to another host has lost.
type RemoteCounters struct {
	// Strangers are datagrams at the UDP port, of this and other cables, that
	// were of no cable.
	Strangers uint64 `json:"strangers"`
	// Malformed are datagrams of the other host that were refused.
	Malformed uint64 `json:"malformed"`
	// RXLost are packets that came while there was no link, or too fast.
	RXLost uint64 `json:"rx_lost"`
	// TXLost are packets that did not leave.
	TXLost uint64 `json:"tx_lost"`
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

// AddRemoteCable plugs a cable to another host into a port; that host does the
// same. The packets travel in the caller's network namespace, and the cable goes
// with it. If the port has a cable already, errors.Is(err, syscall.EBUSY).
func (c *Client) AddRemoteCable(p Port, r Remote) error {
	_, err := c.execute(request{
		op: "add cable", object: fmt.Sprintf("%v to %v", p, r), cmd: proto.CmdCableNew, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) {
			ae.String(proto.CableNode, p.Node)
			ae.Uint32(proto.CablePort, p.Number)
			ae.String(proto.CableRemote, r.Addr.String())
			if r.Port != 0 {
				ae.Uint32(proto.CableUDPPort, uint32(r.Port))
			}
			ae.Uint32(proto.CableID, r.ID)
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

func (c *Cable) remote() *Remote {
	if c.Remote == nil {
		c.Remote = &Remote{}
	}
	return c.Remote
}

func (c *Cable) counters() *RemoteCounters {
	if c.Counters == nil {
		c.Counters = &RemoteCounters{}
	}
	return c.Counters
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
	case proto.CableRemote:
		// An address that this program does not know stays invalid.
		c.remote().Addr, _ = netip.ParseAddr(ad.String())
	case proto.CableUDPPort:
		c.remote().Port = uint16(ad.Uint32())
	case proto.CableID:
		c.remote().ID = ad.Uint32()
	case proto.CablePeerState:
		s := PeerState(ad.Uint32())
		c.PeerState = &s
	case proto.CableStrangers:
		c.counters().Strangers = ad.Uint64()
	case proto.CableMalformed:
		c.counters().Malformed = ad.Uint64()
	case proto.CableRXLost:
		c.counters().RXLost = ad.Uint64()
	case proto.CableTXLost:
		c.counters().TXLost = ad.Uint64()
	}
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genlfake

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// socket looks up the port that two attributes name.
func (k *Kernel) socket(r *req, node, port uint16) (genl.Port, error) {
	if s := k.findSwitch(r.str[node]); s != nil {
		if r.u32[port] > s.PortCount {
			return genl.Port{}, r.refuse(syscall.ENOENT, port, fmt.Sprintf("the switch has ports 1 to %d", s.PortCount))
		}
		return genl.Port{Node: s.Name, Number: r.u32[port]}, nil
	}
	d := k.devices[r.str[node]]
	if d == nil {
		return genl.Port{}, r.refuse(syscall.ENODEV, node, "there is no softhca device or switch of this name")
	}
	if d.Link != genl.LinkIB {
		return genl.Port{}, r.refuse(syscall.EOPNOTSUPP, node, "this device speaks RoCE; a cable goes into devices of link type ib")
	}
	if r.u32[port] != 1 {
		return genl.Port{}, r.refuse(syscall.ENOENT, port, "the device has one port, and its number is 1")
	}
	return genl.Port{Node: d.Name, Number: 1}, nil
}

// plugged is the index of the cable in a port, or -1.
func (k *Kernel) plugged(p genl.Port) int {
	return slices.IndexFunc(k.cables, func(c genl.Cable) bool { return c.A == p || c.B == p })
}

func (k *Kernel) cableNew(r *req) error {
	a, err := k.socket(r, proto.CableNode, proto.CablePort)
	if err != nil {
		return err
	}
	if addr, remote := r.str[proto.CableRemote]; remote {
		return k.cableNewRemote(r, a, addr)
	}
	b, err := k.socket(r, proto.CablePeerNode, proto.CablePeerPort)
	if err != nil {
		return err
	}
	switch {
	case a == b:
		return r.refuse(syscall.EINVAL, 0, "a cable joins two ports, and these are one")
	case k.plugged(a) >= 0:
		return r.refuse(syscall.EBUSY, 0, "the first port has a cable already; ibctl cable list shows it")
	case k.plugged(b) >= 0:
		return r.refuse(syscall.EBUSY, 0, "the second port has a cable already; ibctl cable list shows it")
	}
	c := genl.Cable{A: a, B: b}
	k.tellCable(proto.CmdCableNewNtf, c)
	c.LinkState = genl.LinkStateUp
	k.cables = append(k.cables, c)
	k.setPort(a, genl.PortStateInit)
	k.setPort(b, genl.PortStateInit)
	k.tellCable(proto.CmdCableSetNtf, c)
	return nil
}

func (k *Kernel) cableNewRemote(r *req, p genl.Port, addr string) error {
	id, ok := r.u32[proto.CableID]
	if !ok {
		return r.refuse(syscall.EINVAL, 0, "a cable to another host needs a number (id), the same at both ends")
	}
	ip, err := netip.ParseAddr(addr)
	if err != nil || ip.Zone() != "" || !ip.IsGlobalUnicast() || ip.Is4In6() {
		return r.refuse(syscall.EINVAL, proto.CableRemote, "remote must be the address of another host, IPv4, or IPv6 that is not link-local")
	}
	far := genl.Remote{Addr: ip, Port: genl.CableUDPPort, ID: id}
	if port, ok := r.u32[proto.CableUDPPort]; ok {
		far.Port = uint16(port)
	}
	if k.plugged(p) >= 0 {
		return r.refuse(syscall.EBUSY, 0, "the port has a cable already; ibctl cable list shows it")
	}
	if slices.ContainsFunc(k.cables, func(c genl.Cable) bool { return c.Remote != nil && *c.Remote == far }) {
		return r.refuse(syscall.EEXIST, 0, "there is a cable of this number to this address already")
	}
	c := genl.Cable{A: p, Remote: &far}
	k.cables = append(k.cables, c)
	k.tellCable(proto.CmdCableNewNtf, c)
	return nil
}

func (k *Kernel) cableDel(r *req) error {
	p, err := k.socket(r, proto.CableNode, proto.CablePort)
	if err != nil {
		return err
	}
	i := k.plugged(p)
	if i < 0 {
		return r.refuse(syscall.ENOENT, proto.CablePort, "the port has no cable")
	}
	k.pullAt(i)
	return nil
}

func (k *Kernel) pullAt(i int) {
	c := k.cables[i]
	k.cables = slices.Delete(k.cables, i, i+1)
	k.setPort(c.A, genl.PortStateDown)
	k.setPort(c.B, genl.PortStateDown)
	c.LinkState = genl.LinkStateDown
	k.tellCable(proto.CmdCableDelNtf, c)
}

func (k *Kernel) tellCable(cmd uint8, c genl.Cable) { k.multicast(fabricGroup, cmd, encodeCable(c)) }

// pull pulls the cables of a node that goes.
func (k *Kernel) pull(node string) {
	for i := len(k.cables) - 1; i >= 0; i-- {
		if c := k.cables[i]; c.A.Node == node || c.B.Node == node {
			k.pullAt(i)
		}
	}
}

func (k *Kernel) setPort(p genl.Port, s genl.PortState) {
	if d := k.devices[p.Node]; d != nil {
		d.PortState = s
		k.notify(proto.CmdDevSetNtf, d)
	}
	if sw := k.findSwitch(p.Node); sw != nil {
		sw.Ports[p.Number-1].State = s
	}
}

func (k *Kernel) cableGet(r *req) [][]byte {
	var out [][]byte
	node, filter := r.str[proto.CableNode]
	for _, c := range k.cables {
		if !filter || c.A.Node == node || c.B.Node == node {
			out = append(out, encodeCable(c))
		}
	}
	return out
}

func encodeCable(c genl.Cable) []byte {
	return encode(func(ae *netlink.AttributeEncoder) {
		ae.String(proto.CableNode, c.A.Node)
		ae.Uint32(proto.CablePort, c.A.Number)
		if far := c.Remote; far != nil {
			ae.String(proto.CableRemote, far.Addr.String())
			ae.Uint32(proto.CableUDPPort, uint32(far.Port))
			ae.Uint32(proto.CableID, far.ID)
			ae.Uint32(proto.CablePeerState, uint32(genl.PeerStateSilent))
			ae.Uint64(proto.CableStrangers, 0)
			ae.Uint64(proto.CableMalformed, 0)
			ae.Uint64(proto.CableRXLost, 0)
			ae.Uint64(proto.CableTXLost, 0)
		} else {
			ae.String(proto.CablePeerNode, c.B.Node)
			ae.Uint32(proto.CablePeerPort, c.B.Number)
		}
		ae.Uint32(proto.CableLinkState, uint32(c.LinkState))
	})
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package capture

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

const (
	rocePort  = 4791
	etherLen  = 14
	vlanLen   = 4
	bthLen    = 12
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	etherVLAN = 0x8100
	protoUDP  = 17
	// headersMax is no less than parse reads: Ethernet, the longest IP header that
	// it knows (IPv4 with options), UDP and BTH.
	headersMax = 128
)

// A packet is what the headers say. Of native InfiniBand, src and dst are LIDs in
// the form of an address.
type packet struct {
	src, dst netip.Addr
	opcode   uint8
	qpn, psn uint32
	// Of native InfiniBand it is known whose it is.
	ib, sent bool
	own      uint32
}

// parse reads the headers of a frame. It returns false for what is no RoCEv2.
func parse(frame []byte) (p packet, ok bool) {
	if len(frame) < etherLen {
		return p, false
	}
	kind, b := binary.BigEndian.Uint16(frame[12:]), frame[etherLen:]
	if kind == etherVLAN && len(b) >= vlanLen {
		kind, b = binary.BigEndian.Uint16(b[2:]), b[vlanLen:]
	}
	switch {
	case kind == etherIPv4 && len(b) >= 20 && b[9] == protoUDP:
		p.src, p.dst = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
		// As GIDs have them.
		p.src, p.dst = netip.AddrFrom16(p.src.As16()), netip.AddrFrom16(p.dst.As16())
		n := int(b[0]&0xf) * 4
		if n < 20 || len(b) < n {
			return p, false
		}
		b = b[n:]
	case kind == etherIPv6 && len(b) >= 40 && b[6] == protoUDP:
		p.src, p.dst = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		b = b[40:]
	default:
		return p, false
	}
	if len(b) < 8+bthLen || binary.BigEndian.Uint16(b[2:]) != rocePort {
		return p, false
	}
	p.bth(b[8:])
	return p, true
}

func (p *packet) bth(b []byte) {
	p.opcode = b[0]
	p.qpn = binary.BigEndian.Uint32(b[4:]) & 0xffffff
	p.psn = binary.BigEndian.Uint32(b[8:]) & 0xffffff
}

// A QP is a queue pair as captures know it.
type QP struct {
	QPN, DestQPN uint32
	// SGID and DGID are the addresses of a connected queue pair.
	SGID, DGID netip.Addr
	// Type is "rc", "ud" and so on.
	Type string
	PID  uint32
	Comm string
}

func (q *QP) connected() bool { return q.Type == "rc" || q.Type == "uc" }

// A table finds the queue pair of a packet.
type table struct {
	byQPN  map[uint32]*QP
	byPeer map[peer]*QP
	// highest is the highest PSN seen, by who it was for.
	highest map[peer]uint32
}

// A peer is a queue pair of somebody else's, as a packet names it.
type peer struct {
	src, dst netip.Addr
	qpn      uint32
	// response tells answers, whose PSNs are the other side's, from requests.
	response bool
}

func newTable() *table {
	return &table{highest: make(map[peer]uint32)}
}

// set replaces the queue pairs. What is known of PSNs stays.
func (t *table) set(qps []QP) {
	t.byQPN, t.byPeer = make(map[uint32]*QP), make(map[peer]*QP)
	for i := range qps {
		q := &qps[i]
		t.byQPN[q.QPN] = q
		if q.connected() {
			t.byPeer[peer{src: q.SGID, dst: q.DGID, qpn: q.DestQPN}] = q
		}
	}
}

// find returns the queue pair that a packet was sent by, or is for. Only connected
// ones can be told by what they send.
func (t *table) find(p packet) (q *QP, sent bool) {
	if p.ib {
		return t.byQPN[p.own], p.sent
	}
	if q := t.byPeer[peer{src: p.src, dst: p.dst, qpn: p.qpn}]; q != nil {
		return q, true
	}
	q = t.byQPN[p.qpn]
	if q != nil && q.connected() && (p.src != q.DGID || p.dst != q.SGID) {
		return nil, false
	}
	return q, false
}

// response tells whether an opcode of RC is for a requester: READ responses and
// acknowledges.
func response(opcode uint8) bool {
	op := opcode & 0x1f
	return opcode>>5 == 0 && op >= 0x0d && op <= 0x12
}

// again tells whether a packet of a reliable connection was seen before, by its
// PSN. A READ request takes as many as it has responses, so it goes by its own.
func (t *table) again(p packet) bool {
	if p.opcode>>5 != 0 || p.opcode == 0x11 {
		return false
	}
	key := peer{p.src, p.dst, p.qpn, response(p.opcode)}
	high, seen := t.highest[key]
	// Half of the numbers are before, half behind (IBA 9.2.2).
	if seen && (p.psn-high)&0xffffff-1 >= 0x7fffff {
		return true
	}
	t.highest[key] = p.psn
	return false
}

// comment says whose a packet is.
func (t *table) comment(p packet, device string) string {
	q, sent := t.find(p)
	text := fmt.Sprintf("%s: no queue pair known, for QPN %d", device, p.qpn)
	if q != nil {
		way := "received by"
		if sent {
			way = "sent by"
		}
		text = fmt.Sprintf("%s: %s QPN %d", device, way, q.QPN)
		if q.Comm != "" {
			text += fmt.Sprintf(" of %s", q.Comm)
		}
		if q.PID != 0 {
			text += fmt.Sprintf(" (%d)", q.PID)
		}
	}
	if t.again(p) {
		text += ", sent again"
	}
	return text
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import "fmt"

// An Opcode is the first byte of a packet's base transport header.
type Opcode uint8

// opcodes are the operations common to all transports; each uses some.
var opcodes = [...]string{
	"SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_WITH_IMMEDIATE",
	"SEND_ONLY", "SEND_ONLY_WITH_IMMEDIATE",
	"RDMA_WRITE_FIRST", "RDMA_WRITE_MIDDLE", "RDMA_WRITE_LAST", "RDMA_WRITE_LAST_WITH_IMMEDIATE",
	"RDMA_WRITE_ONLY", "RDMA_WRITE_ONLY_WITH_IMMEDIATE", "RDMA_READ_REQUEST",
	"RDMA_READ_RESPONSE_FIRST", "RDMA_READ_RESPONSE_MIDDLE", "RDMA_READ_RESPONSE_LAST",
	"RDMA_READ_RESPONSE_ONLY", "ACKNOWLEDGE", "ATOMIC_ACKNOWLEDGE", "COMPARE_SWAP", "FETCH_ADD",
	0x16: "SEND_LAST_WITH_INVALIDATE", 0x17: "SEND_ONLY_WITH_INVALIDATE",
}

// String is the name that the InfiniBand specification gives.
func (o Opcode) String() string {
	class := map[Opcode]string{0: "RC", 1: "UC", 3: "UD"}[o>>5]
	if n := int(o & 0x1f); class != "" && n < len(opcodes) && opcodes[n] != "" {
		return class + "_" + opcodes[n]
	}
	return fmt.Sprintf("opcode-0x%02x", uint8(o))
}

// MarshalText makes encoding/json write the name.
func (o Opcode) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// A Syndrome is what a packet with an ACK extended transport header says. 0
// stands for "no NAK yet".
type Syndrome uint8

var naks = [...]string{
	"PSN sequence error", "invalid request", "remote access error",
	"remote operational error", "invalid RD request",
}

// String says what the syndrome means.
func (s Syndrome) String() string {
	n := int(s & 0x1f)
	switch {
	case s == 0:
		return "none"
	case s>>5 == 0:
		return "ACK"
	case s>>5 == 1:
		return fmt.Sprintf("RNR NAK, timer %d", n)
	case s>>5 == 3 && n < len(naks):
		return "NAK, " + naks[n]
	}
	return fmt.Sprintf("syndrome 0x%02x", uint8(s))
}

// MarshalText makes encoding/json write what the syndrome means.
func (s Syndrome) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

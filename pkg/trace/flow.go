// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cilium/ebpf"
)

// A Flow is what one queue pair has done since the start.
type Flow struct {
	QPN uint32
	// Owner is whose the queue pair is, and its peer; what is not known is zero.
	Owner Owner
	Traffic
}

// Traffic is struct flow of bpf/flow.bpf.c.
type Traffic struct {
	// TXMessages and TXBytes are of send requests that were acknowledged.
	TXMessages, TXBytes uint64
	// RXMessages and RXBytes are of receive completions.
	RXMessages, RXBytes uint64
	// Retries is how often the requester went back.
	Retries uint64
	// PacketsAgain is how many packets were sent again.
	PacketsAgain uint64
	// Referenced and Copied are payload bytes handed to the link.
	Referenced, Copied uint64
	// Errors are send requests that failed or were flushed.
	Errors uint64
}

// peerValue is struct peer of bpf/flow.bpf.c.
type peerValue struct {
	QPN uint32
	GID [16]byte
}

// Flows counts who talks how much, in the kernel.
type Flows struct{ s *session }

// OpenFlows begins to count.
func OpenFlows(f Filter, owners []Owner) (*Flows, error) {
	spec, err := loadFlow()
	if err != nil {
		return nil, err
	}
	s, err := open(spec, f, owners, "flow_qp_connect", "flow_send_done", "flow_recv_done", "flow_burst", "flow_go_back")
	if err != nil {
		return nil, err
	}
	for _, o := range owners {
		if !o.DGID.IsValid() {
			continue
		}
		// What the kernel has told meanwhile is newer.
		err := s.coll.Maps["peers"].Update(o.QPN, peerValue{o.DestQPN, o.DGID.As16()}, ebpf.UpdateNoExist)
		if err != nil && !errors.Is(err, ebpf.ErrKeyExist) {
			return nil, errors.Join(fmt.Errorf("note the peer of queue pair %d: %w", o.QPN, err), s.Close())
		}
	}
	return &Flows{s}, nil
}

// Close ends the counting.
func (f *Flows) Close() error { return f.s.Close() }

// NoRoom is how often there was no room for a queue pair, beside 65536 others; what it
// does is missing then.
func (f *Flows) NoRoom() (uint64, error) { return f.s.noRoom() }

// Read returns the flows so far, by queue pair.
func (f *Flows) Read() ([]Flow, error) {
	var (
		list    []Flow
		qpn     uint32
		traffic Traffic
	)
	it := f.s.coll.Maps["flows"].Iterate()
	for it.Next(&qpn, &traffic) {
		flow := Flow{QPN: qpn, Traffic: traffic, Owner: f.s.owner(qpn)}
		var p peerValue
		if err := f.s.coll.Maps["peers"].Lookup(qpn, &p); err == nil {
			flow.Owner.DestQPN, flow.Owner.DGID = p.QPN, netip.AddrFrom16(p.GID)
		}
		list = append(list, flow)
	}
	if err := it.Err(); err != nil {
		return nil, fmt.Errorf("read the flows: %w", err)
	}
	slices.SortFunc(list, func(a, b Flow) int { return cmp.Compare(a.QPN, b.QPN) })
	return list, nil
}

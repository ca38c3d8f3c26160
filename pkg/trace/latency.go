// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Stage is a part of a message's life.
type Stage int

// Stages, in order, and those together that are between the kernel's and between
// the program's ends.
const (
	// StagePost is from the post of the work request until the kernel fetches it.
	// Like StagePoll and StageUser it is seen with LatencyUser only.
	StagePost Stage = iota
	// StageQueue is until the last packet is on the wire.
	StageQueue
	// StageAck is until it is acknowledged.
	StageAck
	// StageCQE is until its completion is written.
	StageCQE
	// StageDeliver, of receives from a queue pair of this host, is from the fetch of
	// the sender's work request until the receive's completion is written.
	StageDeliver
	// StagePoll is until the program has polled it.
	StagePoll
	// StageTotal is from fetch to completion.
	StageTotal
	// StageUser is from post to poll: of the same program, or of a receive from the
	// sender's post to the receiver's poll.
	StageUser
	stages
)

var stageNames = [stages]string{"post", "queue", "ack", "cqe", "deliver", "poll", "total", "user"}

func (s Stage) String() string {
	if s < 0 || s >= stages {
		return fmt.Sprintf("stage %d", int(s))
	}
	return stageNames[s]
}

// MarshalText makes encoding/json write s as String does.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Series is the latency of the messages of one kind of one queue pair.
type Series struct {
	QPN    uint32
	Opcode Opcode
	// MaxBytes is the size class: the messages are at most that long, and longer
	// than half of it.
	MaxBytes uint64
	Stages   [stages]Histogram
}

// An Opcode is that of a send work request, numbered as IB_WR_* in the kernel, or
// 128 for a receive.
type Opcode uint32

var opcodeNames = map[Opcode]string{
	0: "WRITE", 1: "WRITE_IMM", 2: "SEND", 3: "SEND_IMM", 4: "READ", 5: "CMP_SWAP",
	6: "FETCH_ADD", 7: "LOCAL_INV", 8: "BIND_MW", 9: "SEND_INV", 32: "REG_MR",
	128: "RECV",
}

func (o Opcode) String() string {
	if s, ok := opcodeNames[o]; ok {
		return s
	}
	return fmt.Sprintf("opcode %d", uint32(o))
}

// MarshalText makes encoding/json write o as String does.
func (o Opcode) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Missed counts messages that are in no series.
type Missed struct {
	// Collisions: too many were under way at once.
	Collisions uint64 `json:"collisions"`
	// NoRoom: there were too many series.
	NoRoom uint64 `json:"no_room"`
	// Unseen: it was not seen when they went to the wire.
	Unseen uint64 `json:"unseen"`
}

// seriesKey and seriesValue are struct series_key and series of stages.bpf.c.
type (
	seriesKey   struct{ QPN, Opcode, Class uint32 }
	seriesValue struct {
		Sum    [stages]uint64
		Max    [stages]uint64
		Bucket [stages][buckets]uint32
	}
)

// Latency measures the stages of messages, in the kernel.
type Latency struct{ s *session }

// OpenLatency begins to measure.
func OpenLatency(f Filter, owners []Owner) (*Latency, error) {
	spec, err := loadStages()
	if err != nil {
		return nil, err
	}
	s, err := open(spec, f, owners, "on_qp_connect", "peers_qp_destroy", "on_send_fetch", "on_send_wire", "on_send_done", "on_recv_done",
		"on_cqe", "on_post_send", "on_poll_cq")
	if err != nil {
		return nil, err
	}
	if err := s.notePeers(owners); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Latency{s}, nil
}

// OpenLatencyUser begins to measure from the program's post to its poll. It puts
// breakpoints into the provider library, which every process that uses it then
// meets, and which cost some microseconds each.
func OpenLatencyUser(f Filter, owners []Owner) (*Latency, error) {
	l, err := OpenLatency(f, owners)
	if err != nil {
		return nil, err
	}
	for program, probe := range map[string]string{"on_post_send": "post_send", "on_poll_cq": "poll_cq"} {
		if err := l.s.attachProvider(program, probe); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// Close ends the measurement.
func (l *Latency) Close() error { return l.s.Close() }

// NoRoom is as Flows.NoRoom.
func (l *Latency) NoRoom() (uint64, error) { return l.s.noRoom() }

// Read returns what was measured since the start, by queue pair, opcode and size.
func (l *Latency) Read() ([]Series, Missed, error) {
	var (
		list   []Series
		key    seriesKey
		value  seriesValue
		missed Missed
	)
	it := l.s.coll.Maps["series"].Iterate()
	for it.Next(&key, &value) {
		list = append(list, newSeries(key, &value))
	}
	if err := it.Err(); err != nil {
		return nil, missed, fmt.Errorf("read the latencies: %w", err)
	}
	if err := l.s.coll.Maps["missed"].Lookup(uint32(0), &missed); err != nil {
		return nil, missed, fmt.Errorf("read what was missed: %w", err)
	}
	slices.SortFunc(list, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.QPN, b.QPN), cmp.Compare(a.Opcode, b.Opcode), cmp.Compare(a.MaxBytes, b.MaxBytes))
	})
	return list, missed, nil
}

func newSeries(key seriesKey, v *seriesValue) Series {
	s := Series{QPN: key.QPN, Opcode: Opcode(key.Opcode)}
	if key.Class > 0 {
		s.MaxBytes = 1 << key.Class
	}
	for i := range s.Stages {
		h := &s.Stages[i]
		h.Sum = time.Duration(v.Sum[i])
		h.Max = time.Duration(v.Max[i])
		for b, n := range v.Bucket[i] {
			h.n[b] = uint64(n)
			h.Count += uint64(n)
		}
	}
	return s
}

// Total adds all series into one histogram for each stage.
func Total(list []Series) [stages]Histogram {
	var all [stages]Histogram
	for i := range list {
		for st := range all {
			all[st].add(&list[i].Stages[st])
		}
	}
	return all
}

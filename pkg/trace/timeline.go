// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// TimelineEvents are the events that a Timeline is made of.
var TimelineEvents = []string{
	"send_fetch", "send_wire", "send_done", "drop", "ack_timeout", "rnr_wait", "go_back", "qp_state",
}

// A Timeline writes events in Chrome's trace format, which Perfetto shows
// (https://ui.perfetto.dev): a process for each device, a track for each queue
// pair, a slice for each message with its way to the wire in it, a mark for
// whatever went wrong. Messages of a queue pair that overlap take further tracks
// of the same name.
type Timeline struct {
	w        *bufio.Writer
	n        int
	err      error
	devices  map[string]int
	lanes    map[lane]int
	messages map[messageKey]*message
	busy     map[uint32][]bool
	name     func(qpn uint32) string
}

type messageKey struct {
	qpn   uint32
	index uint64
}

type lane struct {
	pid int
	qpn uint32
	n   int
}

type message struct {
	device        string
	lane          int
	fetched, wire time.Duration
	opcode        Opcode
	length, wrID  uint64
}

// A chromeEvent is an entry of the trace format; times are in microseconds.
type chromeEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Time  float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// NewTimeline begins to write. The name of a queue pair's track is what name
// returns.
func NewTimeline(w io.Writer, name func(qpn uint32) string) *Timeline {
	t := &Timeline{
		w: bufio.NewWriter(w), devices: make(map[string]int), lanes: make(map[lane]int),
		messages: make(map[messageKey]*message), busy: make(map[uint32][]bool), name: name,
	}
	_, t.err = t.w.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	return t
}

// Add adds an event. Events must come in order. An error is for good; Close returns
// it again.
func (t *Timeline) Add(e *Event) error {
	key := messageKey{e.QPN, e.Uint("index")}
	switch e.Name {
	case "send_fetch":
		t.messages[key] = &message{
			device: e.Device, lane: t.take(e.QPN), fetched: e.Time,
			opcode: Opcode(e.Uint("opcode")), length: e.Uint("length"), wrID: e.Uint("wr_id"),
		}
	case "send_wire":
		if m := t.messages[key]; m != nil && m.wire == 0 {
			m.wire = e.Time
		}
	case "send_done":
		if m := t.messages[key]; m != nil {
			t.done(e, m)
			t.busy[e.QPN][m.lane] = false
			delete(t.messages, key)
		}
	case "go_back":
		t.mark(e, fmt.Sprintf("back to %d", e.Uint("psn")))
	case "drop":
		t.mark(e, "drop: "+e.Word("reason"))
	case "ack_timeout":
		t.mark(e, "timeout")
	case "rnr_wait":
		t.mark(e, "receiver not ready")
	case "qp_state":
		t.mark(e, e.Word("from")+" to "+e.Word("to"))
	}
	return t.failed()
}

func (t *Timeline) failed() error {
	if t.err != nil {
		return fmt.Errorf("write the timeline: %w", t.err)
	}
	return nil
}

// take finds a lane of a queue pair that is free.
func (t *Timeline) take(qpn uint32) int {
	for i, busy := range t.busy[qpn] {
		if !busy {
			t.busy[qpn][i] = true
			return i
		}
	}
	t.busy[qpn] = append(t.busy[qpn], true)
	return len(t.busy[qpn]) - 1
}

func (t *Timeline) done(e *Event, m *message) {
	pid, tid := t.track(m.device, e.QPN, m.lane)
	args := map[string]any{"wr_id": m.wrID, "bytes": m.length, "status": e.Word("status")}
	t.slice(fmt.Sprintf("%s %d", m.opcode, m.length), pid, tid, m.fetched, e.Time, args)
	if m.wire != 0 {
		t.slice("to the wire", pid, tid, m.fetched, m.wire, nil)
		t.slice("until acknowledged", pid, tid, m.wire, e.Time, nil)
	}
}

func micro(d time.Duration) float64 { return float64(d) / 1e3 }

func (t *Timeline) slice(name string, pid, tid int, from, to time.Duration, args map[string]any) {
	dur := micro(to - from)
	t.put(chromeEvent{Name: name, Phase: "X", Time: micro(from), Dur: &dur, PID: pid, TID: tid, Args: args})
}

func (t *Timeline) mark(e *Event, name string) {
	pid, tid := t.track(e.Device, e.QPN, 0)
	t.put(chromeEvent{
		Name: name, Phase: "i", Time: micro(e.Time), PID: pid, TID: tid, Scope: "t",
		Args: map[string]any{"psn": e.Uint("psn")},
	})
}

// track is the process and thread that stand for a lane of a queue pair.
func (t *Timeline) track(device string, qpn uint32, n int) (pid, tid int) {
	pid, ok := t.devices[device]
	if !ok {
		pid = len(t.devices) + 1
		t.devices[device] = pid
		t.put(chromeEvent{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": device}})
	}
	l := lane{pid, qpn, n}
	tid, ok = t.lanes[l]
	if !ok {
		tid = len(t.lanes) + 1
		t.lanes[l] = tid
		t.put(chromeEvent{Name: "thread_name", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": t.name(qpn)}})
		t.put(chromeEvent{Name: "thread_sort_index", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"sort_index": int(qpn)}})
	}
	return pid, tid
}

func (t *Timeline) put(e chromeEvent) {
	if t.err != nil {
		return
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.err = err
		return
	}
	if t.n++; t.n > 1 {
		b = append([]byte(",\n"), b...)
	}
	_, t.err = t.w.Write(b)
}

// Close ends the file; it does not close the writer. Messages that are not over
// are left out.
func (t *Timeline) Close() error {
	if t.err == nil {
		_, t.err = t.w.WriteString("]}\n")
	}
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	return t.failed()
}

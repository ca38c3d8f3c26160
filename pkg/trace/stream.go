// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf/ringbuf"
)

// kinds are the tracepoints by number, as enum kind of bpf/stream.bpf.c.
var kinds = []string{
	"send_fetch", "send_wire", "send_done", "cqe", "drop", "ack_receive", "ack_timeout",
	"rnr_wait", "go_back", "qp_state", "qp_create", "qp_destroy", "mr_register", "ack_send",
	"burst", "modify_failed",
}

// recordHead is what precedes the body in struct record of bpf/stream.bpf.c.
const recordHead = 32

// An Event is what a tracepoint has told.
type Event struct {
	// Time is CLOCK_MONOTONIC.
	Time time.Duration
	// Name is the tracepoint's, without the system.
	Name string
	// PID and Comm are of who did the work, not of the queue pair's owner.
	PID  uint32
	Comm string
	// Device is up to 15 characters of the device's name.
	Device string
	// QPN is 0 for a memory region's event.
	QPN uint32

	body   []byte
	fields []field
	words  map[string]map[uint64]string
}

// Uint is a field that is a number, 0 if the event has no such field.
func (e *Event) Uint(name string) uint64 {
	for _, f := range e.fields {
		if f.name == name {
			return f.value(e.body)
		}
	}
	return 0
}

// Word is the kernel's word for the value of a field, "" if it has none.
func (e *Event) Word(name string) string { return e.words[name][e.Uint(name)] }

// Text is a field that is a string.
func (e *Event) Text(name string) string {
	for _, f := range e.fields {
		if f.name == name {
			return f.text(e.body)
		}
	}
	return ""
}

// A recordReader is a ring buffer.
type recordReader interface {
	Read() (ringbuf.Record, error)
	Flush() error
	Close() error
}

// Stream reads events as they happen.
type Stream struct {
	s      *session
	r      recordReader
	lost   func() (uint64, error)
	fields [][]field
}

// OpenStream begins to read the events named, or all if there are none.
func OpenStream(f Filter, owners []Owner, names ...string) (*Stream, error) {
	return openStream(f, owners, false, names)
}

// OpenErrors begins to read the events that Explain has words for, and qp_create.
func OpenErrors(f Filter, owners []Owner) (*Stream, error) {
	return openStream(f, owners, true, append([]string{"qp_create"}, errorEvents...))
}

func openStream(f Filter, owners []Owner, errorsOnly bool, names []string) (*Stream, error) {
	spec, err := loadStream()
	if err != nil {
		return nil, err
	}
	if errorsOnly {
		if err := spec.Variables["only_errors"].Set(uint32(1)); err != nil {
			return nil, fmt.Errorf("set the constant only_errors: %w", err)
		}
	}
	if len(names) == 0 {
		names = kinds
	}
	// A provider that is too old, or not there, has less to tell.
	provider := slices.Contains(names, "modify_failed")
	var programs []string
	for _, n := range names {
		p := "stream_" + n
		if errorsOnly && spec.Programs["nak_"+n] != nil {
			p = "nak_" + n
		}
		if spec.Programs[p] == nil {
			return nil, fmt.Errorf("softhca:%s: not an event that can be streamed", n)
		}
		programs = append(programs, p)
	}
	s, err := open(spec, f, owners, programs...)
	if err != nil {
		return nil, err
	}
	if provider {
		if err := s.attachProvider("stream_modify_failed", "modify_failed"); err != nil && !errors.Is(err, ErrNotSupported) {
			return nil, errors.Join(err, s.Close())
		}
	}
	r, err := ringbuf.NewReader(s.coll.Maps["ring"])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the ring buffer: %w", err), s.Close())
	}
	return newStream(s, r, func() (uint64, error) { return counter(s.coll, "lost") }), nil
}

func newStream(s *session, r recordReader, lost func() (uint64, error)) *Stream {
	st := &Stream{s: s, r: r, lost: lost}
	for _, k := range kinds {
		st.fields = append(st.fields, fieldsOf(k))
	}
	return st
}

// Next waits for an event. After Stop it returns what is still in the buffer, and
// then an error that is os.ErrClosed.
func (st *Stream) Next() (Event, error) {
	b, err := nextRecord(st.r, "an event")
	if err != nil {
		return Event{}, err
	}
	return st.decode(b)
}

// nextRecord waits for a record, which is what. At the end of the ring buffer the
// error is os.ErrClosed.
func nextRecord(r recordReader, what string) ([]byte, error) {
	rec, err := r.Read()
	switch {
	case errors.Is(err, ringbuf.ErrClosed), errors.Is(err, ringbuf.ErrFlushed):
		return nil, os.ErrClosed
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return rec.RawSample, nil
}

func (st *Stream) decode(b []byte) (Event, error) {
	if len(b) < recordHead {
		return Event{}, fmt.Errorf("read an event: a record of %d bytes", len(b))
	}
	kind := binary.LittleEndian.Uint32(b[8:])
	if int(kind) >= len(kinds) {
		return Event{}, fmt.Errorf("read an event: unknown kind %d", kind)
	}
	e := Event{
		Time: time.Duration(binary.LittleEndian.Uint64(b)),
		Name: kinds[kind],
		PID:  binary.LittleEndian.Uint32(b[12:]),
		Comm: cString(b[16:recordHead]),
		// The next record overwrites this one.
		body:   append([]byte(nil), b[recordHead:]...),
		fields: st.fields[kind],
		words:  st.s.formats[kinds[kind]].words,
	}
	e.Device = e.Text("dev")
	e.QPN = uint32(e.Uint("qpn"))
	return e, nil
}

// Stop detaches the programs, and lets Next return what is in the buffer and then
// end.
func (st *Stream) Stop() error { return stop(&st.s.attached, st.r) }

// stop makes an end of what programs put into a ring buffer: first they are detached,
// since its reader looks up only when it finds it empty, which never is under load.
func stop(a *attached, r recordReader) error { return errors.Join(a.detach(), r.Flush()) }

// Lost is how many events found the buffer full.
func (st *Stream) Lost() (uint64, error) { return st.lost() }

// NoRoom is as Flows.NoRoom.
func (st *Stream) NoRoom() (uint64, error) { return st.s.noRoom() }

// Close detaches the programs and frees them.
func (st *Stream) Close() error { return errors.Join(st.r.Close(), st.s.Close()) }

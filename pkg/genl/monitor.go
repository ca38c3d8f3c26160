// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mdlayher/genetlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// An EventType says what happened.
type EventType string

// Types of events.
const (
	// EventNew: a device was created.
	EventNew EventType = "new"
	// EventSet: a device's settings, name or port state changed.
	EventSet EventType = "set"
	// EventDel: a device was deleted.
	EventDel EventType = "del"
	// EventLost: the reader was too slow and the kernel dropped events. Device
	// is empty.
	EventLost EventType = "lost"
)

// An Event is a change of a device. Device is as it is after the change, or was
// before it was deleted.
type Event struct {
	Type   EventType `json:"event"`
	Device Device    `json:"dev"`
}

var eventTypes = map[uint8]EventType{
	proto.CmdDevNewNtf: EventNew,
	proto.CmdDevSetNtf: EventSet,
	proto.CmdDevDelNtf: EventDel,
}

// A Monitor receives events.
type Monitor struct {
	conn      proto.Conn
	queue     []genetlink.Message
	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error
}

// Monitor begins to listen: every change after it returns is an event.
func (c *Client) Monitor() (*Monitor, error) {
	conn, family, err := open(c.dial)
	if err != nil {
		return nil, err
	}
	for _, g := range family.Groups {
		if g.Name != proto.GroupMonitor {
			continue
		}
		if err := conn.JoinGroup(g.ID); err != nil {
			conn.Close()
			return nil, &Error{Op: "listen for changes", Err: err}
		}
		return &Monitor{conn: conn}, nil
	}
	conn.Close()
	return nil, &Error{Op: "listen for changes", Message: "the kernel module has no group for it", Err: errors.ErrUnsupported}
}

// Next waits for the next event. After Close it returns os.ErrClosed. One
// goroutine may call it.
func (m *Monitor) Next() (Event, error) {
	for {
		for len(m.queue) > 0 {
			msg := m.queue[0]
			m.queue = m.queue[1:]
			typ, ok := eventTypes[msg.Header.Command]
			if !ok {
				continue
			}
			e := Event{Type: typ}
			if err := decodeOne(msg.Data, &e.Device, decodeDevice); err != nil {
				return Event{}, &Error{Op: "listen for changes", Message: "malformed event: " + err.Error(), Err: err}
			}
			return e, nil
		}

		msgs, _, err := m.conn.Receive()
		switch {
		case m.closed.Load():
			return Event{}, os.ErrClosed
		case errors.Is(err, syscall.ENOBUFS):
			return Event{Type: EventLost}, nil
		case err != nil:
			return Event{}, &Error{Op: "listen for changes", Err: err}
		}
		m.queue = msgs
	}
}

// Close ends the monitor. It may be called from any goroutine.
func (m *Monitor) Close() error {
	m.closeOnce.Do(func() {
		m.closed.Store(true)
		m.closeErr = m.conn.Close()
	})
	return m.closeErr
}

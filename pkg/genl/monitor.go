// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"errors"
	"os"

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
	// EventCableNew: a cable was plugged in.
	EventCableNew EventType = "cable-new"
	// EventCableSet: the link of a cable came or went.
	EventCableSet EventType = "cable-set"
	// EventCableDel: a cable was pulled.
	EventCableDel EventType = "cable-del"
	// EventSwitchNew: a switch was created.
	EventSwitchNew EventType = "switch-new"
	// EventSwitchDel: a switch was deleted.
	EventSwitchDel EventType = "switch-del"
	// EventLost: the reader was too slow and the kernel dropped events. It has
	// no object.
	EventLost EventType = "lost"
)

// An Event is a change of a device, a cable or a switch, whichever is not empty.
// It is as it is after the change, or was before it was deleted.
type Event struct {
	Type   EventType `json:"event"`
	Device Device    `json:"dev"`
	Cable  *Cable    `json:"cable,omitempty"`
	Switch *Switch   `json:"switch,omitempty"`
}

var eventTypes = map[uint8]EventType{
	proto.CmdDevNewNtf:    EventNew,
	proto.CmdDevSetNtf:    EventSet,
	proto.CmdDevDelNtf:    EventDel,
	proto.CmdCableNewNtf:  EventCableNew,
	proto.CmdCableSetNtf:  EventCableSet,
	proto.CmdCableDelNtf:  EventCableDel,
	proto.CmdSwitchNewNtf: EventSwitchNew,
	proto.CmdSwitchDelNtf: EventSwitchDel,
}

func decodeEvent(typ EventType, data []byte) (e Event, err error) {
	e.Type = typ
	switch typ {
	case EventCableNew, EventCableSet, EventCableDel:
		e.Cable = &Cable{}
		err = decodeOne(data, e.Cable, decodeCable)
	case EventSwitchNew, EventSwitchDel:
		e.Switch = &Switch{}
		err = decodeOne(data, e.Switch, decodeSwitch)
	default:
		err = decodeOne(data, &e.Device, decodeDevice)
	}
	return e, err
}

// A Monitor receives events.
type Monitor struct{ subscription }

// Monitor begins to listen: every change after it returns is an event. Changes of
// cables and switches are told only to those with the privilege of AddDevice.
func (c *Client) Monitor() (*Monitor, error) {
	const op = "listen for changes"
	conn, family, err := open(c.dial)
	if err != nil {
		return nil, err
	}
	joined := false
	for _, g := range family.Groups {
		if g.Name != proto.GroupMonitor && g.Name != proto.GroupFabric {
			continue
		}
		err := conn.JoinGroup(g.ID)
		if g.Name == proto.GroupFabric && errors.Is(err, os.ErrPermission) {
			continue
		}
		if err != nil {
			conn.Close()
			return nil, &Error{Op: op, Err: err}
		}
		joined = joined || g.Name == proto.GroupMonitor
	}
	if !joined {
		conn.Close()
		return nil, &Error{Op: op, Message: "the kernel module has no group for it", Err: errors.ErrUnsupported}
	}
	return &Monitor{subscription{op: op, conn: conn}}, nil
}

// Next waits for the next event. After Close it returns os.ErrClosed. One
// goroutine may call it.
func (m *Monitor) Next() (Event, error) {
	for {
		msg, err := m.next()
		switch {
		case errors.Is(err, errOverrun):
			return Event{Type: EventLost}, nil
		case err != nil:
			return Event{}, err
		}
		typ, ok := eventTypes[msg.Header.Command]
		if !ok {
			continue
		}
		e, err := decodeEvent(typ, msg.Data)
		if err != nil {
			return Event{}, &Error{Op: m.op, Message: "malformed event: " + err.Error(), Err: err}
		}
		return e, nil
	}
}

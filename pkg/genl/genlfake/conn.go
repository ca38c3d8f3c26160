// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genlfake

import (
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

const (
	familyID     = 0x24
	monitorGroup = 0x11
	fabricGroup  = 0x12
	captureGroup = 0x13
	headerLen    = 16 + 4 // struct nlmsghdr, struct genlmsghdr
)

// A conn is a socket. Its queue holds what the kernel multicasts.
type conn struct {
	k *Kernel

	mu     sync.Mutex
	cond   *sync.Cond
	queue  []event
	closed bool
}

// An event is a notification, or the error that the socket reports instead.
type event struct {
	cmd  uint8
	data []byte
	err  error
}

var _ proto.Conn = (*conn)(nil)

func newConn(k *Kernel) *conn {
	c := &conn{k: k}
	c.cond = sync.NewCond(&c.mu)
	return c
}

func (c *conn) GetFamily(name string) (genetlink.Family, error) {
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	if c.k.absent || name != proto.FamilyName {
		return genetlink.Family{}, opError(syscall.ENOENT, "", 0)
	}
	return genetlink.Family{
		ID: familyID, Name: name, Version: proto.FamilyVersion,
		Groups: []genetlink.MulticastGroup{
			{ID: monitorGroup, Name: proto.GroupMonitor}, {ID: fabricGroup, Name: proto.GroupFabric},
			{ID: captureGroup, Name: proto.GroupCapture},
		},
	}, nil
}

func (c *conn) JoinGroup(group uint32) error {
	if group < monitorGroup || group > captureGroup {
		return opError(syscall.EINVAL, "", 0)
	}
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	if group == captureGroup && c.k.user {
		return opError(syscall.EPERM, "", 0)
	}
	c.k.monitors[c] = append(c.k.monitors[c], group)
	return nil
}

func (c *conn) Close() error {
	c.k.mu.Lock()
	delete(c.k.monitors, c)
	c.k.mu.Unlock()

	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.cond.Broadcast()
	return nil
}

func (c *conn) push(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, e)
	c.cond.Broadcast()
}

func (c *conn) Receive() ([]genetlink.Message, []netlink.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.closed {
		c.cond.Wait()
	}
	if c.closed {
		return nil, nil, net.ErrClosed
	}
	e := c.queue[0]
	c.queue = c.queue[1:]
	if e.err != nil {
		return nil, nil, &netlink.OpError{Op: "receive", Err: e.err}
	}
	return []genetlink.Message{message(e.cmd, e.data)}, []netlink.Message{{}}, nil
}

func (c *conn) Execute(m genetlink.Message, family uint16, flags netlink.HeaderFlags) ([]genetlink.Message, error) {
	k := c.k
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.absent || family != familyID {
		return nil, opError(syscall.ENOENT, "", 0)
	}

	r, err := k.parse(m, flags)
	if err != nil {
		return nil, err
	}
	var replies [][]byte
	switch m.Header.Command {
	case proto.CmdDevGet:
		replies, err = k.devGet(r)
	case proto.CmdDevNew:
		err = k.devNew(r)
	case proto.CmdDevDel:
		err = k.devDel(r)
	case proto.CmdDevSet:
		err = k.devSet(r)
	case proto.CmdQPGet:
		replies, err = k.qpGet(r)
	case proto.CmdStatsGet:
		replies, err = k.statsGet(r)
	case proto.CmdSwitchGet:
		replies, err = k.switchGet(r)
	case proto.CmdSwitchNew:
		err = k.switchNew(r)
	case proto.CmdSwitchDel:
		err = k.switchDel(r)
	case proto.CmdCableGet:
		replies = k.cableGet(r)
	case proto.CmdCableNew:
		err = k.cableNew(r)
	case proto.CmdCableDel:
		err = k.cableDel(r)
	}
	if err != nil {
		if op, ok := err.(*netlink.OpError); ok && r.dump {
			op.Offset = 0 // As in Linux 6.1.
		}
		return nil, err
	}
	var msgs []genetlink.Message
	for _, data := range replies {
		msgs = append(msgs, message(m.Header.Command, data))
	}
	return msgs, nil
}

func message(cmd uint8, data []byte) genetlink.Message {
	return genetlink.Message{Header: genetlink.Header{Command: cmd, Version: proto.FamilyVersion}, Data: data}
}

// A req is a request that the policy of its operation accepted.
type req struct {
	attrs  []proto.Attr
	dump   bool
	str    map[uint16]string
	u32    map[uint16]uint32
	u64    map[uint16]uint64
	offset map[uint16]int
}

// parse does what the kernel's generic netlink and its policies do, in the same order.
func (k *Kernel) parse(m genetlink.Message, flags netlink.HeaderFlags) (*req, error) {
	op, ok := proto.Requests[m.Header.Command]
	if !ok {
		return nil, opError(syscall.EOPNOTSUPP, "", 0)
	}
	if op.Admin && k.user {
		return nil, opError(syscall.EPERM, "", 0)
	}
	r := &req{
		attrs: op.Attrs, dump: flags&netlink.Dump == netlink.Dump,
		str: make(map[uint16]string), u32: make(map[uint16]uint32), u64: make(map[uint16]uint64), offset: make(map[uint16]int),
	}
	allowed := op.Do
	if r.dump {
		allowed = op.Dump
	}
	if allowed == nil {
		return nil, opError(syscall.EOPNOTSUPP, "", 0)
	}

	for data, off := m.Data, 0; off+4 <= len(data); {
		length := int(binary.NativeEndian.Uint16(data[off:]))
		typ := binary.NativeEndian.Uint16(data[off+2:])
		if length < 4 || off+length > len(data) {
			return nil, opError(syscall.EINVAL, "malformed attribute", headerLen+off)
		}
		value := data[off+4 : off+length]
		r.offset[typ] = headerLen + off
		if !slices.Contains(allowed, typ) {
			return nil, r.refuse(syscall.EINVAL, typ, "Unsupported attribute")
		}
		if err := r.accept(typ, value); err != nil {
			return nil, err
		}
		off += (length + 3) &^ 3
	}
	return r, nil
}

func (r *req) accept(typ uint16, value []byte) error {
	a := r.attrs[typ]
	switch a.Type {
	case "string":
		n := len(value) - 1
		if n < 0 || value[n] != 0 || n > a.MaxLen || slices.Contains(value[:n], 0) {
			return r.refuse(syscall.ERANGE, typ, "Attribute failed policy validation")
		}
		r.str[typ] = string(value[:n])
	case "u32":
		if len(value) != 4 {
			return r.refuse(syscall.ERANGE, typ, "Attribute failed policy validation")
		}
		v := binary.NativeEndian.Uint32(value)
		if uint64(v) < a.Min || a.Max != 0 && uint64(v) > a.Max {
			return r.refuse(syscall.ERANGE, typ, "integer out of range")
		}
		r.u32[typ] = v
	case "u64":
		if len(value) != 8 {
			return r.refuse(syscall.ERANGE, typ, "Attribute failed policy validation")
		}
		r.u64[typ] = binary.NativeEndian.Uint64(value)
	default:
		panic(fmt.Sprintf("genlfake: cannot accept a %s", a.Type))
	}
	return nil
}

func (r *req) needString(typ uint16) (string, error) {
	s, ok := r.str[typ]
	if !ok {
		return "", r.refuse(syscall.EINVAL, 0, "the request lacks "+r.attrs[typ].Name)
	}
	return s, nil
}

// refuse makes the kernel's refusal of an attribute, or of the whole request if
// attr is 0.
func (r *req) refuse(errno syscall.Errno, attr uint16, msg string) error {
	return opError(errno, msg, r.offset[attr])
}

func opError(errno syscall.Errno, msg string, offset int) error {
	return &netlink.OpError{Op: "receive", Err: errno, Message: msg, Offset: offset}
}

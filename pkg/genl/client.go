// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"errors"
	"os"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A Client talks to the kernel module. It is safe for concurrent use.
type Client struct {
	dial   func() (proto.Conn, error)
	conn   proto.Conn
	family genetlink.Family
}

// New connects to the kernel module of the caller's network namespace.
//
// Asking for the family by name makes the kernel load the module, if it is
// installed; the caller needs no privilege for that. When the family is still
// absent afterwards, errors.Is(err, ErrNotLoaded).
func New() (*Client, error) { return newClient(dial) }

func init() {
	proto.NewClient = func(dial func() (proto.Conn, error)) (any, error) {
		return newClient(dial)
	}
}

func newClient(dial func() (proto.Conn, error)) (*Client, error) {
	conn, family, err := open(dial)
	if err != nil {
		return nil, err
	}
	return &Client{dial: dial, conn: conn, family: family}, nil
}

func open(dial func() (proto.Conn, error)) (proto.Conn, genetlink.Family, error) {
	conn, err := dial()
	if err != nil {
		return nil, genetlink.Family{}, &Error{Op: "connect to the kernel", Err: err}
	}
	family, err := conn.GetFamily(proto.FamilyName)
	if err != nil {
		conn.Close()
		if errors.Is(err, os.ErrNotExist) {
			err = ErrNotLoaded
		}
		return nil, genetlink.Family{}, &Error{Op: "connect to the kernel", Err: err}
	}
	return conn, family, nil
}

// Close closes the connection. A Monitor stays open.
func (c *Client) Close() error { return c.conn.Close() }

// Ways to call an operation. A reply is not acknowledged besides: the kernel
// would send the acknowledgement as a datagram of its own, which would then be
// taken for the answer to the next request.
const (
	flagsGet  = netlink.Request
	flagsDump = netlink.Request | netlink.Dump
	flagsSet  = netlink.Request | netlink.Acknowledge
)

// A request is one operation on one object.
type request struct {
	op, object string
	cmd        uint8
	flags      netlink.HeaderFlags
	encode     func(*netlink.AttributeEncoder)
}

// execute is where requests are sent and errors become those of this package.
func (c *Client) execute(r request) ([]genetlink.Message, error) {
	ae := netlink.NewAttributeEncoder()
	if r.encode != nil {
		r.encode(ae)
	}
	data, err := ae.Encode()
	if err != nil {
		return nil, &Error{Op: r.op, Object: r.object, Err: err}
	}

	msgs, err := c.conn.Execute(genetlink.Message{
		Header: genetlink.Header{Command: r.cmd, Version: proto.FamilyVersion},
		Data:   data,
	}, c.family.ID, r.flags)
	if err != nil {
		return nil, newError(r, data, err)
	}
	return msgs, nil
}

// decodeAll turns replies into values. Attributes that decode does not know are
// skipped, so an older client understands a newer kernel.
func decodeAll[T any](r request, msgs []genetlink.Message, decode func(*netlink.AttributeDecoder, *T)) ([]T, error) {
	list := make([]T, 0, len(msgs))
	for _, m := range msgs {
		var v T
		if err := decodeOne(m.Data, &v, decode); err != nil {
			return nil, &Error{Op: r.op, Object: r.object, Message: "malformed reply: " + err.Error(), Err: err}
		}
		list = append(list, v)
	}
	return list, nil
}

func decodeOne[T any](data []byte, v *T, decode func(*netlink.AttributeDecoder, *T)) error {
	ad, err := netlink.NewAttributeDecoder(data)
	if err != nil {
		return err
	}
	for ad.Next() {
		decode(ad, v)
	}
	return ad.Err()
}

// get executes a request whose answer is a single message.
func get[T any](c *Client, r request, decode func(*netlink.AttributeDecoder, *T)) (T, error) {
	var zero T
	msgs, err := c.execute(r)
	if err != nil {
		return zero, err
	}
	list, err := decodeAll(r, msgs, decode)
	if err != nil {
		return zero, err
	}
	if len(list) != 1 {
		return zero, &Error{Op: r.op, Object: r.object, Err: errNoReply}
	}
	return list[0], nil
}

// dump executes a request whose answer is a list.
func dump[T any](c *Client, r request, decode func(*netlink.AttributeDecoder, *T)) ([]T, error) {
	msgs, err := c.execute(r)
	if err != nil {
		return nil, err
	}
	return decodeAll(r, msgs, decode)
}

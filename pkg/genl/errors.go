// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// ErrNotLoaded means that the kernel has no softhca family.
var ErrNotLoaded = errors.New("the softhca kernel module is not loaded; run: modprobe softhca")

var errNoReply = errors.New("the kernel sent no reply")

// An Error is an operation that failed.
type Error struct {
	// Op says what was tried: "add device".
	Op string
	// Object is the name of what it was tried on, or "".
	Object string
	// Attr is the protocol's name of the attribute that is to blame, or "".
	Attr string
	// Message is a sentence about what was wrong, or "".
	Message string
	// Err is the cause: for a refusal by the kernel, its error number.
	Err error
}

// Error names the operation, the object and the reason.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Object != "" {
		b.WriteString(" " + e.Object)
	}
	b.WriteString(": ")
	if e.Message != "" {
		b.WriteString(e.Message)
	} else {
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is makes the kernel's "no such device" match os.ErrNotExist.
func (e *Error) Is(target error) bool {
	return target == os.ErrNotExist && errors.Is(e.Err, syscall.ENODEV)
}

// newError is the only place that reads the kernel's errors. data is the
// request's attributes.
func newError(r request, data []byte, err error) *Error {
	e := &Error{Op: r.op, Object: r.object, Err: err}

	var op *netlink.OpError
	if errors.As(err, &op) {
		e.Message = op.Message
		if attr, ok := attrAt(r.cmd, data, op.Offset); ok {
			e.Attr = attr.Name
			if isPolicyMessage(op.Message) && attr.Limits != "" {
				e.Message = attr.Name + " must be " + attr.Limits
			} else if isPolicyMessage(op.Message) {
				e.Message = attr.Name + ": " + op.Message
			}
		}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		e.Err = errno
		// At the end of a dump, 6.1 sends the sentence without the attribute.
		if attr, ok := attrAt(r.cmd, data, headerLen); ok && e.Attr == "" && errno == syscall.ENODEV {
			e.Attr = attr.Name
		}
		if errno == syscall.EPERM && e.Message == "" {
			e.Message = "not permitted; this needs CAP_NET_ADMIN in the initial user namespace, so run it as root"
		}
	}
	return e
}

// headerLen is where a request's attributes begin, behind struct nlmsghdr and
// struct genlmsghdr.
const headerLen = 16 + 4

// attrAt finds the attribute to which the offset in an extended
// acknowledgement points.
func attrAt(cmd uint8, data []byte, offset int) (proto.Attr, bool) {
	attrs := proto.Requests[cmd].Attrs

	offset -= headerLen
	if offset < 0 || offset+4 > len(data) {
		return proto.Attr{}, false
	}
	n := int(binary.NativeEndian.Uint16(data[offset+2:]) & 0x3fff)
	if n >= len(attrs) || attrs[n].Name == "" {
		return proto.Attr{}, false
	}
	return attrs[n], true
}

// isPolicyMessage recognises what lib/nlattr.c says about every attribute
// alike. Refusals by the module itself are left as they are.
func isPolicyMessage(msg string) bool {
	switch msg {
	case "integer out of range", "Attribute failed policy validation", "Unsupported attribute",
		"Unknown attribute type", "Attribute is unsupported":
		return true
	}
	return false
}

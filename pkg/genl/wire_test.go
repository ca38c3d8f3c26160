// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/genetlink/genltest"
	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nlenc"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// These tests put a real netlink connection under the client: headers, flags,
// and the bytes of an extended acknowledgement.

var family = genetlink.Family{
	ID: 0x24, Name: proto.FamilyName, Version: proto.FamilyVersion,
	Groups: []genetlink.MulticastGroup{{ID: 1, Name: proto.GroupMonitor}},
}

func client(t *testing.T, fn genltest.Func) *Client {
	t.Helper()
	c, err := newClient(func() (proto.Conn, error) {
		return genltest.Dial(genltest.ServeFamily(family, fn)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestRequestHeaders(t *testing.T) {
	const (
		do   = netlink.Request
		dump = netlink.Request | netlink.Dump
		ack  = netlink.Request | netlink.Acknowledge
	)
	v := uint32(1)
	for _, tt := range []struct {
		name  string
		cmd   uint8
		flags netlink.HeaderFlags
		attrs []uint16
		call  func(*Client)
	}{
		{"Devices", proto.CmdDevGet, dump, nil, func(c *Client) { _, _ = c.Devices() }},
		{"Device", proto.CmdDevGet, do, []uint16{proto.DevName}, func(c *Client) { _, _ = c.Device("x") }},
		{"AddDevice", proto.CmdDevNew, ack, []uint16{proto.DevName, proto.DevNetdevName, proto.DevLink}, func(c *Client) { _ = c.AddDevice(DeviceConfig{Name: "x"}) }},
		{"AddDevice with a native port", proto.CmdDevNew, ack, []uint16{proto.DevName, proto.DevLink, proto.DevNodeGUID}, func(c *Client) { _ = c.AddDevice(DeviceConfig{Name: "x", Link: LinkIB, GUID: 1}) }},
		{"Cables", proto.CmdCableGet, dump, nil, func(c *Client) { _, _ = c.Cables() }},
		{"AddCable", proto.CmdCableNew, ack, []uint16{proto.CableNode, proto.CablePort, proto.CablePeerNode, proto.CablePeerPort}, func(c *Client) { _ = c.AddCable(Port{"x", 1}, Port{"y", 2}) }},
		{"AddRemoteCable", proto.CmdCableNew, ack, []uint16{proto.CableNode, proto.CablePort, proto.CableRemote, proto.CableID}, func(c *Client) { _ = c.AddRemoteCable(Port{"x", 1}, Remote{ID: 1}) }},
		{"DeleteCable", proto.CmdCableDel, ack, []uint16{proto.CableNode, proto.CablePort}, func(c *Client) { _ = c.DeleteCable(Port{"x", 1}) }},
		{"Switches", proto.CmdSwitchGet, dump, nil, func(c *Client) { _, _ = c.Switches() }},
		{"Switch", proto.CmdSwitchGet, do, []uint16{proto.SwitchName}, func(c *Client) { _, _ = c.Switch("x") }},
		{"AddSwitch", proto.CmdSwitchNew, ack, []uint16{proto.SwitchName, proto.SwitchPorts, proto.SwitchGUID}, func(c *Client) { _ = c.AddSwitch(SwitchConfig{"x", 2, 1}) }},
		{"DeleteSwitch", proto.CmdSwitchDel, ack, []uint16{proto.SwitchName}, func(c *Client) { _ = c.DeleteSwitch("x") }},
		{"DeleteDevice", proto.CmdDevDel, ack, []uint16{proto.DevName}, func(c *Client) { _ = c.DeleteDevice("x") }},
		{"SetDevice", proto.CmdDevSet, ack, []uint16{proto.DevName, proto.DevWindow, proto.DevBurst}, func(c *Client) { _ = c.SetDevice("x", Settings{&v, &v}) }},
		{"QPs", proto.CmdQPGet, dump, nil, func(c *Client) { _, _ = c.QPs(QPFilter{}) }},
		{"QPs of a device", proto.CmdQPGet, dump, []uint16{proto.QPDev}, func(c *Client) { _, _ = c.QPs(QPFilter{Device: "x"}) }},
		{"QP", proto.CmdQPGet, do, []uint16{proto.QPDev, proto.QPQPN}, func(c *Client) { _, _ = c.QP("x", 1) }},
		{"Stats of all", proto.CmdStatsGet, dump, nil, func(c *Client) { _, _ = c.Stats("") }},
		{"Stats", proto.CmdStatsGet, do, []uint16{proto.StatsDev}, func(c *Client) { _, _ = c.Stats("x") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			called := false
			check := genltest.CheckRequest(family.ID, tt.cmd, tt.flags, func(m genetlink.Message, _ netlink.Message) ([]genetlink.Message, error) {
				called = true
				ad, err := netlink.NewAttributeDecoder(m.Data)
				if err != nil {
					return nil, err
				}
				var got []uint16
				for ad.Next() {
					got = append(got, ad.Type())
				}
				if len(got) != len(tt.attrs) {
					t.Errorf("attributes %v, want %v", got, tt.attrs)
				}
				for i := range min(len(got), len(tt.attrs)) {
					if got[i] != tt.attrs[i] {
						t.Errorf("attributes %v, want %v", got, tt.attrs)
					}
				}
				return []genetlink.Message{{Header: m.Header}}, nil
			})
			tt.call(client(t, func(m genetlink.Message, n netlink.Message) ([]genetlink.Message, error) {
				msgs, err := check(m, n)
				if err != nil && !called {
					t.Error(err)
				}
				return msgs, err
			}))
			if !called {
				t.Error("no such request was sent")
			}
		})
	}
}

func TestErrno(t *testing.T) {
	for _, tt := range []struct {
		errno syscall.Errno
		is    error
		want  string
	}{
		{syscall.ENOENT, os.ErrNotExist, "no such file"},
		{syscall.ENODEV, os.ErrNotExist, "no such device"},
		{syscall.EEXIST, os.ErrExist, "exists"},
		{syscall.EPERM, os.ErrPermission, "CAP_NET_ADMIN"},
		{syscall.EACCES, os.ErrPermission, "denied"},
		{syscall.EOPNOTSUPP, errors.ErrUnsupported, "not supported"},
		{syscall.ENOMEM, syscall.ENOMEM, "memory"},
	} {
		c := client(t, func(genetlink.Message, netlink.Message) ([]genetlink.Message, error) {
			return nil, genltest.Error(int(tt.errno))
		})
		err := c.DeleteDevice("shca0")
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "delete device shca0: ") {
			t.Errorf("%d: got %v", tt.errno, err)
		}
	}
}

func TestAttrAt(t *testing.T) {
	ae := netlink.NewAttributeEncoder()
	ae.String(proto.DevName, "shca0") // 4 + 6, padded to 12.
	ae.Uint32(proto.DevWindow, 5)
	ae.Uint32(77, 5)
	data, err := ae.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		offset int
		want   string
	}{
		{0, ""}, {19, ""}, {20, "name"}, {32, "window"}, {40, ""}, {20 + len(data), ""}, {1 << 30, ""},
	} {
		a, ok := attrAt(proto.CmdDevSet, data, tt.offset)
		if a.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("attribute at %d is %q, want %q", tt.offset, a.Name, tt.want)
		}
	}
}

func TestExtendedAcknowledgement(t *testing.T) {
	for _, tt := range []struct{ kernel, want string }{
		{"integer out of range", "set device shca0: window must be 1 to 1024"},
		{"the window is broken", "set device shca0: the window is broken"},
	} {
		v := uint32(5000)
		c := client(t, nil)
		c.conn = refuser{&netlink.OpError{Op: "receive", Err: syscall.ERANGE, Message: tt.kernel, Offset: 32}}
		err := c.SetDevice("shca0", Settings{Window: &v})
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// A refuser is a connection on which every request fails.
type refuser struct{ err error }

func (r refuser) GetFamily(string) (genetlink.Family, error) { return family, nil }
func (r refuser) JoinGroup(uint32) error                     { return r.err }
func (r refuser) Close() error                               { return nil }
func (r refuser) Execute(genetlink.Message, uint16, netlink.HeaderFlags) ([]genetlink.Message, error) {
	return nil, r.err
}
func (r refuser) Receive() ([]genetlink.Message, []netlink.Message, error) { return nil, nil, r.err }

func TestMalformedReplies(t *testing.T) {
	attr := func(typ uint16, data ...byte) []byte {
		b, err := netlink.MarshalAttributes([]netlink.Attribute{{Type: typ, Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	nested := attr(proto.StatsStat|netlink.Nested, attr(proto.StatValue, 1, 2, 3)...)
	for name, tt := range map[string]struct {
		data []byte
		call func(*Client) error
	}{
		"short u32":     {attr(proto.DevIndex, 1, 2), func(c *Client) error { _, err := c.Device("x"); return err }},
		"short u64":     {attr(proto.QPTXBytes, 1, 2, 3, 4), func(c *Client) error { _, err := c.QP("x", 1); return err }},
		"short GID":     {attr(proto.QPSGID, 1, 2), func(c *Client) error { _, err := c.QP("x", 1); return err }},
		"short counter": {nested, func(c *Client) error { _, err := c.Stats("x"); return err }},
		"torn":          {[]byte{200, 0, 1, 0, 1, 2, 3, 4}, func(c *Client) error { _, err := c.Devices(); return err }},
	} {
		c := client(t, func(m genetlink.Message, _ netlink.Message) ([]genetlink.Message, error) {
			return []genetlink.Message{{Header: m.Header, Data: tt.data}}, nil
		})
		if err := tt.call(c); err == nil || !strings.Contains(err.Error(), "malformed reply") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNewerKernel: attributes and events of a later version do not disturb.
func TestNewerKernel(t *testing.T) {
	data, err := netlink.MarshalAttributes([]netlink.Attribute{
		{Type: 999, Data: []byte{1}},
		{Type: proto.DevName, Data: nlenc.Bytes("shca0")},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, func(m genetlink.Message, _ netlink.Message) ([]genetlink.Message, error) {
		return []genetlink.Message{{Header: m.Header, Data: data}}, nil
	})
	if d, err := c.Device("shca0"); err != nil || d.Name != "shca0" {
		t.Errorf("got %+v, %v", d, err)
	}

	m := &Monitor{subscription{conn: refuser{net.ErrClosed}, queue: []genetlink.Message{
		{Header: genetlink.Header{Command: 200}},
		{Header: genetlink.Header{Command: proto.CmdDevSetNtf}, Data: data},
	}}}
	if e, err := m.Next(); err != nil || e.Type != EventSet || e.Device.Name != "shca0" {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestNoGroup(t *testing.T) {
	c := client(t, nil)
	c.dial = func() (proto.Conn, error) { return refuser{syscall.EACCES}, nil }
	if _, err := c.Monitor(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a group that cannot be joined: %v", err)
	}
}

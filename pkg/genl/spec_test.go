// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/internal/nlgen"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A policy checks only what a process sends. So this checks what a kernel
// sends, the fake one here and the real one in the lab: every attribute of every
// reply and notification against its type in the spec.

// checkMessage compares a message with the spec.
func checkMessage(spec *nlgen.Spec, cmd uint8, data []byte) error {
	var op *nlgen.Op
	for _, o := range spec.Operations.List {
		if o.Value == int(cmd) {
			op = o
		}
	}
	if op == nil {
		return fmt.Errorf("command %d is not in the spec", cmd)
	}
	name := op.Name
	if op.Event != nil {
		return checkAttrs(spec, spec.Set(op.Set), op.Event.Attributes, data)
	}
	if op.Notify != "" {
		op = spec.Op(op.Notify)
	}
	if op.Do == nil || op.Do.Reply == nil {
		return fmt.Errorf("%s has no reply", name)
	}
	mode := op.Do
	if mode == nil {
		mode = op.Dump
	}
	if err := checkAttrs(spec, spec.Set(op.Set), mode.Reply.Attributes, data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func checkAttrs(spec *nlgen.Spec, set *nlgen.AttrSet, allowed []string, data []byte) error {
	attrs, err := netlink.UnmarshalAttributes(data)
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, a := range attrs {
		n := int(a.Type &^ netlink.Nested)
		if n < 1 || n > len(set.Attrs) {
			return fmt.Errorf("attribute %d is not in set %s", n, set.Name)
		}
		def := set.Attrs[n-1]
		if def.Type == "pad" {
			continue
		}
		bad := func(format string, v ...any) error {
			return fmt.Errorf("%s %s: %s", set.Name, def.Name, fmt.Sprintf(format, v...))
		}
		if allowed != nil && !slices.Contains(allowed, def.Name) {
			return bad("not in the list of the reply")
		}
		if seen[def.Name] && !def.Multi {
			return bad("twice")
		}
		seen[def.Name] = true

		num := func(check string) int {
			v, err := spec.Number(check)
			if err != nil {
				return -1
			}
			return v
		}
		switch def.Type {
		case "u32":
			if len(a.Data) != 4 {
				return bad("u32 of %d bytes", len(a.Data))
			}
			v := int(binary.NativeEndian.Uint32(a.Data))
			if def.Enum != "" && v > spec.Def(def.Enum).Max() {
				return bad("%d is not in enum %s", v, def.Enum)
			}
			if low, top := num(def.Checks.Min), num(def.Checks.Max); low >= 0 && v < low || top >= 0 && v > top {
				return bad("%d is out of range", v)
			}
		case "u64":
			if len(a.Data) != 8 {
				return bad("u64 of %d bytes", len(a.Data))
			}
		case "string":
			n := len(a.Data) - 1
			if n < 0 || a.Data[n] != 0 || slices.Contains(a.Data[:n], 0) || !utf8.Valid(a.Data[:n]) {
				return bad("not a string: %q", a.Data)
			}
			if top := num(def.Checks.MaxLen); top >= 0 && n > top {
				return bad("%d bytes long", n)
			}
		case "binary":
			if want := num(def.Checks.ExactLen); want >= 0 && len(a.Data) != want {
				return bad("%d bytes, not %d", len(a.Data), want)
			}
		case "nest":
			if a.Type&netlink.Nested == 0 {
				return bad("not marked as a nest")
			}
			if err := checkAttrs(spec, spec.Set(def.Nested), nil, a.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// A checkedConn checks everything that passes it.
type checkedConn struct {
	proto.Conn
	t    *testing.T
	spec *nlgen.Spec
	seen map[uint8]int
}

func (c checkedConn) check(msgs []genetlink.Message) {
	for _, m := range msgs {
		c.seen[m.Header.Command]++
		if len(m.Data) == 0 {
			continue // The acknowledgement of a change.
		}
		if err := checkMessage(c.spec, m.Header.Command, m.Data); err != nil {
			c.t.Error(err)
		}
	}
}

func (c checkedConn) Execute(m genetlink.Message, family uint16, flags netlink.HeaderFlags) ([]genetlink.Message, error) {
	msgs, err := c.Conn.Execute(m, family, flags)
	if flags&netlink.Acknowledge == 0 {
		c.check(msgs)
	}
	return msgs, err
}

func (c checkedConn) Receive() ([]genetlink.Message, []netlink.Message, error) {
	msgs, raw, err := c.Conn.Receive()
	c.check(msgs)
	return msgs, raw, err
}

// Checked wraps the connections of a client, for the tests of the fake kernel
// and of the real one.
func Checked(t *testing.T, dial func() (proto.Conn, error)) (c *Client, seen map[uint8]int) {
	t.Helper()
	spec, err := nlgen.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen = make(map[uint8]int)
	c, err = newClient(func() (proto.Conn, error) {
		conn, err := dial()
		return checkedConn{conn, t, spec, seen}, err
	})
	if errors.Is(err, ErrNotLoaded) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, seen
}

// TestIntegrationSpec reads everything that the kernel of this machine has to
// say, and with SOFTHCA_TEST_NETDEV also creates, changes and deletes a device
// over that network interface.
func TestIntegrationSpec(t *testing.T) {
	c, seen := Checked(t, dial)
	ReadAll(t, c)

	netdev := os.Getenv("SOFTHCA_TEST_NETDEV")
	if netdev == "" {
		t.Log("SOFTHCA_TEST_NETDEV is not set: nothing is changed")
		return
	}
	Exercise(t, c, netdev)
	for cmd := uint8(proto.CmdDevNewNtf); cmd <= proto.CmdDevDelNtf; cmd++ {
		if seen[cmd] == 0 {
			t.Errorf("no notification %d", cmd)
		}
	}
}

// ReadAll asks for everything that can be read.
func ReadAll(t *testing.T, c *Client) {
	t.Helper()
	devs, err := c.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devs {
		if _, err := c.Device(d.Name); err != nil {
			t.Error(err)
		}
		if _, err := c.Stats(d.Name); err != nil {
			t.Error(err)
		}
		qps, err := c.QPs(QPFilter{Device: d.Name})
		if err != nil {
			t.Error(err)
		}
		for _, q := range qps {
			if _, err := c.QP(d.Name, q.QPN); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		}
	}
	if _, err := c.QPs(QPFilter{}); err != nil {
		t.Error(err)
	}
	if _, err := c.Stats(""); err != nil {
		t.Error(err)
	}
}

// Exercise makes every change over a network interface without a device.
func Exercise(t *testing.T, c *Client, netdev string) {
	t.Helper()
	const name = "shcatest"
	m, err := c.Monitor()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()

	if err := c.AddDevice(DeviceConfig{Name: name, Netdev: netdev}); err != nil {
		t.Fatal(err)
	}
	d, err := c.Device(name)
	if err != nil || d.Netdev != netdev || d.Window != WindowDefault || d.Burst != BurstDefault {
		t.Errorf("a new device is %+v, %v", d, err)
	}
	window, burst := uint32(9), uint32(3)
	if err := c.SetDevice(name, Settings{&window, &burst}); err != nil {
		t.Error(err)
	}
	if d, err = c.Device(name); err != nil || d.Window != window || d.Burst != burst {
		t.Errorf("a changed device is %+v, %v", d, err)
	}
	ReadAll(t, c)
	if err := c.AddDevice(DeviceConfig{Name: name, Netdev: netdev}); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("over the same interface: %v", err)
	}
	if err := c.AddDevice(DeviceConfig{Name: name + "2", Netdev: "nosuchdev"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("over nothing: %v", err)
	}
	window = WindowMax + 1
	if err := c.SetDevice(name, Settings{Window: &window}); err == nil {
		t.Error("a window beyond the limit")
	}
	if err := c.DeleteDevice(name); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Device(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after deletion: %v", err)
	}

	// There may be others between: the port may come up late.
	want := []EventType{EventNew, EventSet, EventDel}
	for len(want) > 0 {
		e, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Device.Name == name && e.Type == want[0] {
			want = want[1:]
		} else if e.Type != EventSet {
			t.Errorf("event %+v, want %s", e, want[0])
		}
	}
}

func TestCheckMessage(t *testing.T) {
	spec, err := nlgen.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	one := func(typ uint16, data ...byte) []byte {
		b, err := netlink.MarshalAttributes([]netlink.Attribute{{Type: typ, Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, tt := range map[string]struct {
		cmd  uint8
		data []byte
	}{
		"unknown command":     {99, nil},
		"no reply":            {proto.CmdDevDel, nil},
		"unknown attribute":   {proto.CmdDevGet, one(99, 1)},
		"u16 for u32":         {proto.CmdDevNewNtf, one(proto.DevIndex, 1, 2)},
		"beyond the enum":     {proto.CmdQPGet, one(proto.QPState, 99, 0, 0, 0)},
		"out of range":        {proto.CmdDevGet, one(proto.DevWindow, 0, 0, 0, 0)},
		"string without NUL":  {proto.CmdDevGet, one(proto.DevName, 'x')},
		"string too long":     {proto.CmdQPGet, one(proto.QPComm, append(make([]byte, 0), "0123456789abcdef\x00"...)...)},
		"GID too short":       {proto.CmdQPGet, one(proto.QPSGID, 1, 2)},
		"nest without a mark": {proto.CmdStatsGet, one(proto.StatsStat)},
		"bad in a nest":       {proto.CmdStatsGet, one(proto.StatsStat|netlink.Nested, one(proto.StatValue, 1)...)},
		"twice":               {proto.CmdDevGet, append(one(proto.DevIndex, 0, 0, 0, 0), one(proto.DevIndex, 0, 0, 0, 0)...)},
	} {
		if err := checkMessage(spec, tt.cmd, tt.data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

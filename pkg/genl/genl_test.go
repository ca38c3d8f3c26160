// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/genlfake"
)

func ptr[T any](v T) *T { return &v }

func connect(t *testing.T, k *genlfake.Kernel) *genl.Client {
	t.Helper()
	c, err := k.Client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func addDevice(t *testing.T, c *genl.Client, name, netdev string) {
	t.Helper()
	if err := c.AddDevice(genl.DeviceConfig{Name: name, Netdev: netdev}); err != nil {
		t.Fatal(err)
	}
}

func TestDevices(t *testing.T) {
	c := connect(t, genlfake.New("eth0", "eth1"))

	if devs, err := c.Devices(); err != nil || len(devs) != 0 {
		t.Fatalf("devices of a new kernel: %v, %v", devs, err)
	}
	addDevice(t, c, "shca0", "eth0")
	addDevice(t, c, "shca1", "eth1")
	if err := c.SetDevice("shca1", genl.Settings{Window: ptr(uint32(7))}); err != nil {
		t.Fatal(err)
	}

	want := []genl.Device{
		{
			Name: "shca0", Index: 0, Link: genl.LinkRoCE, Netdev: "eth0", NetdevIndex: 2,
			NetnsInode: 4026531840, PortState: genl.PortStateActive, ActiveMTU: 1024,
			NodeGUID: 0x020000fffe000002, Window: genl.WindowDefault, Burst: genl.BurstDefault,
		},
		{
			Name: "shca1", Index: 1, Link: genl.LinkRoCE, Netdev: "eth1", NetdevIndex: 3,
			NetnsInode: 4026531840, PortState: genl.PortStateActive, ActiveMTU: 1024,
			NodeGUID: 0x020000fffe000003, Window: 7, Burst: genl.BurstDefault,
		},
	}
	devs, err := c.Devices()
	if diff := cmp.Diff(want, devs); err != nil || diff != "" {
		t.Errorf("Devices: %v\n%s", err, diff)
	}
	dev, err := c.Device("shca1")
	if diff := cmp.Diff(want[1], dev); err != nil || diff != "" {
		t.Errorf("Device: %v\n%s", err, diff)
	}

	if err := c.DeleteDevice("shca0"); err != nil {
		t.Fatal(err)
	}
	if devs, err := c.Devices(); err != nil || len(devs) != 1 || devs[0].Name != "shca1" {
		t.Errorf("after deletion: %v, %v", devs, err)
	}
}

func TestRefusals(t *testing.T) {
	k := genlfake.New("eth0", "eth1")
	c := connect(t, k)
	addDevice(t, c, "shca0", "eth0")

	add := func(name, netdev string, link genl.Link) func() error {
		return func() error {
			return c.AddDevice(genl.DeviceConfig{Name: name, Netdev: netdev, Link: link})
		}
	}
	set := func(s genl.Settings) func() error {
		return func() error { return c.SetDevice("shca0", s) }
	}
	for _, tt := range []struct {
		name string
		call func() error
		is   error
		attr string
		want string
	}{
		{"name taken", add("shca0", "eth1", 0), os.ErrExist, "name", "add device shca0: the name is taken: there is an RDMA device shca0 already"},
		{"interface taken", add("shca1", "eth0", 0), syscall.EBUSY, "netdev-name", "add device shca1: eth0 is in use by the device shca0 already"},
		{"no interface", add("shca1", "eth9", 0), os.ErrNotExist, "netdev-name", "add device shca1: there is no network interface of this name in your network namespace"},
		{"bad name", add("a/b", "eth1", 0), nil, "name", "add device a/b: the name may consist of printable ASCII characters"},
		{"long name", add(strings.Repeat("x", 64), "eth1", 0), nil, "name", "name must be at most 63 bytes"},
		{"long interface", add("shca1", strings.Repeat("x", 16), 0), nil, "netdev-name", "netdev-name must be at most 15 bytes"},
		{"cable into RoCE", func() error {
			return c.AddCable(genl.Port{Node: "shca0", Number: 1}, genl.Port{Node: "shca0", Number: 1})
		}, errors.ErrUnsupported, "node", "add cable shca0/1 to shca0/1: this device speaks RoCE"},
		{"link unknown", add("shca1", "eth1", 9), nil, "link", "link must be one of roce, ib"},
		{"no device", func() error { return c.DeleteDevice("shca9") }, os.ErrNotExist, "name", "delete device shca9: there is no softhca device of this name"},
		{"show no device", func() error { _, err := c.Device("shca9"); return err }, os.ErrNotExist, "name", "show device shca9: there is no softhca device of this name"},
		{"nothing to set", set(genl.Settings{}), nil, "", "set device shca0: the request names nothing to set"},
		{"window 0", set(genl.Settings{Window: ptr(uint32(0))}), nil, "window", "set device shca0: window must be 1 to 1024"},
		{"burst 33", set(genl.Settings{Burst: ptr(uint32(33))}), nil, "burst", "set device shca0: burst must be 1 to 32"},
		{"no queue pair", func() error { _, err := c.QP("shca0", 5); return err }, os.ErrNotExist, "qpn", "show queue pair shca0/5: the device has no queue pair of this number"},
		{"queue pairs of no device", func() error { _, err := c.QPs(genl.QPFilter{Device: "x"}); return err }, os.ErrNotExist, "dev", "list queue pairs x: there is no softhca device of this name"},
		{"counters of no device", func() error { _, err := c.Stats("x"); return err }, os.ErrNotExist, "dev", "read counters x: there is no softhca device of this name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.call()
			var e *genl.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *genl.Error", err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v (%v) is not %v", err, e.Err, tt.is)
			}
			if e.Attr != tt.attr {
				t.Errorf("blames %q, want %q", e.Attr, tt.attr)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("says %q, want %q", err, tt.want)
			}
		})
	}

	k.SetAdmin(false)
	for name, call := range map[string]func() error{
		"add": add("shca1", "eth1", 0),
		"set": set(genl.Settings{Window: ptr(uint32(1))}),
		"del": func() error { return c.DeleteDevice("shca0") },
	} {
		if err := call(); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "CAP_NET_ADMIN") {
			t.Errorf("%s without privilege: %v", name, err)
		}
	}
	if _, err := c.Devices(); err != nil {
		t.Errorf("reading without privilege: %v", err)
	}
}

func TestNotLoaded(t *testing.T) {
	k := genlfake.New()
	k.SetLoaded(false)
	_, err := k.Client()
	if !errors.Is(err, genl.ErrNotLoaded) || !strings.Contains(err.Error(), "modprobe softhca") {
		t.Errorf("got %v", err)
	}
}

func sampleQP() genl.QP {
	return genl.QP{
		Device: "shca0", QPN: 17, Type: genl.QPTypeRC, State: genl.QPStateErr, PID: 42, Comm: "ib_send_bw",
		DestQPN: 18, SGID: netip.MustParseAddr("::ffff:10.0.0.1"), DGID: netip.MustParseAddr("::ffff:10.0.0.2"),
		PathMTU: 1024, SQPSN: 100, AckedPSN: 90, RQPSN: 7, SQPosted: 3, RQPosted: 4, RetriesLeft: 0, RNRRetriesLeft: 7,
		TXBytes: 1 << 40, RXBytes: 2, TXPackets: 3, RXPackets: 4, Retransmits: 5,
		ErrorReason: genl.ErrorReasonRetryExceeded, ErrorOpcode: ptr(genl.Opcode(4)), ErrorPSN: ptr(uint32(90)),
		LastNAK: 0x60, LastHeardMS: ptr(uint64(1500)), TXMessages: 6, RXMessages: 7,
		TXBytesReferenced: 8, TXBytesCopied: 9, RXRNRNAKs: 10, ACKTimeouts: 11,
	}
}

func TestQPs(t *testing.T) {
	k := genlfake.New("eth0", "eth1")
	c := connect(t, k)
	addDevice(t, c, "shca0", "eth0")
	addDevice(t, c, "shca1", "eth1")

	full := sampleQP()
	plain := genl.QP{Device: "shca1", QPN: 1, Type: genl.QPTypeGSI, State: genl.QPStateRTS}
	for _, qp := range []genl.QP{full, plain} {
		if err := k.SetQP(qp); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.SetQP(genl.QP{Device: "none"}); err == nil {
		t.Error("a queue pair of no device")
	}

	same := cmp.Comparer(func(a, b netip.Addr) bool { return a == b })
	for _, tt := range []struct {
		filter genl.QPFilter
		want   []genl.QP
	}{
		{genl.QPFilter{}, []genl.QP{full, plain}},
		{genl.QPFilter{Device: "shca0"}, []genl.QP{full}},
		{genl.QPFilter{Device: "shca1"}, []genl.QP{plain}},
	} {
		qps, err := c.QPs(tt.filter)
		if diff := cmp.Diff(tt.want, qps, same); err != nil || diff != "" {
			t.Errorf("QPs(%+v): %v\n%s", tt.filter, err, diff)
		}
	}
	qp, err := c.QP("shca0", 17)
	if diff := cmp.Diff(full, qp, same); err != nil || diff != "" {
		t.Errorf("QP: %v\n%s", err, diff)
	}
}

func TestStats(t *testing.T) {
	k := genlfake.New("eth0", "eth1")
	c := connect(t, k)
	addDevice(t, c, "shca0", "eth0")
	addDevice(t, c, "shca1", "eth1")
	for name, v := range map[string]uint64{"tx_packets": 1 << 63, "rx_packets": 2} {
		if err := k.SetCounter("shca1", name, v); err != nil {
			t.Fatal(err)
		}
	}

	want := []genl.DeviceStats{
		{Device: "shca0", Counters: []genl.Counter{{Name: "tx_packets"}, {Name: "tx_bytes"}, {Name: "rx_packets"}, {Name: "rx_bytes"}}},
		{Device: "shca1", Counters: []genl.Counter{{Name: "tx_packets", Value: 1 << 63}, {Name: "tx_bytes"}, {Name: "rx_packets", Value: 2}, {Name: "rx_bytes"}}},
	}
	all, err := c.Stats("")
	if diff := cmp.Diff(want, all); err != nil || diff != "" {
		t.Errorf("all: %v\n%s", err, diff)
	}
	one, err := c.Stats("shca1")
	if diff := cmp.Diff(want[1:], one); err != nil || diff != "" {
		t.Errorf("one: %v\n%s", err, diff)
	}
}

func TestMonitor(t *testing.T) {
	k := genlfake.New("eth0")
	c := connect(t, k)
	m, err := c.Monitor()
	if err != nil {
		t.Fatal(err)
	}

	addDevice(t, c, "shca0", "eth0")
	if err := c.SetDevice("shca0", genl.Settings{Burst: ptr(uint32(2))}); err != nil {
		t.Fatal(err)
	}
	if err := k.SetPortState("shca0", genl.PortStateDown); err != nil {
		t.Fatal(err)
	}
	k.Overrun()
	if err := c.DeleteDevice("shca0"); err != nil {
		t.Fatal(err)
	}

	for _, want := range []struct {
		typ   genl.EventType
		name  string
		state genl.PortState
		burst uint32
	}{
		{genl.EventNew, "shca0", genl.PortStateActive, 16},
		{genl.EventSet, "shca0", genl.PortStateActive, 2},
		{genl.EventSet, "shca0", genl.PortStateDown, 2},
		{genl.EventLost, "", 0, 0},
		{genl.EventDel, "shca0", genl.PortStateDown, 2},
	} {
		e, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != want.typ || e.Device.Name != want.name || e.Device.PortState != want.state || e.Device.Burst != want.burst {
			t.Errorf("got %+v, want %+v", e, want)
		}
	}

	done := make(chan error)
	go func() {
		_, err := m.Next()
		done <- err
	}()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Close does not end Next")
	}
}

// TestMonitorFabric: what happens to cables and switches is told too.
func TestFrames(t *testing.T) {
	k := genlfake.New()
	c := connect(t, k)
	m, err := c.Monitor()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	f, err := c.Frames()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1700000000, 5)
	list := []genl.Frame{
		{Device: "shca0", Sent: true, QPN: 17, Time: at, Number: 1, Data: []byte("a packet")},
		{Device: "shca0", Time: at, Number: 3, Data: []byte("another")},
	}
	k.SendFrame(list[0])
	k.Overrun()
	k.SendFrame(list[1])
	for i, want := range list {
		got, err := f.Next()
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("frame %d: %v, %s", i, err, cmp.Diff(want, got))
		}
	}
	// A monitor is not told.
	if e, err := m.Next(); err != nil || e.Type != genl.EventLost {
		t.Errorf("monitor: %+v, %v", e, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	k.SetAdmin(false)
	if _, err := c.Frames(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("without the privilege: %v", err)
	}
}

func TestMonitorFabric(t *testing.T) {
	c := connect(t, genlfake.New())
	m, err := c.Monitor()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	port := func(n uint32) genl.Port { return genl.Port{Node: "sw0", Number: n} }
	remote := genl.Remote{Addr: netip.MustParseAddr("192.0.2.1"), Port: 9, ID: 7}
	for _, err := range []error{
		c.AddSwitch(genl.SwitchConfig{Name: "sw0", Ports: 3}),
		c.AddCable(port(1), port(2)),
		c.AddRemoteCable(port(3), remote),
		c.DeleteCable(port(1)),
		c.DeleteSwitch("sw0"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct {
		typ  genl.EventType
		port uint32
		link genl.LinkState
	}{
		{genl.EventSwitchNew, 0, 0},
		{genl.EventCableNew, 1, genl.LinkStateDown},
		{genl.EventCableSet, 1, genl.LinkStateUp},
		{genl.EventCableNew, 3, genl.LinkStateDown},
		{genl.EventCableDel, 1, genl.LinkStateDown},
		{genl.EventCableDel, 3, genl.LinkStateDown},
		{genl.EventSwitchDel, 0, 0},
	} {
		e, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Type != want.typ:
			t.Errorf("event %d is %+v, want %+v", i, e, want)
		case want.port == 0 && (e.Switch == nil || e.Switch.Name != "sw0" || len(e.Switch.Ports) != 3):
			t.Errorf("event %d has switch %+v", i, e.Switch)
		case want.port != 0 && (e.Cable == nil || e.Cable.A != port(want.port) || e.Cable.LinkState != want.link):
			t.Errorf("event %d has cable %+v, want %+v", i, e.Cable, want)
		case want.port == 3 && (e.Cable.Remote == nil || *e.Cable.Remote != remote || *e.Cable.PeerState != genl.PeerStateSilent):
			t.Errorf("event %d has cable %+v", i, e.Cable)
		}
	}
}

func TestEnums(t *testing.T) {
	var s genl.QPState
	if err := json.Unmarshal([]byte(`"rts"`), &s); err != nil || s != genl.QPStateRTS {
		t.Errorf("rts is %v, %v", s, err)
	}
	if err := json.Unmarshal([]byte(`"nonsense"`), &s); err == nil {
		t.Error("nonsense is a state")
	}
	if got, want := genl.ErrorReason(999).String(), "error-reason-999"; got != want {
		t.Errorf("a reason of the future is %q, want %q", got, want)
	}
	if genl.ErrorReason(999).Doc() != "" {
		t.Error("a reason of the future has a sentence")
	}
	for r := genl.ErrorReasonNone; r.Doc() != ""; r++ {
		b, err := json.Marshal(r)
		var back genl.ErrorReason
		if err != nil || json.Unmarshal(b, &back) != nil || back != r {
			t.Errorf("%v does not survive JSON: %s, %v", r, b, err)
		}
	}
	for _, tt := range []struct{ got, want string }{
		{genl.LinkIB.String(), "ib"},
		{genl.PortStateActive.String(), "active"},
		{genl.QPTypeUD.String(), "ud"},
		{genl.GUID(0x020000fffe000002).String(), "0200:00ff:fe00:0002"},
		{genl.Opcode(0x04).String(), "RC_SEND_ONLY"},
		{genl.Opcode(0x17).String(), "RC_SEND_ONLY_WITH_INVALIDATE"},
		{genl.Opcode(0x64).String(), "UD_SEND_ONLY"},
		{genl.Opcode(0x2a).String(), "UC_RDMA_WRITE_ONLY"},
		{genl.Opcode(0x15).String(), "opcode-0x15"},
		{genl.Opcode(0xff).String(), "opcode-0xff"},
		{genl.Syndrome(0).String(), "none"},
		{genl.Syndrome(0x1f).String(), "ACK"},
		{genl.Syndrome(0x2e).String(), "RNR NAK, timer 14"},
		{genl.Syndrome(0x62).String(), "NAK, remote access error"},
		{genl.Syndrome(0x7f).String(), "syndrome 0x7f"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestParseGUID(t *testing.T) {
	const guid genl.GUID = 0x0253484300000001 // a 0 in front may be left out
	for _, s := range []string{
		guid.String(), "0253484300000001", "0x0253484300000001", "0x253484300000001", "0253:4843:0000:0001",
	} {
		if g, err := genl.ParseGUID(s); err != nil || g != guid {
			t.Errorf("%q: %v, %v", s, g, err)
		}
	}
	for _, s := range []string{
		"", "0", "0x", "12", "253484300000001", "01253484300000001", "0x01253484300000001", "1:2:3:4", "1253:4843:0000:001",
		"253:4843:0000:00001", "1253:4843:00000001", "12534843:0000:0001", "1253:4843:0000:0001:", ":1253:4843:0000:0001",
		"1253:4843:0000:0001:0000", "0x1253:4843:0000:0001", "0253-4843-0000-0001", "125348430000000g", "+253484300000001",
		"0x+1", "0x0x1", "0000000000000000", "0000:0000:0000:0000",
	} {
		if g, err := genl.ParseGUID(s); err == nil {
			t.Errorf("%q is %v", s, g)
		}
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(sampleQP())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"dev":"shca0"`, `"type":"rc"`, `"state":"err"`, `"dgid":"::ffff:10.0.0.2"`, `"error_reason":"retry-exceeded"`,
		`"error_opcode":"RC_SEND_ONLY"`, `"error_psn":90`, `"last_nak":"NAK, PSN sequence error"`, `"last_heard_ms":1500`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

func Example() {
	// A real program calls genl.New.
	c, err := genlfake.New("eth0").Client()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	if err := c.AddDevice(genl.DeviceConfig{Name: "shca0", Netdev: "eth0"}); err != nil {
		fmt.Println(err)
		return
	}
	devs, err := c.Devices()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range devs {
		fmt.Println(d.Name, d.Netdev, d.PortState)
	}

	err = c.DeleteDevice("shca1")
	fmt.Println(errors.Is(err, os.ErrNotExist), err)
	// Output:
	// shca0 eth0 active
	// true delete device shca1: there is no softhca device of this name
}

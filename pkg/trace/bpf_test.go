// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
)

// A bench has programs of bpf/ in this machine's kernel, attached to nothing: a test
// tells them of events.
type bench struct {
	*session
	t *testing.T
}

// newBench loads programs, with maps of other sizes than theirs. It needs root and BPF.
func newBench(t *testing.T, load func() (*ebpf.CollectionSpec, error), f Filter, sizes map[string]uint32) *bench {
	t.Helper()
	spec, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range sizes {
		spec.Maps[name].MaxEntries = n
	}
	for name, p := range spec.Programs {
		switch p.Type {
		case ebpf.RawTracepoint:
		case ebpf.TracePoint:
			// The kernel can run those alone without an event; they read a context all the same.
			p.Type = ebpf.RawTracepoint
		default:
			delete(spec.Programs, name)
		}
	}
	if err := f.apply(spec); err != nil {
		t.Fatal(err)
	}
	var coll *ebpf.Collection
	if err = rlimit.RemoveMemlock(); err == nil {
		coll, err = ebpf.NewCollection(spec)
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, ErrNotSupported) {
		t.Skipf("no BPF programs can be loaded here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(coll.Close)
	return &bench{&session{coll: coll}, t}
}

// raw runs a program on a raw tracepoint, with arguments from the QPN on.
func (b *bench) raw(program string, args ...uint64) {
	b.t.Helper()
	ctx := make([]byte, 12*8)
	for i, a := range args {
		binary.LittleEndian.PutUint64(ctx[8+8*i:], a)
	}
	b.run(program, ctx)
}

// event runs a program on a tracepoint.
func (b *bench) event(program, event string, values map[string]any) {
	b.t.Helper()
	ctx := make([]byte, 12*8)
	copy(ctx[commonBytes:], record(b.t, 0, event, values)[recordHead:])
	b.run(program, ctx)
}

func (b *bench) run(program string, ctx []byte) {
	b.t.Helper()
	if _, err := b.coll.Programs[program].Run(&ebpf.RunOptions{Context: ctx}); err != nil {
		b.t.Fatalf("%s: %v", program, err)
	}
}

func (b *bench) create(qpn int, comm string) {
	b.t.Helper()
	b.event("on_qp_create", "qp_create", map[string]any{"dev": "shca0", "qpn": qpn, "pid": 42, "comm": comm})
}

func (b *bench) destroy(qpn int) {
	b.t.Helper()
	b.event("on_qp_destroy", "qp_destroy", map[string]any{"dev": "shca0", "qpn": qpn})
}

// wantRoom wants this number of refusals for want of room.
func (b *bench) wantRoom(want uint64) {
	b.t.Helper()
	if got, err := b.noRoom(); err != nil || got != want {
		b.t.Errorf("%d times no room, %v; want %d", got, err, want)
	}
}

// A trace that has seen more queue pairs than its maps have room for still sees new
// ones, and says so where it cannot.
func TestManyQPs(t *testing.T) {
	const room, many = 512, 4 * 512
	b := newBench(t, loadFlow, Filter{Comm: "app"}, map[string]uint32{"owners": 2, "gone": room, "flows": room, "peers": room})
	flows := &Flows{b.session}
	b.create(1, "kernel")
	for qpn := 17; qpn < 17+many; qpn++ {
		b.create(qpn, "app")
		b.raw("flow_send_done", uint64(qpn), 0, 0, 2, 0, 64)
		b.destroy(qpn)
		// Completions may come later than that.
		b.raw("flow_send_done", uint64(qpn), 1, 0, 2, 0, 64)
	}
	b.wantRoom(0)
	list, err := flows.Read()
	if err != nil || len(list) == 0 || len(list) > room {
		t.Fatalf("%d flows, %v", len(list), err)
	}
	last := list[len(list)-1]
	if last.QPN != 17+many-1 || last.TXMessages != 2 || last.TXBytes != 128 || last.Owner.Comm != "app" || last.Owner.Device != "shca0" {
		t.Errorf("the last one: %+v", last)
	}

	// The special queue pairs of a device that goes are those of others, too.
	b.destroy(1)
	b.create(5000, "app")
	b.wantRoom(0)
	b.create(5001, "app")
	b.wantRoom(1)
	if n, err := flows.NoRoom(); n != 1 || err != nil {
		t.Errorf("NoRoom: %d, %v", n, err)
	}
}

// Peers of queue pairs that are gone take no room.
func TestManyPeers(t *testing.T) {
	b := newBench(t, loadStages, Filter{}, map[string]uint32{"peers": 2})
	connect := func(qpn int) {
		t.Helper()
		b.event("on_qp_connect", "qp_connect", map[string]any{"dev": "shca0", "qpn": qpn, "dest_qpn": qpn + 1})
	}
	connect(17)
	for qpn := 18; qpn < 30; qpn++ {
		connect(qpn)
		b.event("peers_qp_destroy", "qp_destroy", map[string]any{"qpn": qpn})
	}
	connect(30)
	b.wantRoom(0)
	connect(31)
	b.wantRoom(1)
}

// stages says what is measured, as QPN/opcode/stage for each.
func (b *bench) stages() string {
	b.t.Helper()
	list, missed, err := (&Latency{b.session}).Read()
	if err != nil || missed != (Missed{}) {
		b.t.Errorf("%v, missed %+v", err, missed)
	}
	var all []string
	for _, s := range list {
		for st := range s.Stages {
			if s.Stages[st].Count > 0 {
				all = append(all, fmt.Sprintf("%d/%v/%v", s.QPN, s.Opcode, Stage(st)))
			}
		}
	}
	return strings.Join(all, " ")
}

// What is not seen on its way to the wire is in no figure, and counts as missed.
func TestUnseen(t *testing.T) {
	b := newBench(t, loadStages, Filter{}, nil)
	for index := range uint64(3) {
		b.raw("on_send_fetch", 17, index, 0, 2, 0, 64, 1, 0x1000, 1)
		b.raw("on_send_done", 17, index, 0, 2, 0, 64, index%2)
		b.raw("on_cqe", 17, 0, 0, 0, 0, 64, 0, 9)
	}
	list, missed, err := (&Latency{b.session}).Read()
	if err != nil || len(list) != 0 || missed != (Missed{Unseen: 3}) {
		t.Errorf("%d series, missed %+v, %v", len(list), missed, err)
	}
}

// A message has a delivery if it was sent on this host: another one may have queue
// pairs of the same numbers, and its messages the same PSNs.
func TestDelivery(t *testing.T) {
	gid := func(n string) string { return strings.Repeat("\x00", 10) + "\xff\xff\x0a\x00\x00" + n }
	a, b, c, none := gid("\x01"), gid("\x02"), gid("\x03"), strings.Repeat("\x00", 16)
	type end struct {
		qpn, dest  int
		sgid, dgid string
	}
	const sends = "17/SEND/queue 17/SEND/ack 17/SEND/cqe 17/SEND/total"
	for _, k := range []struct {
		name     string
		ends     []end
		receiver uint64
		want     string
	}{
		{"one host", []end{{17, 18, a, b}, {18, 17, b, a}}, 18, sends + " 18/RECV/deliver"},
		{"one device", []end{{17, 18, a, a}, {18, 17, a, a}}, 18, sends + " 18/RECV/deliver"},
		{"itself", []end{{17, 17, a, a}}, 17, sends + " 17/RECV/deliver"},
		{"17 of two hosts", []end{{17, 17, a, b}}, 17, sends},
		{"17 and 18 of two hosts", []end{{17, 18, a, b}, {18, 17, a, b}}, 18, sends},
		{"a third host", []end{{17, 18, a, b}, {18, 17, b, c}}, 18, sends},
		{"another queue pair's", []end{{17, 18, a, b}, {18, 19, b, a}}, 18, sends},
		{"no GRH", []end{{17, 18, none, none}, {18, 17, none, none}}, 18, sends},
	} {
		for _, first := range []string{"sent", "received"} {
			t.Run(k.name+", first "+first, func(t *testing.T) {
				b := newBench(t, loadStages, Filter{}, nil)
				for _, e := range k.ends {
					b.event("on_qp_connect", "qp_connect", map[string]any{
						"qpn": e.qpn, "dest_qpn": e.dest, "sgid": e.sgid, "dgid": e.dgid,
					})
				}
				const send, recv, index, psn = 2, 128, 5, 100
				receive := func() {
					b.raw("on_recv_done", k.receiver, 0, 0, 0, 64, psn)
					b.raw("on_cqe", k.receiver, 0, 0, recv, 0, 64, 0, 7)
				}
				b.raw("on_send_fetch", 17, index, 0, send, 0, 64, 1, 0x1000, 1)
				if first == "received" {
					receive()
				}
				b.raw("on_send_wire", 17, index, psn, 64, 1)
				if first == "sent" {
					receive()
				}
				b.raw("on_send_done", 17, index, 0, send, 0, 64, 1)
				b.raw("on_cqe", 17, 0, 0, 0, 0, 64, 0, 9)
				if got := b.stages(); got != k.want {
					t.Errorf("got  %s\nwant %s", got, k.want)
				}
			})
		}
	}
}

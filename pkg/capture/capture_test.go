// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/softhca/softhca/pkg/genl"
	"golang.org/x/net/bpf"
)

// build makes a RoCEv2 frame; addresses are IPv4 or IPv6.
func build(src, dst string, opcode uint8, qpn, psn uint32, port uint16) []byte {
	b := make([]byte, 12)
	s, d := netip.MustParseAddr(src), netip.MustParseAddr(dst)
	if s.Is4() {
		b = binary.BigEndian.AppendUint16(b, etherIPv4)
		ip := make([]byte, 20)
		ip[0], ip[9] = 0x45, protoUDP
		copy(ip[12:], s.AsSlice())
		copy(ip[16:], d.AsSlice())
		b = append(b, ip...)
	} else {
		b = binary.BigEndian.AppendUint16(b, etherIPv6)
		ip := make([]byte, 40)
		ip[0], ip[6] = 0x60, protoUDP
		copy(ip[8:], s.AsSlice())
		copy(ip[24:], d.AsSlice())
		b = append(b, ip...)
	}
	b = append(b, 0xc0, 0, byte(port>>8), byte(port), 0, 0, 0, 0)
	bth := make([]byte, bthLen)
	bth[0] = opcode
	binary.BigEndian.PutUint32(bth[4:], qpn)
	binary.BigEndian.PutUint32(bth[8:], 0x80000000|psn)
	return append(append(b, bth...), make([]byte, 64)...)
}

func tagged(b []byte) []byte {
	return append(append(append([]byte(nil), b[:12]...), 0x81, 0, 0, 7), b[12:]...)
}

func TestParse(t *testing.T) {
	v4 := build("10.0.0.1", "10.0.0.2", 4, 17, 5, rocePort)
	v6 := build("fd00::1", "fd00::2", 0x11, 18, 0xffffff, rocePort)
	for _, c := range []struct {
		frame []byte
		want  string
	}{
		{v4, "::ffff:10.0.0.1 ::ffff:10.0.0.2 4 17 5"},
		{tagged(v4), "::ffff:10.0.0.1 ::ffff:10.0.0.2 4 17 5"},
		{v6, "fd00::1 fd00::2 17 18 16777215"},
		{build("10.0.0.1", "10.0.0.2", 4, 17, 5, 53), ""},
		{v4[:50], ""},
		{nil, ""},
	} {
		p, ok := parse(c.frame)
		got := ""
		if ok {
			got = strings.TrimSpace(fmt.Sprintln(p.src, p.dst, p.opcode, p.qpn, p.psn))
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	// No cut makes it read past the end.
	for n := range v6 {
		parse(v6[:n])
		parse(tagged(v6)[:n])
	}
}

// cut is a frame as the socket hands it over with a snap length.
func cut(t *testing.T, b []byte, snap int) frame {
	t.Helper()
	raw, err := filter(snap)
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := bpf.Disassemble(raw)
	vm, err := bpf.NewVM(prog)
	if err != nil {
		t.Fatal(err)
	}
	n, err := vm.Run(b)
	if err != nil {
		t.Fatal(err)
	}
	return frame{data: b[:min(n, len(b))], length: len(b), time: time.Now()}
}

// However little is kept of a frame, it is known for what it is.
func TestSnap(t *testing.T) {
	for _, b := range [][]byte{
		build("10.0.0.2", "10.0.0.1", 0x11, 17, 1, rocePort),
		build("fd00::2", "fd00::1", 4, 18, 1, rocePort),
	} {
		for _, snap := range []int{1, 40, len(b) - 1, SnapMax} {
			ctx, cancel := context.WithCancel(t.Context())
			o := Options{
				Device: "shca0", Netdev: "eth0", File: filepath.Join(t.TempDir(), "x.pcapng"), Snap: snap,
				QPs: func() ([]QP, error) { return []QP{{QPN: 17, Type: "ud"}, {QPN: 18, Type: "ud"}}, nil },
			}
			r, err := run(ctx, o, &fakeSource{frames: []frame{cut(t, b, snap)}, end: cancel})
			if err != nil || r.Packets != 1 {
				t.Errorf("snap %d of %d: %+v, %v", snap, len(b), r, err)
				continue
			}
			want := fmt.Sprintf("0 in %d/%d shca0: received by QPN 1", min(snap, len(b)), len(b))
			if got := read(t, o.File); len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("snap %d: %q, want %q", snap, got, want)
			}
		}
	}
}

func TestFilter(t *testing.T) {
	raw, err := filter(200)
	if err != nil {
		t.Fatal(err)
	}
	prog, all := bpf.Disassemble(raw)
	vm, err := bpf.NewVM(prog)
	if err != nil || !all {
		t.Fatal(err)
	}
	other := build("10.0.0.1", "10.0.0.2", 4, 1, 1, rocePort)
	other[23] = 6 // TCP
	for i, c := range []struct {
		frame []byte
		want  int
	}{
		{build("10.0.0.1", "10.0.0.2", 4, 1, 1, rocePort), 200},
		{build("fd00::1", "fd00::2", 4, 1, 1, rocePort), 200},
		{build("10.0.0.1", "10.0.0.2", 4, 1, 1, 4790), 0},
		{build("fd00::1", "fd00::2", 4, 1, 1, 4790), 0},
		{other, 0},
		{make([]byte, 60), 0},
	} {
		if n, err := vm.Run(c.frame); n != c.want || err != nil {
			t.Errorf("%d: keeps %d bytes (%v), want %d", i, n, err, c.want)
		}
	}
}

var qps = []QP{
	{QPN: 17, DestQPN: 40, SGID: netip.MustParseAddr("::ffff:10.0.0.1"), DGID: netip.MustParseAddr("::ffff:10.0.0.2"), Type: "rc", PID: 42, Comm: "app"},
	{QPN: 1, Type: "gsi", Comm: "ib_core"},
}

func TestComment(t *testing.T) {
	tb := newTable()
	tb.set(qps)
	const a, b = "10.0.0.1", "10.0.0.2"
	for i, c := range []struct {
		src, dst string
		opcode   uint8
		qpn, psn uint32
		want     string
	}{
		{a, b, 6, 40, 0xffffff, "shca0: sent by QPN 17 of app (42)"},
		{a, b, 7, 40, 0, "shca0: sent by QPN 17 of app (42)"},
		{a, b, 7, 40, 0xffffff, "shca0: sent by QPN 17 of app (42), sent again"},
		{a, b, 7, 40, 1, "shca0: sent by QPN 17 of app (42)"},
		{b, a, 0x11, 17, 0, "shca0: received by QPN 17 of app (42)"},
		{b, a, 0x11, 17, 0, "shca0: received by QPN 17 of app (42)"},
		{b, a, 4, 17, 9, "shca0: received by QPN 17 of app (42)"},
		{b, a, 4, 17, 9, "shca0: received by QPN 17 of app (42), sent again"},
		{b, a, 0x64, 1, 9, "shca0: received by QPN 1 of ib_core"},
		{"10.0.0.9", a, 4, 17, 9, "shca0: no queue pair known, for QPN 17"},
		{b, a, 4, 99, 9, "shca0: no queue pair known, for QPN 99"},
	} {
		p, ok := parse(build(c.src, c.dst, c.opcode, c.qpn, c.psn, rocePort))
		if got := tb.comment(p, "shca0"); !ok || got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// A fakeSource has frames, and then calls end.
type fakeSource struct {
	frames []frame
	end    func()
	drops  uint64
}

func (s *fakeSource) next(time.Time) (frame, error) {
	if len(s.frames) == 0 {
		s.end()
		return frame{}, os.ErrDeadlineExceeded
	}
	f := s.frames[0]
	s.frames = s.frames[1:]
	return f, nil
}

func (s *fakeSource) lost() (uint64, error) { n := s.drops; s.drops = 0; return n, nil }
func (s *fakeSource) close() error          { return nil }

// read returns comment, length and bytes kept of all packets of a file.
func read(t *testing.T, file string) (lines []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcapgo.NewNgReader(f, pcapgo.NgReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, info, opts, err := r.ReadPacketDataWithOptions()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		way := "in"
		if opts.Flags.Direction == pcapgo.NgEpbFlagDirectionOutbound {
			way = "out"
		}
		lines = append(lines, fmt.Sprintf("%d %s %d/%d %s", info.InterfaceIndex, way, len(data), info.Length, strings.Join(opts.Comments, ";")))
	}
}

func TestRun(t *testing.T) {
	out := build("10.0.0.1", "10.0.0.2", 4, 40, 1, rocePort)
	in := build("10.0.0.2", "10.0.0.1", 0x11, 17, 1, rocePort)
	stray := build("10.0.0.8", "10.0.0.9", 4, 77, 1, rocePort)
	frames := []frame{
		{data: out, length: 1000, time: time.Now(), sent: true},
		{data: in, length: len(in), time: time.Now()},
		{data: []byte("nonsense"), length: 8, time: time.Now()},
		{data: stray, length: len(stray), time: time.Now()},
		{data: stray, length: len(stray), time: time.Now(), intf: 1},
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{
		Device: "shca0", Netdev: "eth0", File: filepath.Join(t.TempDir(), "x.pcapng"), Snap: SnapMax,
		QPs: func() ([]QP, error) { return qps, nil },
	}
	r, err := run(ctx, o, &fakeSource{frames: frames, end: cancel, drops: 3})
	if err != nil || r != (Result{Packets: 3, Lost: 3}) {
		t.Errorf("%+v, %v", r, err)
	}
	n := len(out)
	want := []string{
		fmt.Sprintf("0 out %d/1000 shca0: sent by QPN 17 of app (42)", n),
		fmt.Sprintf("0 in %d/%d shca0: received by QPN 17 of app (42)", n, n),
		fmt.Sprintf("0 in %d/%d shca0: no queue pair known, for QPN 77", n, n),
	}
	if got := read(t, o.File); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// One queue pair, in a ring of two files with one packet each.
	ctx, cancel = context.WithCancel(t.Context())
	o.QPN, o.FileBytes, o.Files = 17, 1, 2
	all := append(append(append([]frame(nil), frames...), frames...), frames...)
	r, err = run(ctx, o, &fakeSource{frames: all, end: cancel})
	if err != nil || r.Packets != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(o.File), "x.0*.pcapng"))
	if len(names) != 2 || filepath.Base(names[1]) != "x.00005.pcapng" {
		t.Errorf("files %v", names)
	}
	for _, n := range names {
		if got := read(t, n); len(got) != 1 {
			t.Errorf("%s: %v", n, got)
		}
	}

	// What goes wrong is said.
	if _, err := Run(t.Context(), o); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without an interface: %v", err)
	}
	o.QPs = func() ([]QP, error) { return nil, os.ErrNotExist }
	if _, err := run(t.Context(), o, &fakeSource{end: func() {}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without queue pairs: %v", err)
	}
	o.QPs = func() ([]QP, error) { return nil, nil }
	o.File = filepath.Join(t.TempDir(), "no/such/folder")
	if _, err := run(t.Context(), o, &fakeSource{end: func() {}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

// fakeFrames has packets, and then calls end and waits to be closed.
type fakeFrames struct {
	list   []genl.Frame
	end    func()
	closed chan struct{}
}

func (f *fakeFrames) Next() (genl.Frame, error) {
	if len(f.list) == 0 {
		f.end()
		<-f.closed
		return genl.Frame{}, os.ErrClosed
	}
	fr := f.list[0]
	f.list = f.list[1:]
	return fr, nil
}

func (f *fakeFrames) Close() error { close(f.closed); return nil }

// buildIB makes a packet with an LRH, with a GRH if grh.
func buildIB(slid, dlid uint16, grh bool, opcode uint8, qpn, psn uint32) []byte {
	b := make([]byte, lrhLen)
	b[1] = 2
	binary.BigEndian.PutUint16(b[2:], dlid)
	binary.BigEndian.PutUint16(b[6:], slid)
	if grh {
		b[1] = 3
		b = append(b, make([]byte, grhLen)...)
	}
	bth := make([]byte, bthLen)
	bth[0] = opcode
	binary.BigEndian.PutUint32(bth[4:], qpn)
	binary.BigEndian.PutUint32(bth[8:], psn)
	return append(append(b, bth...), make([]byte, 20)...)
}

func TestIB(t *testing.T) {
	at := time.Now()
	list := []genl.Frame{
		{Device: "shca0", Number: 7, Time: at, Sent: true, QPN: 17, Data: buildIB(1, 2, false, 4, 40, 1)},
		{Device: "shca1", Number: 70, Time: at, Data: buildIB(1, 2, false, 4, 40, 1)},
		{Device: "shca0", Number: 9, Time: at, Data: buildIB(2, 1, true, 0x11, 17, 1)}, // 8 comes later
		{Device: "shca0", Number: 8, Time: at, Sent: true, QPN: 17, Data: buildIB(1, 2, false, 4, 40, 1)},
		{Device: "shca0", Number: 12, Time: at, Sent: true, Data: buildIB(1, 2, false, 0x64, 1, 0)},
		{Device: "shca0", Number: 13, Time: at, Data: []byte{0, 2, 0}},
	}
	ctx, cancel := context.WithCancel(t.Context())
	f := &fakeFrames{list: list, end: cancel, closed: make(chan struct{})}
	o := Options{
		Device: "shca0", File: filepath.Join(t.TempDir(), "x.pcapng"), Snap: 30,
		QPs:    func() ([]QP, error) { return qps, nil },
		Frames: func() (Frames, error) { return f, nil },
	}
	r, err := Run(ctx, o)
	if err != nil || r != (Result{Packets: 5, Lost: 2}) {
		t.Errorf("%+v, %v", r, err)
	}
	want := []string{
		"0 out 46/58 shca0: sent by QPN 17 of app (42)",
		"0 in 46/98 shca0: received by QPN 17 of app (42)",
		"0 out 46/58 shca0: sent by QPN 17 of app (42), sent again",
		"0 out 46/58 shca0: no queue pair known, for QPN 1",
		"0 in 21/21 shca0: no queue pair known, for QPN 0",
	}
	if got := read(t, o.File); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	select {
	case <-f.closed:
	default:
		t.Error("it still listens")
	}

	o.Frames = func() (Frames, error) { return nil, os.ErrPermission }
	if _, err := Run(t.Context(), o); !errors.Is(err, os.ErrPermission) {
		t.Errorf("without the privilege: %v", err)
	}
}

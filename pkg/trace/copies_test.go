// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cilium/ebpf/ringbuf"
)

const present = 1 << 63

// samplePacket is what struct packet of bpf/copies.bpf.c has behind its head.
type samplePacket struct {
	Count, _ uint32
	Frags    [maxFrags]frag
}

// fakePagemap lets a process 42 have these entries from the page of address 0x10000 on.
func fakePagemap(t *testing.T, entries ...uint64) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "42"), 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.Write(make([]byte, 16*8))
	for _, e := range entries {
		if err := binary.Write(&b, binary.LittleEndian, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "42/pagemap"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	old := procfs
	procfs = dir
	t.Cleanup(func() { procfs = old })
}

// sampleRing hands over records, and then ends.
type sampleRing struct{ records [][]byte }

func (r *sampleRing) Read() (ringbuf.Record, error) {
	if len(r.records) == 0 {
		return ringbuf.Record{}, ringbuf.ErrFlushed
	}
	rec := ringbuf.Record{RawSample: r.records[0]}
	r.records = r.records[1:]
	return rec, nil
}

func (r *sampleRing) Flush() error { return nil }
func (r *sampleRing) Close() error { return nil }

func (r *sampleRing) put(t *testing.T, parts ...any) {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts {
		if err := binary.Write(&b, binary.LittleEndian, p); err != nil {
			t.Fatal(err)
		}
	}
	r.records = append(r.records, b.Bytes())
}

func (r *sampleRing) begin(t *testing.T, addr uint64, length uint32) {
	r.put(t, sampleHead{Kind: sampleBegin, QPN: 17, Index: 5, PID: 42, Addr: addr, Length: length})
}

func (r *sampleRing) packet(t *testing.T, psn uint32, frags ...frag) {
	p := samplePacket{Count: uint32(len(frags))}
	copy(p.Frags[:], frags)
	r.put(t, sampleHead{Kind: samplePacketKind, QPN: 17, Index: 5, PSN: psn}, p)
}

// A message of 6000 bytes at 0x10800 lies in the frames 100 and 200, two packets with
// PSNs that wrap.
func TestCopies(t *testing.T) {
	const psn, next = 0xffffff, 0
	ends := func(r *sampleRing, status uint32) {
		r.put(t, sampleHead{Kind: sampleWire, QPN: 17, Index: 5, PSN: psn, Packets: 2})
		r.put(t, sampleHead{Kind: sampleEnd, QPN: 17, Index: 5, Status: status})
	}
	// Instead of that message another one, which is refused
	refused := func(r *sampleRing, addr uint64, length uint32) {
		r.records = nil
		r.begin(t, addr, length)
		r.put(t, sampleHead{Kind: sampleEnd, QPN: 17, Index: 5, Status: 4})
	}
	header := frag{Frame: 900, Offset: 64, Length: 80}
	for _, c := range []struct {
		name    string
		entries []uint64
		records func(*sampleRing)
		want    Proof
	}{
		{"in place", []uint64{100 | present, 200 | present}, func(r *sampleRing) {
			r.packet(t, psn, header, frag{100, 2048, 2048}, frag{200, 0, 2048})
			r.packet(t, next, frag{200, 2048, 1904})
			r.packet(t, next, frag{901, 0, 1904}) // again, from a copy
			ends(r, 0)
		}, Proof{Messages: 1, Bytes: 6000, InPlace: 6000}},
		{"a fragment of two frames", []uint64{100 | present, 101 | present}, func(r *sampleRing) {
			r.packet(t, psn, frag{100, 2048, 4096})
			r.packet(t, next, frag{100, 4096 + 2048, 1904})
			ends(r, 0)
		}, Proof{Messages: 1, Bytes: 6000, InPlace: 6000}},
		{"one packet copied", []uint64{100 | present, 200 | present}, func(r *sampleRing) {
			r.packet(t, psn, frag{901, 0, 4096})
			r.packet(t, next, frag{200, 2048, 1904})
			ends(r, 0)
		}, Proof{Messages: 1, Bytes: 6000, InPlace: 1904, Elsewhere: 4096}},
		{"beside the buffer", []uint64{100 | present, 200 | present}, func(r *sampleRing) {
			r.packet(t, psn, frag{100, 0, 2048}, frag{200, 0, 2048})
			r.packet(t, next, frag{200, 2192, 1904})
			ends(r, 0)
		}, Proof{Messages: 1, Bytes: 6000, InPlace: 2048, Elsewhere: 3952}},
		{"a packet not seen", []uint64{100 | present, 200 | present}, func(r *sampleRing) {
			r.packet(t, psn, frag{100, 2048, 2048}, frag{200, 0, 2048})
			ends(r, 0)
		}, Proof{NotCompared: 1}},
		{"failed", []uint64{100 | present, 200 | present}, func(r *sampleRing) {
			r.packet(t, psn, frag{100, 2048, 2048}, frag{200, 0, 2048})
			r.packet(t, next, frag{200, 2048, 1904})
			ends(r, 12)
		}, Proof{NotCompared: 1}},
		{"not mapped", []uint64{100 | present, 0}, func(r *sampleRing) {
			r.packet(t, psn, frag{100, 2048, 2048}, frag{200, 0, 2048})
			r.packet(t, next, frag{200, 2048, 1904})
			ends(r, 0)
		}, Proof{NotCompared: 1}},
		{"frames hidden", []uint64{present, present}, func(r *sampleRing) {
			r.packet(t, psn, frag{0, 2048, 2048})
			r.packet(t, next, frag{0, 2048, 1904})
			ends(r, 0)
		}, Proof{NotCompared: 1}},
		{"too many fragments", []uint64{100 | present, 200 | present}, func(r *sampleRing) {
			r.put(t, sampleHead{Kind: samplePacketKind, QPN: 17, Index: 5, PSN: psn}, samplePacket{Count: maxFrags + 1})
			r.packet(t, next, frag{200, 2048, 1904})
			ends(r, 0)
		}, Proof{NotCompared: 1}},
		{"addresses that wrap", nil, func(r *sampleRing) { refused(r, 0xffffffffffffff00, 4096) }, Proof{NotCompared: 1}},
		{"addresses that wrap to the first page", nil, func(r *sampleRing) { refused(r, 0xffffffffffffffff, 2) }, Proof{NotCompared: 1}},
		{"longer than any sample", nil, func(r *sampleRing) { refused(r, 0x10800, 0xffffffff) }, Proof{NotCompared: 1}},
		{"nothing", nil, func(r *sampleRing) { refused(r, 0, 0) }, Proof{NotCompared: 1}},
		{"local path", []uint64{100 | present, 200 | present}, func(r *sampleRing) { ends(r, 0) }, Proof{}},
		{"another message", []uint64{100 | present, 200 | present}, func(r *sampleRing) {
			r.put(t, sampleHead{Kind: sampleEnd, QPN: 17, Index: 4})
			r.put(t, sampleHead{Kind: sampleEnd, QPN: 18, Index: 5})
		}, Proof{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakePagemap(t, c.entries...)
			r := new(sampleRing)
			r.begin(t, 0x10800, 6000)
			c.records(r)
			copies := newCopies(r)
			copies.run()
			var got Proof
			if p := copies.proofs[17]; p != nil {
				got = *p
			}
			if copies.err != nil || got != c.want {
				t.Errorf("%v\n got %+v\nwant %+v", copies.err, got, c.want)
			}
		})
	}
	if pageFrames(43, 0x10000, 1) != nil {
		t.Error("a process that is not there has memory")
	}
	c := newCopies(&sampleRing{records: [][]byte{{1, 2, 3}}})
	if c.run(); c.err == nil {
		t.Error("a short record is taken")
	}
}

// The records of the programs are as long as here.
func TestRecords(t *testing.T) {
	if n := binary.Size(sampleHead{}); n != headBytes {
		t.Errorf("struct head: %d bytes", n)
	}
	if n := headBytes + binary.Size(samplePacket{}); n != fragsAt+maxFrags*fragBytes {
		t.Errorf("struct packet: %d bytes", n)
	}
	if n := binary.Size(verbsRecord{}); n != 112 {
		t.Errorf("struct operation: %d bytes", n)
	}
	copies, err := loadCopies()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := copies.Maps["paths"].ValueSize, uint32(binary.Size(pathValue{})); got != want {
		t.Errorf("struct path: %d bytes in C, %d here", got, want)
	}
}

func TestDecodeVerbs(t *testing.T) {
	var b bytes.Buffer
	r := verbsRecord{Time: 3000, NS: 2000, Function: 1, Error: 12, PID: 42, QPN: 17}
	copy(r.Comm[:], "app")
	copy(r.Device[:], "mlx5_0")
	if err := binary.Write(&b, binary.LittleEndian, r); err != nil {
		t.Fatal(err)
	}
	o, err := decodeVerbs(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(o.Time, o.Duration, o.Op, o.Function, int(o.Err), o.PID, o.Comm, o.Device, o.QPN)
	want := fmt.Sprintln("3µs", "2µs", "open device", verbsFunctions[1].name, 12, 42, "app", "mlx5_0", 17)
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if _, err := decodeVerbs(b.Bytes()[:20]); err == nil {
		t.Error("a short record is taken")
	}
	seen := make(map[string]bool)
	for i, f := range verbsFunctions {
		if seen[f.name] || f.cookie(i)&0xffff != uint64(i) || f.arg > argWQ || f.returns > returnsNothing {
			t.Errorf("function %d: %+v", i, f)
		}
		seen[f.name] = true
	}
}

// A kernel without types, or without the modules, is told apart.
func TestKernelSymbols(t *testing.T) {
	old := kallsyms
	t.Cleanup(func() { kallsyms = old })
	kallsyms = filepath.Join(t.TempDir(), "kallsyms")
	text := "ffffffff81000000 T vmemmap_base\nffffffffc0001000 t ib_uverbs_create_qp\t[ib_uverbs]\nffffffffc0002000 t foo\t[ext4]\nbad\n"
	if err := os.WriteFile(kallsyms, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	syms, err := kernelSymbols()
	if err != nil || len(syms) != 2 || syms[1] != (symbol{"ib_uverbs_create_qp", "ib_uverbs", 0xffffffffc0001000}) {
		t.Errorf("%v, %v", syms, err)
	}
	if at, err := symbolAddr("vmemmap_base"); err != nil || at != 0xffffffff81000000 {
		t.Errorf("vmemmap_base: %x, %v", at, err)
	}
	if at, err := symbolAddr("other"); err != nil || at != 0 {
		t.Errorf("other: %x, %v", at, err)
	}
}

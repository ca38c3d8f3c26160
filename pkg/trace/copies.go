// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
)

// MaxSample is the longest message, in bytes, that is looked at.
const MaxSample = 4 << 20

// vmemmapFixed is where x86-64 has its page structs, if that is not a variable.
const vmemmapFixed = 0xffffea0000000000

const (
	pageBytes = 4096
	maxFrags  = 17 // MAX_FRAGS of bpf/copies.bpf.c
)

// A Path is how payload gets to the peer.
type Path uint32

// Paths, as in the tracepoint softhca:burst.
const (
	PathWire  Path = 0
	PathLocal Path = 1
)

func (p Path) String() string {
	switch p {
	case PathWire:
		return "wire"
	case PathLocal:
		return "local"
	}
	return fmt.Sprintf("path %d", uint32(p))
}

// MarshalText makes encoding/json write p as String does.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// CopyCount is what a queue pair has handed over by one path.
type CopyCount struct {
	QPN  uint32
	Path Path
	// Owner is whose the queue pair is; what is not known is zero.
	Owner Owner
	pathValue
	// Proof is of samples, PathWire only.
	Proof Proof
}

// pathValue is struct path of bpf/copies.bpf.c.
type pathValue struct {
	Packets uint64
	// Again is how many of them were not sent for the first time.
	Again uint64
	// Referenced and Copied are payload bytes, repeats included.
	Referenced, Copied uint64
}

// A Proof compares the packets of sampled messages, as the kernel hands them to a
// network device, with the buffers that the messages were sent from.
type Proof struct {
	// Messages and Bytes were compared.
	Messages, Bytes uint64
	// InPlace are bytes that lie in a page frame of the message's own buffer.
	InPlace uint64
	// Elsewhere are the others: somebody has copied them.
	Elsewhere uint64
	// NotCompared are messages that failed, whose process was gone, whose memory is
	// not mapped where the request says, or of which not all packets were seen.
	NotCompared uint64
}

func (p *Proof) add(o *Proof) {
	p.Messages += o.Messages
	p.Bytes += o.Bytes
	p.InPlace += o.InPlace
	p.Elsewhere += o.Elsewhere
	p.NotCompared += o.NotCompared
}

// sampleHead is struct head, and frag struct frag, of bpf/copies.bpf.c.
type (
	sampleHead struct {
		Kind, QPN, Index, PID        uint32
		Addr                         uint64
		Length, PSN, Packets, Status uint32
	}
	frag struct {
		Frame          uint64
		Offset, Length uint32
	}
)

// What struct head and struct frag are long, and where the fragments of struct packet
// begin, behind their number
const (
	headBytes = 40
	fragBytes = 16
	fragsAt   = headBytes + 8
)

func decodeHead(b []byte) sampleHead {
	u32 := binary.LittleEndian.Uint32
	return sampleHead{
		Kind: u32(b), QPN: u32(b[4:]), Index: u32(b[8:]), PID: u32(b[12:]), Addr: binary.LittleEndian.Uint64(b[16:]),
		Length: u32(b[24:]), PSN: u32(b[28:]), Packets: u32(b[32:]), Status: u32(b[36:]),
	}
}

// decodeFrags returns the fragments of a packet; cut, if it has more than are told.
func decodeFrags(b []byte) (frags []frag, cut bool) {
	n := binary.LittleEndian.Uint32(b[headBytes:])
	for i := range min(n, maxFrags) {
		f := b[fragsAt+i*fragBytes:]
		frags = append(frags, frag{
			Frame:  binary.LittleEndian.Uint64(f),
			Offset: binary.LittleEndian.Uint32(f[8:]), Length: binary.LittleEndian.Uint32(f[12:]),
		})
	}
	return frags, n > maxFrags
}

// Kinds of records.
const (
	sampleBegin = iota
	sampleWire
	samplePacketKind
	sampleEnd
)

// A sample is a message that is looked at.
type sample struct {
	begin   sampleHead
	frames  []uint64 // of its buffer's pages, nil: not known
	wired   bool
	psn     uint32
	packets uint32
	frags   map[uint32][]frag // by PSN; the first time it was sent
	cut     bool              // a packet has more fragments than are told
}

// Copies counts what is referenced and what is copied, and compares samples.
type Copies struct {
	s    *session
	r    recordReader
	done chan struct{}

	mu     sync.Mutex
	proofs map[uint32]*Proof
	open   map[uint32]*sample // one a queue pair
	err    error
}

// OpenCopies begins to count. Of the messages with one buffer and at most
// MaxSample bytes, each every-th is compared; if that is 0, as many as cost
// little (bpf/copies.bpf.c). It needs the kernel's BTF.
func OpenCopies(f Filter, owners []Owner, every uint32) (*Copies, error) {
	if err := probe(); err != nil {
		return nil, err
	}
	if err := needBTF("to compare page frames"); err != nil {
		return nil, err
	}
	spec, err := loadCopies()
	if err != nil {
		return nil, err
	}
	at, err := symbolAddr("vmemmap_base")
	if err != nil {
		return nil, err
	}
	for name, v := range map[string]any{
		"want_every": every, "max_length": uint32(MaxSample),
		"vmemmap_at": at, "vmemmap_fixed": uint64(vmemmapFixed),
	} {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("set the constant %s: %w", name, err)
		}
	}
	s, err := open(spec, f, owners, "on_qp_connect", "copies_qp_destroy", "copies_burst", "copies_send_fetch",
		"copies_send_wire", "copies_send_done", "copies_xmit")
	if err != nil {
		return nil, err
	}
	c := newCopies(nil)
	c.s = s
	if err := s.notePeers(owners); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	l, err := link.AttachTracing(link.TracingOptions{Program: s.coll.Programs["copies_xmit"]})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("attach to the tracepoint net:net_dev_start_xmit: %w", err), s.Close())
	}
	s.links = append(s.links, l)
	c.r, err = ringbuf.NewReader(s.coll.Maps["ring"])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the ring buffer: %w", err), s.Close())
	}
	go c.run()
	return c, nil
}

func newCopies(r recordReader) *Copies {
	return &Copies{r: r, done: make(chan struct{}), proofs: make(map[uint32]*Proof), open: make(map[uint32]*sample)}
}

func symbolAddr(name string) (uint64, error) {
	syms, err := kernelSymbols()
	if err != nil {
		return 0, err
	}
	for _, s := range syms {
		if s.name == name && s.module == "" {
			return s.addr, nil
		}
	}
	return 0, nil
}

func (c *Copies) run() {
	defer close(c.done)
	for {
		b, err := nextRecord(c.r, "a sample")
		if errors.Is(err, os.ErrClosed) {
			return
		}
		c.mu.Lock()
		if err == nil {
			err = c.record(b)
		}
		c.err = errors.Join(c.err, err)
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// record takes in one record.
func (c *Copies) record(b []byte) error {
	if len(b) < headBytes {
		return fmt.Errorf("read a sample: a record of %d bytes", len(b))
	}
	h := decodeHead(b)
	s := c.open[h.QPN]
	if h.Kind == sampleBegin {
		if s != nil {
			c.proof(h.QPN).NotCompared++ // its end was lost
		}
		c.open[h.QPN] = &sample{
			begin: h, frags: make(map[uint32][]frag),
			frames: pageFrames(h.PID, h.Addr, h.Length),
		}
		return nil
	}
	if s == nil || s.begin.Index != h.Index {
		return nil // its begin was lost
	}
	switch h.Kind {
	case sampleWire:
		s.wired, s.psn, s.packets = true, h.PSN, h.Packets
	case samplePacketKind:
		if len(b) < fragsAt+maxFrags*fragBytes {
			return fmt.Errorf("read a sample: a packet's record of %d bytes", len(b))
		}
		if _, again := s.frags[h.PSN]; again {
			break
		}
		frags, cut := decodeFrags(b)
		s.cut = s.cut || cut
		s.frags[h.PSN] = frags
	case sampleEnd:
		delete(c.open, h.QPN)
		c.finish(s, h.Status)
	}
	return nil
}

func (c *Copies) proof(qpn uint32) *Proof {
	p := c.proofs[qpn]
	if p == nil {
		p = new(Proof)
		c.proofs[qpn] = p
	}
	return p
}

// finish compares a message that is over.
func (c *Copies) finish(s *sample, status uint32) {
	if s.wired && len(s.frags) == 0 {
		return // it went by the local path
	}
	p := c.proof(s.begin.QPN)
	n, ok := s.inPlace()
	if !ok || status != 0 {
		p.NotCompared++
		return
	}
	p.Messages++
	p.Bytes += uint64(s.begin.Length)
	p.InPlace += n
	p.Elsewhere += uint64(s.begin.Length) - n
}

// inPlace returns how many bytes of the message lie in page frames of its buffer. It
// is not ok if that cannot be said.
func (s *sample) inPlace() (n uint64, ok bool) {
	if !s.wired || s.cut || s.frames == nil {
		return 0, false
	}
	// From where to where the buffer has a page frame
	type span struct{ from, to uint32 }
	spans := make(map[uint64]span, len(s.frames))
	for i, frame := range s.frames {
		sp := span{0, pageBytes}
		if i == 0 {
			sp.from = uint32(s.begin.Addr % pageBytes)
		}
		if i == len(s.frames)-1 {
			sp.to = uint32((s.begin.Addr+uint64(s.begin.Length)-1)%pageBytes) + 1
		}
		spans[frame] = sp
	}
	for i := range s.packets {
		frags, seen := s.frags[(s.psn+i)&0xffffff]
		if !seen {
			return 0, false
		}
		for _, f := range frags {
			// A fragment may run over several page frames.
			frame, offset := f.Frame+uint64(f.Offset/pageBytes), f.Offset%pageBytes
			for left := f.Length; left > 0; frame, offset = frame+1, 0 {
				part := min(left, pageBytes-offset)
				sp, mine := spans[frame]
				if mine && offset >= sp.from && offset+part <= sp.to {
					n += uint64(part)
				}
				left -= part
			}
		}
	}
	return min(n, uint64(s.begin.Length)), true
}

// procfs is where processes are; tests put it elsewhere.
var procfs = "/proc"

// pageFrames returns the page frames of a part of a process's memory, nil if that
// is not all there. Addr and length are the program's own: the kernel tells of a
// request before it refuses it.
func pageFrames(pid uint32, addr uint64, length uint32) []uint64 {
	if length == 0 || length > MaxSample || addr+uint64(length) < addr {
		return nil
	}
	f, err := os.Open(fmt.Sprintf("%s/%d/pagemap", procfs, pid))
	if err != nil {
		return nil
	}
	defer f.Close()
	first := addr / pageBytes
	last := (addr + uint64(length) - 1) / pageBytes
	b := make([]byte, (last-first+1)*8)
	if _, err := f.ReadAt(b, int64(first*8)); err != nil {
		return nil
	}
	frames := make([]uint64, 0, len(b)/8)
	for ; len(b) > 0; b = b[8:] {
		const present, frameMask = 1 << 63, 1<<55 - 1
		e := binary.LittleEndian.Uint64(b)
		if e&present == 0 || e&frameMask == 0 {
			return nil
		}
		frames = append(frames, e&frameMask)
	}
	return frames
}

// Stop detaches the programs, and ends the comparison of samples after those that
// are in the buffer.
func (c *Copies) Stop() error {
	err := stop(&c.s.attached, c.r)
	<-c.done
	return err
}

// Read returns what was counted so far, by queue pair and path.
func (c *Copies) Read() ([]CopyCount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	var (
		list  []CopyCount
		key   struct{ QPN, Path uint32 }
		value pathValue
	)
	it := c.s.coll.Maps["paths"].Iterate()
	for it.Next(&key, &value) {
		n := CopyCount{QPN: key.QPN, Path: Path(key.Path), pathValue: value, Owner: c.s.owner(key.QPN)}
		if p := c.proofs[key.QPN]; p != nil && n.Path == PathWire {
			n.Proof = *p
		}
		list = append(list, n)
	}
	if err := it.Err(); err != nil {
		return nil, fmt.Errorf("read the copies: %w", err)
	}
	slices.SortFunc(list, func(a, b CopyCount) int {
		return cmp.Or(cmp.Compare(a.QPN, b.QPN), cmp.Compare(a.Path, b.Path))
	})
	return list, nil
}

// Lost is how many records found the buffer full.
func (c *Copies) Lost() (uint64, error) { return counter(c.s.coll, "lost") }

// NoRoom is as Flows.NoRoom.
func (c *Copies) NoRoom() (uint64, error) { return c.s.noRoom() }

// Close detaches the programs and frees them.
func (c *Copies) Close() error {
	err := c.r.Close()
	<-c.done
	return errors.Join(err, c.s.Close())
}

// TotalProof adds the proofs of all queue pairs.
func TotalProof(list []CopyCount) Proof {
	var all Proof
	for i := range list {
		all.add(&list[i].Proof)
	}
	return all
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

var (
	// ErrNotSupported means that this kernel cannot do it.
	ErrNotSupported = ebpf.ErrNotSupported
	// ErrNotLoaded means that the module softhca is not there.
	ErrNotLoaded = errors.New("the kernel module softhca is not loaded; 'modprobe softhca' loads it")
)

const nameBytes = 16

// A Filter selects events. A zero field selects all.
type Filter struct {
	// Device is a device's name. Names are compared up to 15 characters.
	Device string
	QPN    uint32
	// PID and Comm are of the process that created the queue pair, the PID as the
	// initial namespace numbers it.
	PID  uint32
	Comm string
}

// An Owner is whose a queue pair is.
type Owner struct {
	QPN    uint32
	PID    uint32
	Comm   string
	Device string
	// DestQPN and DGID are the peer, and SGID is the own end, of a connected queue
	// pair.
	DestQPN    uint32
	SGID, DGID netip.Addr
}

// ownerValue is struct owner of bpf/filter.h.
type ownerValue struct {
	PID       uint32
	Comm, Dev [nameBytes]byte
}

// cName is a name as the kernel's events have it: cut, and ended by a NUL.
func cName(s string) (b [nameBytes]byte) {
	copy(b[:nameBytes-1], s)
	return b
}

// attached are programs in their places.
type attached struct {
	links []io.Closer
	once  sync.Once
	err   error
}

// detach takes the programs out, also under load; nothing comes from them any more.
// It may be called again, and by several at once: each returns when they are out.
func (a *attached) detach() error {
	a.once.Do(func() { a.err = closeAll(a.links) })
	return a.err
}

// A session is a set of programs that are loaded and attached.
type session struct {
	attached
	coll    *ebpf.Collection
	formats map[string]format
}

// open loads and attaches the programs named. Owners are the queue pairs there are
// already; those that come are noticed.
func open(spec *ebpf.CollectionSpec, f Filter, owners []Owner, programs ...string) (_ *session, err error) {
	s := &session{formats: make(map[string]format)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	wanted := make(map[string]bool)
	// First, so that no queue pair is missed.
	first := []string{"on_qp_destroy", "on_qp_create"}
	programs = append(first, programs...)
	for _, p := range programs {
		wanted[p] = true
		event := eventOf(spec.Programs[p])
		if event == "" {
			continue // a probe elsewhere
		}
		if s.formats[event], err = readFormat(event); err != nil {
			return nil, err
		}
	}
	for name := range spec.Programs {
		if !wanted[name] {
			delete(spec.Programs, name)
		}
	}
	if err := f.apply(spec); err != nil {
		return nil, err
	}
	if err := probe(); err != nil {
		return nil, err
	}
	s.coll, err = ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("load the tracing programs: %w", err)
	}
	for i, p := range programs {
		event := eventOf(spec.Programs[p])
		if event == "" {
			continue
		}
		var l link.Link
		if spec.Programs[p].Type == ebpf.RawTracepoint {
			l, err = attachRaw(event, s.coll.Programs[p])
		} else {
			l, err = attachTracepoint(s.formats[event].id, s.coll.Programs[p])
		}
		if err != nil {
			return nil, fmt.Errorf("attach to the tracepoint softhca:%s: %w", event, err)
		}
		s.links = append(s.links, l)
		if i+1 != len(first) {
			continue
		}
		for _, o := range owners {
			v := ownerValue{PID: o.PID, Comm: cName(o.Comm), Dev: cName(o.Device)}
			if err := s.coll.Maps["owners"].Put(o.QPN, v); err != nil {
				return nil, fmt.Errorf("note the owner of queue pair %d: %w", o.QPN, err)
			}
		}
	}
	return s, nil
}

// localPeerValue is struct peer of bpf/peers.h.
type localPeerValue struct {
	QPN        uint32
	SGID, DGID [16]byte
}

// gidBytes are all 0 without a GID.
func gidBytes(gid netip.Addr) (b [16]byte) {
	if gid.IsValid() {
		b = gid.As16()
	}
	return b
}

// notePeers fills the map of peers with those of the queue pairs there are.
func (s *session) notePeers(owners []Owner) error {
	for _, o := range owners {
		if o.DestQPN == 0 {
			continue
		}
		p := localPeerValue{QPN: o.DestQPN, SGID: gidBytes(o.SGID), DGID: gidBytes(o.DGID)}
		// What the kernel has told meanwhile is newer.
		err := s.coll.Maps["peers"].Update(o.QPN, p, ebpf.UpdateNoExist)
		if err != nil && !errors.Is(err, ebpf.ErrKeyExist) {
			return fmt.Errorf("note the peer of queue pair %d: %w", o.QPN, err)
		}
	}
	return nil
}

// owner is whose a queue pair is, zero if that is not known.
func (s *session) owner(qpn uint32) Owner {
	var o ownerValue
	for _, name := range []string{"owners", "gone"} {
		if err := s.coll.Maps[name].Lookup(qpn, &o); err == nil {
			return Owner{QPN: qpn, PID: o.PID, Comm: cString(o.Comm[:]), Device: cString(o.Dev[:])}
		}
	}
	return Owner{}
}

// noRoom is how often a map had no room for a queue pair; what that does is missing.
func (s *session) noRoom() (uint64, error) { return counter(s.coll, "no_room") }

// counter reads a counter of bpf/count.h.
func counter(coll *ebpf.Collection, name string) (uint64, error) {
	var (
		cpus []uint64
		sum  uint64
	)
	if err := coll.Maps[name].Lookup(uint32(0), &cpus); err != nil {
		return 0, fmt.Errorf("read the programs' counter %s: %w", name, err)
	}
	for _, n := range cpus {
		sum += n
	}
	return sum, nil
}

// eventOf is the tracepoint of ours that a program is for, "" if it is for none.
func eventOf(p *ebpf.ProgramSpec) string {
	if p.Type != ebpf.TracePoint && p.Type != ebpf.RawTracepoint {
		return ""
	}
	return strings.TrimPrefix(p.AttachTo, "softhca/")
}

// attachRaw attaches a program to a raw tracepoint.
func attachRaw(event string, p *ebpf.Program) (link.Link, error) {
	if err := oursAlone(event); err != nil {
		return nil, err
	}
	return link.AttachRawTracepoint(link.RawTracepointOptions{Name: event, Program: p})
}

// oursAlone makes sure that no other system has an event of that name: a raw tracepoint
// goes by a name without the system's.
func oursAlone(event string) error {
	for _, dir := range tracefs {
		all, _ := filepath.Glob(filepath.Join(dir, "events/*", event)) // The pattern is right.
		for _, e := range all {
			if system := filepath.Base(filepath.Dir(e)); system != "softhca" {
				return fmt.Errorf("this kernel has another tracepoint of that name, %s:%s: %w", system, event, ErrNotSupported)
			}
		}
	}
	return nil
}

// attachTracepoint attaches a program to the tracepoint of a number. It goes by an event
// of perf's, for which the kernel would prepare a sample each time that nobody reads;
// link.Tracepoint() does so. An event that excludes the kernel gets none, and the program
// runs all the same: half the cost of being traced.
func attachTracepoint(id uint64, p *ebpf.Program) (link.Link, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_TRACEPOINT, Config: id, Sample_type: unix.PERF_SAMPLE_RAW,
		Bits: unix.PerfBitExcludeKernel,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open the event: %w", err)
	}
	// The link keeps the event.
	defer unix.Close(fd)
	return link.AttachRawLink(link.RawLinkOptions{Target: fd, Program: p, Attach: ebpf.AttachPerfEvent})
}

// probe tells early, and in plain words, what is missing.
func probe() error {
	err := features.HaveProgramType(ebpf.TracePoint)
	switch {
	case err == nil:
		return rlimit.RemoveMemlock()
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("load tracing programs: %w; this needs root", err)
	case errors.Is(err, ErrNotSupported), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("this kernel runs no BPF programs on tracepoints (CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS): %w", ErrNotSupported)
	}
	return fmt.Errorf("find out whether this kernel runs BPF programs: %w", err)
}

// apply writes the filter into the programs' constants.
func (f Filter) apply(spec *ebpf.CollectionSpec) error {
	for name, v := range map[string]any{
		"want_qpn": f.QPN, "want_pid": f.PID,
		"want_dev": cName(f.Device), "want_comm": cName(f.Comm),
	} {
		c := spec.Variables[name]
		if c == nil {
			return fmt.Errorf("the programs have no constant %s", name)
		}
		if err := c.Set(v); err != nil {
			return fmt.Errorf("set the constant %s: %w", name, err)
		}
	}
	return nil
}

// Close detaches the programs, also under load, and frees them. It may be called
// again.
func (s *session) Close() error {
	err := s.detach()
	if s.coll != nil {
		s.coll.Close()
	}
	return err
}

// closeAll detaches programs. Each waits until nobody runs it any more; all at once
// wait once.
func closeAll(links []io.Closer) error {
	errs := make([]error, len(links))
	var wg sync.WaitGroup
	for i, l := range links {
		wg.Go(func() { errs[i] = l.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

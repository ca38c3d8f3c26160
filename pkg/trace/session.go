// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
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
	// DestQPN and DGID are the peer, of a connected queue pair.
	DestQPN uint32
	DGID    netip.Addr
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

// A session is a set of programs that are loaded and attached.
type session struct {
	coll    *ebpf.Collection
	links   []link.Link
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
	programs = append([]string{"on_qp_create"}, programs...)
	for _, p := range programs {
		wanted[p] = true
		event := eventOf(spec.Programs[p])
		if event == "" {
			continue // not of the kernel's: attachProvider
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
		l, err := link.Tracepoint("softhca", event, s.coll.Programs[p], nil)
		if err != nil {
			return nil, fmt.Errorf("attach to the tracepoint softhca:%s: %w", event, err)
		}
		s.links = append(s.links, l)
		if i > 0 {
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

// eventOf is the tracepoint a program is for, "" if it is for none.
func eventOf(p *ebpf.ProgramSpec) string {
	return strings.TrimPrefix(p.AttachTo, "softhca/")
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
	// Each waits until nobody runs its program any more; all at once wait once.
	errs := make([]error, len(s.links))
	var wg sync.WaitGroup
	for i, l := range s.links {
		wg.Go(func() { errs[i] = l.Close() })
	}
	wg.Wait()
	s.links = nil
	if s.coll != nil {
		s.coll.Close()
	}
	return errors.Join(errs...)
}

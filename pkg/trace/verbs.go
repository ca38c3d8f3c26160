// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
)

const deviceBytes = 64 // DEVICE of bpf/verbs.bpf.c

// enum what and enum result of bpf/verbs.bpf.c.
const (
	argBundle = iota
	argDevice
	argPD
	argCQ
	argQP
	argMR
	argAH
	argSRQ
	argXRCD
	argWQ
)

const (
	returnsNumber = iota
	returnsPointer
	returnsNothing
)

// A verbsFunction is a function of the kernel that is an operation.
type verbsFunction struct {
	name, op string
	arg      uint64
	returns  uint64
}

// verbsFunctions are those of ib_uverbs, which serve processes, and those of
// ib_core, which serve the kernel and what a process leaves behind. A handler of
// ib_uverbs that destroys by ioctl (..._QP_DESTROY) is called when ib_core has done it,
// so it is not among them.
var verbsFunctions = []verbsFunction{
	{"ib_uverbs_get_context", "open device", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_GET_CONTEXT", "open device", argBundle, returnsNumber},
	{"ib_uverbs_query_device", "query device", argBundle, returnsNumber},
	{"ib_uverbs_ex_query_device", "query device", argBundle, returnsNumber},
	{"ib_uverbs_query_port", "query port", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_QUERY_PORT", "query port", argBundle, returnsNumber},
	{"ib_uverbs_alloc_pd", "create PD", argBundle, returnsNumber},
	{"ib_uverbs_dealloc_pd", "destroy PD", argBundle, returnsNumber},
	{"ib_uverbs_reg_mr", "register MR", argBundle, returnsNumber},
	{"ib_uverbs_rereg_mr", "reregister MR", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_DM_MR_REG", "register MR", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_REG_DMABUF_MR", "register MR", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_ADVISE_MR", "advise MR", argBundle, returnsNumber},
	{"ib_uverbs_dereg_mr", "deregister MR", argBundle, returnsNumber},
	{"ib_uverbs_alloc_mw", "create MW", argBundle, returnsNumber},
	{"ib_uverbs_dealloc_mw", "destroy MW", argBundle, returnsNumber},
	{"ib_uverbs_create_comp_channel", "create channel", argBundle, returnsNumber},
	{"ib_uverbs_create_cq", "create CQ", argBundle, returnsNumber},
	{"ib_uverbs_ex_create_cq", "create CQ", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE", "create CQ", argBundle, returnsNumber},
	{"ib_uverbs_resize_cq", "resize CQ", argBundle, returnsNumber},
	{"ib_uverbs_ex_modify_cq", "modify CQ", argBundle, returnsNumber},
	{"ib_uverbs_destroy_cq", "destroy CQ", argBundle, returnsNumber},
	{"ib_uverbs_create_qp", "create QP", argBundle, returnsNumber},
	{"ib_uverbs_ex_create_qp", "create QP", argBundle, returnsNumber},
	{"ib_uverbs_open_qp", "open QP", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_QP_CREATE", "create QP", argBundle, returnsNumber},
	{"ib_uverbs_modify_qp", "modify QP", argBundle, returnsNumber},
	{"ib_uverbs_ex_modify_qp", "modify QP", argBundle, returnsNumber},
	{"ib_uverbs_query_qp", "query QP", argBundle, returnsNumber},
	{"ib_uverbs_destroy_qp", "destroy QP", argBundle, returnsNumber},
	{"ib_uverbs_create_ah", "create AH", argBundle, returnsNumber},
	{"ib_uverbs_destroy_ah", "destroy AH", argBundle, returnsNumber},
	{"ib_uverbs_create_srq", "create SRQ", argBundle, returnsNumber},
	{"ib_uverbs_create_xsrq", "create SRQ", argBundle, returnsNumber},
	{"ib_uverbs_handler_UVERBS_METHOD_SRQ_CREATE", "create SRQ", argBundle, returnsNumber},
	{"ib_uverbs_modify_srq", "modify SRQ", argBundle, returnsNumber},
	{"ib_uverbs_query_srq", "query SRQ", argBundle, returnsNumber},
	{"ib_uverbs_destroy_srq", "destroy SRQ", argBundle, returnsNumber},
	{"ib_uverbs_open_xrcd", "open XRCD", argBundle, returnsNumber},
	{"ib_uverbs_close_xrcd", "close XRCD", argBundle, returnsNumber},
	{"ib_uverbs_attach_mcast", "attach to group", argBundle, returnsNumber},
	{"ib_uverbs_detach_mcast", "detach from group", argBundle, returnsNumber},
	{"ib_uverbs_ex_create_wq", "create WQ", argBundle, returnsNumber},
	{"ib_uverbs_ex_modify_wq", "modify WQ", argBundle, returnsNumber},
	{"ib_uverbs_ex_destroy_wq", "destroy WQ", argBundle, returnsNumber},
	{"ib_uverbs_ex_create_flow", "create flow", argBundle, returnsNumber},
	{"ib_uverbs_ex_destroy_flow", "destroy flow", argBundle, returnsNumber},

	{"__ib_alloc_pd", "create PD", argDevice, returnsPointer},
	{"ib_dealloc_pd_user", "destroy PD", argPD, returnsNumber},
	{"ib_reg_user_mr", "register MR", argPD, returnsPointer},
	{"ib_alloc_mr", "create MR", argPD, returnsPointer},
	{"ib_alloc_mr_integrity", "create MR", argPD, returnsPointer},
	{"ib_dereg_mr_user", "deregister MR", argMR, returnsNumber},
	{"__ib_create_cq", "create CQ", argDevice, returnsPointer},
	{"__ib_alloc_cq", "create CQ", argDevice, returnsPointer},
	{"ib_resize_cq", "resize CQ", argCQ, returnsNumber},
	{"ib_destroy_cq_user", "destroy CQ", argCQ, returnsNumber},
	{"ib_free_cq", "destroy CQ", argCQ, returnsNothing},
	{"ib_create_qp_kernel", "create QP", argPD, returnsPointer},
	{"ib_create_qp_user", "create QP", argDevice, returnsPointer},
	{"ib_modify_qp", "modify QP", argQP, returnsNumber},
	{"ib_modify_qp_with_udata", "modify QP", argQP, returnsNumber},
	{"ib_query_qp", "query QP", argQP, returnsNumber},
	{"ib_destroy_qp_user", "destroy QP", argQP, returnsNumber},
	{"rdma_create_ah", "create AH", argPD, returnsPointer},
	{"rdma_create_user_ah", "create AH", argPD, returnsPointer},
	{"rdma_modify_ah", "modify AH", argAH, returnsNumber},
	{"rdma_query_ah", "query AH", argAH, returnsNumber},
	{"rdma_destroy_ah_user", "destroy AH", argAH, returnsNumber},
	{"ib_create_srq_user", "create SRQ", argPD, returnsPointer},
	{"ib_modify_srq", "modify SRQ", argSRQ, returnsNumber},
	{"ib_query_srq", "query SRQ", argSRQ, returnsNumber},
	{"ib_destroy_srq_user", "destroy SRQ", argSRQ, returnsNumber},
	{"ib_alloc_xrcd_user", "open XRCD", argDevice, returnsPointer},
	{"ib_dealloc_xrcd_user", "close XRCD", argXRCD, returnsNumber},
	{"ib_create_wq", "create WQ", argPD, returnsPointer},
	{"ib_destroy_wq_user", "destroy WQ", argWQ, returnsNumber},
	{"ib_attach_mcast", "attach to group", argQP, returnsNumber},
	{"ib_detach_mcast", "detach from group", argQP, returnsNumber},
}

func (f verbsFunction) cookie(number int) uint64 {
	return uint64(number) | f.arg<<16 | f.returns<<24
}

// A VerbsOp is an operation of the control path that has ended.
type VerbsOp struct {
	// Time is CLOCK_MONOTONIC at its end, Duration how long it took.
	Time, Duration time.Duration
	// Op says what it was, Function which function of the kernel was called for it.
	Op, Function string
	// Err is 0 if it succeeded.
	Err syscall.Errno
	// PID and Comm are of the process that called.
	PID  uint32
	Comm string
	// Device is the RDMA device's name.
	Device string
	// QPN is of the queue pair, 0 where it is not known.
	QPN uint32
}

// verbsRecord is struct operation of bpf/verbs.bpf.c.
type verbsRecord struct {
	Time, NS                  uint64
	Function, Error, PID, QPN uint32
	Comm                      [nameBytes]byte
	Device                    [deviceBytes]byte
}

// Verbs reads the control-path operations of RDMA devices, of whatever driver.
type Verbs struct {
	attached
	coll    *ebpf.Collection
	r       recordReader
	lost    func() (uint64, error)
	missing []string
	multi   bool
}

// OpenVerbs begins to read operations; of the filter Device, PID and Comm count,
// the last two of the process that calls. It needs the BTF of ib_core and ib_uverbs.
func OpenVerbs(f Filter) (_ *Verbs, err error) {
	if err := probe(); err != nil {
		return nil, err
	}
	const what = "to trace verbs"
	if err := needBTF(what); err != nil {
		return nil, err
	}
	var types []*btf.Spec
	for _, module := range []string{"ib_core", "ib_uverbs"} {
		spec, err := moduleBTF(what, module)
		if err != nil {
			return nil, err
		}
		if spec != nil {
			types = append(types, spec)
		}
	}
	spec, err := loadVerbs()
	if err != nil {
		return nil, err
	}
	var dev [deviceBytes]byte
	copy(dev[:deviceBytes-1], f.Device)
	for name, v := range map[string]any{"want_dev": dev, "want_comm": cName(f.Comm), "want_pid": f.PID} {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("set the constant %s: %w", name, err)
		}
	}
	v := new(Verbs)
	defer func() {
		if err != nil {
			v.Close()
		}
	}()
	// A program for many functions at once is loaded as such.
	v.multi = haveKprobeMulti() == nil
	if v.multi {
		for _, p := range spec.Programs {
			p.AttachType = ebpf.AttachTraceKprobeMulti
		}
	}
	v.coll, err = ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{
		Programs: ebpf.ProgramOptions{ExtraRelocationTargets: types},
	})
	if err != nil {
		return nil, fmt.Errorf("load the tracing programs: %w", err)
	}
	if err := v.attach(); err != nil {
		return nil, err
	}
	if v.r, err = ringbuf.NewReader(v.coll.Maps["ring"]); err != nil {
		return nil, fmt.Errorf("open the ring buffer: %w", err)
	}
	v.lost = func() (uint64, error) { return counter(v.coll, "lost") }
	return v, nil
}

// attach puts the programs on all functions that this kernel has.
func (v *Verbs) attach() error {
	syms, err := kernelSymbols()
	if err != nil {
		return err
	}
	addrs := make(map[string]uintptr)
	for _, s := range syms {
		addrs[s.name] = uintptr(s.addr)
	}
	var (
		opts  link.KprobeMultiOptions
		found []string
	)
	for i, f := range verbsFunctions {
		addr, ok := addrs[f.name]
		if !ok {
			v.missing = append(v.missing, f.name)
			continue
		}
		if addr == 0 {
			return fmt.Errorf("read the kernel's symbols: the addresses are hidden: %w; this needs root", os.ErrPermission)
		}
		found = append(found, f.name)
		opts.Addresses = append(opts.Addresses, addr)
		opts.Cookies = append(opts.Cookies, f.cookie(i))
	}
	if len(found) == 0 {
		return fmt.Errorf("this kernel has none of the functions that are traced: %w", ErrNotSupported)
	}
	enter, leave := v.coll.Programs["verbs_enter"], v.coll.Programs["verbs_return"]
	if v.multi {
		// First the returns, so that no call is begun without an end.
		l, err := link.KretprobeMulti(leave, opts)
		if err != nil {
			return fmt.Errorf("attach to the returns of %d functions: %w", len(found), err)
		}
		v.links = append(v.links, l)
		if l, err = link.KprobeMulti(enter, opts); err != nil {
			return fmt.Errorf("attach to %d functions: %w", len(found), err)
		}
		v.links = append(v.links, l)
		return nil
	}
	for i, name := range found {
		opts := &link.KprobeOptions{Cookie: opts.Cookies[i]}
		l, err := link.Kretprobe(name, leave, opts)
		if err == nil {
			v.links = append(v.links, l)
			l, err = link.Kprobe(name, enter, opts)
		}
		switch {
		case err == nil:
			v.links = append(v.links, l)
		case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EADDRNOTAVAIL):
			v.missing = append(v.missing, name) // there, but no probe goes in
		default:
			return fmt.Errorf("attach to %s: %w", name, err)
		}
	}
	return nil
}

// haveKprobeMulti tells whether one program can be put on many functions at once.
var haveKprobeMulti = sync.OnceValue(func() error {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceKprobeMulti, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := link.KprobeMulti(p, link.KprobeMultiOptions{Symbols: []string{"vprintk"}})
	if err != nil {
		return err
	}
	return l.Close()
})

// Missing names functions that this kernel does not have or cannot probe: their
// operations are not seen.
func (v *Verbs) Missing() []string { return v.missing }

// Next waits for an operation. After Stop it returns what is still in the buffer,
// and then an error that is os.ErrClosed.
func (v *Verbs) Next() (VerbsOp, error) {
	b, err := nextRecord(v.r, "an operation")
	if err != nil {
		return VerbsOp{}, err
	}
	return decodeVerbs(b)
}

func decodeVerbs(b []byte) (VerbsOp, error) {
	var r verbsRecord
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, &r); err != nil {
		return VerbsOp{}, fmt.Errorf("read an operation: a record of %d bytes", len(b))
	}
	if int(r.Function) >= len(verbsFunctions) {
		return VerbsOp{}, fmt.Errorf("read an operation: unknown function %d", r.Function)
	}
	f := verbsFunctions[r.Function]
	return VerbsOp{
		Time: time.Duration(r.Time), Duration: time.Duration(r.NS), Op: f.op, Function: f.name,
		Err: syscall.Errno(r.Error), PID: r.PID, Comm: cString(r.Comm[:]), Device: cString(r.Device[:]), QPN: r.QPN,
	}, nil
}

// Stop detaches the programs, and lets Next return what is in the buffer and then
// end.
func (v *Verbs) Stop() error { return stop(&v.attached, v.r) }

// Lost is how many operations found the buffer full.
func (v *Verbs) Lost() (uint64, error) { return v.lost() }

// Close detaches the programs and frees them.
func (v *Verbs) Close() error {
	var err error
	if v.r != nil {
		err = v.r.Close()
	}
	err = errors.Join(err, v.detach())
	if v.coll != nil {
		v.coll.Close()
	}
	return err
}

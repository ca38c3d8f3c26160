// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Control-path operations of any RDMA device: entry and return of functions of
 * ib_uverbs and ib_core.  Which function it is, where the device is found and what
 * is returned is in the attach cookie, so two programs serve all.
 *
 * One function calls another of the list; only the outermost counts.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <asm/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "lost.h"

#define COMM	16
#define DEVICE	64	/* IB_DEVICE_NAME_MAX */

/* Cookie: number of the function, enum what << 16, enum result << 24 */
enum what {		/* the first argument */
	BUNDLE, IBDEV, PD, CQ, QP, MR, AH, SRQ, XRCD, WQ,
};

enum result {
	NUMBER,		/* 0 or a negative errno */
	POINTER,	/* or a negative errno as a pointer */
	NOTHING,
};

volatile const char want_dev[DEVICE];
volatile const char want_comm[COMM];
volatile const __u32 want_pid;

/* --- what is used of the structs of ib_core and ib_uverbs ----------------------- */

struct ib_device {
	char name[DEVICE];
} __attribute__((preserve_access_index));

struct ib_pd {
	struct ib_device *device;
} __attribute__((preserve_access_index));

struct ib_cq {
	struct ib_device *device;
} __attribute__((preserve_access_index));

struct ib_qp {
	struct ib_device *device;
	__u32 qp_num;
} __attribute__((preserve_access_index));

struct ib_mr {
	struct ib_device *device;
} __attribute__((preserve_access_index));

struct ib_ah {
	struct ib_device *device;
} __attribute__((preserve_access_index));

struct ib_srq {
	struct ib_device *device;
} __attribute__((preserve_access_index));

struct ib_xrcd {
	struct ib_device *device;
} __attribute__((preserve_access_index));

struct ib_wq {
	struct ib_device *device;
} __attribute__((preserve_access_index));

struct ib_uverbs_device {
	struct ib_device *ib_dev;
} __attribute__((preserve_access_index));

struct ib_uverbs_file {
	struct ib_uverbs_device *device;
} __attribute__((preserve_access_index));

struct uverbs_attr_bundle {
	struct ib_uverbs_file *ufile;
} __attribute__((preserve_access_index));

/* ---------------------------------------------------------------------------------- */

struct operation {
	__u64 time;	/* of its end */
	__u64 ns;
	__u32 function;
	__s32 error;	/* 0 or an errno, not negated */
	__u32 pid;
	__u32 qpn;	/* of the QP that it is about; 0: not known */
	char comm[COMM];
	char dev[DEVICE];
};

/* What a thread is doing */
struct call {
	__u64 cookie;
	__u64 start;
	__u32 qpn;
	__u32 rsvd;
	char dev[DEVICE];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

static __always_inline struct ib_device *device_of(__u32 what, const void *arg)
{
	switch (what) {
	case BUNDLE:
		return BPF_CORE_READ((struct uverbs_attr_bundle *)arg, ufile,
				     device, ib_dev);
	case IBDEV:
		return (struct ib_device *)arg;
	case PD:
		return BPF_CORE_READ((struct ib_pd *)arg, device);
	case CQ:
		return BPF_CORE_READ((struct ib_cq *)arg, device);
	case QP:
		return BPF_CORE_READ((struct ib_qp *)arg, device);
	case MR:
		return BPF_CORE_READ((struct ib_mr *)arg, device);
	case AH:
		return BPF_CORE_READ((struct ib_ah *)arg, device);
	case SRQ:
		return BPF_CORE_READ((struct ib_srq *)arg, device);
	case XRCD:
		return BPF_CORE_READ((struct ib_xrcd *)arg, device);
	case WQ:
		return BPF_CORE_READ((struct ib_wq *)arg, device);
	}
	return 0;
}

static __always_inline int same(const char *a, const volatile char *want, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (a[i] != want[i])
			return 0;
		if (!a[i])
			break;
	}
	return 1;
}

SEC("kprobe")
int verbs_enter(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u64 thread = bpf_get_current_pid_tgid();
	struct call c = { .cookie = cookie }, *outer;
	const void *arg = (const void *)regs->rdi;
	struct ib_device *dev;

	/* The same again: its return was missed. */
	outer = bpf_map_lookup_elem(&calls, &thread);
	if (outer && outer->cookie != cookie)
		return 0;
	dev = device_of(cookie >> 16 & 0xff, arg);
	if (dev)
		bpf_probe_read_kernel_str(c.dev, sizeof(c.dev), dev->name);
	if ((cookie >> 16 & 0xff) == QP)
		c.qpn = BPF_CORE_READ((struct ib_qp *)arg, qp_num);
	c.start = bpf_ktime_get_ns();
	bpf_map_update_elem(&calls, &thread, &c, BPF_ANY);
	return 0;
}

SEC("kretprobe")
int verbs_return(struct pt_regs *regs)
{
	__u64 now = bpf_ktime_get_ns(), cookie = bpf_get_attach_cookie(regs);
	__u64 thread = bpf_get_current_pid_tgid();
	struct call *c = bpf_map_lookup_elem(&calls, &thread);
	__s64 value = regs->rax;
	char comm[COMM];
	struct operation *o;

	if (!c || c->cookie != cookie)
		return 0;
	bpf_get_current_comm(comm, sizeof(comm));
	if ((want_pid && thread >> 32 != want_pid) ||
	    (want_comm[0] && !same(comm, want_comm, COMM)) ||
	    (want_dev[0] && !same(c->dev, want_dev, DEVICE)))
		goto forget;
	o = bpf_ringbuf_reserve(&ring, sizeof(*o), 0);
	if (!o) {
		count_lost();
		goto forget;
	}
	o->time = now;
	o->ns = now - c->start;
	o->function = cookie & 0xffff;
	o->error = 0;
	switch (cookie >> 24 & 0xff) {
	case NUMBER:
		if ((__s32)value < 0)
			o->error = -(__s32)value;
		break;
	case POINTER:
		if (value < 0 && value >= -4095)
			o->error = -value;
		break;
	}
	o->pid = thread >> 32;
	o->qpn = c->qpn;
	__builtin_memcpy(o->comm, comm, COMM);
	__builtin_memcpy(o->dev, c->dev, DEVICE);
	bpf_ringbuf_submit(o, 0);
forget:
	bpf_map_delete_elem(&calls, &thread);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The tracepoints softhca:* as a program sees them (docs/TRACING.md).  No BTF:
 * the layouts are written down here, and package trace compares each with the
 * tracepoint's `format` before it attaches.
 */
#ifndef SOFTHCA_BPF_EVENTS_H
#define SOFTHCA_BPF_EVENTS_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#define NAME 16

/*
 * What a program returns, so that others (perf record) see the event too: 0 would
 * hide it from them.
 */
#define SEEN 1

struct common {
	__u16 type;
	__u8 flags;
	__u8 preempt;
	__s32 pid;
	char dev[NAME];
	__u32 qpn;		/* of mr_*: the key */
};

struct send_fetch {
	struct common c;
	__u32 index;
	__u64 wr_id;
	__u32 opcode;
	__u32 flags;
	__u32 length;
	__u32 packets;
};

struct send_wire {
	struct common c;
	__u32 index;
	__u32 psn;
	__u32 length;
	__u32 packets;
};

struct send_done {
	struct common c;
	__u32 index;
	__u64 wr_id;
	__u32 opcode;
	__u32 status;
	__u32 length;
	__u32 cqe;
};

struct cqe {
	struct common c;
	__u32 cq;
	__u64 wr_id;
	__u32 opcode;
	__u32 status;
	__u32 length;
	__u32 reason;
	__u32 index;
};

struct burst {
	struct common c;
	__u32 psn;
	__u32 opcode;
	__u32 packets;
	__u32 again;
	__u32 referenced;
	__u32 copied;
	__u32 path;
	__s32 error;
};

struct go_back {
	struct common c;
	__u32 psn;
	__u32 from;
};

struct qp_connect {
	struct common c;
	__u32 dest_qpn;
	__u32 mtu;
	__u8 sgid[16];
	__u8 dgid[16];
};

struct qp_create {
	struct common c;
	__u32 type;
	__u32 pid;
	char comm[NAME];
};

#endif

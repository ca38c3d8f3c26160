/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The tracepoints softhca:* as a program sees them (docs/TRACING.md).  No BTF:
 * the layouts are written down here, and package trace compares each with the
 * tracepoint's `format` before it attaches.
 *
 * What comes with each message is read as a raw tracepoint, which costs a fraction:
 * its arguments are the event's fields, in their order, the device as a pointer.
 */
#ifndef SOFTHCA_BPF_EVENTS_H
#define SOFTHCA_BPF_EVENTS_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#define NAME 16
#define FIRST_QPN 2	/* 0 and 1 are the special ones of each device */

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

/* Arguments of raw tracepoints */
#define RAW	struct bpf_raw_tracepoint_args
#define QPN(ctx)	((__u32)(ctx)->args[1])

enum { FETCH_INDEX = 2, FETCH_WR_ID, FETCH_OPCODE, FETCH_FLAGS, FETCH_LENGTH,
       FETCH_PACKETS, FETCH_ADDR, FETCH_NUM_SGE };
enum { WIRE_INDEX = 2, WIRE_PSN, WIRE_LENGTH, WIRE_PACKETS };
enum { DONE_INDEX = 2, DONE_WR_ID, DONE_OPCODE, DONE_STATUS, DONE_LENGTH,
       DONE_CQE };
enum { RECV_INDEX = 2, RECV_WR_ID, RECV_STATUS, RECV_LENGTH, RECV_PSN };
enum { CQE_CQ = 2, CQE_WR_ID, CQE_OPCODE, CQE_STATUS, CQE_LENGTH, CQE_REASON,
       CQE_INDEX };
enum { BURST_PSN = 2, BURST_OPCODE, BURST_PACKETS, BURST_AGAIN,
       BURST_REFERENCED, BURST_COPIED, BURST_PATH, BURST_ERROR };
enum { ACK_PSN = 2, ACK_SYNDROME, ACK_MSN };

struct qp_state {
	struct common c;
	__u32 from;
	__u32 to;
	__u32 reason;
};

struct mr_register {
	struct common c;	/* qpn is the key */
	__u32 access;
	__u64 addr;
	__u64 length;
	__s32 error;
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

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR Linux-OpenIB */
/*
 * softhca: the ABI between kmod/ and provider/.
 *
 * Rings are memory of the kernel's that the process maps.  Indices run freely
 * (modulo 2^32); the slot of an index is index & (entries - 1).  Producer,
 * consumer and flags stand on cache lines of their own, because each is
 * written by one side and polled by the other.
 *
 * The kernel trusts nothing in here: it keeps its own copy of every index it
 * owns, bounds those it reads, and copies a WQE once before checking it.
 *
 * Numbers of opcodes, flags and statuses are those of the verbs API
 * (enum ib_uverbs_wr_opcode, ib_uverbs_wc_opcode, ib_uverbs_access_flags, and
 * the order of ibv_wc_status).
 */
#ifndef SOFTHCA_ABI_H
#define SOFTHCA_ABI_H

#include <linux/stddef.h>
#include <linux/types.h>

#define SHCA_ABI_VERSION	1
#define SHCA_DRIVER_ID		0x53484341	/* "SHCA" */

/* flags of a ring: written by the kernel, read by the process after posting */
#define SHCA_RING_NEED_WAKEUP	(1u << 0)	/* ring the doorbell after posting */

/**
 * struct shca_ring_hdr - head of a work queue's ring (SQ or RQ)
 * @prod: next index the process fills; stored with release order
 * @cons: oldest index the kernel has not completed; slots before it are free
 * @flags: SHCA_RING_*
 * @rsvd0: 0
 * @rsvd1: 0
 * @rsvd2: 0
 *
 * A posting process stores @prod, executes a full fence, reads @flags, and
 * with SHCA_RING_NEED_WAKEUP set calls POST_SEND with no work requests on the
 * QP (for the SQ and the RQ alike).  The kernel sets the flag, executes a full
 * fence and reads @prod once more before it goes to sleep.
 */
struct shca_ring_hdr {
	__u32 prod;
	__u32 rsvd0[15];
	__u32 cons;
	__u32 rsvd1[15];
	__u32 flags;
	__u32 rsvd2[15];
};

struct shca_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct shca_send_wqe - a slot of the SQ
 * @wr_id: returned in the CQE
 * @opcode: enum ib_uverbs_wr_opcode
 * @flags: IBV_SEND_FENCE, _SIGNALED, _SOLICITED, _INLINE (1, 2, 4, 8)
 * @num_sge: number of entries of @sge, 0 with inline data
 * @inline_len: bytes of @inline_data with IBV_SEND_INLINE, else 0
 * @imm: immediate data (big endian, as given) or the rkey to invalidate
 * @rsvd: 0
 * @rdma: of RDMA opcodes
 * @atomic: of atomic opcodes
 * @ud: of datagrams
 * @sge: the buffers
 * @inline_data: or the data itself
 */
struct shca_send_wqe {
	__aligned_u64 wr_id;
	__u32 opcode;
	__u32 flags;
	__u32 num_sge;
	__u32 inline_len;
	__u32 imm;
	__u32 rsvd;
	union {
		struct {
			__aligned_u64 remote_addr;
			__u32 rkey;
			__u32 rsvd[5];
		} rdma;
		struct {
			__aligned_u64 remote_addr;
			__aligned_u64 compare_add;
			__aligned_u64 swap;
			__u32 rkey;
			__u32 rsvd;
		} atomic;
		struct {
			__u32 ah;		/* shca_create_ah_resp.ah */
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u16 pkey_index;	/* of QP1 only */
			__u16 rsvd[9];
		} ud;
	};
	union {
		__DECLARE_FLEX_ARRAY(struct shca_sge, sge);
		__DECLARE_FLEX_ARRAY(__u8, inline_data);
	};
};

/** struct shca_recv_wqe - a slot of the RQ */
struct shca_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 rsvd;
	struct shca_sge sge[];
};

/* wc_flags: numbers of ibv_wc_flags */
#define SHCA_CQE_GRH		(1u << 0)
#define SHCA_CQE_WITH_IMM	(1u << 1)
#define SHCA_CQE_WITH_INV	(1u << 3)
#define SHCA_CQE_WITH_SMAC	(1u << 16)	/* for kernel consumers */
#define SHCA_CQE_NO_VLAN	0xffff

/** struct shca_cqe - a slot of the CQ; all 64 bytes are written each time */
struct shca_cqe {
	__aligned_u64 wr_id;
	__u32 status;		/* number of ibv_wc_status */
	__u32 opcode;		/* enum ib_uverbs_wc_opcode */
	__u32 vendor_err;	/* enum softhca error-reason, 0: none */
	__u32 byte_len;
	__u32 imm;		/* immediate data (big endian) or invalidated rkey */
	__u32 qp_num;
	__u32 src_qp;
	__u32 wc_flags;		/* SHCA_CQE_* */
	__u16 pkey_index;
	__u16 slid;
	__u8 sl;
	__u8 dlid_path_bits;
	__u8 network_hdr_type;	/* kernel's enum rdma_network_type */
	__u8 port_num;
	__u8 smac[6];
	__u16 vlan_id;		/* SHCA_CQE_NO_VLAN: none */
	__u32 rsvd;
};

/*
 * Arming a CQ costs no system call.  @arm holds a sequence number and a kind.
 * The process arms by a compare-and-swap: if the sequence in @arm differs from
 * @fired, the CQ is still armed and the new request may only widen its kind;
 * else it stores sequence @fired + 1 with the wanted kind.  It then executes a
 * full fence before it polls again.  The kernel publishes a CQE, executes a
 * full fence, reads @arm, and raises one event for each new sequence.
 */
#define SHCA_CQ_ARM_SOLICITED	1u	/* solicited completions, and errors */
#define SHCA_CQ_ARM_NEXT	2u	/* any completion */
#define SHCA_CQ_ARM_KIND_MASK	3u
#define SHCA_CQ_ARM_SEQ_SHIFT	2	/* the sequence is 30 bits wide */

struct shca_cq_hdr {
	__u32 prod;		/* kernel: next index it fills, release order */
	__u32 fired;		/* kernel: sequence of the last event raised */
	__u32 rsvd0[14];
	__u32 cons;		/* process: oldest index not polled */
	__u32 rsvd1[15];
	__u32 arm;		/* process: sequence << 2 | kind */
	__u32 rsvd2[15];
};

/* Where a ring lies: mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, cmd_fd, offset) */
struct shca_mmap_info {
	__aligned_u64 offset;
	__u32 size;
	__u32 rsvd;
};

struct shca_alloc_ucontext_resp {
	__u32 max_inline;	/* bytes of inline data a QP can ask for */
	__u32 features;		/* 0 in this version */
};

/* The CQ's mapping: struct shca_cq_hdr, then entries x struct shca_cqe. */
struct shca_create_cq_resp {
	struct shca_mmap_info map;
	__u32 entries;		/* a power of two, at least the cqe asked for */
	__u32 rsvd;
};

/*
 * The QP's mapping: struct shca_ring_hdr of the SQ, struct shca_ring_hdr of
 * the RQ, and the slots at the offsets given, from the start of the mapping.
 */
struct shca_create_qp_resp {
	struct shca_mmap_info map;
	__u32 sq_offset;
	__u32 sq_entries;	/* a power of two */
	__u32 sq_stride;	/* bytes from slot to slot */
	__u32 sq_max_inline;	/* bytes of inline data that fit a slot */
	__u32 rq_offset;
	__u32 rq_entries;	/* a power of two */
	__u32 rq_stride;
	__u32 sq_max_sge;
	__u32 rq_max_sge;
	__u32 rsvd;
};

struct shca_create_ah_resp {
	__u32 ah;		/* names the AH in a WQE */
	__u32 rsvd;
};

#endif /* SOFTHCA_ABI_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Transport headers (IBA volume 1, chapter 9): layouts, and accessors that
 * mask.  All fields are big endian and lie unaligned in packets, so the
 * structs are packed.
 */
#ifndef _SHCA_HDR_H
#define _SHCA_HDR_H

#include "types.h"

#define SHCA_ICRC_SIZE	4
/* BTH plus the longest run of extension headers (AtomicETH, 28 bytes) */
#define SHCA_HDR_MAX	40

/** struct shca_bth - base transport header, 9.2 */
struct shca_bth {
	u8 opcode;
	u8 flags;		/* SE, M, PadCnt (2), TVer (4) */
	__be16 pkey;
	__be32 qpn;		/* FECN, BECN, reserved (6), DestQP (24) */
	__be32 psn;		/* AckReq, reserved (7), PSN (24) */
} __packed;

#define SHCA_BTH_SE		0x80
#define SHCA_BTH_MIG		0x40
#define SHCA_BTH_PAD_SHIFT	4
#define SHCA_BTH_PAD_MASK	3
#define SHCA_BTH_TVER_MASK	0x0f
#define SHCA_BTH_ACK		0x80000000u
#define SHCA_BTH_LOW24		0x00ffffffu

/** struct shca_reth - RDMA, 9.3.3.1: of the first or only packet */
struct shca_reth {
	__be64 va;
	__be32 rkey;
	__be32 len;
} __packed;

/** struct shca_deth - datagrams, 9.3.2 */
struct shca_deth {
	__be32 qkey;
	__be32 src_qpn;
} __packed;

/** struct shca_aeth - acknowledge, 9.3.5.1: syndrome (8), MSN (24) */
struct shca_aeth {
	__be32 word;
} __packed;

/** struct shca_atomic_eth - atomic request, 9.3.3.2 */
struct shca_atomic_eth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;	/* value to swap in, or to add */
	__be64 compare;
} __packed;

/** struct shca_atomic_ack_eth - the value before the operation, 9.5.3 */
struct shca_atomic_ack_eth {
	__be64 orig;
} __packed;

static_assert(sizeof(struct shca_bth) == 12);
static_assert(sizeof(struct shca_reth) == 16);
static_assert(sizeof(struct shca_deth) == 8);
static_assert(sizeof(struct shca_aeth) == 4);
static_assert(sizeof(struct shca_atomic_eth) == 28);
static_assert(sizeof(struct shca_atomic_ack_eth) == 8);

/* Syndrome: two bits of kind below a zero bit, five bits of value */
#define SHCA_AETH_ACK		0x00	/* value: credits, 31: not counted */
#define SHCA_AETH_RNR		0x20	/* value: timer code */
#define SHCA_AETH_NAK		0x60	/* value: SHCA_NAK_* */
#define SHCA_AETH_KIND_MASK	0xe0
#define SHCA_AETH_VALUE_MASK	0x1f
#define SHCA_AETH_NO_CREDITS	0x1f

#define SHCA_NAK_SEQUENCE	0
#define SHCA_NAK_INVALID	1
#define SHCA_NAK_ACCESS		2
#define SHCA_NAK_OPERATION	3

static inline u32 shca_bth_qpn(const struct shca_bth *b)
{
	return be32_to_cpu(b->qpn) & SHCA_BTH_LOW24;
}

static inline u32 shca_bth_psn(const struct shca_bth *b)
{
	return be32_to_cpu(b->psn) & SHCA_BTH_LOW24;
}

static inline bool shca_bth_ack_req(const struct shca_bth *b)
{
	return be32_to_cpu(b->psn) & SHCA_BTH_ACK;
}

static inline u8 shca_bth_pad(const struct shca_bth *b)
{
	return b->flags >> SHCA_BTH_PAD_SHIFT & SHCA_BTH_PAD_MASK;
}

static inline u8 shca_aeth_syndrome(const struct shca_aeth *a)
{
	return be32_to_cpu(a->word) >> 24;
}

static inline u32 shca_aeth_msn(const struct shca_aeth *a)
{
	return be32_to_cpu(a->word) & SHCA_BTH_LOW24;
}

static inline __be32 shca_aeth_word(u8 syndrome, u32 msn)
{
	return cpu_to_be32((u32)syndrome << 24 | (msn & SHCA_BTH_LOW24));
}

/* Bytes to append so that the payload ends on a multiple of four */
static inline u8 shca_pad(u32 payload)
{
	return -payload & 3;
}

#endif /* _SHCA_HDR_H */

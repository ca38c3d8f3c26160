/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Native InfiniBand packets (IBA volume 1, chapters 7 and 8): local route
 * header, global route header, and what of a packet they say.
 *
 * LRH [GRH] BTH [extension headers] payload pad ICRC.  The variant CRC is the
 * cable's business and not part of a packet here.
 */
#ifndef _SHCA_LRH_H
#define _SHCA_LRH_H

#include "icrc.h"
#include "types.h"

#define SHCA_LID_PERMISSIVE	0xffff
#define SHCA_LID_MCAST		0xc000	/* the first; also one past unicast */
#define SHCA_GID_PREFIX		0xfe80000000000000ull	/* the default one */
#define SHCA_VL_MGMT		15	/* subnet management only */
#define SHCA_VL_DATA_MAX	15	/* data VLs are 0..14 */

/** struct shca_lrh - local route header, 7.7 */
struct shca_lrh {
	u8 vl_lver;		/* VL (4), LVer (4) */
	u8 sl_lnh;		/* SL (4), reserved (2), LNH (2) */
	__be16 dlid;
	__be16 len;		/* reserved (5), words from LRH to ICRC (11) */
	__be16 slid;
} __packed;

#define SHCA_LNH_IBA_LOCAL	2	/* BTH follows */
#define SHCA_LNH_IBA_GLOBAL	3	/* GRH follows */
#define SHCA_LRH_LEN_MASK	0x07ff

/** struct shca_grh - global route header, 8.3 */
struct shca_grh {
	__be32 ver_tclass_flow;	/* IPVer (4), TClass (8), FlowLabel (20) */
	__be16 pay_len;		/* bytes from BTH to ICRC */
	u8 next_hdr;
	u8 hop_limit;
	u8 sgid[16];
	u8 dgid[16];
} __packed;

#define SHCA_GRH_NEXT_IBA	0x1b

static_assert(sizeof(struct shca_lrh) == 8);
static_assert(sizeof(struct shca_grh) == 40);

/* The longest run of headers: LRH, GRH, and what SHCA_HDR_MAX says */
#define SHCA_IB_HDR_MAX		(8 + 40 + 40)
/* The most a packet has: those, 4096 bytes and an ICRC */
#define SHCA_IB_PACKET_MAX	(SHCA_IB_HDR_MAX + 4096 + 4)
/* LRH, BTH and ICRC: the least */
#define SHCA_IB_PACKET_MIN	(8 + 12 + 4)

static inline u8 shca_lrh_vl(const struct shca_lrh *l)
{
	return l->vl_lver >> 4;
}

static inline u8 shca_lrh_sl(const struct shca_lrh *l)
{
	return l->sl_lnh >> 4;
}

static inline bool shca_lid_is_mcast(u16 lid)
{
	return lid >= SHCA_LID_MCAST && lid != SHCA_LID_PERMISSIVE;
}

static inline bool shca_lid_is_unicast(u16 lid)
{
	return lid && lid < SHCA_LID_MCAST;
}

/**
 * struct shca_ib_packet - what the headers say, checked for shape only
 * @vl: virtual lane
 * @sl: service level
 * @opcode: of the BTH; known (shca_opcodes[].flags != 0)
 * @pad: bytes after the payload
 * @bth: where the BTH is, in bytes from the LRH: after LRH or GRH
 * @hdr_len: bytes of BTH and extension headers
 * @dlid: destination
 * @slid: source
 * @pkey: of the BTH
 * @qpn: destination QP
 * @psn: number
 * @payload: bytes
 */
struct shca_ib_packet {
	u8 vl;
	u8 sl;
	u8 opcode;
	u8 pad;
	u8 bth;
	u8 hdr_len;
	u16 dlid;
	u16 slid;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u32 payload;
};

/* What is wrong with a packet */
enum shca_ib_fault {
	SHCA_IB_OK,
	SHCA_IB_MALFORMED,
	SHCA_IB_BAD_OPCODE,
};

enum shca_ib_fault shca_lrh_check(const void *hdr, size_t avail, size_t len);
enum shca_ib_fault shca_ib_parse(const void *hdr, size_t avail, size_t len,
				 struct shca_ib_packet *p);
void shca_lrh_put(struct shca_lrh *l, u8 vl, u8 sl, bool grh, u16 dlid,
		  u16 slid, size_t len);
void shca_grh_put(struct shca_grh *g, u8 tclass, u32 flow, u8 hop_limit,
		  const void *sgid, const void *dgid, size_t len);
u32 shca_ib_icrc_headers(shca_crc32_fn *crc32, const void *hdr, size_t bth,
			 size_t hdr_len);

#endif /* _SHCA_LRH_H */

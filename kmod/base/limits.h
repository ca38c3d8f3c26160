/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Every limit of a device, in one place. */
#ifndef _SHCA_LIMITS_H
#define _SHCA_LIMITS_H

enum {
	SHCA_MAX_QP		= 32768,
	SHCA_MAX_QP_WR		= 16384,
	SHCA_MAX_SGE		= 16,	/* IPoIB's connected mode wants 16 */
	SHCA_MAX_INLINE		= 512,	/* bytes */
	SHCA_MAX_CQ		= 65536,
	SHCA_MAX_CQE		= 1 << 17,
	SHCA_MAX_PD		= 65536,
	SHCA_MAX_MR		= 1 << 20,
	SHCA_MAX_AH		= 65536,
	SHCA_MAX_RD_ATOMIC	= 16,	/* outstanding READ requests a QP */
	SHCA_MAX_MSG		= 1 << 30,	/* bytes; IBA allows 2^31 */
	SHCA_GID_TBL_LEN	= 256,
	SHCA_PKEY_TBL_LEN	= 1,	/* RoCE; native: SHCA_IB_PKEYS */
	SHCA_PKEY_FULL		= 0xffff,	/* default partition, full member */
	SHCA_MAX_MCAST_GRP	= 1024,
	SHCA_MAX_MCAST_QP	= 256,	/* QPs of a group: a packet goes to all */
	SHCA_MAX_MCAST_ATTACH	= 16384,	/* QPs of all groups */
	SHCA_COMP_VECTORS	= 4,

	SHCA_MIN_QPN		= 17,	/* 0 and 1 are special, 2..16 are kept free */
	SHCA_MAX_QPN		= 0xfffffe,	/* 0xffffff names multicast */

	/* Packets and references to memory of one burst (link/link.h) */
	SHCA_BURST_MAX		= 32,
	SHCA_BURST_REFS		= 96,
	SHCA_BURST_MRS		= SHCA_MAX_SGE,

	SHCA_WINDOW_LIMIT	= 1024,	/* packets in flight, whatever is set */

	/* What one turn of a runner may do (object/runner.h) */
	SHCA_TURN_PACKETS	= 64,
	SHCA_TURN_BYTES		= 65536,
	SHCA_INBOX_MAX		= 1024,	/* packets that wait for a runner */

	/* An RC payload of this many bytes is referenced, a smaller one copied */
	SHCA_REF_MIN		= 1024,

	/* A READ is carried out as several requests of this many packets each */
	SHCA_READ_CHUNK		= 32,
};

/* The table of its pages is one allocation, which INT_MAX bounds. */
#define SHCA_MAX_MR_BYTES	(1ull << 39)

#endif /* _SHCA_LIMITS_H */

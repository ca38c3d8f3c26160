// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Native InfiniBand packets, read and written.  Pure code: no state, no lock. */
#include "hdr.h"
#include "lrh.h"
#include "opcode.h"

/**
 * shca_lrh_check - what a switch checks: that the LRH fits the packet
 * @hdr: the packet's first bytes, from the LRH
 * @avail: how many of them are there
 * @len: bytes of the packet, from LRH to ICRC
 *
 * Raw packets (no BTH) are not carried.
 *
 * Context: any.
 * Return: SHCA_IB_OK or _MALFORMED.
 */
enum shca_ib_fault shca_lrh_check(const void *hdr, size_t avail, size_t len)
{
	const struct shca_lrh *l = hdr;
	u8 lnh;

	if (avail < sizeof(*l) || len < SHCA_IB_PACKET_MIN ||
	    len > SHCA_IB_PACKET_MAX)
		return SHCA_IB_MALFORMED;
	if (l->vl_lver & 0x0f)
		return SHCA_IB_MALFORMED;
	if ((be16_to_cpu(l->len) & SHCA_LRH_LEN_MASK) * 4u != len)
		return SHCA_IB_MALFORMED;
	lnh = l->sl_lnh & 3;
	if (lnh != SHCA_LNH_IBA_LOCAL && lnh != SHCA_LNH_IBA_GLOBAL)
		return SHCA_IB_MALFORMED;
	/* No packet comes from nowhere or from a group. */
	if (!be16_to_cpu(l->slid) || !be16_to_cpu(l->dlid) ||
	    shca_lid_is_mcast(be16_to_cpu(l->slid)))
		return SHCA_IB_MALFORMED;
	return SHCA_IB_OK;
}

static bool grh_ok(const struct shca_grh *g, size_t after)
{
	return be32_to_cpu(g->ver_tclass_flow) >> 28 == 6 &&
	       g->next_hdr == SHCA_GRH_NEXT_IBA &&
	       be16_to_cpu(g->pay_len) == after;
}

/**
 * shca_ib_parse - what a channel adapter checks: all headers
 * @hdr: the packet's first bytes, from the LRH
 * @avail: how many of them are there: SHCA_IB_HDR_MAX, or all if it is shorter
 * @len: bytes of the packet, from LRH to ICRC
 * @p: filled in
 *
 * Context: any.
 * Return: SHCA_IB_OK, or what is wrong; then @p means nothing.
 */
enum shca_ib_fault shca_ib_parse(const void *hdr, size_t avail, size_t len,
				 struct shca_ib_packet *p)
{
	const struct shca_lrh *l = hdr;
	const struct shca_opcode *op;
	const struct shca_bth *b;
	size_t at = sizeof(*l), body;

	if (shca_lrh_check(hdr, avail, len))
		return SHCA_IB_MALFORMED;
	p->vl = shca_lrh_vl(l);
	p->sl = shca_lrh_sl(l);
	p->dlid = be16_to_cpu(l->dlid);
	p->slid = be16_to_cpu(l->slid);

	if ((l->sl_lnh & 3) == SHCA_LNH_IBA_GLOBAL) {
		at += sizeof(struct shca_grh);
		if (avail < at || len < at + sizeof(*b) + SHCA_ICRC_SIZE ||
		    !grh_ok((const void *)(l + 1), len - at))
			return SHCA_IB_MALFORMED;
	}
	if (avail < at + sizeof(*b))
		return SHCA_IB_MALFORMED;
	b = (const void *)((const u8 *)hdr + at);
	if (b->flags & SHCA_BTH_TVER_MASK)
		return SHCA_IB_MALFORMED;
	p->bth = at;
	p->opcode = b->opcode;
	p->pad = shca_bth_pad(b);
	p->pkey = be16_to_cpu(b->pkey);
	p->qpn = shca_bth_qpn(b);
	p->psn = shca_bth_psn(b);

	op = &shca_opcodes[p->opcode];
	if (!op->flags)
		return SHCA_IB_BAD_OPCODE;
	p->hdr_len = op->hdr_len;
	at += op->hdr_len;
	if (avail < at || len < at + SHCA_ICRC_SIZE)
		return SHCA_IB_MALFORMED;
	/* The whole is a multiple of four, and so are the headers. */
	body = len - at - SHCA_ICRC_SIZE;
	if (p->pad > body || (body && !(op->flags & SHCA_OPF_PAYLOAD)))
		return SHCA_IB_MALFORMED;
	p->payload = body - p->pad;
	return SHCA_IB_OK;
}

/**
 * shca_lrh_put - write an LRH
 * @l: where
 * @vl: virtual lane
 * @sl: service level
 * @grh: a GRH follows
 * @dlid: destination
 * @slid: source
 * @len: bytes of the packet, from LRH to ICRC; a multiple of four
 */
void shca_lrh_put(struct shca_lrh *l, u8 vl, u8 sl, bool grh, u16 dlid,
		  u16 slid, size_t len)
{
	l->vl_lver = vl << 4;
	l->sl_lnh = sl << 4 | (grh ? SHCA_LNH_IBA_GLOBAL : SHCA_LNH_IBA_LOCAL);
	l->dlid = cpu_to_be16(dlid);
	l->len = cpu_to_be16(len / 4);
	l->slid = cpu_to_be16(slid);
}

/**
 * shca_grh_put - write a GRH
 * @g: where
 * @tclass: traffic class
 * @flow: flow label, 20 bits
 * @hop_limit: routers it may pass, and one more
 * @sgid: source, 16 bytes
 * @dgid: destination, 16 bytes
 * @len: bytes from BTH to ICRC
 */
void shca_grh_put(struct shca_grh *g, u8 tclass, u32 flow, u8 hop_limit,
		  const void *sgid, const void *dgid, size_t len)
{
	g->ver_tclass_flow = cpu_to_be32(6u << 28 | (u32)tclass << 20 |
					 (flow & 0xfffff));
	g->pay_len = cpu_to_be16(len);
	g->next_hdr = SHCA_GRH_NEXT_IBA;
	g->hop_limit = hop_limit;
	memcpy(g->sgid, sgid, sizeof(g->sgid));
	memcpy(g->dgid, dgid, sizeof(g->dgid));
}

/**
 * shca_ib_icrc_headers - begin the ICRC of a native packet (7.8.1)
 * @crc32: continues a CRC
 * @hdr: the headers, from the LRH to the last extension header
 * @bth: where in them the BTH is
 * @hdr_len: bytes of BTH and extension headers, at most SHCA_HDR_MAX
 *
 * What routers and switches change counts as ones: the LRH's VL, the GRH's
 * traffic class, flow label and hop limit, byte 4 of the BTH.  The caller goes
 * on with payload and pad and ends with shca_icrc_finish().
 *
 * Context: what @crc32 allows.
 * Return: the state so far.
 */
u32 shca_ib_icrc_headers(shca_crc32_fn *crc32, const void *hdr, size_t bth,
			 size_t hdr_len)
{
	u8 b[SHCA_IB_HDR_MAX];

	if (bth > sizeof(struct shca_lrh) + sizeof(struct shca_grh))
		bth = sizeof(struct shca_lrh) + sizeof(struct shca_grh);
	if (hdr_len > SHCA_HDR_MAX)
		hdr_len = SHCA_HDR_MAX;
	memcpy(b, hdr, bth + hdr_len);
	b[0] |= 0xf0;				/* VL */
	if (bth > sizeof(struct shca_lrh)) {
		b[8] |= 0x0f;			/* traffic class, flow label */
		memset(b + 9, 0xff, 3);
		b[15] = 0xff;			/* hop limit */
	}
	b[bth + 4] = 0xff;			/* FECN, BECN, reserved */
	return crc32(0xffffffffu, b, bth + hdr_len);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets of agents that have no QP: a switch's answers and everybody's traps.
 * Pure functions on skbs, no lock.
 */
#include <linux/skbuff.h>
#include <rdma/ib_mad.h>

#include "../wire/hdr.h"
#include "../wire/mad.h"
#include "../wire/opcode.h"
#include "crc.h"
#include "ib.h"

#define MAD_HDR_LEN	(sizeof(struct shca_lrh) + sizeof(struct shca_bth) + \
			 sizeof(struct shca_deth))
#define MAD_FRAME_LEN	(MAD_HDR_LEN + SHCA_MAD_SIZE + SHCA_ICRC_SIZE)

/**
 * shca_mad_frame - make a packet of a MAD
 * @path: how it is carried
 * @mad: SHCA_MAD_SIZE bytes
 *
 * Context: any.
 * Return: the packet, for shca_plug_send(), or NULL.
 */
struct sk_buff *shca_mad_frame(const struct shca_mad_path *path,
			       const void *mad)
{
	struct sk_buff *skb;
	struct shca_lrh *l;
	struct shca_bth *b;
	struct shca_deth *d;
	__le32 icrc;
	u32 crc;

	skb = alloc_skb(SHCA_FRAME_HEADROOM + MAD_FRAME_LEN,
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, SHCA_FRAME_HEADROOM);
	memset(shca_frame(skb), 0, sizeof(struct shca_frame));
	l = skb_put_zero(skb, MAD_HDR_LEN);
	b = (struct shca_bth *)(l + 1);
	d = (struct shca_deth *)(b + 1);
	shca_lrh_put(l, path->mgmt ? SHCA_VL_MGMT : 0, path->sl, false,
		     path->dlid, path->slid, MAD_FRAME_LEN);
	b->opcode = SHCA_OP_UD | SHCA_OP_SEND_ONLY;
	b->flags = SHCA_BTH_MIG;
	b->pkey = cpu_to_be16(path->pkey);
	b->qpn = cpu_to_be32(path->dst_qpn);
	if (!path->mgmt)
		d->qkey = cpu_to_be32(IB_QP1_QKEY);
	d->src_qpn = cpu_to_be32(path->src_qpn);
	skb_put_data(skb, mad, SHCA_MAD_SIZE);
	crc = shca_ib_icrc_headers(shca_crc32, skb->data, sizeof(*l),
				   MAD_HDR_LEN - sizeof(*l));
	crc = shca_crc32(crc, skb->data + MAD_HDR_LEN, SHCA_MAD_SIZE);
	icrc = shca_icrc_finish(crc);
	skb_put_data(skb, &icrc, sizeof(icrc));
	return skb;
}

/**
 * shca_mad_of_frame - the MAD in a packet, and how it came
 * @skb: the packet, from anywhere; made linear
 * @path: filled in
 *
 * Context: any.
 * Keys are the caller's to check.
 *
 * Return: SHCA_MAD_SIZE bytes within the packet, or NULL if it carries no MAD
 * for an agent, or is damaged.
 */
const void *shca_mad_of_frame(struct sk_buff *skb, struct shca_mad_path *path)
{
	struct shca_ib_packet p;
	struct shca_deth *d;
	__le32 icrc;
	u32 crc, at;

	if (skb_linearize(skb) ||
	    shca_ib_parse(skb->data, skb->len, skb->len, &p) ||
	    p.opcode != (SHCA_OP_UD | SHCA_OP_SEND_ONLY) ||
	    p.payload != SHCA_MAD_SIZE || p.qpn > 1)
		return NULL;
	at = p.bth + p.hdr_len;
	crc = shca_ib_icrc_headers(shca_crc32, skb->data, p.bth, p.hdr_len);
	crc = shca_crc32(crc, skb->data + at, SHCA_MAD_SIZE);
	memcpy(&icrc, skb->data + at + SHCA_MAD_SIZE, sizeof(icrc));
	if (icrc != shca_icrc_finish(crc))
		return NULL;
	d = (struct shca_deth *)(skb->data + p.bth + sizeof(struct shca_bth));
	path->mgmt = p.vl == SHCA_VL_MGMT;
	/* Each has its own QP. */
	if (path->mgmt != !p.qpn)
		return NULL;
	path->sl = p.sl;
	path->slid = p.slid;
	path->dlid = p.dlid;
	path->pkey = p.pkey;
	path->qkey = be32_to_cpu(d->qkey);
	path->dst_qpn = p.qpn;
	path->src_qpn = be32_to_cpu(d->src_qpn) & SHCA_BTH_LOW24;
	return skb->data + at;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Native InfiniBand, transmit: a burst becomes one skb per packet, on the cable
 * or back to the port's own QPs.
 *
 * Owns a skb from its allocation until it is handed to the plug.  The node's
 * attributes are read as they are at that moment; the subnet manager may be
 * changing them.  No lock.
 */
#include <linux/skbuff.h>

#include "../base/device.h"
#include "../base/drop.h"
#include "../object/mcast.h"
#include "../wire/opcode.h"
#include "crc.h"
#include "ib.h"
#include "payload.h"

/* Packets of a burst, to be counted at its end */
struct tx_count {
	u32 packets;
	u32 multicast;
	u32 bytes;
	u32 referenced;
	u32 copied;
};

/*
 * Subnet management: a datagram from QP0, which nobody but the kernel has.
 */
static bool is_mgmt(const struct shca_tx_pkt *pkt)
{
	const struct shca_bth *bth = (const void *)pkt->hdr;
	const struct shca_deth *deth = (const void *)(bth + 1);

	return (bth->opcode & SHCA_OP_SERVICE_MASK) == SHCA_OP_UD &&
	       !(deth->src_qpn & cpu_to_be32(SHCA_BTH_LOW24));
}

static u16 source_lid(const struct shca_node_port *port,
		      const struct shca_av *av)
{
	u16 lid = shca_pi_lid(&port->info);
	u16 mask = (1u << shca_pi_lmc(&port->info)) - 1;

	/* Who answers must not take the answer to a LID that is not known. */
	if (!lid || av->dlid == SHCA_LID_PERMISSIVE)
		return SHCA_LID_PERMISSIVE;
	return lid | (av->path_bits & mask);
}

static struct sk_buff *build(struct shca_dev *dev, const struct shca_av *av,
			     const struct shca_tx_pkt *pkt,
			     const struct shca_ref *ref, u8 vl, bool refer)
{
	u32 body = pkt->payload + pkt->pad + SHCA_ICRC_SIZE;
	u32 bth = sizeof(struct shca_lrh) +
		  (av->grh ? sizeof(struct shca_grh) : 0);
	u32 len = bth + pkt->hdr_len + body, crc;
	struct sk_buff *skb;
	struct shca_lrh *l;

	skb = alloc_skb(SHCA_FRAME_HEADROOM + bth + pkt->hdr_len +
			(refer ? 0 : body), GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, SHCA_FRAME_HEADROOM);
	memset(shca_frame(skb), 0, sizeof(struct shca_frame));
	l = skb_put(skb, bth);
	shca_lrh_put(l, vl, av->sl, av->grh, av->dlid,
		     source_lid(shca_node_port(dev), av), len);
	if (av->grh)
		shca_grh_put((struct shca_grh *)(l + 1), av->tclass,
			     av->flow_label, av->hop_limit, &av->sgid,
			     &av->dgid, len - bth);
	skb_put_data(skb, pkt->hdr, pkt->hdr_len);
	crc = shca_ib_icrc_headers(shca_crc32, skb->data, bth, pkt->hdr_len);
	if (shca_payload_put(skb, crc, pkt, ref, refer)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/* Our own members of the group get a copy, which shares the payload. */
static void loop_multicast(struct shca_dev *dev, struct sk_buff *skb,
			   const struct shca_av *av)
{
	const struct shca_bth *bth;
	struct sk_buff *copy;

	/* Without a GRH it is to no group. */
	if (!av->grh || !shca_mcast_joined(dev, &av->dgid, av->dlid))
		return;
	copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	if (copy && !shca_plug_loop(dev->plug, copy))
		return;
	bth = (const void *)(skb->data + sizeof(struct shca_lrh) +
			     sizeof(struct shca_grh));
	shca_drop(dev, SHCA_STAT_tx_local_drops, 0, shca_bth_psn(bth),
		  bth->opcode);
}

static int xmit_one(struct shca_dev *dev, const struct shca_av *av,
		    const struct shca_burst *b, const struct shca_tx_pkt *pkt,
		    struct tx_count *count)
{
	struct shca_node_port *port = shca_node_port(dev);
	bool loop = shca_node_has_lid(port, av->dlid), mgmt = is_mgmt(pkt);
	bool multicast = shca_lid_is_mcast(av->dlid);
	const struct shca_ref *ref = &b->ref[pkt->ref];
	bool refer = shca_payload_may_refer(pkt, ref);
	u8 vl = SHCA_VL_MGMT;
	struct sk_buff *skb;
	u32 len;
	int ret;

	/* Nobody's: ib_core has an AH of it before there is a SM. */
	if (!av->dlid)
		return -EHOSTUNREACH;
	if (!mgmt) {
		vl = shca_node_vl(dev->node, 0, 1, av->sl);
		if (vl == SHCA_VL_MGMT)
			return -EHOSTUNREACH;
		if (!loop && shca_pi_state(&port->info) != SHCA_PORT_ACTIVE)
			return -ENETDOWN;
		if (pkt->payload > 128u << shca_pi_mtu(&port->info))
			return -EMSGSIZE;
	}
	skb = build(dev, av, pkt, ref, vl, refer);
	if (!skb)
		return -ENOMEM;
	len = skb->len;
	if (!loop)
		shca_ib_tap(dev, skb, true, b->qpn);
	if (multicast)
		loop_multicast(dev, skb, av);
	ret = loop ? shca_plug_loop(dev->plug, skb) :
		     shca_plug_send(dev->plug, skb);
	if (ret)
		return ret;
	count->packets++;
	count->multicast += multicast;
	count->bytes += len;
	if (refer)
		count->referenced += pkt->payload;
	else
		count->copied += pkt->payload;
	return 0;
}

/* The burst, from packet @i on, does not leave. */
static void xmit_drop(struct shca_dev *dev, const struct shca_burst *b, int i)
{
	const struct shca_bth *bth = (const struct shca_bth *)b->pkt[i].hdr;

	shca_drop(dev, SHCA_STAT_tx_local_drops, b->qpn, shca_bth_psn(bth),
		  bth->opcode);
}

/**
 * shca_ib_xmit - send a burst
 * @dev: the device
 * @flow: where to; owned by the caller's runner
 * @b: the packets
 * @sent: set to how many were queued at the far port, from the first on
 *
 * Stops at the first packet that is lost on this side, and counts it.
 *
 * Context: process or softirq.
 * Return: 0, or a negative errno: see struct shca_link_ops.
 */
int shca_ib_xmit(struct shca_dev *dev, struct shca_flow *flow,
		 struct shca_burst *b, unsigned int *sent)
{
	struct tx_count count = { };
	int ret = 0, i;

	for (i = 0; i < b->n && !ret; i++)
		ret = xmit_one(dev, &flow->av, b, &b->pkt[i], &count);
	if (ret)
		xmit_drop(dev, b, count.packets);
	b->referenced = count.referenced;
	b->copied = count.copied;
	*sent = count.packets;
	shca_count_add(dev, tx_packets, count.packets);
	shca_count_add(dev, tx_multicast_packets, count.multicast);
	shca_count_add(dev, tx_bytes, count.bytes);
	shca_count_add(dev, tx_bytes_referenced, count.referenced);
	shca_count_add(dev, tx_bytes_copied, count.copied);
	return ret;
}

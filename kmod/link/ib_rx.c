// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Native InfiniBand, receive: from the plug to the QP.
 *
 * Owns a packet from the plug until it is dropped or handed to the transport.
 * Runs in the plug's work, with BHs off and under one RCU section.  No lock.
 *
 * Nothing in a packet is believed.  Checks go from cheap to dear, and each drop
 * is counted under the name of the check that failed.
 */
#include <linux/skbuff.h>

#include "../base/device.h"
#include "../base/drop.h"
#include "../object/mcast.h"
#include "../object/qp.h"
#include "../uapi/softhca-abi.h"
#include "../wire/opcode.h"
#include "crc.h"
#include "ib.h"

#define IB_MCAST_QPN	0xffffff

static shca_receive_fn *ib_receive;

/**
 * shca_ib_rx_init - say where packets go
 * @receive: the transport's entry
 *
 * Context: from module init, before there is a device.
 */
void shca_ib_rx_init(shca_receive_fn *receive)
{
	ib_receive = receive;
}

static const struct shca_grh *packet_grh(const struct sk_buff *skb,
					 const struct shca_ib_packet *p)
{
	if (p->bth == sizeof(struct shca_lrh))
		return NULL;
	return (const void *)(skb->data + sizeof(struct shca_lrh));
}

/*
 * Is it the GID of the port?  There is one, and the SM may change its prefix;
 * that with the default prefix is always good as well (IBA 4.1.1).
 */
static bool own_gid(const struct shca_dev *dev, const u8 gid[16])
{
	const __be64 by_default = cpu_to_be64(SHCA_GID_PREFIX);

	return (!memcmp(gid, &shca_node_port(dev)->info.gid_prefix, 8) ||
		!memcmp(gid, &by_default, 8)) &&
	       !memcmp(gid + 8, &dev->node->guid, 8);
}

/* Subnet management: what VL 15 may carry (IBA 13.5.1, 14.2.1) */
static enum shca_stat check_mgmt(struct shca_dev *dev,
				 const struct sk_buff *skb,
				 const struct shca_ib_packet *p)
{
	u8 mgmt_class;

	if (p->qpn || p->payload != SHCA_MAD_SIZE || p->bth + p->hdr_len +
	    sizeof(struct shca_mad_hdr) > skb_headlen(skb) ||
	    p->opcode != (SHCA_OP_UD | SHCA_OP_SEND_ONLY))
		return SHCA_STAT_rx_drop_vl15;
	mgmt_class = skb->data[p->bth + p->hdr_len +
			       offsetof(struct shca_mad_hdr, mgmt_class)];
	if (p->dlid == SHCA_LID_PERMISSIVE ?
	    mgmt_class != SHCA_MAD_CLASS_SMP_DR :
	    !shca_node_has_lid(shca_node_port(dev), p->dlid))
		return SHCA_STAT_rx_drop_vl15;
	return SHCA_STAT_COUNT;
}

/* Everything else, before its QP is known */
static enum shca_stat check_data(struct shca_dev *dev, struct sk_buff *skb,
				 const struct shca_ib_packet *p)
{
	struct shca_node_port *port = shca_node_port(dev);
	const struct shca_grh *grh = packet_grh(skb, p);
	u8 state = shca_pi_state(&port->info);

	if (!shca_frame(skb)->looped && state != SHCA_PORT_ARMED &&
	    state != SHCA_PORT_ACTIVE)
		return SHCA_STAT_rx_drop_state;
	if (!p->qpn)
		return SHCA_STAT_rx_drop_vl15;
	if (shca_lid_is_mcast(p->dlid))
		return grh && p->qpn == IB_MCAST_QPN ? SHCA_STAT_COUNT :
						       SHCA_STAT_rx_drop_address;
	if (!shca_node_has_lid(port, p->dlid) ||
	    (grh && !own_gid(dev, grh->dgid)))
		return SHCA_STAT_rx_drop_address;
	return SHCA_STAT_COUNT;
}

static u8 qp_service(const struct shca_qp *qp)
{
	return shca_qp_connected(qp) ? SHCA_OP_RC : SHCA_OP_UD;
}

/*
 * Is the packet from the peer of a connected QP (IBA 9.6.1.5)?  The AV is
 * written before the QP is in RTR; a packet that meets a change is dropped or
 * not, and does no harm.
 */
static bool from_peer(const struct shca_qp *qp, const struct sk_buff *skb,
		      const struct shca_ib_packet *p)
{
	const struct shca_grh *grh = packet_grh(skb, p);

	if (p->slid != qp->av.dlid || !grh != !qp->av.grh)
		return false;
	return !grh || (!memcmp(grh->sgid, &qp->av.dgid, 16) &&
			!memcmp(grh->dgid, &qp->av.sgid, 16));
}

static enum shca_stat check_qp(const struct shca_qp *qp,
			       const struct sk_buff *skb,
			       const struct shca_ib_packet *p)
{
	const struct shca_node_port *port = shca_node_port(qp->dev);
	enum ib_qp_state state = shca_qp_state(qp);
	u16 index;

	/* Before RTR the address vector means nothing. */
	if (state == IB_QPS_RESET || state == IB_QPS_INIT)
		return SHCA_STAT_rx_drop_state;
	if ((p->opcode & SHCA_OP_SERVICE_MASK) != qp_service(qp))
		return SHCA_STAT_rx_drop_opcode;
	if (shca_qp_connected(qp) && !from_peer(qp, skb, p))
		return SHCA_STAT_rx_drop_address;
	if (qp->type == IB_QPT_SMI)
		return SHCA_STAT_COUNT;
	/* A MAD has one length (13.5.1); what is short is not zeros at its end. */
	if (qp->type == IB_QPT_GSI && p->payload != SHCA_MAD_SIZE)
		return SHCA_STAT_rx_drop_length;
	if (qp->type == IB_QPT_GSI ?
	    !shca_node_is_member(port, p->pkey, &index) :
	    !shca_pkey_match(p->pkey, shca_dev_pkey(qp->dev, qp->pkey_index)))
		return SHCA_STAT_rx_drop_pkey;
	return SHCA_STAT_COUNT;
}

static bool icrc_ok(struct sk_buff *skb, const struct shca_ib_packet *p)
{
	u32 at = p->bth + p->hdr_len;
	__le32 icrc;
	u32 crc;

	crc = shca_ib_icrc_headers(shca_crc32, skb->data, p->bth, p->hdr_len);
	crc = shca_crc32_skb(crc, skb, at, p->payload + p->pad);
	if (skb_copy_bits(skb, at + p->payload + p->pad, &icrc, sizeof(icrc)))
		return false;
	return icrc == shca_icrc_finish(crc);
}

/* Make the packet what the transport expects; see struct shca_rx. */
static bool prepare(struct sk_buff *skb, const struct shca_ib_packet *p)
{
	struct shca_rx *rx = shca_rx(skb);
	u32 len = skb->len;

	skb_reset_mac_header(skb);
	skb_set_network_header(skb, sizeof(struct shca_lrh));
	__skb_pull(skb, p->bth);
	if (pskb_trim(skb, p->hdr_len + p->payload))
		return false;
	memset(rx, 0, sizeof(*rx));
	rx->opcode = p->opcode;
	rx->hdr_len = p->hdr_len;
	rx->payload = p->payload;
	rx->psn = p->psn;
	rx->wire_len = len;
	return true;
}

static void drop(struct shca_dev *dev, enum shca_stat why, struct sk_buff *skb,
		 const struct shca_ib_packet *p)
{
	shca_drop(dev, why, p->qpn, p->psn, p->opcode);
	kfree_skb(skb);
}

/* The subnet manager wants to know; headers from the LRH on are linear. */
static void violation(struct shca_dev *dev, u16 trap, const void *packet)
{
	struct shca_key_violation v;

	shca_key_violation_of(packet, trap, &v);
	dev->plug->ops->violation(dev->plug, &v);
}

/**
 * shca_ib_bad_qkey - a datagram has a wrong Q_Key
 * @dev: the device
 * @skb: as handed to the transport
 *
 * Context: any but hard interrupts.
 */
void shca_ib_bad_qkey(struct shca_dev *dev, const struct sk_buff *skb)
{
	violation(dev, SHCA_TRAP_BAD_Q_KEY, skb_mac_header(skb));
}

/* Hand it to a QP, which the caller holds; the packet is consumed. */
static void deliver(struct shca_qp *qp, struct sk_buff *skb,
		    const struct shca_ib_packet *p)
{
	enum shca_stat why = check_qp(qp, skb, p);

	if (why == SHCA_STAT_rx_drop_pkey)
		violation(qp->dev, SHCA_TRAP_BAD_P_KEY, skb->data);
	if (why == SHCA_STAT_COUNT && !prepare(skb, p))
		why = SHCA_STAT_rx_drop_inbox;
	if (why != SHCA_STAT_COUNT)
		drop(qp->dev, why, skb, p);
	else
		ib_receive(qp, skb);
}

/* Return: deliveries */
static u32 deliver_multicast(struct shca_dev *dev, struct sk_buff *skb,
			     const struct shca_ib_packet *p)
{
	const struct shca_grh *grh = packet_grh(skb, p);
	struct shca_mcast *m;
	struct sk_buff *copy;
	u32 n = 0;

	shca_mcast_for_each(dev, m, grh->dgid, p->dlid) {
		if (!shca_qp_tryget(m->qp))
			continue;
		n++;
		copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		if (copy)
			deliver(m->qp, copy, p);
		else
			shca_drop(dev, SHCA_STAT_rx_drop_inbox, p->qpn, p->psn,
				  p->opcode);
		shca_qp_put(m->qp);
	}
	consume_skb(skb);
	return n;
}

static void deliver_unicast(struct shca_dev *dev, struct sk_buff *skb,
			    const struct shca_ib_packet *p)
{
	struct shca_qp *qp = p->qpn <= 1 ? shca_qp_get_special(dev, p->qpn) :
					   shca_qp_get(p->qpn);

	/* Numbers are unique in the module, so it may be another device's. */
	if (!qp || qp->dev != dev)
		drop(dev, SHCA_STAT_rx_drop_qpn, skb, p);
	else
		deliver(qp, skb, p);
	if (qp)
		shca_qp_put(qp);
}

/**
 * shca_ib_receive - a packet for a device
 * @dev: the device
 * @skb: the packet, data at the LRH; consumed
 *
 * Context: BHs off, under RCU, one at a time for a device.
 * Return: to how many QPs it went, SHCA_MAX_MCAST_QP at the most.
 */
u32 shca_ib_receive(struct shca_dev *dev, struct sk_buff *skb)
{
	enum shca_stat why = SHCA_STAT_COUNT;
	struct shca_ib_packet p = {};
	u32 avail;

	shca_ib_tap(dev, skb, false, 0);
	avail = min_t(u32, skb->len, SHCA_IB_HDR_MAX);
	if (!pskb_may_pull(skb, avail)) {
		drop(dev, SHCA_STAT_rx_drop_malformed, skb, &p);
		return 0;
	}
	switch (shca_ib_parse(skb->data, avail, skb->len, &p)) {
	case SHCA_IB_OK:
		why = p.vl == SHCA_VL_MGMT ? check_mgmt(dev, skb, &p) :
					     check_data(dev, skb, &p);
		break;
	case SHCA_IB_BAD_OPCODE:
		why = SHCA_STAT_rx_drop_opcode;
		break;
	default:
		why = SHCA_STAT_rx_drop_malformed;
		break;
	}
	if (why == SHCA_STAT_COUNT && !icrc_ok(skb, &p))
		why = SHCA_STAT_rx_drop_icrc;
	if (why != SHCA_STAT_COUNT) {
		drop(dev, why, skb, &p);
		return 0;
	}
	shca_count(dev, rx_packets);
	shca_count_add(dev, rx_bytes, skb->len);
	if (shca_lid_is_mcast(p.dlid)) {
		shca_count(dev, rx_multicast_packets);
		return deliver_multicast(dev, skb, &p);
	}
	deliver_unicast(dev, skb, &p);
	return 1;
}

/**
 * shca_ib_fill_grh - describe the path a datagram came by
 * @dev: the device
 * @skb: as handed to the transport
 * @grh: 40 bytes: the GRH, or zeros
 * @cqe: its path fields are filled in; wc_flags are added to
 *
 * Context: any.
 */
void shca_ib_fill_grh(struct shca_dev *dev, struct sk_buff *skb, u8 grh[40],
		      struct shca_cqe *cqe)
{
	const struct shca_lrh *l = (const void *)skb_mac_header(skb);
	const struct shca_bth *bth = (const void *)skb->data;
	const struct shca_node_port *port = shca_node_port(dev);
	u16 dlid = be16_to_cpu(l->dlid), index = 0;

	if ((l->sl_lnh & 3) == SHCA_LNH_IBA_GLOBAL) {
		memcpy(grh, skb_network_header(skb), sizeof(struct shca_grh));
		cqe->wc_flags |= SHCA_CQE_GRH;
	} else {
		memset(grh, 0, sizeof(struct shca_grh));
	}
	cqe->network_hdr_type = RDMA_NETWORK_IB;
	cqe->vlan_id = SHCA_CQE_NO_VLAN;
	cqe->slid = be16_to_cpu(l->slid);
	cqe->sl = shca_lrh_sl(l);
	if (!shca_lid_is_mcast(dlid) && dlid != SHCA_LID_PERMISSIVE)
		cqe->dlid_path_bits = dlid &
				      ((1u << shca_pi_lmc(&port->info)) - 1);
	/* It matched when the packet came; the table may have changed. */
	shca_node_is_member(port, be16_to_cpu(bth->pkey), &index);
	cqe->pkey_index = index;
	cqe->port_num = 1;
}

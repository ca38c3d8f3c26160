// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A node's attributes at their start, what its links do to them, and the
 * questions that packets ask.  Pure code, built in user space too; the owner's
 * lock guards whatever is changed.
 */
#include "../wire/hdr.h"
#include "../wire/opcode.h"
#include "node.h"

static void port_init(struct shca_node *n, u8 port)
{
	bool base = n->type == SHCA_NODE_CA || !port;
	struct shca_node_port *p = &n->port[port];
	struct shca_port_info *pi = &p->info;
	u32 cap = SHCA_CAP_TRAP | SHCA_CAP_SL_MAPPING |
		  SHCA_CAP_SYS_IMAGE_GUID | SHCA_CAP_MASK_NOTICE;

	memset(p, 0, sizeof(*p));
	p->pkey[0] = cpu_to_be16(0xffff);
	if (n->type == SHCA_NODE_CA)
		cap |= SHCA_CAP_CLIENT_REREG | SHCA_CAP_OTHER_CHANGES_NOTICE;
	if (base) {
		pi->gid_prefix = cpu_to_be64(SHCA_GID_PREFIX);
		pi->cap_mask = cpu_to_be32(cap);
		pi->guid_cap = 1;
		pi->resp_time = 16;	/* 4.096 us << 16 = 0.27 s */
	}
	pi->width_enabled = SHCA_WIDTH_1X | SHCA_WIDTH_4X;
	pi->width_supported = SHCA_WIDTH_1X | SHCA_WIDTH_4X;
	pi->width_active = SHCA_WIDTH_4X;
	pi->speed_state = SHCA_SPEED_SDR << 4 | SHCA_PORT_DOWN;
	pi->speed_active = SHCA_SPEED_SDR << 4 | SHCA_SPEED_SDR;
	pi->phys_down = SHCA_PHYS_POLLING << 4 | SHCA_PHYS_POLLING;
	pi->mtu_smsl = SHCA_IB_MTU_CAP << 4;
	pi->init_mtu_cap = SHCA_IB_MTU_CAP;
	pi->vl_init = SHCA_IB_VL_CAP << 4;
	pi->op_vls = SHCA_IB_VL_CAP << 4;
	pi->vl_arb_high_cap = SHCA_IB_VL_ARB;
	pi->vl_arb_low_cap = SHCA_IB_VL_ARB;
	if (n->type == SHCA_NODE_SWITCH && !port) {
		/* The way into a switch has no link that could be down. */
		shca_pi_set_state(pi, SHCA_PORT_ACTIVE);
		shca_pi_set_phys(pi, SHCA_PHYS_LINK_UP);
	}
}

static void switch_init(struct shca_node *n)
{
	n->sw = (struct shca_switch_info) {
		.linear_fdb_cap = cpu_to_be16(SHCA_SWITCH_LFT),
		.mcast_fdb_cap = cpu_to_be16(SHCA_SWITCH_MFT),
		.default_port = SHCA_SWITCH_NO_PORT,
		.default_mcast_primary = SHCA_SWITCH_NO_PORT,
		.default_mcast_not_primary = SHCA_SWITCH_NO_PORT,
		.life_psc = 18 << SHCA_SWI_LIFE_SHIFT,	/* about a second */
	};
	n->unreported = false;
	memset(n->lft, SHCA_SWITCH_NO_PORT, SHCA_SWITCH_LFT);
	memset(n->mft, 0, SHCA_SWITCH_MFT * sizeof(*n->mft));
}

/**
 * shca_node_init - set all attributes to what they are before a SM comes
 * @n: with type, number of ports, GUID and description set, and memory for its
 *	ports and tables
 *
 * Context: any.
 */
void shca_node_init(struct shca_node *n)
{
	size_t size = shca_node_sl_to_vl_size(n->type, n->num_ports), i;
	int port;

	for (port = n->type == SHCA_NODE_CA; port <= n->num_ports; port++)
		port_init(n, port);
	/* SL n takes VL n modulo eight. */
	for (i = 0; i < size; i++)
		n->sl_to_vl[i] = (2 * i & 7) << 4 | ((2 * i + 1) & 7);
	if (n->type == SHCA_NODE_SWITCH)
		switch_init(n);
}

/**
 * shca_node_link - a link came or went
 * @n: the node
 * @port: an external port of it
 * @link: what happened
 *
 * LID, P_Keys and the like outlast the link (14.4.4, 7.2.7).
 *
 * Context: any, under the owner's lock.
 * Return: the state that the port was in.
 */
u8 shca_node_link(struct shca_node *n, u8 port, enum shca_node_link link)
{
	struct shca_port_info *pi = &n->port[port].info;
	u8 was = shca_pi_state(pi);

	if (link == SHCA_NODE_LINK_UP) {
		shca_pi_set_state(pi, SHCA_PORT_INIT);
		shca_pi_set_phys(pi, SHCA_PHYS_LINK_UP);
		pi->mtu_smsl = SHCA_IB_MTU_CAP << 4 | (pi->mtu_smsl & 0x0f);
	} else {
		shca_pi_set_state(pi, SHCA_PORT_DOWN);
		shca_pi_set_phys(pi, link == SHCA_NODE_LINK_DISABLED ?
				 SHCA_PHYS_DISABLED : SHCA_PHYS_POLLING);
	}
	if (n->type == SHCA_NODE_SWITCH) {
		n->sw.life_psc |= SHCA_SWI_PORT_STATE_CHANGE;
		n->unreported = true;
	}
	return was;
}

/**
 * shca_key_violation_of - describe a packet with a wrong key
 * @packet: its headers, from the LRH; they are in one piece and of good shape
 * @trap: SHCA_TRAP_BAD_P_KEY, or _BAD_Q_KEY of a datagram
 * @v: filled in
 *
 * Context: any.
 */
void shca_key_violation_of(const void *packet, u16 trap,
			   struct shca_key_violation *v)
{
	const struct shca_lrh *l = packet;
	const struct shca_grh *grh = (const void *)(l + 1);
	const struct shca_bth *bth = (const void *)(l + 1);
	const struct shca_deth *deth;

	*v = (struct shca_key_violation) {
		.trap = trap,
		.slid = be16_to_cpu(l->slid),
		.dlid = be16_to_cpu(l->dlid),
		.sl = shca_lrh_sl(l),
	};
	if ((l->sl_lnh & 3) == SHCA_LNH_IBA_GLOBAL) {
		memcpy(v->sgid, grh->sgid, sizeof(v->sgid));
		memcpy(v->dgid, grh->dgid, sizeof(v->dgid));
		bth = (const void *)(grh + 1);
	}
	v->key = be16_to_cpu(bth->pkey);
	v->dst_qpn = shca_bth_qpn(bth);
	if ((bth->opcode & SHCA_OP_SERVICE_MASK) != SHCA_OP_UD)
		return;
	deth = (const void *)(bth + 1);
	v->src_qpn = be32_to_cpu(deth->src_qpn) & SHCA_BTH_LOW24;
	if (trap == SHCA_TRAP_BAD_Q_KEY)
		v->key = be32_to_cpu(deth->qkey);
}

/**
 * shca_pkey_match - may holders of two P_Keys talk to each other (10.9.3)?
 * @a: the one
 * @b: the other
 *
 * Return: true if it is the same partition and not both are limited members.
 */
bool shca_pkey_match(u16 a, u16 b)
{
	return (a & 0x7fff) && !((a ^ b) & 0x7fff) && ((a | b) & 0x8000);
}

/**
 * shca_node_is_member - find a P_Key that matches one
 * @p: a port
 * @pkey: of a packet
 * @index: set to the first that does
 *
 * Context: any.
 * Return: whether there is one.
 */
bool shca_node_is_member(const struct shca_node_port *p, u16 pkey, u16 *index)
{
	u16 i;

	for (i = 0; i < SHCA_IB_PKEYS; i++) {
		if (shca_pkey_match(be16_to_cpu(p->pkey[i]), pkey)) {
			*index = i;
			return true;
		}
	}
	return false;
}

/**
 * shca_node_vl - the VL that a data packet leaves by
 * @n: the node
 * @in: port it came in by; of a CA anything
 * @out: port it leaves by
 * @sl: its service level, 0..15
 *
 * Context: any.
 * Return: 0..14, or SHCA_VL_MGMT if the mapping says to drop it.
 */
u8 shca_node_vl(const struct shca_node *n, u8 in, u8 out, u8 sl)
{
	const struct shca_port_info *pi = &n->port[out].info;
	u8 byte = shca_node_sl_to_vl(n, in, out)[(sl & 15) / 2];
	u8 vl = sl & 1 ? byte & 15 : byte >> 4;

	return vl < shca_vl_count(pi->op_vls >> 4) ? vl : SHCA_VL_MGMT;
}

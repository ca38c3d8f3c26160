// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Subnet management agent: PortInfo (IBA 14.2.5.6), and the port's state
 * machine as a SM drives it (7.2.7).  Pure code; the caller owns the node.
 *
 * A CA's port has all fields.  Of a switch, port 0 has those of the node (LID,
 * M_Key and the like) and the others those of a link.
 */
#include "sma_mad.h"

#define PI_NO_CHANGE_4BIT	0
#define PI_ALL_4BIT		15
#define PI_ALL_8BIT		255

static bool is_base(const struct shca_node *n, u8 port)
{
	return n->type == SHCA_NODE_CA || !port;
}

static bool is_link(const struct shca_node *n, u8 port)
{
	return n->type == SHCA_NODE_CA || port;
}

static bool base_ok(const struct shca_node *n, const struct shca_port_info *w)
{
	u32 lid = be16_to_cpu(w->lid), ids = 1u << shca_pi_lmc(w);

	if (!shca_lid_is_unicast(lid) || lid + ids > SHCA_LID_MCAST ||
	    (lid & (ids - 1)))
		return false;
	/* A base port 0 has one LID. */
	if (n->type == SHCA_NODE_SWITCH && ids > 1)
		return false;
	return shca_lid_is_unicast(be16_to_cpu(w->sm_lid));
}

/* Is a set of bits to be enabled one that is supported, or a wildcard? */
static bool enable_ok(u8 want, u8 supported, u8 all)
{
	return want == all || !(want & ~supported);
}

static bool state_ok(const struct shca_port_info *pi,
		     const struct shca_port_info *w)
{
	u8 now = shca_pi_state(pi), phys = shca_pi_phys(w);

	if (phys != SHCA_PHYS_NOP && phys != SHCA_PHYS_POLLING &&
	    phys != SHCA_PHYS_DISABLED)
		return false;
	switch (shca_pi_state(w)) {
	case SHCA_PORT_NOP:
	case SHCA_PORT_DOWN:
		return true;
	case SHCA_PORT_ARMED:
		return !phys && (now == SHCA_PORT_INIT ||
				 now == SHCA_PORT_ARMED);
	case SHCA_PORT_ACTIVE:
		return !phys && (now == SHCA_PORT_ARMED ||
				 now == SHCA_PORT_ACTIVE);
	default:
		return false;
	}
}

static bool link_ok(const struct shca_port_info *pi,
		    const struct shca_port_info *w)
{
	return enable_ok(w->width_enabled, pi->width_supported, PI_ALL_8BIT) &&
	       enable_ok(w->speed_active & 15, pi->speed_state >> 4,
			 PI_ALL_4BIT) &&
	       (w->phys_down & 15) <= SHCA_PHYS_POLLING &&
	       shca_pi_mtu(w) <= shca_pi_mtu_cap(pi) &&
	       w->op_vls >> 4 <= pi->vl_init >> 4 &&
	       state_ok(pi, w);
}

static u32 set_base(struct shca_port_info *pi, const struct shca_port_info *w)
{
	u32 changed = 0;

	if (pi->gid_prefix != w->gid_prefix)
		changed |= SHCA_SMA_PREFIX;
	if (pi->lid != w->lid || shca_pi_lmc(pi) != shca_pi_lmc(w))
		changed |= SHCA_SMA_LID;
	if (pi->sm_lid != w->sm_lid || (pi->mtu_smsl ^ w->mtu_smsl) & 15)
		changed |= SHCA_SMA_SM;
	if (w->rereg_timeout & SHCA_PI_REREGISTER)
		changed |= SHCA_SMA_REREGISTER;
	if ((pi->rereg_timeout ^ w->rereg_timeout) & SHCA_PI_TIMEOUT_MASK)
		changed |= SHCA_SMA_TIMEOUT;

	pi->m_key = w->m_key;
	pi->gid_prefix = w->gid_prefix;
	pi->lid = w->lid;
	pi->sm_lid = w->sm_lid;
	pi->m_key_lease = w->m_key_lease;
	pi->prot_lmc = w->prot_lmc & 0xc7;
	pi->mtu_smsl = (pi->mtu_smsl & 0xf0) | (w->mtu_smsl & 15);
	pi->rereg_timeout = w->rereg_timeout & SHCA_PI_TIMEOUT_MASK;
	if (!w->m_key_violations)
		pi->m_key_violations = 0;
	if (!w->p_key_violations)
		pi->p_key_violations = 0;
	if (!w->q_key_violations)
		pi->q_key_violations = 0;
	return changed;
}

static u32 set_state(struct shca_port_info *pi, const struct shca_port_info *w)
{
	u8 now = shca_pi_state(pi), next = shca_pi_state(w);
	u8 phys = shca_pi_phys(w);
	u32 changed = 0;

	if (phys == SHCA_PHYS_DISABLED)
		changed |= SHCA_SMA_DISABLE;
	else if (phys == SHCA_PHYS_POLLING)
		changed |= SHCA_SMA_ENABLE;
	if (next == SHCA_PORT_DOWN)
		changed |= SHCA_SMA_BOUNCE;
	if (next == SHCA_PORT_NOP || next == now)
		return changed;
	shca_pi_set_state(pi, next);
	return changed | SHCA_SMA_STATE;
}

static u32 set_link(struct shca_port_info *pi, const struct shca_port_info *w)
{
	u8 speed = w->speed_active & 15;
	u32 changed = 0;

	if (w->width_enabled)
		pi->width_enabled = w->width_enabled == PI_ALL_8BIT ?
			pi->width_supported : w->width_enabled;
	if (speed)
		pi->speed_active = (pi->speed_active & 0xf0) |
			(speed == PI_ALL_4BIT ? pi->speed_state >> 4 : speed);
	if (w->phys_down & 15)
		pi->phys_down = (pi->phys_down & 0xf0) | (w->phys_down & 15);
	if (shca_pi_mtu(w) && shca_pi_mtu(w) != shca_pi_mtu(pi)) {
		pi->mtu_smsl = (w->mtu_smsl & 0xf0) | (pi->mtu_smsl & 15);
		changed |= SHCA_SMA_MTU;
	}
	if (w->op_vls >> 4)
		pi->op_vls = w->op_vls & 0xf0;
	pi->vl_high_limit = w->vl_high_limit;
	pi->stall_hoq = w->stall_hoq;
	pi->errors = w->errors;
	return changed | set_state(pi, w);
}

/**
 * shca_sma_port_info - Get or Set PortInfo
 * @n: the node
 * @c: the SMP, copied to c->out; its data are replaced
 * @set: Set
 * @m_key_ok: the M_Key may be shown
 *
 * Context: any, under the owner's lock.
 * Return: a MAD status.
 */
u16 shca_sma_port_info(struct shca_node *n, struct shca_sma_call *c, bool set,
		       bool m_key_ok)
{
	/* Bit 31 says that the SM knows extended speeds; there are none. */
	u32 port = be32_to_cpu(c->out->attr_mod) & 0x7fffffff;
	u8 *data = c->out->data;
	struct shca_port_info *pi, w;

	if (n->type == SHCA_NODE_CA && !port)
		port = c->port;
	if (port > n->num_ports || (n->type == SHCA_NODE_CA && port != c->port))
		return SHCA_MAD_STATUS_BAD_VALUE;
	pi = &n->port[port].info;
	memcpy(&w, data, sizeof(w));

	if (set) {
		if ((is_base(n, port) && !base_ok(n, &w)) ||
		    (is_link(n, port) && !link_ok(pi, &w)))
			return SHCA_MAD_STATUS_BAD_VALUE;
		c->changed_port = port;
		c->was = shca_pi_state(pi);
		if (is_base(n, port))
			c->changed |= set_base(pi, &w);
		if (is_link(n, port))
			c->changed |= set_link(pi, &w);
	}
	w.rereg_timeout &= SHCA_PI_REREGISTER;
	if (!set)
		w.rereg_timeout = 0;
	w.rereg_timeout |= pi->rereg_timeout;
	memcpy(data, pi, sizeof(*pi));
	data[offsetof(struct shca_port_info, rereg_timeout)] = w.rereg_timeout;
	/* Of a switch too, this is the port that the SMP came in on. */
	data[offsetof(struct shca_port_info, local_port_num)] = c->port;
	if (!m_key_ok)
		memset(data, 0, sizeof(pi->m_key));
	return 0;
}

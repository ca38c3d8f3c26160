// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Subnet management agent: the M_Key, and the attributes that are tables or
 * constants (IBA volume 1, chapter 14).  PortInfo is in sma_port.c, what only
 * switches have in sma_switch.c.  Pure code; the caller owns the node.
 *
 * What a SMP says is copied into the reply and worked on there, so that it is
 * read once.  Each attribute checks all before it changes any.
 */
#include "sma_mad.h"

/* OpenSM names devices by them; 0 is nobody's. */
#define SMA_VENDOR_ID		0x000000
#define SMA_DEVICE_CA		0x5301
#define SMA_DEVICE_SWITCH	0x5302

static u16 node_desc(const struct shca_node *n, u8 *data)
{
	memcpy(data, n->desc, sizeof(n->desc));
	return 0;
}

static u16 node_info(const struct shca_node *n, u8 port, u8 *data)
{
	bool sw = n->type == SHCA_NODE_SWITCH;
	struct shca_node_info info = {
		.base_version = 1,
		.class_version = 1,
		.node_type = n->type,
		.num_ports = n->num_ports,
		.system_image_guid = n->guid,
		.node_guid = n->guid,
		.port_guid = n->guid,
		.partition_cap = cpu_to_be16(SHCA_IB_PKEYS),
		.device_id = cpu_to_be16(sw ? SMA_DEVICE_SWITCH :
					      SMA_DEVICE_CA),
		.revision = cpu_to_be32(1),
		.local_port_num = port,
	};

	memcpy(data, &info, sizeof(info));
	return 0;
}

/* The only GUID is the port's own, which cannot be set. */
static u16 guid_info(const struct shca_node *n, u32 mod, u8 *data)
{
	if (mod)
		return SHCA_MAD_STATUS_BAD_VALUE;
	memset(data, 0, 64);
	memcpy(data, &n->guid, sizeof(n->guid));
	return 0;
}

static u16 pkey_table(struct shca_node *n, struct shca_sma_call *c, u32 mod,
		      bool set, u8 *data)
{
	u32 port = mod >> 16;
	struct shca_node_port *p;

	if (mod & 0xffff)
		return SHCA_MAD_STATUS_BAD_VALUE;
	/*
	 * A CA has the table of the port that was asked, a switch that of port
	 * 0; its external ports enforce no partitions.
	 */
	if (n->type == SHCA_NODE_SWITCH ? port : port && port != c->port)
		return SHCA_MAD_STATUS_BAD_VALUE;
	p = shca_node_base_port(n, c->port);
	if (set && memcmp(p->pkey, data, sizeof(p->pkey))) {
		memcpy(p->pkey, data, sizeof(p->pkey));
		c->changed |= SHCA_SMA_PKEY;
	}
	memcpy(data, p->pkey, sizeof(p->pkey));
	return 0;
}

static u16 sl_to_vl(struct shca_node *n, u8 in_port, u32 mod, bool set,
		    u8 *data)
{
	u32 in = mod >> 8 & 0xff, out = mod & 0xff;
	u8 *table;

	if (n->type == SHCA_NODE_CA) {
		in = 0;
		out = in_port;
	} else if (mod >> 16 || in > n->num_ports || out > n->num_ports) {
		return SHCA_MAD_STATUS_BAD_VALUE;
	}
	table = shca_node_sl_to_vl(n, in, out);
	if (set)
		memcpy(table, data, 8);
	memset(data, 0, 64);
	memcpy(data, table, 8);
	return 0;
}

/* Blocks 1 and 3 hold all there is of the low and the high priority. */
static u16 vl_arb(struct shca_node *n, u8 in_port, u32 mod, bool set, u8 *data)
{
	u32 block = mod >> 16, port = mod & 0xffff;
	u8 *table;

	if (n->type == SHCA_NODE_CA)
		port = in_port;
	if ((block != 1 && block != 3) || port > n->num_ports)
		return SHCA_MAD_STATUS_BAD_VALUE;
	table = n->port[port].vl_arb[block == 3];
	if (set)
		memcpy(table, data, 64);
	memcpy(data, table, 64);
	return 0;
}

static u16 attribute(struct shca_node *n, struct shca_sma_call *c,
		     bool m_key_ok)
{
	bool set = c->in->method == SHCA_MAD_SET;
	bool sw = n->type == SHCA_NODE_SWITCH;
	u16 attr = be16_to_cpu(c->out->attr_id);
	u32 mod = be32_to_cpu(c->out->attr_mod);
	u8 *data = c->out->data;

	if (c->out->base_version != 1 || c->out->class_version != 1)
		return SHCA_MAD_STATUS_BAD_VERSION;
	if (!set)
		memset(data, 0, sizeof(c->out->data));

	switch (attr) {
	case SHCA_SMP_NODE_DESC:
		return set ? SHCA_MAD_STATUS_BAD_ATTR : node_desc(n, data);
	case SHCA_SMP_NODE_INFO:
		return set ? SHCA_MAD_STATUS_BAD_ATTR :
			     node_info(n, c->port, data);
	case SHCA_SMP_GUID_INFO:
		return guid_info(n, mod, data);
	case SHCA_SMP_PORT_INFO:
		return shca_sma_port_info(n, c, set, m_key_ok);
	case SHCA_SMP_PKEY_TABLE:
		return pkey_table(n, c, mod, set, data);
	case SHCA_SMP_SL_TO_VL:
		return sl_to_vl(n, c->port, mod, set, data);
	case SHCA_SMP_VL_ARB:
		return vl_arb(n, c->port, mod, set, data);
	case SHCA_SMP_SWITCH_INFO:
		return sw ? shca_sma_switch_info(n, data, mod, set) :
			    SHCA_MAD_STATUS_BAD_ATTR;
	case SHCA_SMP_LINEAR_FT:
		return sw ? shca_sma_linear_ft(n, data, mod, set) :
			    SHCA_MAD_STATUS_BAD_ATTR;
	case SHCA_SMP_MCAST_FT:
		return sw ? shca_sma_mcast_ft(n, data, mod, set) :
			    SHCA_MAD_STATUS_BAD_ATTR;
	default:
		return SHCA_MAD_STATUS_BAD_ATTR;
	}
}

/* The lease: a SM that does not come back with its key loses protection. */
static void check_lease(struct shca_node_port *p, u64 now)
{
	if (!p->lease_runs || now < p->lease_end)
		return;
	p->lease_runs = false;
	p->info.prot_lmc &= 7;
}

static void start_lease(struct shca_node_port *p, u64 now)
{
	u16 period = be16_to_cpu(p->info.m_key_lease);

	if (p->lease_runs || !period)
		return;
	p->lease_runs = true;
	p->lease_end = now + period;
}

/*
 * Is the method allowed with this key (14.2.4)? Sets @ok to whether the key is
 * right, so that the port's own may be shown.
 */
static bool m_key_allows(struct shca_node *n, struct shca_sma_call *c, bool *ok)
{
	struct shca_node_port *p = shca_node_base_port(n, c->port);
	u16 bad = be16_to_cpu(p->info.m_key_violations);

	check_lease(p, c->now);
	*ok = c->trusted || !p->info.m_key || c->in->m_key == p->info.m_key;
	if (*ok) {
		if (!c->trusted)
			p->lease_runs = false;
		return true;
	}
	if (c->in->method == SHCA_MAD_GET && p->info.prot_lmc >> 6 < 2) {
		*ok = !(p->info.prot_lmc >> 6);
		return true;
	}
	if (bad != 0xffff)
		p->info.m_key_violations = cpu_to_be16(bad + 1);
	start_lease(p, c->now);
	c->changed |= SHCA_SMA_BAD_M_KEY;
	return false;
}

/**
 * shca_sma_mad - carry out a SMP
 * @n: the node it came to
 * @c: the SMP; out, changed, changed_port and was are filled in
 *
 * Context: any, under the owner's lock.
 * Return: SHCA_MAD_REPLY with the reply complete but for hop pointer and paths,
 * which are the request's, _CONSUMED if it gets none, or _NOT_OURS for other
 * methods and classes and for what a SM answers.
 */
enum shca_mad_result shca_sma_mad(struct shca_node *n, struct shca_sma_call *c)
{
	u8 method = c->in->method;
	bool m_key_ok;
	u16 status;

	c->changed = 0;
	c->changed_port = c->port;
	if (c->in->mgmt_class != SHCA_MAD_CLASS_SMP_LID &&
	    c->in->mgmt_class != SHCA_MAD_CLASS_SMP_DR)
		return SHCA_MAD_NOT_OURS;
	if (method != SHCA_MAD_GET && method != SHCA_MAD_SET &&
	    method != SHCA_MAD_TRAP_REPRESS)
		return SHCA_MAD_NOT_OURS;
	if (c->port > n->num_ports || (n->type == SHCA_NODE_CA && !c->port))
		return SHCA_MAD_CONSUMED;
	/* A SM has keys of its own for this one. */
	if (c->in->attr_id == cpu_to_be16(SHCA_SMP_SM_INFO) &&
	    (be32_to_cpu(shca_node_base_port(n, c->port)->info.cap_mask) &
	     SHCA_CAP_IS_SM))
		return SHCA_MAD_NOT_OURS;
	if (!m_key_allows(n, c, &m_key_ok))
		return SHCA_MAD_CONSUMED;
	if (method == SHCA_MAD_TRAP_REPRESS)
		return SHCA_MAD_CONSUMED;

	*c->out = *c->in;
	status = attribute(n, c, m_key_ok);
	if (c->in->mgmt_class == SHCA_MAD_CLASS_SMP_DR)
		status |= SHCA_SMP_DIRECTION;
	c->out->method = SHCA_MAD_GET_RESP;
	c->out->status = cpu_to_be16(status);
	return SHCA_MAD_REPLY;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Notices, filled in.  Pure code; the caller owns the node. */
#include "notice.h"

/* Details of the traps, IBA tables 132 to 145; offsets within DataDetails */
#define LINK_STATE_LID		0
#define LOCAL_CHANGE_LID	2
#define LOCAL_CHANGE_OTHER	5	/* bit 0 */
#define LOCAL_CHANGE_CAP_MASK	6
#define LOCAL_CHANGE_WHICH	11	/* bit 0: NodeDescription */
#define BAD_M_KEY_LID		2
#define BAD_M_KEY_DR_SLID	4
#define BAD_M_KEY_METHOD	6
#define BAD_M_KEY_ATTR		8
#define BAD_M_KEY_MOD		10
#define BAD_M_KEY_KEY		14
#define BAD_KEY_LID1		2	/* whom it is from */
#define BAD_KEY_LID2		4	/* whom it is for */
#define BAD_KEY_KEY		6
#define BAD_KEY_SL		10	/* SL (4), reserved (4) */
#define BAD_KEY_QP1		11	/* 24 bits, as the other one */
#define BAD_KEY_QP2		15
#define BAD_KEY_GID1		18
#define BAD_KEY_GID2		34

/* SubnetTimeOut is a power of two, in units of so many ns */
#define TIMEOUT_UNIT		4096ull

static struct shca_notice *begin(const struct shca_node *n, u8 port, u32 tid,
				 u8 type, u16 trap, struct shca_smp *smp)
{
	const struct shca_port_info *pi = &shca_node_base_port(n, port)->info;
	struct shca_notice *notice = (void *)smp->data;

	memset(smp, 0, sizeof(*smp));
	smp->base_version = 1;
	smp->mgmt_class = SHCA_MAD_CLASS_SMP_LID;
	smp->class_version = 1;
	smp->method = SHCA_MAD_TRAP;
	smp->tid = cpu_to_be64(tid);
	smp->attr_id = cpu_to_be16(SHCA_SMP_NOTICE);
	/* No M_Key (o14-1): it would be there for all on the way to read. */
	notice->generic_type = SHCA_NOTICE_GENERIC | type;
	notice->producer[2] = n->type;
	notice->trap = cpu_to_be16(trap);
	notice->issuer_lid = pi->lid;
	return notice;
}

/* Is there a SM to send a trap to? A port that is not ACTIVE sends none. */
static bool can_send(const struct shca_node *n, u8 port)
{
	const struct shca_port_info *pi = &shca_node_base_port(n, port)->info;

	return shca_pi_state(pi) == SHCA_PORT_ACTIVE && pi->lid && pi->sm_lid;
}

/*
 * A port sends one trap in a SubnetTimeOut at the most (14.2.5.6, o14-2),
 * whatever it is about.  The present one counts: of one that a subnet manager
 * set to hours, the next one is free.  Returns ns that are left, or 0.
 */
static u64 quiet(const struct shca_node_port *p, u64 now)
{
	u64 timeout = TIMEOUT_UNIT << (p->info.rereg_timeout &
				       SHCA_PI_TIMEOUT_MASK);
	u64 since = now - p->trapped;

	return p->trapped && since < timeout ? timeout - since : 0;
}

/**
 * shca_notice_change - something has changed that the SM is to hear of
 * @n: the node
 * @port: of a CA, the port that has; of a switch any
 * @what: SHCA_NOTICE_*
 *
 * Changes add up to one trap, for which to ask shca_notice_take_change().
 *
 * Context: any, under the owner's lock.
 */
void shca_notice_change(struct shca_node *n, u8 port, u8 what)
{
	shca_node_base_port(n, port)->changed |= what;
}

/**
 * shca_notice_take_change - the trap of all changes so far (128, or 144)
 * @n: the node
 * @port: as for shca_notice_change()
 * @now: ns since anything
 * @tid: transaction ID of the last trap; advanced
 * @smp: filled in
 * @wait: set to the ns after which to ask again; 0: when something changes
 *
 * Without a SM, or before the port is ACTIVE, the changes are forgotten: the SM
 * that comes looks at everything.
 *
 * Context: any, under the owner's lock.
 * Return: whether there is a trap to be sent.
 */
bool shca_notice_take_change(struct shca_node *n, u8 port, u64 now, u32 *tid,
			     struct shca_smp *smp, u64 *wait)
{
	struct shca_node_port *p = shca_node_base_port(n, port);
	bool node_desc = p->changed & SHCA_NOTICE_DESC;
	bool link = p->changed & SHCA_NOTICE_LINK;
	struct shca_notice *notice;
	u8 *d;

	*wait = 0;
	if (p->changed && !can_send(n, port))
		p->changed = 0;
	if (!p->changed)
		return false;
	*wait = quiet(p, now);
	if (*wait)
		return false;
	p->changed = 0;
	p->trapped = now;
	notice = begin(n, port, ++*tid,
		       link ? SHCA_NOTICE_URGENT : SHCA_NOTICE_INFO,
		       link ? SHCA_TRAP_LINK_STATE : SHCA_TRAP_LOCAL_CHANGE,
		       smp);
	d = notice->details;
	if (link) {
		memcpy(d + LINK_STATE_LID, &p->info.lid, 2);
		return true;
	}
	memcpy(d + LOCAL_CHANGE_LID, &p->info.lid, 2);
	d[LOCAL_CHANGE_OTHER] = node_desc;
	memcpy(d + LOCAL_CHANGE_CAP_MASK, &p->info.cap_mask, 4);
	d[LOCAL_CHANGE_WHICH] = node_desc;
	return true;
}

/*
 * A violation may come with any packet from anybody.  So its trap does not wait
 * until a port may send again, and a change goes first; it was counted.
 */
static bool due(struct shca_node *n, u8 port, u64 now)
{
	struct shca_node_port *p = shca_node_base_port(n, port);

	if (quiet(p, now) || p->changed || !can_send(n, port))
		return false;
	p->trapped = now;
	return true;
}

static void put24(u8 *at, u32 v)
{
	at[0] = v >> 16;
	at[1] = v >> 8;
	at[2] = v;
}

static __be16 one_more(__be16 counter)
{
	u16 n = be16_to_cpu(counter);

	return cpu_to_be16(n == 0xffff ? n : n + 1);
}

/**
 * shca_notice_bad_m_key - somebody used a wrong M_Key (trap 256)
 * @n: the node
 * @port: port that the SMP came by
 * @now: ns since anything
 * @tid: transaction ID of the last trap; advanced
 * @bad: the SMP
 * @smp: filled in
 *
 * Context: any, under the owner's lock.
 * Return: whether there is a trap to be sent.
 */
bool shca_notice_bad_m_key(struct shca_node *n, u8 port, u64 now, u32 *tid,
			   const struct shca_smp *bad, struct shca_smp *smp)
{
	const struct shca_port_info *pi = &shca_node_base_port(n, port)->info;
	struct shca_notice *notice;
	u8 *d;

	if (!due(n, port, now))
		return false;
	notice = begin(n, port, ++*tid, SHCA_NOTICE_SECURITY,
		       SHCA_TRAP_BAD_M_KEY, smp);
	d = notice->details;
	memcpy(d + BAD_M_KEY_LID, &pi->lid, 2);
	if (bad->mgmt_class == SHCA_MAD_CLASS_SMP_DR)
		memcpy(d + BAD_M_KEY_DR_SLID, &bad->dr_slid, 2);
	d[BAD_M_KEY_METHOD] = bad->method;
	memcpy(d + BAD_M_KEY_ATTR, &bad->attr_id, 2);
	memcpy(d + BAD_M_KEY_MOD, &bad->attr_mod, 4);
	memcpy(d + BAD_M_KEY_KEY, &bad->m_key, 8);
	return true;
}

/**
 * shca_notice_bad_key - somebody used a wrong P_Key or Q_Key (traps 257, 258)
 * @n: the node
 * @port: port that the packet came by
 * @now: ns since anything
 * @tid: transaction ID of the last trap; advanced
 * @v: the packet
 * @smp: filled in
 *
 * Counts it in PortInfo (14.2.5.6).
 *
 * Context: any, under the owner's lock.
 * Return: whether there is a trap to be sent.
 */
bool shca_notice_bad_key(struct shca_node *n, u8 port, u64 now, u32 *tid,
			 const struct shca_key_violation *v,
			 struct shca_smp *smp)
{
	struct shca_port_info *pi = &shca_node_base_port(n, port)->info;
	__be16 lid1 = cpu_to_be16(v->slid), lid2 = cpu_to_be16(v->dlid);
	__be32 key = cpu_to_be32(v->key);
	struct shca_notice *notice;
	u8 *d;

	if (v->trap == SHCA_TRAP_BAD_P_KEY)
		pi->p_key_violations = one_more(pi->p_key_violations);
	else
		pi->q_key_violations = one_more(pi->q_key_violations);
	if (!due(n, port, now))
		return false;
	notice = begin(n, port, ++*tid, SHCA_NOTICE_SECURITY, v->trap, smp);
	d = notice->details;
	memcpy(d + BAD_KEY_LID1, &lid1, 2);
	memcpy(d + BAD_KEY_LID2, &lid2, 2);
	memcpy(d + BAD_KEY_KEY, &key, 4);
	d[BAD_KEY_SL] = v->sl << 4;
	put24(d + BAD_KEY_QP1, v->src_qpn);
	put24(d + BAD_KEY_QP2, v->dst_qpn);
	memcpy(d + BAD_KEY_GID1, v->sgid, sizeof(v->sgid));
	memcpy(d + BAD_KEY_GID2, v->dgid, sizeof(v->dgid));
	return true;
}

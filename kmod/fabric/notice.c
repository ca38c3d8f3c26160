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
	smp->m_key = pi->m_key;
	notice->generic_type = SHCA_NOTICE_GENERIC | type;
	notice->producer[2] = n->type;
	notice->trap = cpu_to_be16(trap);
	notice->issuer_lid = pi->lid;
	return notice;
}

/**
 * shca_notice_link_state - a link of a switch came or went (trap 128)
 * @n: the switch
 * @tid: transaction ID
 * @smp: filled in
 */
void shca_notice_link_state(const struct shca_node *n, u32 tid,
			    struct shca_smp *smp)
{
	struct shca_notice *notice = begin(n, 0, tid, SHCA_NOTICE_URGENT,
					   SHCA_TRAP_LINK_STATE, smp);

	memcpy(notice->details + LINK_STATE_LID, &n->port[0].info.lid, 2);
}

/**
 * shca_notice_local_change - capabilities or description changed (trap 144)
 * @n: the node
 * @port: port that it is sent by
 * @tid: transaction ID
 * @node_desc: it was the NodeDescription
 * @smp: filled in
 */
void shca_notice_local_change(const struct shca_node *n, u8 port, u32 tid,
			      bool node_desc, struct shca_smp *smp)
{
	const struct shca_port_info *pi = &shca_node_base_port(n, port)->info;
	struct shca_notice *notice = begin(n, port, tid, SHCA_NOTICE_INFO,
					   SHCA_TRAP_LOCAL_CHANGE, smp);
	u8 *d = notice->details;

	memcpy(d + LOCAL_CHANGE_LID, &pi->lid, 2);
	d[LOCAL_CHANGE_OTHER] = node_desc;
	memcpy(d + LOCAL_CHANGE_CAP_MASK, &pi->cap_mask, 4);
	d[LOCAL_CHANGE_WHICH] = node_desc;
}

/**
 * shca_notice_bad_m_key - somebody used a wrong M_Key (trap 256)
 * @n: the node
 * @port: port that the SMP came by
 * @tid: transaction ID
 * @bad: the SMP
 * @smp: filled in
 */
void shca_notice_bad_m_key(const struct shca_node *n, u8 port, u32 tid,
			   const struct shca_smp *bad, struct shca_smp *smp)
{
	const struct shca_port_info *pi = &shca_node_base_port(n, port)->info;
	struct shca_notice *notice = begin(n, port, tid, SHCA_NOTICE_SECURITY,
					   SHCA_TRAP_BAD_M_KEY, smp);
	u8 *d = notice->details;

	memcpy(d + BAD_M_KEY_LID, &pi->lid, 2);
	if (bad->mgmt_class == SHCA_MAD_CLASS_SMP_DR)
		memcpy(d + BAD_M_KEY_DR_SLID, &bad->dr_slid, 2);
	d[BAD_M_KEY_METHOD] = bad->method;
	memcpy(d + BAD_M_KEY_ATTR, &bad->attr_id, 2);
	memcpy(d + BAD_M_KEY_MOD, &bad->attr_mod, 4);
	memcpy(d + BAD_M_KEY_KEY, &bad->m_key, 8);
}

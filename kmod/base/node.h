/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a node of an InfiniBand subnet is to the subnet manager: its ports'
 * attributes, kept as they are on the wire, and the tables that it sets.
 *
 * One struct serves channel adapters and switches, so that there is one agent
 * for both (fabric/sma.c).  The agent changes it under the owner's lock.  A
 * few fields are read by others without it, one at a time and each a byte or
 * an aligned word: state, LID, LMC, MTU, P_Keys, SL to VL.
 */
#ifndef _SHCA_NODE_H
#define _SHCA_NODE_H

#include "../wire/lrh.h"
#include "../wire/smp.h"

enum {
	SHCA_IB_PKEYS		= 32,	/* one block of the P_KeyTable */
	SHCA_IB_VL_CAP		= 4,	/* code of eight data VLs */
	SHCA_IB_MTU_CAP		= 5,	/* code of 4096 bytes */
	SHCA_IB_VL_ARB		= 32,	/* entries of a priority's table: one block */

	SHCA_SWITCH_PORTS_MAX	= 63,	/* external; a set of ports is a u64 */
	SHCA_SWITCH_LFT		= SHCA_LID_MCAST,	/* every unicast LID */
	SHCA_SWITCH_MFT		= 1024,	/* multicast LIDs */
	SHCA_SWITCH_NO_PORT	= 255,	/* in the LFT: drop */
};

/**
 * struct shca_node_port - one port
 * @info: PortInfo; local_port_num is filled in for each answer
 * @pkey: P_KeyTable; 0: empty
 * @vl_arb: VLArbitrationTable, low and high priority. It is kept for the SM: a
 *	cable here carries packets in order, whatever their VL
 * @lease_end: second at which the M_Key's lease ends, if @lease_runs
 * @lease_runs: an M_Key violation has started it
 * @trapped: ns when the last trap went (fabric/notice.c); 0: none did
 * @changed: SHCA_NOTICE_*: what the SM is to hear of when another may go
 */
struct shca_node_port {
	struct shca_port_info info;
	__be16 pkey[SHCA_IB_PKEYS];
	u8 vl_arb[2][64];
	u64 lease_end;
	bool lease_runs;
	u64 trapped;
	u8 changed;
};

/**
 * struct shca_node - a node
 * @type: SHCA_NODE_*
 * @num_ports: external ones
 * @guid: of the node, its system image and its port (of a switch: port 0)
 * @desc: NodeDescription
 * @port: those of a CA from 1 on, those of a switch from 0 on
 * @sl_to_vl: SLtoVLMappingTable, eight bytes for each pair of ports; see
 *	shca_node_sl_to_vl()
 * @sw: SwitchInfo; of a switch, like the next three
 * @unreported: a link has changed since SwitchInfo was last asked for
 * @lft: linear forwarding table, SHCA_SWITCH_LFT ports by LID
 * @mft: multicast forwarding table, SHCA_SWITCH_MFT sets of ports by
 *	LID - SHCA_LID_MCAST
 */
struct shca_node {
	u8 type;
	u8 num_ports;
	__be64 guid;
	char desc[64];
	struct shca_node_port *port;
	u8 *sl_to_vl;
	struct shca_switch_info sw;
	bool unreported;
	u8 *lft;
	u64 *mft;
};

/* The port whose LID, M_Key and the like count for one that a packet uses */
static inline struct shca_node_port *
shca_node_base_port(const struct shca_node *n, u8 port)
{
	return &n->port[n->type == SHCA_NODE_SWITCH ? 0 : port];
}

/* A bit for each external port and one for port 0 */
static inline u64 shca_node_all_ports(const struct shca_node *n)
{
	return (2ull << n->num_ports) - 1;
}

/* Is it one of the port's LIDs? */
static inline bool shca_node_has_lid(const struct shca_node_port *p, u16 lid)
{
	u16 base = shca_pi_lid(&p->info);

	return base && lid >= base &&
	       lid < base + (1u << shca_pi_lmc(&p->info));
}

/* Bytes of sl_to_vl that a node needs */
static inline size_t shca_node_sl_to_vl_size(u8 type, u8 num_ports)
{
	size_t ports = num_ports + 1;

	return 8 * (type == SHCA_NODE_SWITCH ? ports * ports : ports);
}

/* The mapping of packets that leave by @out, having come in by @in */
static inline u8 *shca_node_sl_to_vl(const struct shca_node *n, u8 in, u8 out)
{
	size_t i = n->type == SHCA_NODE_SWITCH ?
		   out * (n->num_ports + 1u) + in : out;

	return n->sl_to_vl + 8 * i;
}

/* What became of a link; see shca_node_link() */
enum shca_node_link {
	SHCA_NODE_LINK_DOWN,
	SHCA_NODE_LINK_DISABLED,	/* down because the SM said so */
	SHCA_NODE_LINK_UP,
};

/**
 * struct shca_key_violation - a packet with a key that its port does not take
 * @trap: SHCA_TRAP_BAD_P_KEY or _BAD_Q_KEY: which key
 * @slid: source
 * @dlid: destination
 * @key: the key that it has
 * @sl: service level
 * @src_qpn: source QP; 0 where packets do not say
 * @dst_qpn: destination QP
 * @sgid: of its GRH, or zeros
 * @dgid: of its GRH, or zeros
 */
struct shca_key_violation {
	u16 trap;
	u16 slid;
	u16 dlid;
	u32 key;
	u8 sl;
	u32 src_qpn;
	u32 dst_qpn;
	u8 sgid[16];
	u8 dgid[16];
};

void shca_key_violation_of(const void *packet, u16 trap,
			   struct shca_key_violation *v);
void shca_node_init(struct shca_node *n);
u8 shca_node_link(struct shca_node *n, u8 port, enum shca_node_link link);
bool shca_node_is_member(const struct shca_node_port *p, u16 pkey, u16 *index);
bool shca_pkey_match(u16 a, u16 b);
u8 shca_node_vl(const struct shca_node *n, u8 in, u8 out, u8 sl);

#endif /* _SHCA_NODE_H */

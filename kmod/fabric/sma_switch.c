// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Subnet management agent: what only switches have: SwitchInfo (IBA 14.2.5.4)
 * and the forwarding tables (14.2.5.10, 14.2.5.12).  Pure code; the caller owns
 * the node.
 */
#include "sma_mad.h"

#define LFT_BLOCK	64	/* LIDs */
#define MFT_BLOCK	32	/* multicast LIDs, sixteen ports of each */
#define MFT_PORTS	16

/**
 * shca_sma_switch_info - Get or Set SwitchInfo
 * @n: a switch
 * @data: of the SMP; replaced
 * @mod: there is none: 0 for a Set
 * @set: Set
 *
 * Context: any, under the owner's lock.
 * Return: a MAD status.
 */
u16 shca_sma_switch_info(struct shca_node *n, u8 *data, u32 mod, bool set)
{
	struct shca_switch_info w;

	if (set) {
		memcpy(&w, data, sizeof(w));
		if (mod || be16_to_cpu(w.linear_fdb_top) >= SHCA_SWITCH_LFT)
			return SHCA_MAD_STATUS_BAD_VALUE;
		n->sw.linear_fdb_top = w.linear_fdb_top;
		n->sw.default_port = w.default_port;
		n->sw.default_mcast_primary = w.default_mcast_primary;
		n->sw.default_mcast_not_primary = w.default_mcast_not_primary;
		n->sw.mcast_fdb_top = w.mcast_fdb_top;
		n->sw.life_psc = (w.life_psc & SHCA_SWI_LIFE_MASK) |
				 (n->sw.life_psc & SHCA_SWI_PORT_STATE_CHANGE);
		/*
		 * Writing a one clears it, but only what the SM has read: OpenSM
		 * reads SwitchInfo, then the ports, and writes it back at the end
		 * of the sweep.  A link that changed in between would be news
		 * that nobody ever gets.
		 */
		if (w.life_psc & SHCA_SWI_PORT_STATE_CHANGE && !n->unreported)
			n->sw.life_psc &= ~SHCA_SWI_PORT_STATE_CHANGE;
	} else {
		n->unreported = false;
	}
	memcpy(data, &n->sw, sizeof(n->sw));
	return 0;
}

/**
 * shca_sma_linear_ft - Get or Set a block of the linear forwarding table
 * @n: a switch
 * @data: of the SMP; replaced
 * @mod: number of the block
 * @set: Set
 *
 * An entry may name a port that there is not; packets for it are dropped.
 *
 * Context: any, under the owner's lock.
 * Return: a MAD status.
 */
u16 shca_sma_linear_ft(struct shca_node *n, u8 *data, u32 mod, bool set)
{
	if (mod >= SHCA_SWITCH_LFT / LFT_BLOCK)
		return SHCA_MAD_STATUS_BAD_VALUE;
	if (set)
		memcpy(n->lft + mod * LFT_BLOCK, data, LFT_BLOCK);
	memcpy(data, n->lft + mod * LFT_BLOCK, LFT_BLOCK);
	return 0;
}

/**
 * shca_sma_mcast_ft - Get or Set a block of the multicast forwarding table
 * @n: a switch
 * @data: of the SMP; replaced
 * @mod: number of the block, and in the upper four bits which ports
 * @set: Set
 *
 * Context: any, under the owner's lock.
 * Return: a MAD status.
 */
u16 shca_sma_mcast_ft(struct shca_node *n, u8 *data, u32 mod, bool set)
{
	u32 block = mod & 0x1ff, position = mod >> 28;
	unsigned int shift = position * MFT_PORTS;
	u64 *entry, ports;
	int i;

	if (block >= SHCA_SWITCH_MFT / MFT_BLOCK || mod & 0x0ffffe00 ||
	    shift > n->num_ports)
		return SHCA_MAD_STATUS_BAD_VALUE;
	entry = n->mft + block * MFT_BLOCK;
	for (i = 0; i < MFT_BLOCK; i++, data += 2) {
		if (set) {
			ports = (u64)(data[0] << 8 | data[1]) << shift;
			entry[i] &= ~(0xffffull << shift);
			entry[i] |= ports & shca_node_all_ports(n);
		}
		data[0] = entry[i] >> shift >> 8;
		data[1] = entry[i] >> shift;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The performance agent proper: what a MAD does to the counters of a node's
 * ports.  Pure code, built in user space too.
 */
#ifndef _SHCA_PMA_MAD_H
#define _SHCA_PMA_MAD_H

#include "../wire/mad.h"

/* Counters of a port, in the order of SHCA_PMA_* below */
enum shca_pma_counter {
	SHCA_PMA_XMIT_DATA,	/* units of four bytes */
	SHCA_PMA_RCV_DATA,
	SHCA_PMA_UNI_XMIT,	/* unicast packets */
	SHCA_PMA_UNI_RCV,
	SHCA_PMA_MULTI_XMIT,	/* multicast packets */
	SHCA_PMA_MULTI_RCV,
	SHCA_PMA_RCV_ERRORS,
	SHCA_PMA_RELAY_ERRORS,	/* PortRcvSwitchRelayErrors */
	SHCA_PMA_XMIT_DISCARDS,
	SHCA_PMA_VL15_DROPPED,
	SHCA_PMA_LINK_DOWNED,
	SHCA_PMA_COUNTERS,
};

/**
 * struct shca_pma_values - counters of a port
 * @v: since the node was added, or, as a baseline, what they were when they
 *	were cleared last
 */
struct shca_pma_values {
	u64 v[SHCA_PMA_COUNTERS];
};

/**
 * struct shca_pma_ports - the counters of a node
 * @first: number of the first port
 * @count: ports
 * @sums: PortSelect 255 is the sum of all; else it is refused
 * @now: counters of the ports
 * @base: what they were when cleared; changed by Set
 */
struct shca_pma_ports {
	u8 first;
	u8 count;
	bool sums;
	const struct shca_pma_values *now;
	struct shca_pma_values *base;
};

enum shca_mad_result shca_pma_mad(const struct shca_pma_mad *in,
				  struct shca_pma_mad *out,
				  const struct shca_pma_ports *ports);

#endif /* _SHCA_PMA_MAD_H */

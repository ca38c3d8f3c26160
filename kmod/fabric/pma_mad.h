/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The performance agent proper: what a MAD does to a set of counters.  Pure
 * code, built in user space too.
 */
#ifndef _SHCA_PMA_MAD_H
#define _SHCA_PMA_MAD_H

#include "../wire/mad.h"

/* Counters of a port, in the order of SHCA_PMA_* below */
enum shca_pma_counter {
	SHCA_PMA_XMIT_DATA,	/* units of four bytes */
	SHCA_PMA_RCV_DATA,
	SHCA_PMA_XMIT_PACKETS,
	SHCA_PMA_RCV_PACKETS,
	SHCA_PMA_RCV_ERRORS,
	SHCA_PMA_XMIT_DISCARDS,
	SHCA_PMA_COUNTERS,
};

/**
 * struct shca_pma_values - counters of a port
 * @v: since the device was added, or, as a baseline, what they were when they
 *	were cleared last
 */
struct shca_pma_values {
	u64 v[SHCA_PMA_COUNTERS];
};

/* What became of a MAD */
enum shca_pma_result {
	SHCA_PMA_NOT_OURS,
	SHCA_PMA_CONSUMED,
	SHCA_PMA_REPLY,
};

enum shca_pma_result shca_pma_mad(const struct shca_pma_mad *in,
				  struct shca_pma_mad *out, u8 port,
				  const struct shca_pma_values *now,
				  struct shca_pma_values *base);

#endif /* _SHCA_PMA_MAD_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Performance agent: between process_mad (hca.c) and pma_mad.c.
 *
 * Owns dev->pma, from before the device is registered until after it is
 * unregistered; process_mad runs in between only.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_mad.h>

#include "../base/device.h"
#include "pma.h"
#include "pma_mad.h"

/**
 * struct shca_pma - performance agent of a port
 * @lock: guards @base; a leaf
 * @base: counters when they were cleared last
 */
struct shca_pma {
	spinlock_t lock;	/* the fields that follow; a leaf */
	struct shca_pma_values base;
};

/*
 * What goes from one QP of the device to another counts both ways, as it does
 * when it takes the wire: the payload (there are no headers) and the PSNs used.
 */
static void pma_read(struct shca_dev *dev, struct shca_pma_values *now)
{
#define SUM(name) shca_stats_sum(dev->stats, SHCA_STAT_##name)
	u64 bytes = SUM(local_bytes_copied), packets = SUM(local_packets);

	now->v[SHCA_PMA_XMIT_DATA] = (SUM(tx_bytes) + bytes) / 4;
	now->v[SHCA_PMA_RCV_DATA] = (SUM(rx_bytes) + bytes) / 4;
	now->v[SHCA_PMA_MULTI_XMIT] = SUM(tx_multicast_packets);
	now->v[SHCA_PMA_MULTI_RCV] = SUM(rx_multicast_packets);
	/* A packet counts as one before it counts as one to many. */
	now->v[SHCA_PMA_UNI_XMIT] = SUM(tx_packets) + packets -
				    now->v[SHCA_PMA_MULTI_XMIT];
	now->v[SHCA_PMA_UNI_RCV] = SUM(rx_packets) + packets -
				   now->v[SHCA_PMA_MULTI_RCV];
	now->v[SHCA_PMA_VL15_DROPPED] = SUM(rx_drop_vl15);
	now->v[SHCA_PMA_LINK_DOWNED] = SUM(link_downed);
	now->v[SHCA_PMA_RCV_ERRORS] = SUM(rx_drop_malformed) +
				      SUM(rx_drop_icrc);
	now->v[SHCA_PMA_XMIT_DISCARDS] = SUM(tx_local_drops);
#undef SUM
}

/**
 * shca_pma_process - a MAD of the class PERF
 * @dev: the device
 * @port: that it came by
 * @in: the MAD
 * @out: the reply
 *
 * Context: process.
 * Return: IB_MAD_RESULT_*.
 */
int shca_pma_process(struct shca_dev *dev, u8 port, const struct ib_mad *in,
		     struct ib_mad *out)
{
	struct shca_pma_values now = {};
	struct shca_pma_ports ports = {
		.first = port,
		.count = 1,
		.now = &now,
		.base = &dev->pma->base,
	};
	enum shca_mad_result result;

	/* Read under the lock, so that a baseline is never ahead of @now. */
	spin_lock(&dev->pma->lock);
	pma_read(dev, &now);
	result = shca_pma_mad((const struct shca_pma_mad *)in,
			      (struct shca_pma_mad *)out, &ports);
	spin_unlock(&dev->pma->lock);

	switch (result) {
	case SHCA_MAD_REPLY:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	case SHCA_MAD_CONSUMED:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}

/**
 * shca_pma_attach - give a device its performance agent
 * @dev: with its counters, not registered yet
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int shca_pma_attach(struct shca_dev *dev)
{
	struct shca_pma *pma = kzalloc(sizeof(*pma), GFP_KERNEL);

	if (!pma)
		return -ENOMEM;
	spin_lock_init(&pma->lock);
	dev->pma = pma;
	return 0;
}

/**
 * shca_pma_detach - the mirror; also for a device that was not attached
 * @dev: not registered any more
 *
 * Context: process.
 */
void shca_pma_detach(struct shca_dev *dev)
{
	kfree(dev->pma);
	dev->pma = NULL;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters that queue pairs are bound to: `rdma statistic qp`.
 *
 * ib_core decides which QPs share a counter, and shows for a port its own
 * values plus those of all counters, as if bound QPs were counted elsewhere.
 * Ours are not: each QP counts for itself all its life, and the port's counters
 * include it.  So a counter is a sum of differences since QPs were bound, and
 * what counters ever showed is taken off what we tell of the port.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#include "../object/qp.h"
#include "../object/qp_stats.h"
#include "device.h"
#include "ops.h"

/**
 * struct shca_counter - our part of a counter
 * @ended: the part of QPs that are no longer bound
 *
 * ib_core has no room for it in its own, so we find it by the counter's number,
 * in dev->counters.
 */
struct shca_counter {
	u64 ended[SHCA_QP_STAT_COUNT];
};

static void qp_values(const struct shca_qp *qp, u64 *v)
{
	struct shca_qp_stats s;

	BUILD_BUG_ON(SHCA_QP_STAT_COUNT != 7);
	shca_qp_stats(qp, &s);
	v[SHCA_STAT_tx_packets] = s.tx_packets;
	v[SHCA_STAT_rx_packets] = s.rx_packets;
	v[SHCA_STAT_tx_bytes_referenced] = s.tx_bytes_referenced;
	v[SHCA_STAT_tx_bytes_copied] = s.tx_bytes_copied;
	v[SHCA_STAT_tx_retransmits] = s.tx_retransmits;
	v[SHCA_STAT_rx_rnr_naks] = s.rx_rnr_naks;
	v[SHCA_STAT_ack_timeouts] = s.ack_timeouts;
}

/* Add what a QP has done since it was bound. */
static void add_since_bound(const struct shca_qp *qp, u64 *sum)
{
	u64 now[SHCA_QP_STAT_COUNT];
	int i;

	qp_values(qp, now);
	for (i = 0; i < SHCA_QP_STAT_COUNT; i++)
		sum[i] += now[i] - qp->bound_at[i];
}

/**
 * shca_counters_sum - what all counters of a device have shown so far
 * @dev: the device
 * @sum: the values, in the order of the port's
 *
 * Context: process, takes dev->bound_mutex.
 */
void shca_counters_sum(struct shca_dev *dev, u64 *sum)
{
	struct shca_qp *qp;

	mutex_lock(&dev->bound_mutex);
	memcpy(sum, dev->bound_ended, sizeof(dev->bound_ended));
	list_for_each_entry(qp, &dev->bound, bound)
		add_since_bound(qp, sum);
	mutex_unlock(&dev->bound_mutex);
}

/**
 * shca_counter_alloc_stats - ib_device_ops.counter_alloc_stats
 * @counter: the counter
 *
 * Context: process.
 * Return: room for its values, which ib_core frees, or NULL.
 */
struct rdma_hw_stats *shca_counter_alloc_stats(struct rdma_counter *counter)
{
	struct rdma_hw_stats *stats;

	/*
	 * ib_core adds up each counter of the port's, so there is one of each;
	 * it shows those that are not disabled.
	 */
	stats = rdma_alloc_hw_stats_struct(shca_stat_descs, SHCA_STAT_COUNT,
					   RDMA_HW_STATS_DEFAULT_LIFESPAN);
	if (stats)
		bitmap_set(stats->is_disabled, SHCA_QP_STAT_COUNT,
			   SHCA_STAT_COUNT - SHCA_QP_STAT_COUNT);
	return stats;
}

/* Give a new counter our part of it, and a number. */
static int counter_new(struct shca_dev *dev, struct rdma_counter *counter)
{
	struct shca_counter *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int ret;

	lockdep_assert_held(&dev->bound_mutex);
	if (!c)
		return -ENOMEM;
	ret = xa_alloc_cyclic(&dev->counters, &counter->id, c, xa_limit_32b,
			      &dev->counter_next, GFP_KERNEL);
	if (ret < 0) {
		kfree(c);
		return ret;
	}
	return 0;
}

/**
 * shca_counter_bind_qp - ib_device_ops.counter_bind_qp
 * @counter: the counter; without an id it is new and gets one
 * @ibqp: the QP
 *
 * ib_core has looked whether the QP is bound, but without a lock that two of
 * its callers share.
 *
 * Context: process, under counter->lock.
 * Return: 0, -EINVAL: the QP is bound, or -ENOMEM.
 */
int shca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct shca_dev *dev = to_shca(ibqp->device);
	struct shca_qp *qp = to_shca_qp(ibqp);
	int ret = 0;

	mutex_lock(&dev->bound_mutex);
	if (ibqp->counter)
		ret = -EINVAL;
	else if (!counter->id)
		ret = counter_new(dev, counter);
	if (ret)
		goto unlock;
	qp_values(qp, qp->bound_at);
	list_add(&qp->bound, &dev->bound);
	ibqp->counter = counter;
unlock:
	mutex_unlock(&dev->bound_mutex);
	return ret;
}

/**
 * shca_counter_unbind_qp - ib_device_ops.counter_unbind_qp
 * @ibqp: the QP
 *
 * What it has done stays in the counter.
 *
 * Context: process, under the counter's lock.
 * Return: 0, or -EINVAL: the QP is not bound, or not any more.
 */
int shca_counter_unbind_qp(struct ib_qp *ibqp)
{
	struct shca_dev *dev = to_shca(ibqp->device);
	struct shca_qp *qp = to_shca_qp(ibqp);
	u64 done[SHCA_QP_STAT_COUNT] = {};
	struct shca_counter *c;
	int i, ret = -EINVAL;

	mutex_lock(&dev->bound_mutex);
	if (!ibqp->counter)
		goto unlock;
	c = xa_load(&dev->counters, ibqp->counter->id);
	add_since_bound(qp, done);
	for (i = 0; i < SHCA_QP_STAT_COUNT; i++) {
		c->ended[i] += done[i];
		dev->bound_ended[i] += done[i];
	}
	list_del_init(&qp->bound);
	ibqp->counter = NULL;
	ret = 0;
unlock:
	mutex_unlock(&dev->bound_mutex);
	return ret;
}

/**
 * shca_counter_dealloc - ib_device_ops.counter_dealloc
 * @counter: a counter that no QP is bound to
 *
 * Context: process.
 * Return: 0.
 */
int shca_counter_dealloc(struct rdma_counter *counter)
{
	struct shca_dev *dev = to_shca(counter->device);
	struct shca_counter *c;

	mutex_lock(&dev->bound_mutex);
	c = xa_erase(&dev->counters, counter->id);
	mutex_unlock(&dev->bound_mutex);
	kfree(c);
	return 0;
}

/**
 * shca_counter_update_stats - ib_device_ops.counter_update_stats
 * @counter: the counter
 *
 * Context: process, under counter->lock.
 * Return: 0.
 */
int shca_counter_update_stats(struct rdma_counter *counter)
{
	struct shca_dev *dev = to_shca(counter->device);
	u64 *value = counter->stats->value;
	struct shca_counter *c;
	struct shca_qp *qp;

	mutex_lock(&dev->bound_mutex);
	c = xa_load(&dev->counters, counter->id);
	memcpy(value, c->ended, sizeof(c->ended));
	list_for_each_entry(qp, &dev->bound, bound)
		if (qp->ib->counter == counter)
			add_since_bound(qp, value);
	mutex_unlock(&dev->bound_mutex);
	return 0;
}

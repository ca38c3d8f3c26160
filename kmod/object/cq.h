/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues: a ring of CQEs, and the event that says there are some.
 *
 * ib_core destroys a CQ only after the QPs on it, and destroy_qp closes their
 * runners, so nobody posts to a CQ that is being destroyed.
 */
#ifndef _SHCA_CQ_H
#define _SHCA_CQ_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../uapi/softhca-abi.h"

struct shca_dev;
struct shca_mmap;

/**
 * struct shca_cq - a completion queue
 * @ib: what ib_core knows
 * @dev: its device
 * @user: a process maps and polls it
 * @map: its memory, for mmap (verbs/mmap.h); owned
 * @hdr: shared indices
 * @cqe: the slots
 * @entries: of @cqe, a power of two
 * @qp: of a kernel CQ: the QP of each slot, else NULL; under @lock
 * @lock: guards the fields that follow and the slots; taken with interrupts
 *	off, because poll_cq may be called in any context. A leaf.
 * @prod: next index to fill
 * @cons: of a kernel CQ, next index to poll
 * @arm: of a kernel CQ: SHCA_CQ_ARM_* kind that is armed, or 0
 * @fired: of a user CQ: sequence of the last event raised
 * @overrun: a CQE was lost; the CQ is of no use any more
 * @event_lock: one event handler of a user CQ at a time. A leaf but for the
 *	locks of the handler, which is ib_uverbs' own and calls no verb.
 * @event_work: runs the handler of a kernel CQ, one at a time
 * @overrun_work: reports IB_EVENT_CQ_ERR
 */
struct shca_cq {
	struct ib_cq ib;
	struct shca_dev *dev;
	bool user;
	struct shca_mmap *map;
	struct shca_cq_hdr *hdr;
	struct shca_cqe *cqe;
	u32 entries;
	struct ib_qp **qp;

	spinlock_t lock ____cacheline_aligned_in_smp;
	u32 prod;
	u32 cons;
	u32 arm;
	u32 fired;
	bool overrun;

	spinlock_t event_lock;	/* one user handler at a time */
	struct work_struct event_work;
	struct work_struct overrun_work;
};

static inline struct shca_cq *to_shca_cq(struct ib_cq *ib)
{
	return container_of(ib, struct shca_cq, ib);
}

void shca_cq_init(struct shca_cq *cq);
void shca_cq_quiesce(struct shca_cq *cq);
bool shca_cq_post(struct shca_cq *cq, const struct shca_cqe *cqe,
		  struct ib_qp *qp, bool solicited);
void shca_cq_forget(struct shca_cq *cq, struct ib_qp *qp);
int shca_cq_poll(struct shca_cq *cq, int n, struct ib_wc *wc);
int shca_cq_arm(struct shca_cq *cq, enum ib_cq_notify_flags flags);

#endif /* _SHCA_CQ_H */

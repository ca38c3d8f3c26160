// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: how they are found, kept alive, put in error and reported.
 *
 * All QPs of the module are in one table by QPN, so that a packet is matched
 * before its device is known.  Lookups run under RCU and take a reference; the
 * memory is freed a grace period after the last one.  See qp.h for the rest.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "../base/device.h"
#include "../base/trace_qp.h"
#include "qp.h"

static DEFINE_XARRAY_ALLOC(shca_qps);
static u32 qpn_next;	/* under the lock of shca_qps */

static void qp_event_work(struct work_struct *work)
{
	static const enum ib_event_type type[] = {
		[SHCA_EV_FATAL]		= IB_EVENT_QP_FATAL,
		[SHCA_EV_REQ_ERR]	= IB_EVENT_QP_REQ_ERR,
		[SHCA_EV_ACCESS_ERR]	= IB_EVENT_QP_ACCESS_ERR,
		[SHCA_EV_COMM_EST]	= IB_EVENT_COMM_EST,
	};
	struct shca_qp *qp = container_of(work, struct shca_qp, event_work);
	struct ib_event ev = {
		.device = &qp->dev->ib,
		.element.qp = qp->ib,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(type); i++) {
		if (!test_and_clear_bit(i, &qp->events))
			continue;
		ev.event = type[i];
		if (qp->ib->event_handler)
			qp->ib->event_handler(&ev, qp->ib->qp_context);
	}
}

/**
 * shca_qp_alloc - allocate the part of a QP that is ours
 * @dev: its device
 * @type: IB_QPT_*
 *
 * Context: process.
 * Return: the QP with one reference, in RESET, not published; or NULL.
 */
struct shca_qp *shca_qp_alloc(struct shca_dev *dev, enum ib_qp_type type)
{
	struct shca_qp *qp = kvzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);

	if (!qp)
		return NULL;
	kref_init(&qp->ref);
	qp->dev = dev;
	qp->type = type;
	qp->state = IB_QPS_RESET;
	mutex_init(&qp->mod);
	INIT_LIST_HEAD(&qp->bound);
	INIT_WORK(&qp->event_work, qp_event_work);
	spin_lock_init(&qp->sq_post_lock);
	spin_lock_init(&qp->rq_post_lock);
	return qp;
}

/**
 * shca_qp_publish - give a QP its number and let packets find it
 * @qp: complete but for its number; a special QP gets 0 or 1
 *
 * Context: process.
 * Return: 0, -ENOMEM, or -EBUSY if no number is free or there is such a
 * special QP.
 */
int shca_qp_publish(struct shca_qp *qp)
{
	int ret;

	if (shca_qp_special(qp)) {
		qp->qpn = qp->type == IB_QPT_GSI;
		if (cmpxchg((__force struct shca_qp **)
			    &qp->dev->special[qp->qpn], NULL, qp))
			return -EBUSY;
		return 0;
	}
	/* The entry is stored with its number in place: packets may be early. */
	ret = xa_alloc_cyclic(&shca_qps, &qp->qpn, NULL,
			      XA_LIMIT(SHCA_MIN_QPN, SHCA_MAX_QPN), &qpn_next,
			      GFP_KERNEL);
	if (ret < 0)
		return ret;
	ret = xa_err(xa_store(&shca_qps, qp->qpn, qp, GFP_KERNEL));
	if (ret)
		xa_erase(&shca_qps, qp->qpn);
	return ret;
}

/**
 * shca_qp_unpublish - first step of destroy: packets find it no more
 * @qp: a published QP
 *
 * Context: process.
 */
void shca_qp_unpublish(struct shca_qp *qp)
{
	if (shca_qp_special(qp))
		RCU_INIT_POINTER(qp->dev->special[qp->qpn], NULL);
	else
		xa_erase(&shca_qps, qp->qpn);
}

/**
 * shca_qp_get - find a QP
 * @qpn: its number, from anywhere; not that of a special QP
 *
 * Context: any but hard interrupts.
 * Return: the QP with a reference for shca_qp_put(), or NULL.
 */
struct shca_qp *shca_qp_get(u32 qpn)
{
	struct shca_qp *qp;

	rcu_read_lock();
	qp = xa_load(&shca_qps, qpn);
	if (qp && !kref_get_unless_zero(&qp->ref))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/** shca_qp_get_special - QP0 or QP1 of a device, as shca_qp_get() */
struct shca_qp *shca_qp_get_special(struct shca_dev *dev, u32 qpn)
{
	struct shca_qp *qp;

	rcu_read_lock();
	qp = rcu_dereference(dev->special[qpn]);
	if (qp && !kref_get_unless_zero(&qp->ref))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/**
 * shca_qp_next - walk over the QPs that have a number of their own
 * @qpn: start at it; advanced to the one found
 *
 * Context: process.
 * Return: the QP with a reference, or NULL at the end.
 */
struct shca_qp *shca_qp_next(u32 *qpn)
{
	unsigned long index = *qpn;
	struct shca_qp *qp;

	rcu_read_lock();
	for (qp = xa_find(&shca_qps, &index, SHCA_MAX_QPN, XA_PRESENT); qp;
	     qp = xa_find_after(&shca_qps, &index, SHCA_MAX_QPN, XA_PRESENT))
		if (kref_get_unless_zero(&qp->ref))
			break;
	rcu_read_unlock();
	*qpn = index;
	return qp;
}

static void qp_free_rcu(struct rcu_head *rcu)
{
	kvfree(container_of(rcu, struct shca_qp, rcu));
}

static void qp_release(struct kref *ref)
{
	struct shca_qp *qp = container_of(ref, struct shca_qp, ref);

	/*
	 * A delivery that saw a runner open just before it closed may have
	 * left its packet behind. It held a reference, so it is over now.
	 */
	skb_queue_purge(&qp->sq.run.inbox);
	skb_queue_purge(&qp->rq.run.inbox);
	call_rcu(&qp->rcu, qp_free_rcu);
}

/**
 * shca_qp_tryget - take a reference to a QP found under RCU by other means
 * @qp: the QP
 *
 * Context: any, under RCU.
 * Return: false if it is going.
 */
bool shca_qp_tryget(struct shca_qp *qp)
{
	return kref_get_unless_zero(&qp->ref);
}

/** shca_qp_put - drop a reference; any context but hard interrupts */
void shca_qp_put(struct shca_qp *qp)
{
	kref_put(&qp->ref, qp_release);
}

/**
 * shca_qp_event - have an affiliated asynchronous event reported
 * @qp: the QP
 * @event: SHCA_EV_*
 *
 * Context: any, with a runner of the QP owned or its mutex held, so that the
 * work is not queued behind destroy's back.
 */
void shca_qp_event(struct shca_qp *qp, int event)
{
	set_bit(event, &qp->events);
	queue_work(shca_wq, &qp->event_work);
}

/** shca_qp_kick - make both sides take a turn */
void shca_qp_kick(struct shca_qp *qp, enum shca_ctx ctx)
{
	shca_runner_kick(&qp->sq.run, ctx);
	shca_runner_kick(&qp->rq.run, ctx);
}

/**
 * shca_qp_keep_why - note why a QP, or its SQ, goes to the error state
 * @qp: the QP; nobody else notes a reason
 * @reason: SOFTHCA_ERROR_REASON_*
 * @opcode: BTH opcode it happened on, 0xff: none
 * @psn: where it happened
 *
 * Context: as shca_qp_event(), by whoever has just changed the state.
 */
void shca_qp_keep_why(struct shca_qp *qp, u32 reason, u32 opcode, u32 psn)
{
	qp->why.opcode = opcode;
	qp->why.psn = psn;
	/* Who sees the reason sees what goes with it. */
	smp_store_release(&qp->why.reason, reason);
	if (reason != SOFTHCA_ERROR_REASON_MOVED_BY_USER)
		shca_count(qp->dev, qp_errors);
}

/* Returns false if the QP can not be in error, or is in error already. */
static bool qp_to_error(struct shca_qp *qp, u32 reason, u32 opcode, u32 psn)
{
	int old = READ_ONCE(qp->state);

	do {
		if (old == IB_QPS_RESET || old == IB_QPS_ERR)
			return false;
	} while (!try_cmpxchg(&qp->state, &old, IB_QPS_ERR));
	/* Why its SQ is in error already is why this happens, or came first. */
	if (old != IB_QPS_SQE)
		shca_qp_keep_why(qp, reason, opcode, psn);
	trace_qp_state(qp->dev, qp->qpn, old, IB_QPS_ERR, reason, opcode, psn);
	shca_qp_kick(qp, SHCA_CTX_DEFER);
	return true;
}

/**
 * shca_qp_error - move a QP to the error state
 * @qp: the QP
 * @reason: SOFTHCA_ERROR_REASON_*; that of the first error is kept
 * @opcode: BTH opcode it happened on, 0xff: none
 * @psn: where it happened
 *
 * Both sides are kicked and flush what is posted.
 *
 * Context: as shca_qp_event().
 */
void shca_qp_error(struct shca_qp *qp, u32 reason, u32 opcode, u32 psn)
{
	qp_to_error(qp, reason, opcode, psn);
}

/**
 * shca_qp_fatal - as shca_qp_error(), of what no completion can tell
 * @qp: the QP
 * @reason: SOFTHCA_ERROR_REASON_*
 * @psn: where it happened
 *
 * The first error of a QP raises the event, what follows from it does not: the
 * queue of a process' events has no limit.
 *
 * Context: as shca_qp_event().
 */
void shca_qp_fatal(struct shca_qp *qp, u32 reason, u32 psn)
{
	if (qp_to_error(qp, reason, 0xff, psn))
		shca_qp_event(qp, SHCA_EV_FATAL);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 *
 * A runner posts CQEs; a process polls its ring itself, a kernel consumer
 * through poll_cq.  Events: the handler of a kernel CQ, which calls any verb it
 * likes, runs as work.  That of a user CQ is ib_uverbs' own: it calls no verb and
 * takes its leaf locks only, so the poster calls it, also within post_send (the
 * doorbell), where the kernel's core_locking.rst would have no handler run.  Either
 * way one at a time a CQ, and never under the lock of the ring.
 */
#include <linux/slab.h>

#include "../base/device.h"
#include "../base/trace_cq.h"
#include "runner.h"
#include "cq.h"

/* Status of a kernel CQ's slot whose QP is gone; no ib_wc_status */
#define SHCA_CQE_FORGOTTEN	0xff

static void cq_event_work(struct work_struct *work)
{
	struct shca_cq *cq = container_of(work, struct shca_cq, event_work);

	/*
	 * Softirqs that the handler raises (IPoIB schedules NAPI) run when
	 * BHs are enabled again.
	 */
	local_bh_disable();
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	local_bh_enable();
}

static void cq_overrun_work(struct work_struct *work)
{
	struct shca_cq *cq = container_of(work, struct shca_cq, overrun_work);
	struct ib_event ev = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&ev, cq->ib.cq_context);
}

/** shca_cq_init - prepare the parts that do not depend on the ring */
void shca_cq_init(struct shca_cq *cq)
{
	spin_lock_init(&cq->lock);
	spin_lock_init(&cq->event_lock);
	INIT_WORK(&cq->event_work, cq_event_work);
	INIT_WORK(&cq->overrun_work, cq_overrun_work);
}

/**
 * shca_cq_quiesce - wait for handlers; for destroy_cq
 * @cq: no QP is left on it
 *
 * Context: process, may sleep. Not from a completion handler.
 */
void shca_cq_quiesce(struct shca_cq *cq)
{
	cancel_work_sync(&cq->event_work);
	cancel_work_sync(&cq->overrun_work);
}

/* Is an event due? The CQE was published before. Caller holds cq->lock. */
static bool cq_event_due(struct shca_cq *cq, bool solicited)
{
	u32 arm, seq, kind;

	lockdep_assert_held(&cq->lock);
	if (!cq->user) {
		if (!(cq->arm & SHCA_CQ_ARM_NEXT) &&
		    !(cq->arm && solicited))
			return false;
		cq->arm = 0;
		return true;
	}
	/* Pairs with the process' fence between arming and polling. */
	smp_mb();
	arm = READ_ONCE(cq->hdr->arm);
	seq = arm >> SHCA_CQ_ARM_SEQ_SHIFT;
	kind = arm & SHCA_CQ_ARM_KIND_MASK;
	if (seq == cq->fired ||
	    !(kind == SHCA_CQ_ARM_NEXT ||
	      (kind == SHCA_CQ_ARM_SOLICITED && solicited)))
		return false;
	cq->fired = seq;
	WRITE_ONCE(cq->hdr->fired, seq);
	return true;
}

static void cq_event(struct shca_cq *cq)
{
	shca_count(cq->dev, cq_events);
	if (!cq->user) {
		queue_work(shca_wq, &cq->event_work);
		return;
	}
	spin_lock_bh(&cq->event_lock);
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	spin_unlock_bh(&cq->event_lock);
}

/**
 * shca_cq_post - write a CQE, and raise the event if one is due
 * @cq: the CQ
 * @cqe: what to write
 * @qp: whose completion it is
 * @solicited: the completion was solicited; one in error always counts as such
 *
 * Context: process or softirq, as the owner of a runner; no lock held.
 * Return: false if the CQ is full: the CQE is lost, IB_EVENT_CQ_ERR raised, and
 * the caller takes its QP to the error state.
 */
bool shca_cq_post(struct shca_cq *cq, const struct shca_cqe *cqe,
		  struct ib_qp *qp, bool solicited)
{
	unsigned long flags;
	bool due, first;
	u32 cons, slot;

	spin_lock_irqsave(&cq->lock, flags);
	/* A process that lies about its consumer index loses its own CQEs. */
	cons = cq->user ? smp_load_acquire(&cq->hdr->cons) : cq->cons;
	if (cq->overrun || cq->prod - cons >= cq->entries) {
		first = !cq->overrun;
		cq->overrun = true;
		spin_unlock_irqrestore(&cq->lock, flags);
		shca_count(cq->dev, cq_overruns);
		if (first)
			queue_work(shca_wq, &cq->overrun_work);
		return false;
	}
	slot = cq->prod & (cq->entries - 1);
	cq->cqe[slot] = *cqe;
	if (cq->qp)
		cq->qp[slot] = qp;
	trace_cqe(cq->dev, cqe->qp_num, cq->ib.res.id, cqe->wr_id, cqe->opcode,
		  cqe->status, cqe->byte_len, cqe->vendor_err, cq->prod);
	cq->prod++;
	/* Pairs with the poller's acquire: the slot before the index. */
	smp_store_release(&cq->hdr->prod, cq->prod);
	due = cq_event_due(cq, solicited || cqe->status != IB_WC_SUCCESS);
	spin_unlock_irqrestore(&cq->lock, flags);

	if (due)
		cq_event(cq);
	return true;
}

/**
 * shca_cq_forget - a QP of a kernel consumer goes: its CQEs too
 * @cq: the CQ
 * @qp: the QP, whose runners are closed
 *
 * What is left in the CQ would hand out a pointer to a QP that is freed.
 *
 * Context: process.
 */
void shca_cq_forget(struct shca_cq *cq, struct ib_qp *qp)
{
	unsigned long flags;
	u32 i;

	if (cq->user)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	for (i = cq->cons; i != cq->prod; i++) {
		u32 slot = i & (cq->entries - 1);

		if (cq->qp[slot] == qp)
			cq->cqe[slot].status = SHCA_CQE_FORGOTTEN;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

static void cqe_to_wc(const struct shca_cqe *cqe, struct ib_qp *qp,
		      struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = qp;
	if (cqe->wc_flags & SHCA_CQE_WITH_INV)
		wc->ex.invalidate_rkey = cqe->imm;
	else
		wc->ex.imm_data = (__force __be32)cqe->imm;
	wc->src_qp = cqe->src_qp;
	wc->slid = cqe->slid;
	wc->pkey_index = cqe->pkey_index;
	wc->sl = cqe->sl;
	wc->dlid_path_bits = cqe->dlid_path_bits;
	wc->port_num = cqe->port_num;
	if (cqe->wc_flags & SHCA_CQE_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cqe->network_hdr_type;
	}
	if (cqe->wc_flags & SHCA_CQE_WITH_IMM)
		wc->wc_flags |= IB_WC_WITH_IMM;
	if (cqe->wc_flags & SHCA_CQE_WITH_INV)
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
	if (cqe->wc_flags & SHCA_CQE_WITH_SMAC) {
		wc->wc_flags |= IB_WC_WITH_SMAC;
		memcpy(wc->smac, cqe->smac, sizeof(wc->smac));
	}
	if (cqe->vlan_id != SHCA_CQE_NO_VLAN) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = cqe->vlan_id;
	}
}

/**
 * shca_cq_poll - take completions off a kernel CQ
 * @cq: the CQ
 * @n: how many at the most
 * @wc: filled in
 *
 * Context: any.
 * Return: how many.
 */
int shca_cq_poll(struct shca_cq *cq, int n, struct ib_wc *wc)
{
	unsigned long flags;
	int got = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (got < n && cq->cons != cq->prod) {
		u32 slot = cq->cons++ & (cq->entries - 1);

		if (cq->cqe[slot].status == SHCA_CQE_FORGOTTEN)
			continue;
		cqe_to_wc(&cq->cqe[slot], cq->qp[slot], &wc[got++]);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return got;
}

/**
 * shca_cq_arm - ask a kernel CQ for an event
 * @cq: the CQ
 * @flags: as of ib_req_notify_cq(); widens what is armed, never narrows it
 *
 * Context: any.
 * Return: 1 if IB_CQ_REPORT_MISSED_EVENTS is asked for and CQEs wait, else 0.
 */
int shca_cq_arm(struct shca_cq *cq, enum ib_cq_notify_flags flags)
{
	unsigned long irq;
	int ret;

	spin_lock_irqsave(&cq->lock, irq);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		cq->arm = SHCA_CQ_ARM_NEXT;
	else if (!cq->arm)
		cq->arm = SHCA_CQ_ARM_SOLICITED;
	ret = (flags & IB_CQ_REPORT_MISSED_EVENTS) && cq->cons != cq->prod;
	spin_unlock_irqrestore(&cq->lock, irq);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive WQEs: from the ring into memory of our own, and out as completions.
 *
 * Context of all functions: the owner of the responder's runner.
 */
#include "internal.h"
#include "../base/trace_wqe.h"

/**
 * shca_rq_fetch - have a receive WQE in rq->rwqe
 * @qp: the QP
 *
 * Return: 1 if there is one (it may have been there already), 0 if none is
 * posted, -EINVAL if the ring is corrupt: the QP is in error then.
 */
int shca_rq_fetch(struct shca_qp *qp)
{
	struct shca_rq *rq = &qp->rq;
	const struct shca_recv_wqe *slot;
	int avail;

	lockdep_assert_held(&rq->run);
	if (rq->rwqe.valid)
		return 1;
	avail = shca_ring_avail(&rq->ring, rq->fetched);
	if (!avail)
		return 0;
	if (avail > 0) {
		slot = shca_ring_slot(&rq->ring, rq->fetched);
		rq->rwqe.wqe.wr_id = READ_ONCE(slot->wr_id);
		rq->rwqe.wqe.num_sge = READ_ONCE(slot->num_sge);
	}
	if (avail < 0 || rq->rwqe.wqe.num_sge > rq->max_sge) {
		shca_qp_fatal(qp, SOFTHCA_ERROR_REASON_RING_CORRUPT, rq->epsn);
		return -EINVAL;
	}
	memcpy(rq->rwqe.sge, slot->sge,
	       rq->rwqe.wqe.num_sge * sizeof(struct shca_sge));
	trace_recv_fetch(qp->dev, qp->qpn, rq->fetched, rq->rwqe.wqe.wr_id,
			 rq->rwqe.wqe.num_sge);
	rq->fetched++;
	rq->rwqe.valid = true;
	return 1;
}

/**
 * shca_rq_complete - end the receive WQE in use
 * @qp: the QP
 * @cqe: filled in but for wr_id, qp_num and vendor_err
 * @solicited: the peer asked for an event
 */
void shca_rq_complete(struct shca_qp *qp, struct shca_cqe *cqe, bool solicited)
{
	struct shca_rq *rq = &qp->rq;

	lockdep_assert_held(&rq->run);
	cqe->wr_id = rq->rwqe.wqe.wr_id;
	cqe->qp_num = qp->qpn;
	if (cqe->status != IB_WC_SUCCESS)
		cqe->vendor_err = READ_ONCE(qp->why.reason);
	else
		rq->messages++;
	trace_recv_done(qp->dev, qp->qpn, rq->ring.cons, cqe->wr_id, cqe->status,
			cqe->byte_len, shca_psn_add(rq->epsn, -1));
	rq->rwqe.valid = false;
	shca_ring_complete(&rq->ring, 1);
	if (!shca_cq_post(rq->cq, cqe, qp->ib, solicited))
		shca_qp_fatal(qp, SOFTHCA_ERROR_REASON_CQ_OVERRUN, rq->epsn);
}

/**
 * shca_rq_flush - complete everything posted as flushed
 * @qp: a QP in error
 * @b: budget of the turn
 *
 * The ring asks for a doorbell from now on, so that what is posted later is
 * flushed too.
 *
 * Return: true if there is more to flush.
 */
bool shca_rq_flush(struct shca_qp *qp, struct shca_budget *b)
{
	struct shca_rq *rq = &qp->rq;

	shca_ring_set_wakeup(&rq->ring);
	while (shca_rq_fetch(qp) > 0) {
		struct shca_cqe cqe = {
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = IB_WC_RECV,
			.port_num = 1,
			.vlan_id = SHCA_CQE_NO_VLAN,
		};

		if (!shca_budget_left(b))
			return true;
		shca_rq_complete(qp, &cqe, false);
		b->packets--;
	}
	return false;
}

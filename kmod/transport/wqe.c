// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send WQEs: from the ring into memory of our own, and out as completions.
 *
 * A slot of the ring is copied once and only then checked.  A WQE that can not
 * be executed is kept with the status it will complete with, so that it ends
 * in its turn, after those before it.
 *
 * Context of all functions: the owner of the requester's runner.
 */
#include "internal.h"
#include "../base/trace_cq.h"
#include "../base/trace_wqe.h"
#include "../object/copy.h"

/* Sum of the SGEs' lengths, or -1 if it is more than a message may have */
static s64 sge_sum(const struct shca_sge *sge, u32 n)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++)
		sum += sge[i].length;	/* 16 summands of 32 bits at the most */
	return sum > SHCA_MAX_MSG ? -1 : (s64)sum;
}

static void swqe_refuse(struct shca_swqe *s, u32 status, u32 reason)
{
	s->status = status;
	s->reason = reason;
}

static void swqe_check(struct shca_qp *qp, struct shca_swqe *s)
{
	const struct shca_send_wqe *w = &s->wqe;
	const struct shca_sq *sq = &qp->sq;
	bool is_inline = w->flags & IB_SEND_INLINE;
	bool is_read = w->opcode == IB_WR_RDMA_READ;
	s64 sum;

	s->status = IB_WC_SUCCESS;
	s->reason = SOFTHCA_ERROR_REASON_NONE;
	s->failed = false;
	s->length = 0;
	s->packets = 1;
	s->sent = 0;

	if (!shca_qp_executes(qp, w->opcode) ||
	    (is_inline ? w->inline_len > sq->max_inline || w->num_sge :
			 w->num_sge > sq->max_sge) ||
	    (is_read && (is_inline || !sq->rd_limit))) {
		swqe_refuse(s, IB_WC_LOC_QP_OP_ERR,
			    SOFTHCA_ERROR_REASON_LOCAL_QP_OP);
		return;
	}
	sum = is_inline ? w->inline_len : sge_sum(w->sge, w->num_sge);
	if (sum < 0 || (!shca_qp_connected(qp) && sum > qp->mtu)) {
		swqe_refuse(s, IB_WC_LOC_LEN_ERR,
			    SOFTHCA_ERROR_REASON_LOCAL_LENGTH);
		return;
	}
	s->length = sum;
	s->packets = max_t(u32, 1, DIV_ROUND_UP(s->length, qp->mtu));
	if (!is_inline &&
	    shca_sges_check(qp->dev, qp->pd, w->sge, w->num_sge,
			    is_read ? IB_ACCESS_LOCAL_WRITE : 0))
		swqe_refuse(s, IB_WC_LOC_PROT_ERR,
			    SOFTHCA_ERROR_REASON_LOCAL_PROTECTION);
}

static void trace_fetch(const struct shca_qp *qp, const struct shca_swqe *s)
{
	const struct shca_send_wqe *w = &s->wqe;
	bool has_sge = w->num_sge && !(w->flags & IB_SEND_INLINE);

	trace_send_fetch(qp->dev, qp->qpn, qp->sq.fetched, w->wr_id, w->opcode,
			 w->flags, s->length, s->packets,
			 has_sge ? w->sge[0].addr : 0, w->num_sge);
}

/**
 * shca_sq_fetch - take the next WQE out of the ring
 * @qp: the QP
 *
 * Return: 1 if one was fetched, 0 if there is none, -EINVAL if the ring's
 * producer index is impossible.
 */
int shca_sq_fetch(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;
	int avail = shca_ring_avail(&sq->ring, sq->fetched);
	struct shca_swqe *s;

	lockdep_assert_held(&sq->run);
	if (avail <= 0)
		return avail ? -EINVAL : 0;
	s = shca_swqe(sq, sq->fetched);
	unsafe_memcpy(&s->wqe, shca_ring_slot(&sq->ring, sq->fetched),
		      sq->ring.stride,
		      /* swqe_stride has room for the SGEs behind the WQE */);
	swqe_check(qp, s);
	if (trace_send_fetch_enabled())
		trace_fetch(qp, s);
	sq->fetched++;
	return 1;
}

/**
 * shca_sq_trace_wire - tell which WQEs are on the wire
 * @qp: the QP, whose burst was handed over
 *
 * Called only while somebody traces: sq->wire may be older than the ring.
 */
void shca_sq_trace_wire(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;

	if ((s32)(sq->wire - sq->ring.cons) < 0)
		sq->wire = sq->ring.cons;
	for (; (s32)(sq->wire - sq->cur) < 0; sq->wire++) {
		struct shca_swqe *s = shca_swqe(sq, sq->wire);

		trace_send_wire(qp->dev, qp->qpn, sq->wire, s->first_psn,
				s->length, s->packets);
	}
}

static u32 wc_opcode(u32 opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	default:
		return IB_WC_SEND;
	}
}

/**
 * shca_sq_complete - end the oldest WQE
 * @qp: the QP
 * @s: the WQE at ring.cons
 * @status: how; IB_WC_SUCCESS writes a CQE only if the WQE is signalled
 *
 * The slot is given back before the CQE is seen, so whoever polls the CQE may
 * post at once.
 */
void shca_sq_complete(struct shca_qp *qp, const struct shca_swqe *s,
		      u32 status)
{
	struct shca_sq *sq = &qp->sq;
	struct shca_cqe cqe = {
		.wr_id = s->wqe.wr_id,
		.status = status,
		.opcode = wc_opcode(s->wqe.opcode),
		.byte_len = s->length,
		.qp_num = qp->qpn,
		.port_num = 1,
		.vlan_id = SHCA_CQE_NO_VLAN,
	};
	bool signal = sq->sig_all || (s->wqe.flags & IB_SEND_SIGNALED);

	lockdep_assert_held(&sq->run);
	trace_send_done(qp->dev, qp->qpn, sq->ring.cons, s->wqe.wr_id,
			s->wqe.opcode, status, s->length,
			status != IB_WC_SUCCESS || signal);
	if (status != IB_WC_SUCCESS)
		cqe.vendor_err = READ_ONCE(qp->why.reason);
	else
		sq->messages++;
	shca_ring_complete(&sq->ring, 1);
	if (status == IB_WC_SUCCESS && !signal)
		return;
	if (!shca_cq_post(sq->cq, &cqe, qp->ib, false))
		shca_qp_fatal(qp, SOFTHCA_ERROR_REASON_CQ_OVERRUN, sq->una);
}

/**
 * shca_sq_flush - complete everything posted as flushed
 * @qp: a QP in error
 * @b: budget of the turn
 *
 * A WQE is not left fetched and unfinished for want of budget, unless it was
 * fetched before.
 *
 * Return: true if there is more to flush.
 */
bool shca_sq_flush(struct shca_qp *qp, struct shca_budget *b)
{
	struct shca_sq *sq = &qp->sq;
	struct shca_swqe *s;
	bool more = false;

	lockdep_assert_held(&sq->run);
	sq->wait = false;
	sq->local.active = false;
	timer_delete(&sq->timer);
	shca_ring_set_wakeup(&sq->ring);
	for (;;) {
		if (!shca_budget_left(b)) {
			more = true;
			break;
		}
		if (sq->ring.cons == sq->fetched && shca_sq_fetch(qp) <= 0)
			break;
		s = shca_swqe(sq, sq->ring.cons);
		shca_sq_complete(qp, s, s->failed ? s->status :
						    IB_WC_WR_FLUSH_ERR);
		b->packets--;
	}
	sq->cur = sq->fetched;
	sq->una = sq->psn;
	sq->rd_out = 0;
	return more;
}

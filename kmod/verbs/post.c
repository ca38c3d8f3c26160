// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting.
 *
 * A process fills its rings itself; for it post_send is the doorbell, called
 * without work requests.  A kernel consumer's work requests are put into the
 * same rings here, under the ring's post lock and in any context, and executed
 * by work.
 *
 * The state is looked at under the post lock, which a reset takes too before it
 * clears the ring, so nothing is posted to a ring that was just cleared.
 */
#include "../base/trace_wqe.h"
#include "../object/cq.h"
#include "ops.h"

#define SHCA_SEND_FLAGS \
	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

/* The producer's slots are full? Caller holds the ring's post lock. */
static bool ring_full(const struct shca_ring *ring)
{
	/* Pairs with shca_ring_complete(): the slot was read. */
	return ring->hdr->prod - smp_load_acquire(&ring->hdr->cons) >=
	       ring->entries;
}

static void ring_publish(struct shca_ring *ring)
{
	/* Pairs with shca_ring_avail(): the slot before the index. */
	smp_store_release(&ring->hdr->prod, ring->hdr->prod + 1);
}

static void fill_sges(struct shca_sge *to, const struct ib_sge *from, int n)
{
	for (; n > 0; n--, to++, from++) {
		to->addr = from->addr;
		to->length = from->length;
		to->lkey = from->lkey;
	}
}

/* Gather inline data; -EINVAL if it does not fit. */
static int fill_inline(const struct shca_qp *qp, struct shca_send_wqe *wqe,
		       const struct ib_send_wr *wr)
{
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->sq.max_inline - len)
			return -EINVAL;
		memcpy(wqe->inline_data + len, (void *)(uintptr_t)sge->addr,
		       sge->length);
		len += sge->length;
	}
	wqe->num_sge = 0;
	wqe->inline_len = len;
	return 0;
}

static int fill_send(struct shca_qp *qp, struct shca_send_wqe *wqe,
		     const struct ib_send_wr *wr)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->imm = (__force u32)wr->ex.imm_data;
	if (!shca_qp_connected(qp)) {
		const struct ib_ud_wr *ud = ud_wr(wr);

		wqe->ud.ah = to_shca_ah(ud->ah)->ah->number;
		wqe->ud.remote_qpn = ud->remote_qpn;
		wqe->ud.remote_qkey = ud->remote_qkey;
		wqe->ud.pkey_index = ud->pkey_index;
	} else if (wr->opcode != IB_WR_SEND &&
		   wr->opcode != IB_WR_SEND_WITH_IMM) {
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
	}
	if (wr->send_flags & IB_SEND_INLINE)
		return fill_inline(qp, wqe, wr);
	wqe->num_sge = wr->num_sge;
	fill_sges(wqe->sge, wr->sg_list, wr->num_sge);
	return 0;
}

/* A QP in error completes everything as flushed: only the id counts. */
static void fill_flushed(struct shca_send_wqe *wqe, const struct ib_send_wr *wr)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = IB_SEND_SIGNALED;
}

static int post_one_send(struct shca_qp *qp, const struct ib_send_wr *wr)
{
	enum ib_qp_state state = shca_qp_state(qp);
	struct shca_ring *ring = &qp->sq.ring;
	struct shca_send_wqe *wqe;
	int ret;

	lockdep_assert_held(&qp->sq_post_lock);
	if (state != IB_QPS_RTS && state != IB_QPS_SQE && state != IB_QPS_ERR)
		return -EINVAL;
	if (ring_full(ring))
		return -ENOMEM;
	wqe = shca_ring_slot(ring, ring->hdr->prod);
	if (state == IB_QPS_ERR) {
		fill_flushed(wqe, wr);
		ring_publish(ring);
		return 0;
	}
	if (!shca_qp_executes(qp, wr->opcode) ||
	    (wr->send_flags & ~SHCA_SEND_FLAGS))
		return -EOPNOTSUPP;
	if (wr->num_sge < 0 || wr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	if ((wr->send_flags & IB_SEND_INLINE) && wr->opcode == IB_WR_RDMA_READ)
		return -EINVAL;
	ret = fill_send(qp, wqe, wr);
	if (ret)
		return ret;
	ring_publish(ring);
	return 0;
}

/* A process tells that it posted something, to either queue. */
static int doorbell(struct shca_qp *qp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	if (wr) {
		*bad = wr;
		return -EINVAL;
	}
	shca_count(qp->dev, doorbells);
	trace_doorbell(qp->dev, qp->qpn, SHCA_TRACE_SYSCALL);
	shca_runner_kick(&qp->sq.run, SHCA_CTX_PROCESS);
	if (shca_qp_state(qp) == IB_QPS_ERR)
		shca_runner_kick(&qp->rq.run, SHCA_CTX_PROCESS);
	return 0;
}

/**
 * shca_post_send - ib_device_ops.post_send
 * @ibqp: the QP
 * @wr: a kernel consumer's work requests; none from a process
 * @bad: the first one that was not posted
 *
 * Context: any for the kernel, process for a process.
 * Return: 0, -EINVAL (state, or malformed), -EOPNOTSUPP (opcode or flag) or
 * -ENOMEM (queue full).
 */
int shca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad)
{
	struct shca_qp *qp = to_shca_qp(ibqp);
	bool posted = false;
	unsigned long flags;
	int ret = 0;

	if (qp->user)
		return doorbell(qp, wr, bad);

	spin_lock_irqsave(&qp->sq_post_lock, flags);
	for (; wr; wr = wr->next) {
		ret = post_one_send(qp, wr);
		if (ret) {
			*bad = wr;
			break;
		}
		posted = true;
	}
	spin_unlock_irqrestore(&qp->sq_post_lock, flags);
	if (!posted)
		return ret;
	trace_doorbell(qp->dev, qp->qpn, SHCA_TRACE_KERNEL);
	shca_runner_kick(&qp->sq.run, SHCA_CTX_DEFER);
	return ret;
}

static int post_one_recv(struct shca_qp *qp, const struct ib_recv_wr *wr)
{
	struct shca_ring *ring = &qp->rq.ring;
	struct shca_recv_wqe *wqe;

	lockdep_assert_held(&qp->rq_post_lock);
	if (shca_qp_state(qp) == IB_QPS_RESET)
		return -EINVAL;
	if (wr->num_sge < 0 || wr->num_sge > qp->rq.max_sge)
		return -EINVAL;
	if (ring_full(ring))
		return -ENOMEM;
	wqe = shca_ring_slot(ring, ring->hdr->prod);
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	wqe->rsvd = 0;
	fill_sges(wqe->sge, wr->sg_list, wr->num_sge);
	ring_publish(ring);
	return 0;
}

/**
 * shca_post_recv - ib_device_ops.post_recv
 * @ibqp: a kernel consumer's QP
 * @wr: work requests
 * @bad: the first one that was not posted
 *
 * Context: any.
 * Return: 0, -EINVAL (state, malformed, or a process' QP) or -ENOMEM (full).
 */
int shca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad)
{
	struct shca_qp *qp = to_shca_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	if (qp->user) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->rq_post_lock, flags);
	for (; wr; wr = wr->next) {
		ret = post_one_recv(qp, wr);
		if (ret) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->rq_post_lock, flags);
	/*
	 * Either the state is read after the WQEs were published, or whoever
	 * moved the QP to the error state kicks after that and flushes them.
	 */
	smp_mb();
	if (shca_qp_state(qp) == IB_QPS_ERR)
		shca_runner_kick(&qp->rq.run, SHCA_CTX_DEFER);
	return ret;
}

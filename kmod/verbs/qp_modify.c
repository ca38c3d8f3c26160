// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: modify.
 *
 * All of it runs under qp->mod.  Everything is checked first and then applied,
 * so that a refused call changes nothing.  What a runner reads is changed with
 * that runner owned.  Meanwhile a runner may move the QP to the error state by
 * itself; a change of state that finds it there fails.
 */
#include <linux/jiffies.h>
#include <rdma/ib_addr.h>

#include "../base/trace_qp.h"
#include "../object/cq.h"
#include "../transport/transport.h"
#include "device.h"
#include "ops.h"

#define SHCA_CODE_MAX_TIMEOUT	31	/* 5 bits */
#define SHCA_CODE_MAX_RETRY	7	/* 3 bits */
#define SHCA_CODE_MAX_RNR_TIMER	31	/* 5 bits */
#define SHCA_REMOTE_ACCESS \
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC)

/* Local ACK timeout in jiffies: 4.096 us * 2^code; code 0 means none. */
static unsigned long ack_timeout(u8 code)
{
	if (!code)
		return 0;
	return max(nsecs_to_jiffies(4096ull << code), 2ul);
}

static int check_values(struct shca_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	if ((mask & IB_QP_PORT) && attr->port_num != 1)
		return -EINVAL;
	if ((mask & IB_QP_PKEY_INDEX) && attr->pkey_index >= shca_dev_pkeys(qp->dev))
		return -EINVAL;
	if ((mask & IB_QP_PATH_MTU) &&
	    (attr->path_mtu < IB_MTU_256 ||
	     attr->path_mtu > shca_port_max_mtu(qp->dev)))
		return -EINVAL;
	if ((mask & IB_QP_DEST_QPN) && attr->dest_qp_num > 0xffffff)
		return -EINVAL;
	if ((mask & IB_QP_MAX_QP_RD_ATOMIC) &&
	    attr->max_rd_atomic > SHCA_MAX_RD_ATOMIC)
		return -EINVAL;
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) &&
	    attr->max_dest_rd_atomic > SHCA_MAX_RD_ATOMIC)
		return -EINVAL;
	if ((mask & IB_QP_TIMEOUT) && attr->timeout > SHCA_CODE_MAX_TIMEOUT)
		return -EINVAL;
	if ((mask & IB_QP_RETRY_CNT) && attr->retry_cnt > SHCA_CODE_MAX_RETRY)
		return -EINVAL;
	if ((mask & IB_QP_RNR_RETRY) && attr->rnr_retry > SHCA_CODE_MAX_RETRY)
		return -EINVAL;
	if ((mask & IB_QP_MIN_RNR_TIMER) &&
	    attr->min_rnr_timer > SHCA_CODE_MAX_RNR_TIMER)
		return -EINVAL;
	/* There are no alternate paths. */
	if (mask & IB_QP_ALT_PATH)
		return -EOPNOTSUPP;
	if ((mask & IB_QP_PATH_MIG_STATE) &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	return 0;
}

/* May it be changed like this? Fills in @av if there is a new one. */
static int check(struct shca_qp *qp, const struct ib_qp_attr *attr, int mask,
		 enum ib_qp_state cur, enum ib_qp_state next,
		 struct shca_av *av)
{
	int ret;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (next == IB_QPS_SQD)
		return -EOPNOTSUPP;
	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != cur)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, qp->type, mask))
		return -EINVAL;
	ret = check_values(qp, attr, mask);
	if (ret || !(mask & IB_QP_AV))
		return ret;
	ret = shca_av_from_attr(qp->dev, &attr->ah_attr, av);
	if (ret)
		return ret;
	/* A connection is with one port. */
	if (qp->dev->node && !shca_lid_is_unicast(av->dlid))
		return -EINVAL;
	av->sport = rdma_get_udp_sport(av->flow_label, qp->qpn,
				       mask & IB_QP_DEST_QPN ?
				       attr->dest_qp_num : qp->dest_qpn);
	return 0;
}

/* Remember the attributes, for query and for what runners look up there. */
static void keep(struct ib_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
	if (mask & IB_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IB_QP_AV)
		to->ah_attr = from->ah_attr;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IB_QP_PATH_MIG_STATE)
		to->path_mig_state = from->path_mig_state;
}

/* Hand them to the sides. Both runners are owned. */
static void apply(struct shca_qp *qp, const struct ib_qp_attr *attr, int mask,
		  enum ib_qp_state next, const struct shca_av *av)
{
	struct shca_sq *sq = &qp->sq;
	struct shca_rq *rq = &qp->rq;

	lockdep_assert_held(&qp->mod);
	lockdep_assert_held(&sq->run);
	lockdep_assert_held(&rq->run);
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags & SHCA_REMOTE_ACCESS;
	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey_index = attr->pkey_index;
	if (mask & IB_QP_DEST_QPN)
		qp->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_PATH_MTU)
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	else if (next == IB_QPS_RTR && !shca_qp_connected(qp))
		qp->mtu = ib_mtu_enum_to_int(shca_port_max_mtu(qp->dev));
	if (mask & IB_QP_AV) {
		qp->av = *av;
		shca_flow_set(&sq->flow, av);
		shca_flow_set(&rq->flow, av);
	}
	if (mask & IB_QP_RQ_PSN)
		rq->epsn = attr->rq_psn;
	if (mask & IB_QP_MIN_RNR_TIMER)
		rq->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_SQ_PSN) {
		sq->psn = attr->sq_psn;
		sq->una = attr->sq_psn;
		sq->max_psn = attr->sq_psn;
	}
	if (mask & IB_QP_TIMEOUT)
		sq->timeout = ack_timeout(attr->timeout);
	if (mask & IB_QP_RETRY_CNT)
		sq->retries = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		sq->rnr_retries = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		sq->rd_limit = attr->max_rd_atomic;
}

/* The QP is closed: nobody touches its sides. */
static void forget_protocol(struct shca_qp *qp)
{
	memset_startat(&qp->sq, 0, fetched);
	memset_startat(&qp->rq, 0, fetched);
	memset(&qp->why, 0, sizeof(qp->why));
	qp->last_heard = 0;
}

static void reset_ring(struct shca_ring *ring, spinlock_t *post_lock)
{
	spin_lock_irq(post_lock);
	ring->cons = 0;
	WRITE_ONCE(ring->hdr->cons, 0);
	WRITE_ONCE(ring->hdr->prod, 0);
	WRITE_ONCE(ring->hdr->flags, 0);
	spin_unlock_irq(post_lock);
}

static void to_reset(struct shca_qp *qp)
{
	lockdep_assert_held(&qp->mod);
	shca_transport_close(qp);
	trace_qp_state(qp->dev, qp->qpn, qp->state, IB_QPS_RESET,
		       SOFTHCA_ERROR_REASON_NONE, SHCA_TRACE_NO_OPCODE, 0);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	forget_protocol(qp);
	reset_ring(&qp->sq.ring, &qp->sq_post_lock);
	reset_ring(&qp->rq.ring, &qp->rq_post_lock);
}

/* All other changes of state, and those within one */
static int to_state(struct shca_qp *qp, const struct ib_qp_attr *attr, int mask,
		    enum ib_qp_state cur, enum ib_qp_state next,
		    const struct shca_av *av)
{
	bool failed;

	lockdep_assert_held(&qp->mod);
	shca_runner_own(&qp->sq.run);
	shca_runner_own(&qp->rq.run);
	/* Whoever finds it in RTS again may post what is to be sent. */
	if (cur == IB_QPS_SQE)
		shca_transport_flush_sq(qp);
	apply(qp, attr, mask, next, av);
	keep(&qp->attr, attr, mask);
	/* What was applied must be seen by whoever sees the state. */
	failed = cmpxchg(&qp->state, cur, next) != cur;
	if (cur == IB_QPS_SQE && !failed)
		memset(&qp->why, 0, sizeof(qp->why));
	shca_runner_disown(&qp->rq.run);
	shca_runner_disown(&qp->sq.run);
	if (failed)
		return -EINVAL;
	if (cur != next)
		trace_qp_state(qp->dev, qp->qpn, cur, next,
			       SOFTHCA_ERROR_REASON_NONE, SHCA_TRACE_NO_OPCODE,
			       0);
	if (cur == IB_QPS_INIT && next == IB_QPS_RTR &&
	    shca_qp_connected(qp))
		trace_qp_connect(qp->dev, qp->qpn, qp->dest_qpn, qp->mtu,
				 qp->av.sgid.raw, qp->av.dgid.raw);
	if (cur == IB_QPS_RESET && next == IB_QPS_INIT)
		shca_transport_open(qp);
	return 0;
}

/**
 * shca_modify_qp - ib_device_ops.modify_qp
 * @ibqp: the QP
 * @attr: new attributes
 * @mask: which of them
 * @udata: unused
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL (not allowed in this state, or out of range; nothing has
 * changed, unless the QP moved to the error state meanwhile) or -EOPNOTSUPP.
 */
int shca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata)
{
	struct shca_qp *qp = to_shca_qp(ibqp);
	enum ib_qp_state cur, next;
	struct shca_av av = {};
	int ret;

	mutex_lock(&qp->mod);
	cur = shca_qp_state(qp);
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	ret = check(qp, attr, mask, cur, next, &av);
	if (ret)
		goto unlock;
	switch (next) {
	case IB_QPS_RESET:
		to_reset(qp);
		break;
	case IB_QPS_ERR:
		shca_qp_error(qp, SOFTHCA_ERROR_REASON_MOVED_BY_USER, 0xff, 0);
		break;
	default:
		ret = to_state(qp, attr, mask, cur, next, &av);
		break;
	}
unlock:
	mutex_unlock(&qp->mod);
	/* Kernel consumers may have posted before; nothing was sent so far. */
	if (!ret && next == IB_QPS_RTS)
		shca_runner_kick(&qp->sq.run, SHCA_CTX_DEFER);
	return ret;
}

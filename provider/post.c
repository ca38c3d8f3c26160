// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send, ibv_post_recv and the doorbell.
 *
 * A list is filled in under the queue's lock and published by one store.  WRs
 * before a faulty one are posted, as verbs want it; the faulty one leaves no
 * trace.  The doorbell is a system call, rung after the lock is dropped and
 * only if the kernel asked for it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "softhca.h"

/* A scatter/gather list is copied as it is. */
static_assert(sizeof(struct ibv_sge) == sizeof(struct shca_sge) &&
	      offsetof(struct ibv_sge, addr) == offsetof(struct shca_sge, addr) &&
	      offsetof(struct ibv_sge, length) ==
	      offsetof(struct shca_sge, length) &&
	      offsetof(struct ibv_sge, lkey) == offsetof(struct shca_sge, lkey),
	      "struct ibv_sge is struct shca_sge");
/* WQEs carry the numbers of libibverbs. */
static_assert((int)IBV_WR_RDMA_WRITE == IB_UVERBS_WR_RDMA_WRITE &&
	      (int)IBV_WR_RDMA_WRITE_WITH_IMM ==
	      IB_UVERBS_WR_RDMA_WRITE_WITH_IMM &&
	      (int)IBV_WR_SEND == IB_UVERBS_WR_SEND &&
	      (int)IBV_WR_SEND_WITH_IMM == IB_UVERBS_WR_SEND_WITH_IMM &&
	      (int)IBV_WR_RDMA_READ == IB_UVERBS_WR_RDMA_READ,
	      "enum ibv_wr_opcode is enum ib_uverbs_wr_opcode");
static_assert(IBV_SEND_FENCE == 1 && IBV_SEND_SIGNALED == 2 &&
	      IBV_SEND_SOLICITED == 4 && IBV_SEND_INLINE == 8,
	      "enum ibv_send_flags");

#define SEND_FLAGS_KNOWN (IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
			  IBV_SEND_SOLICITED | IBV_SEND_INLINE)

/**
 * shca_send_op_legal - does a QP type know an opcode?
 * @type: type of the QP
 * @opcode: enum ibv_wr_opcode
 *
 * Return: true if a WR of @opcode may be posted.
 */
bool shca_send_op_legal(enum ibv_qp_type type, uint32_t opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		return type == IBV_QPT_RC;
	default:
		return false;
	}
}

/**
 * shca_doorbell - tell the kernel to look at the QP's rings
 * @qp: the QP
 *
 * POST_SEND without a work request.  The write is refused (EACCES) in a process
 * that changed its credentials since it opened the device; libibverbs' own
 * command then goes through an ioctl, which is slower and always allowed.
 *
 * Context: no lock held; a system call, which may execute the sends.
 * Return: 0 or an errno; EIO or ENODEV after the device has gone.
 */
int shca_doorbell(struct shca_qp *qp)
{
	struct ib_uverbs_post_send_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.core.response = (uintptr_t)&resp,
		.core.qp_handle = qp->vqp.qp.handle,
		.core.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ibv_send_wr *bad_wr;
	ssize_t n;

	do {
		n = write(qp->vqp.qp.context->cmd_fd, &cmd, sizeof(cmd));
	} while (n < 0 && errno == EINTR);
	if (n == sizeof(cmd))
		return 0;
	if (n >= 0)
		return EIO;
	if (errno == EACCES)
		return ibv_cmd_post_send(&qp->vqp.qp, NULL, &bad_wr);
	return errno;
}

/* Sum of the lengths, or more than SHCA_MAX_MESSAGE; cannot wrap. */
static uint64_t sge_total(const struct ibv_sge *sge, uint32_t num_sge)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < num_sge; i++)
		total += sge[i].length;
	return total;
}

static int check_send(const struct shca_qp *qp, const struct ibv_send_wr *wr)
{
	enum ibv_qp_type type = qp->vqp.qp.qp_type;
	uint64_t total;

	if (!shca_send_op_legal(type, wr->opcode))
		return shca_send_op_legal(IBV_QPT_RC, wr->opcode) ?
			EINVAL : EOPNOTSUPP;
	if (wr->send_flags & ~SEND_FLAGS_KNOWN)
		return EINVAL;
	if (type == IBV_QPT_UD && !wr->wr.ud.ah)
		return EINVAL;

	/*
	 * Inline data is gathered at once, so its list may be as long as one
	 * likes; a negative number is a large one.
	 */
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (wr->opcode == IBV_WR_RDMA_READ || wr->num_sge < 0)
			return EINVAL;
		total = sge_total(wr->sg_list, wr->num_sge);
		return total > qp->sq.max_inline ? EINVAL : 0;
	}
	if ((uint32_t)wr->num_sge > qp->sq.max_sge)
		return EINVAL;
	total = sge_total(wr->sg_list, wr->num_sge);
	return total > SHCA_MAX_MESSAGE ? EINVAL : 0;
}

static void fill_inline(struct shca_send_wqe *wqe, const struct ibv_send_wr *wr)
{
	char *to = (char *)(wqe + 1);
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (!wr->sg_list[i].length)
			continue;
		memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
	wqe->inline_len = to - (char *)(wqe + 1);
}

static void fill_send(const struct shca_qp *qp, struct shca_send_wqe *wqe,
		      const struct ibv_send_wr *wr)
{
	*wqe = (struct shca_send_wqe) {
		.wr_id	= wr->wr_id,
		.opcode	= wr->opcode,
		.flags	= wr->send_flags,
	};
	if (qp->sq_sig_all)
		wqe->flags |= IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND_WITH_IMM ||
	    wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		wqe->imm = (__u32)wr->imm_data;

	if (qp->vqp.qp.qp_type == IBV_QPT_UD) {
		wqe->ud.ah = shca_to_ah(wr->wr.ud.ah)->number;
		wqe->ud.remote_qpn = wr->wr.ud.remote_qpn;
		wqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
	} else if (wr->opcode != IBV_WR_SEND &&
		   wr->opcode != IBV_WR_SEND_WITH_IMM) {
		wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
		wqe->rdma.rkey = wr->wr.rdma.rkey;
	}

	if (wr->send_flags & IBV_SEND_INLINE) {
		fill_inline(wqe, wr);
	} else if (wr->num_sge) {
		wqe->num_sge = wr->num_sge;
		memcpy(wqe + 1, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(struct shca_sge));
	}
}

/**
 * shca_post_send - ibv_post_send
 * @ibqp: the QP
 * @wr: list of work requests
 * @bad_wr: set to the first one not posted, on error
 *
 * If the doorbell fails (the device has gone), @bad_wr is the head of the list:
 * its WRs lie in a ring that nobody will read.
 *
 * Context: takes the SQ's lock; a system call if the kernel sleeps.
 * Return: 0; ENOMEM: the queue is full; EINVAL: a faulty WR, or the QP's state
 * forbids it; EOPNOTSUPP: no QP of ours knows the opcode; or what the doorbell
 * returned.
 */
int shca_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad_wr)
{
	struct shca_qp *qp = shca_to_qp(ibqp);
	struct ibv_send_wr *first = wr;
	struct shca_wq *sq = &qp->sq;
	bool wakeup = false;
	uint32_t prod;
	int err = 0;
	int ret;

	pthread_spin_lock(&sq->lock);
	for (prod = sq->prod; wr; wr = wr->next, prod++) {
		if (!sq->open)
			err = EINVAL;
		else if (!shca_wq_has_room(sq, prod))
			err = ENOMEM;
		else
			err = check_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		SHCA_PROBE(post_send, ibqp->qp_num, prod, wr->wr_id, wr->opcode);
		fill_send(qp, shca_wq_slot(sq, prod), wr);
	}
	if (prod != sq->prod)
		wakeup = shca_wq_publish(sq, prod);
	pthread_spin_unlock(&sq->lock);

	if (wakeup) {
		ret = shca_doorbell(qp);
		if (ret) {
			*bad_wr = first;
			return ret;
		}
	}
	return err;
}

static int check_recv(const struct shca_wq *rq, const struct ibv_recv_wr *wr)
{
	if ((uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (sge_total(wr->sg_list, wr->num_sge) > SHCA_MAX_MESSAGE)
		return EINVAL;
	return 0;
}

static void fill_recv(struct shca_recv_wqe *wqe, const struct ibv_recv_wr *wr)
{
	*wqe = (struct shca_recv_wqe) {
		.wr_id	 = wr->wr_id,
		.num_sge = wr->num_sge,
	};
	if (wr->num_sge)
		memcpy(wqe + 1, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(struct shca_sge));
}

/**
 * shca_post_recv - ibv_post_recv
 * @ibqp: the QP
 * @wr: list of work requests
 * @bad_wr: set to the first one not posted, on error
 *
 * The kernel asks for the doorbell only while the QP is in error, to flush.
 *
 * Context: takes the RQ's lock; no system call unless the QP is in error.
 * Return: as shca_post_send.
 */
int shca_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad_wr)
{
	struct shca_qp *qp = shca_to_qp(ibqp);
	struct ibv_recv_wr *first = wr;
	struct shca_wq *rq = &qp->rq;
	bool wakeup = false;
	uint32_t prod;
	int err = 0;
	int ret;

	pthread_spin_lock(&rq->lock);
	for (prod = rq->prod; wr; wr = wr->next, prod++) {
		if (!rq->open)
			err = EINVAL;
		else if (!shca_wq_has_room(rq, prod))
			err = ENOMEM;
		else
			err = check_recv(rq, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		fill_recv(shca_wq_slot(rq, prod), wr);
	}
	if (prod != rq->prod)
		wakeup = shca_wq_publish(rq, prod);
	pthread_spin_unlock(&rq->lock);

	if (wakeup) {
		ret = shca_doorbell(qp);
		if (ret) {
			*bad_wr = first;
			return ret;
		}
	}
	return err;
}

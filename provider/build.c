// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The builder API: ibv_wr_start, ibv_wr_send and friends, setters,
 * ibv_wr_complete or ibv_wr_abort.
 *
 * ibv_wr_start takes the SQ's lock, the other end drops it.  WRs are written
 * straight into the slots after the producer index, which the kernel does not
 * look at; ibv_wr_complete publishes them all, ibv_wr_abort forgets them.  After
 * the first error nothing is written any more, and ibv_wr_complete returns it
 * without having posted anything.
 */
#include <errno.h>
#include <string.h>

#include "probe.h"
#include "softhca.h"

#define BUILD_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)

static struct shca_qp *ex_to_qp(struct ibv_qp_ex *ibqp)
{
	return shca_to_qp(&ibqp->qp_base);
}

static void fail(struct shca_qp *qp, int err)
{
	if (!qp->build_err)
		qp->build_err = err;
	qp->build_wqe = NULL;
}

/* The WR before, if any, gets no more setters. */
static void finish_wr(struct shca_qp *qp)
{
	if (qp->build_wqe && !qp->build_addressed)
		fail(qp, EINVAL);
}

/* Begin a WR; NULL after an error. */
static struct shca_send_wqe *begin_wr(struct ibv_qp_ex *ibqp, uint32_t opcode)
{
	struct shca_qp *qp = ex_to_qp(ibqp);
	struct shca_send_wqe *wqe;

	finish_wr(qp);
	if (qp->build_err)
		return NULL;
	/* Inline is what the setters make of it. */
	if (ibqp->wr_flags & ~(BUILD_FLAGS | IBV_SEND_INLINE)) {
		fail(qp, EINVAL);
		return NULL;
	}
	if (!shca_wq_has_room(&qp->sq, qp->build_prod)) {
		fail(qp, ENOMEM);
		return NULL;
	}
	SHCA_PROBE(post_send, qp->vqp.qp.qp_num, qp->build_prod, ibqp->wr_id,
		   opcode);
	wqe = shca_wq_slot(&qp->sq, qp->build_prod++);
	*wqe = (struct shca_send_wqe) {
		.wr_id	= ibqp->wr_id,
		.opcode	= opcode,
		.flags	= ibqp->wr_flags & BUILD_FLAGS,
	};
	if (qp->sq_sig_all)
		wqe->flags |= IBV_SEND_SIGNALED;
	qp->build_wqe = wqe;
	qp->build_addressed = qp->vqp.qp.qp_type != IBV_QPT_UD;
	return wqe;
}

static void begin_rdma(struct ibv_qp_ex *ibqp, uint32_t opcode, uint32_t rkey,
		       uint64_t remote_addr, __be32 imm)
{
	struct shca_send_wqe *wqe = begin_wr(ibqp, opcode);

	if (!wqe)
		return;
	wqe->rdma.remote_addr = remote_addr;
	wqe->rdma.rkey = rkey;
	wqe->imm = (__u32)imm;
}

static void wr_send(struct ibv_qp_ex *ibqp)
{
	begin_wr(ibqp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm)
{
	struct shca_send_wqe *wqe = begin_wr(ibqp, IBV_WR_SEND_WITH_IMM);

	if (wqe)
		wqe->imm = (__u32)imm;
}

static void wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
			  uint64_t remote_addr)
{
	begin_rdma(ibqp, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm)
{
	begin_rdma(ibqp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr, imm);
}

static void wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey,
			 uint64_t remote_addr)
{
	begin_rdma(ibqp, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah,
			uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct shca_qp *qp = ex_to_qp(ibqp);

	if (!qp->build_wqe)
		return;
	if (!ah) {
		fail(qp, EINVAL);
		return;
	}
	qp->build_wqe->ud.ah = shca_to_ah(ah)->number;
	qp->build_wqe->ud.remote_qpn = remote_qpn;
	qp->build_wqe->ud.remote_qkey = remote_qkey;
	qp->build_addressed = true;
}

static void set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge,
			 const struct ibv_sge *sge)
{
	struct shca_qp *qp = ex_to_qp(ibqp);
	struct shca_send_wqe *wqe = qp->build_wqe;
	uint64_t total = 0;
	size_t i;

	if (!wqe)
		return;
	if (num_sge > qp->sq.max_sge) {
		fail(qp, EINVAL);
		return;
	}
	for (i = 0; i < num_sge; i++)
		total += sge[i].length;
	if (total > SHCA_MAX_MESSAGE) {
		fail(qp, EINVAL);
		return;
	}
	wqe->flags &= ~IBV_SEND_INLINE;
	wqe->inline_len = 0;
	wqe->num_sge = num_sge;
	if (num_sge)
		memcpy(wqe + 1, sge, num_sge * sizeof(*sge));
}

static void set_sge(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t addr,
		    uint32_t length)
{
	const struct ibv_sge sge = {
		.addr = addr,
		.length = length,
		.lkey = lkey,
	};

	set_sge_list(ibqp, 1, &sge);
}

static void set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num_buf,
				 const struct ibv_data_buf *bufs)
{
	struct shca_qp *qp = ex_to_qp(ibqp);
	struct shca_send_wqe *wqe = qp->build_wqe;
	size_t total = 0;
	char *to;
	size_t i;

	if (!wqe)
		return;
	if (wqe->opcode == IBV_WR_RDMA_READ) {
		fail(qp, EINVAL);
		return;
	}
	/* No sum that could wrap: total never exceeds max_inline. */
	for (i = 0; i < num_buf; i++) {
		if (bufs[i].length > qp->sq.max_inline - total) {
			fail(qp, EINVAL);
			return;
		}
		total += bufs[i].length;
	}
	to = (char *)(wqe + 1);
	for (i = 0; i < num_buf; i++) {
		if (!bufs[i].length)
			continue;
		memcpy(to, bufs[i].addr, bufs[i].length);
		to += bufs[i].length;
	}
	wqe->flags |= IBV_SEND_INLINE;
	wqe->inline_len = total;
	wqe->num_sge = 0;
}

static void set_inline_data(struct ibv_qp_ex *ibqp, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	set_inline_data_list(ibqp, 1, &buf);
}

static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct shca_qp *qp = ex_to_qp(ibqp);

	pthread_spin_lock(&qp->sq.lock);
	qp->build_prod = qp->sq.prod;
	qp->build_err = qp->sq.open ? 0 : EINVAL;
	qp->build_wqe = NULL;
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct shca_qp *qp = ex_to_qp(ibqp);
	bool wakeup = false;
	int err;

	finish_wr(qp);
	err = qp->build_err;
	qp->build_wqe = NULL;
	if (!err && qp->build_prod != qp->sq.prod)
		wakeup = shca_wq_publish(&qp->sq, qp->build_prod);
	pthread_spin_unlock(&qp->sq.lock);
	return wakeup ? shca_doorbell(qp) : err;
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	struct shca_qp *qp = ex_to_qp(ibqp);

	qp->build_wqe = NULL;
	pthread_spin_unlock(&qp->sq.lock);
}

/**
 * shca_build_supported - are all of these opcodes ours?
 * @type: type of the QP
 * @send_ops_flags: IBV_QP_EX_WITH_*
 *
 * Return: true if a QP of @type can be given the builder API with them.
 */
bool shca_build_supported(enum ibv_qp_type type, uint64_t send_ops_flags)
{
	static const struct {
		uint64_t flag;
		uint32_t opcode;
	} ops[] = {
		{ IBV_QP_EX_WITH_SEND, IBV_WR_SEND },
		{ IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM },
		{ IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE },
		{ IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
		  IBV_WR_RDMA_WRITE_WITH_IMM },
		{ IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ },
	};
	uint64_t legal = 0;
	unsigned int i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (shca_send_op_legal(type, ops[i].opcode))
			legal |= ops[i].flag;
	return !(send_ops_flags & ~legal);
}

/**
 * shca_build_init - give a QP the builder API
 * @qp: the QP, created: libibverbs clears comp_mask when it creates one
 * @send_ops_flags: IBV_QP_EX_WITH_*, supported
 */
void shca_build_init(struct shca_qp *qp, uint64_t send_ops_flags)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	if (send_ops_flags & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (send_ops_flags & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (send_ops_flags & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;

	if (qp->vqp.qp.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = set_ud_addr;
	ex->wr_set_sge = set_sge;
	ex->wr_set_sge_list = set_sge_list;
	ex->wr_set_inline_data = set_inline_data;
	ex->wr_set_inline_data_list = set_inline_data_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	qp->vqp.comp_mask |= SHCA_VERBS_QP_EX;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_zero: nothing, in every form (T74): messages of 0 bytes with and without
 * scatter/gather entries, queue pairs that allow no entry at all, queues of
 * size 0, and a length that is too much for any message.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define MS	5000

struct rig {
	struct vt_dev *da, *db;
	struct vt_end a, b;
	struct vt_buf near, far;
};

static void send_zero(struct rig *r, int nsge, bool imm, bool write)
{
	struct ibv_sge from[2] = { vt_sge(&r->near, 0, 0),
				   vt_sge(&r->near, 8, 0) };
	struct ibv_sge to = vt_sge(&r->far, 0, 64);
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = nsge ? from : NULL,
		.num_sge = nsge,
		.opcode = write ? IBV_WR_RDMA_WRITE_WITH_IMM :
			  imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(0x01020304),
		.wr.rdma = { (uintptr_t)r->far.p, r->far.mr->rkey },
	};
	struct ibv_wc wc;
	int rc;

	vt_step("0 bytes in %d entries, %s%s", nsge, write ? "WRITE" : "SEND",
		imm ? " with immediate" : "");
	vt_post_recv(r->b.qp, 2, &to, 1);
	rc = vt_try_send(r->a.qp, &wr);
	require(!rc, "post_send: %s", strerror(rc));
	require(vt_wait(r->a.cq, MS, "send").wr_id == 1, "wr_id");
	wc = vt_wait(r->b.cq, MS, "receive");
	require(wc.wr_id == 2 && wc.byte_len == 0, "byte_len %u", wc.byte_len);
	require(!imm || ntohl(wc.imm_data) == 0x01020304, "immediate data");
	vt_check_byte(r->far.p, r->far.len, VT_POISON, "target of 0 bytes");
}

static void rdma_zero(struct rig *r, enum ibv_wr_opcode op, int nsge,
		      uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = vt_sge(&r->near, 0, 0);

	vt_step("0 bytes of %s, %d entries, rkey 0x%x",
		op == IBV_WR_RDMA_READ ? "READ" : "WRITE", nsge, rkey);
	vt_post_rdma(r->a.qp, 3, op, nsge ? &sge : NULL, nsge, addr, rkey);
	require(vt_wait(r->a.cq, MS, "RDMA of 0 bytes").wr_id == 3, "wr_id");
}

static void messages(struct rig *r)
{
	struct vt_opt opt = { 0 };
	uint64_t addr;
	uint32_t rkey;

	vt_end_create(&r->a, r->da, &opt);
	vt_end_create(&r->b, r->db, &opt);
	vt_connect(&r->a, &r->b, &opt);
	addr = (uintptr_t)r->far.p;
	rkey = r->far.mr->rkey;
	for (int nsge = 0; nsge <= 2; nsge++) {
		send_zero(r, nsge, false, false);
		send_zero(r, nsge, true, false);
		send_zero(r, nsge, true, true);
	}
	for (int nsge = 0; nsge <= 1; nsge++) {
		rdma_zero(r, IBV_WR_RDMA_WRITE, nsge, addr, rkey);
		rdma_zero(r, IBV_WR_RDMA_READ, nsge, addr, rkey);
		/* the end of the region is a valid place for nothing */
		rdma_zero(r, IBV_WR_RDMA_WRITE, nsge, addr + r->far.len, rkey);
		/* C9-88: the R_Key of a zero-length request is not checked */
		rdma_zero(r, IBV_WR_RDMA_WRITE, nsge, 0, 0);
		rdma_zero(r, IBV_WR_RDMA_READ, nsge, 0, 0);
	}
	vt_end_destroy(&r->a);
	vt_end_destroy(&r->b);
	printf("messages of 0 bytes: ok\n");
}

static void no_sge(struct rig *r)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4 },
	};
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct vt_opt opt = { .send_wr = 4, .recv_wr = 4 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct vt_end *end[2] = { &r->a, &r->b };
	int rc;

	vt_step("queue pairs without scatter/gather entries");
	for (int i = 0; i < 2; i++) {
		/* an ordinary end whose QP is exchanged for one without */
		vt_end_create(end[i], i ? r->db : r->da, &opt);
		require(!ibv_destroy_qp(end[i]->qp), "destroy_qp");
		init.send_cq = end[i]->cq;
		init.recv_cq = end[i]->cq;
		end[i]->qp = ibv_create_qp(end[i]->dev->pd, &init);
		require(end[i]->qp, "create_qp with max_sge 0: %m");
		rc = ibv_modify_qp(end[i]->qp, &attr, IBV_QP_STATE |
				   IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				   IBV_QP_ACCESS_FLAGS);
		require(!rc, "to INIT: %s", strerror(rc));
	}
	vt_connect(&r->a, &r->b, &opt);
	for (int i = 0; i < 8; i++) {
		vt_post_recv(r->b.qp, 2, NULL, 0);
		rc = vt_try_send(r->a.qp, &wr);
		require(!rc, "post_send: %s", strerror(rc));
		vt_wait(r->a.cq, MS, "send without entries");
		require(vt_wait(r->b.cq, MS, "receive").byte_len == 0, "len");
	}
	vt_end_destroy(&r->a);
	vt_end_destroy(&r->b);
	printf("max_sge 0: ok\n");
}

/* a QP whose queues have no room works or is refused, and posting fails */
static void no_queue(struct vt_dev *dev, unsigned int sq, unsigned int rq)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = sq, .max_recv_wr = rq,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp;

	vt_step("queues of %u and %u", sq, rq);
	require(cq, "create_cq: %m");
	qp = ibv_create_qp(dev->pd, &init);
	if (!qp) {
		require(errno == EINVAL, "create_qp(%u, %u): %m", sq, rq);
		printf("queues of %u and %u: refused\n", sq, rq);
	} else {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
					    .port_num = 1 };
		int rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE |
				       IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS);
		unsigned int posted = 0;

		require(!rc, "to INIT: %s", strerror(rc));
		while (posted < 100000 && !vt_try_recv(qp, 1, NULL, 0))
			posted++;
		require(posted >= rq && posted < 100000,
			"%u receives fit in a queue of %u", posted, rq);
		require(posted <= init.cap.max_recv_wr,
			"%u receives fit, create_qp said %u", posted,
			init.cap.max_recv_wr);
		require(!ibv_destroy_qp(qp), "destroy_qp");
		printf("queues of %u and %u: room for %u and %u\n", sq, rq,
		       init.cap.max_send_wr, init.cap.max_recv_wr);
	}
	require(!ibv_destroy_cq(cq), "destroy_cq");
}

/* two entries of 2^31 bytes: refused at once, or by a completion */
static void too_much(struct rig *r)
{
	struct vt_opt opt = { 0 };
	struct ibv_sge sge[2] = { vt_sge(&r->near, 0, 1u << 31),
				  vt_sge(&r->near, 0, 1u << 31) };
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = sge, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)r->far.p, r->far.mr->rkey },
	};
	int rc;

	vt_step("a message of 4 GiB, which is 0 in 32 bits");
	vt_end_create(&r->a, r->da, &opt);
	vt_end_create(&r->b, r->db, &opt);
	vt_connect(&r->a, &r->b, &opt);
	rc = vt_try_send(r->a.qp, &wr);
	if (!rc) {
		struct ibv_wc wc;

		require(vt_poll(r->a.cq, &wc, MS), "no completion");
		require(wc.status == IBV_WC_LOC_LEN_ERR ||
			wc.status == IBV_WC_LOC_PROT_ERR ||
			wc.status == IBV_WC_LOC_QP_OP_ERR, "completed with %s",
			ibv_wc_status_str(wc.status));
	}
	vt_check_byte(r->far.p, r->far.len, VT_POISON, "target of 4 GiB");
	vt_end_destroy(&r->a);
	vt_end_destroy(&r->b);
	printf("4 GiB: refused\n");
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct rig r;

	vt_pair_parse(&pair, argc, argv, NULL);
	memset(&r, 0, sizeof(r));
	vt_pair_open(&pair, &r.da, &r.db);
	r.near = vt_alloc(r.da->pd, 64, 0, VT_ALL_ACCESS);
	r.far = vt_alloc(r.db->pd, 64, 0, VT_ALL_ACCESS);
	messages(&r);
	no_sge(&r);
	no_queue(r.da, 0, 4);
	no_queue(r.da, 4, 0);
	no_queue(r.da, 0, 0);
	too_much(&r);
	vt_check_guards(&r.near, "near");
	vt_check_guards(&r.far, "far");
	vt_free(&r.near);
	vt_free(&r.far);
	if (r.db != r.da)
		vt_close(r.db);
	vt_close(r.da);
	printf("vt_zero: ok\n");
	return 0;
}

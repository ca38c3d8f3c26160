// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_flush: what was posted when a queue pair goes to the error state.
 *
 * 128 sends (held back by a peer without receives) and 128 receives are
 * outstanding; then the queue pair is moved to ERR, or its peer vanishes.
 * Every wr_id completes once, in order, with the right status and qp_num, and
 * every field of the completion is written: each is polled into memory filled
 * with 0xa5, and a field that still reads so was left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define N	128
#define MS	10000
#define RECV_ID	1000

struct rig {
	struct vt_dev *da, *db;
	struct vt_end a, b;
	struct vt_buf buf;
};

static void rig_make(struct rig *r, struct vt_opt *opt)
{
	vt_end_create(&r->a, r->da, opt);
	vt_end_create(&r->b, r->db, opt);
	vt_connect(&r->a, &r->b, opt);
	r->buf = vt_alloc(r->da->pd, 64, 0, VT_ALL_ACCESS);
}

static void post_all(struct rig *r, bool recvs)
{
	struct ibv_sge sge = vt_sge(&r->buf, 0, 64);

	for (int i = 0; recvs && i < N; i++)
		vt_post_recv(r->a.qp, RECV_ID + i, &sge, 1);
	for (int i = 0; i < N; i++)
		vt_post_send(r->a.qp, i, &sge, 1, 0);
}

static void check_fields(const struct ibv_wc *wc)
{
	static const struct {
		const char *name;
		size_t at, len;
	} field[] = {
#define FIELD(f) { #f, offsetof(struct ibv_wc, f), \
		   sizeof(((struct ibv_wc *)0)->f) }
		FIELD(wr_id), FIELD(status), FIELD(opcode), FIELD(vendor_err),
		FIELD(byte_len), FIELD(imm_data), FIELD(qp_num), FIELD(src_qp),
		FIELD(wc_flags), FIELD(pkey_index), FIELD(slid), FIELD(sl),
		FIELD(dlid_path_bits),
	};
	const uint8_t *p = (const uint8_t *)wc;

	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		size_t k;

		for (k = 0; k < field[i].len; k++)
			if (p[field[i].at + k] != VT_POISON)
				break;
		require(k < field[i].len, "wr_id %llu: %s was not written",
			(unsigned long long)wc->wr_id, field[i].name);
	}
}

static void check_opcode(const struct ibv_wc *wc, bool recv)
{
	switch ((int)wc->opcode) {
	case IBV_WC_SEND:
	case IBV_WC_RDMA_WRITE:
	case IBV_WC_RDMA_READ:
	case IBV_WC_COMP_SWAP:
	case IBV_WC_FETCH_ADD:
	case IBV_WC_BIND_MW:
	case IBV_WC_LOCAL_INV:
		require(!recv, "a receive completed as opcode %d", wc->opcode);
		break;
	case IBV_WC_RECV:
	case IBV_WC_RECV_RDMA_WITH_IMM:
		require(recv, "a send completed as opcode %d", wc->opcode);
		break;
	default:
		fail("wr_id %llu: %d is no opcode",
		     (unsigned long long)wc->wr_id, wc->opcode);
	}
}

/* @first: status of the first send; the rest is flushed */
static void collect(struct rig *r, bool recvs, enum ibv_wc_status first)
{
	int want = recvs ? 2 * N : N, next_send = 0, next_recv = 0;

	for (int i = 0; i < want; i++) {
		enum ibv_wc_status status = IBV_WC_WR_FLUSH_ERR;
		struct ibv_wc wc;
		bool recv;

		memset(&wc, VT_POISON, sizeof(wc));
		require(vt_poll(r->a.cq, &wc, MS),
			"%d of %d completions came", i, want);
		recv = wc.wr_id >= RECV_ID;
		if (recv)
			require(wc.wr_id == (uint64_t)RECV_ID + next_recv++,
				"receive %llu came, %d was next",
				(unsigned long long)wc.wr_id - RECV_ID,
				next_recv - 1);
		else
			require(wc.wr_id == (uint64_t)next_send++,
				"send %llu came, %d was next",
				(unsigned long long)wc.wr_id, next_send - 1);
		if (wc.wr_id == 0)
			status = first;
		require(wc.status == status, "wr_id %llu: %s, should be %s",
			(unsigned long long)wc.wr_id,
			ibv_wc_status_str(wc.status),
			ibv_wc_status_str(status));
		require(wc.qp_num == r->a.qp->qp_num,
			"wr_id %llu: qp_num %u, not %u",
			(unsigned long long)wc.wr_id, wc.qp_num,
			r->a.qp->qp_num);
		check_opcode(&wc, recv);
		check_fields(&wc);
	}
	vt_expect_none(r->a.cq, 20, "after the last one");
	require(next_send == N, "%d sends completed", next_send);
}

/* what is posted in ERR is flushed too */
static void flush_late(struct rig *r)
{
	struct ibv_sge sge = vt_sge(&r->buf, 0, 64);
	struct ibv_wc wc;

	vt_step("posting in the error state");
	vt_post_send(r->a.qp, 1, &sge, 1, 0);
	wc = vt_wait_status(r->a.cq, MS, IBV_WC_WR_FLUSH_ERR, "late send");
	require(wc.wr_id == 1, "wr_id");
	if (r->a.qp->srq)
		return;
	vt_post_recv(r->a.qp, 2, &sge, 1);
	wc = vt_wait_status(r->a.cq, MS, IBV_WC_WR_FLUSH_ERR, "late receive");
	require(wc.wr_id == 2, "wr_id");
}

static void by_modify(struct vt_dev *da, struct vt_dev *db)
{
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .min_rnr_timer = 31 };
	int rc;

	vt_step("moved to ERR with %d sends and %d receives", N, N);
	rig_make(&r, &opt);
	post_all(&r, true);
	rc = vt_to_err(r.a.qp);
	require(!rc, "to ERR: %s", strerror(rc));
	collect(&r, true, IBV_WC_WR_FLUSH_ERR);
	flush_late(&r);
	vt_end_destroy(&r.a);
	vt_end_destroy(&r.b);
	vt_free(&r.buf);
	printf("moved to ERR: %d completions flushed in order\n", 2 * N);
}

static void by_peer(struct vt_dev *da, struct vt_dev *db)
{
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .timeout = 12, .retry = 2 };

	vt_step("the peer vanishes");
	rig_make(&r, &opt);
	vt_end_destroy(&r.b);
	post_all(&r, true);
	collect(&r, true, IBV_WC_RETRY_EXC_ERR);
	require(vt_state(r.a.qp) == IBV_QPS_ERR, "state is not ERR");
	flush_late(&r);
	vt_end_destroy(&r.a);
	vt_free(&r.buf);
	printf("peer vanished: 1 retry exceeded, %d flushed\n", 2 * N - 1);
}

/* an SRQ keeps its receives; the event says that the last one is handled */
static void by_modify_srq(struct vt_dev *da, struct vt_dev *db)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = N,
						    .max_sge = 1 } };
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .min_rnr_timer = 31 }, with_srq = opt;
	struct ibv_device_attr attr;
	struct ibv_srq *srq;
	struct ibv_recv_wr wr = { .wr_id = 9, .num_sge = 1 }, *bad;
	struct ibv_sge sge;
	int rc;

	vt_step("with a shared receive queue");
	rc = ibv_query_device(da->ctx, &attr);
	require(!rc, "query_device: %s", strerror(rc));
	srq = ibv_create_srq(da->pd, &init);
	if (!attr.max_srq) {
		require(!srq, "max_srq is 0, and create_srq works");
		printf("SKIP shared receive queue: %s has none\n", da->name);
		return;
	}
	require(srq, "create_srq: %m");
	with_srq.srq = srq;
	vt_end_create(&r.a, da, &with_srq);
	vt_end_create(&r.b, db, &opt);
	vt_connect(&r.a, &r.b, &opt);
	r.buf = vt_alloc(da->pd, 64, 0, VT_ALL_ACCESS);
	sge = vt_sge(&r.buf, 0, 64);
	wr.sg_list = &sge;
	for (int i = 0; i < 8; i++) {
		rc = ibv_post_srq_recv(srq, &wr, &bad);
		require(!rc, "post_srq_recv: %s", strerror(rc));
	}
	post_all(&r, false);
	rc = vt_to_err(r.a.qp);
	require(!rc, "to ERR: %s", strerror(rc));
	collect(&r, false, IBV_WC_WR_FLUSH_ERR);
	require(vt_async_event(da->ctx, IBV_EVENT_QP_LAST_WQE_REACHED, MS),
		"no event IBV_EVENT_QP_LAST_WQE_REACHED");
	vt_end_destroy(&r.a);
	vt_end_destroy(&r.b);

	/* another queue pair gets what was left in it */
	vt_end_create(&r.a, da, &with_srq);
	vt_end_create(&r.b, db, &opt);
	vt_connect(&r.a, &r.b, &opt);
	{
		struct vt_buf far = vt_alloc(db->pd, 64, 0, VT_ALL_ACCESS);
		struct ibv_sge from = vt_sge(&far, 0, 64);

		for (int i = 0; i < 8; i++) {
			vt_fill(far.p, 64, 40 + i, 0);
			vt_post_send(r.b.qp, i, &from, 1, 0);
			vt_wait(r.b.cq, MS, "send to the SRQ");
			require(vt_wait(r.a.cq, MS, "SRQ").wr_id == 9, "wr_id");
			vt_check(r.buf.p, 64, 40 + i, 0, "SRQ");
		}
		vt_end_destroy(&r.b);
		vt_free(&far);
	}
	vt_end_destroy(&r.a);
	vt_free(&r.buf);
	rc = ibv_destroy_srq(srq);
	require(!rc, "destroy_srq: %s", strerror(rc));
	printf("with an SRQ: %d sends flushed, the SRQ lives on\n", N);
}

/* the same through ibv_start_poll() */
static void by_modify_ex(struct vt_dev *da, struct vt_dev *db)
{
	struct ibv_cq_init_attr_ex cqa = {
		.cqe = 2 * N,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct ibv_poll_cq_attr pa = { 0 };
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .min_rnr_timer = 31 }, ex = opt;
	struct ibv_cq_ex *cq = ibv_create_cq_ex(da->ctx, &cqa);
	unsigned char seen[RECV_ID + N] = { 0 };
	uint64_t end = vt_now_us() + MS * 1000ull;
	int rc, n = 0;

	vt_step("extended completion queue");
	if (!cq && (errno == EOPNOTSUPP || errno == ENOSYS)) {
		printf("SKIP extended completion queue: %s does not have it\n",
		       da->name);
		return;
	}
	require(cq, "create_cq_ex: %m");
	ex.cq = ibv_cq_ex_to_cq(cq);
	vt_end_create(&r.a, da, &ex);
	vt_end_create(&r.b, db, &opt);
	vt_connect(&r.a, &r.b, &opt);
	r.buf = vt_alloc(da->pd, 64, 0, VT_ALL_ACCESS);
	post_all(&r, true);
	rc = vt_to_err(r.a.qp);
	require(!rc, "to ERR: %s", strerror(rc));
	while (n < 2 * N) {
		rc = ibv_start_poll(cq, &pa);
		if (rc == ENOENT) {
			require(vt_now_us() < end, "%d of %d completions", n,
				2 * N);
			continue;
		}
		require(!rc, "start_poll: %s", strerror(rc));
		do {
			uint64_t id = cq->wr_id;

			require(id < ARRAY_SIZE(seen) && !seen[id]++,
				"wr_id %llu came twice or never existed",
				(unsigned long long)id);
			require(cq->status == IBV_WC_WR_FLUSH_ERR,
				"wr_id %llu: %s", (unsigned long long)id,
				ibv_wc_status_str(cq->status));
			require(ibv_wc_read_qp_num(cq) == r.a.qp->qp_num,
				"qp_num %u", ibv_wc_read_qp_num(cq));
			n++;
			rc = ibv_next_poll(cq);
		} while (!rc);
		require(rc == ENOENT, "next_poll: %s", strerror(rc));
		ibv_end_poll(cq);
	}
	require(ibv_start_poll(cq, &pa) == ENOENT, "one completion too many");
	vt_end_destroy(&r.a);
	vt_end_destroy(&r.b);
	vt_free(&r.buf);
	rc = ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	require(!rc, "destroy_cq: %s", strerror(rc));
	printf("extended completion queue: %d flushed\n", n);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct vt_dev *da, *db;

	vt_pair_parse(&pair, argc, argv, NULL);
	vt_pair_open(&pair, &da, &db);
	by_modify(da, db);
	by_peer(da, db);
	by_modify_srq(da, db);
	by_modify_ex(da, db);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_flush: ok\n");
	return 0;
}

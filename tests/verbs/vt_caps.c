// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_caps: what a device says of itself, and what it accepts, is what it does.
 *
 *	vt_caps ... COMMAND COMMAND2
 *
 * COMMAND takes the first device's port down, COMMAND2 up again.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shca_test.h"

#define MS	5000
#define QKEY	0x11111111

/* ---- keys ------------------------------------------------------------ */

#define KEYS	1000	/* more than fit the 8 bits that are left to chance */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The key of a region that is gone is not that of one of the next. */
static void keys(struct vt_dev *dev)
{
	static uint32_t key[KEYS];
	static uint8_t byte;

	for (int i = 0; i < KEYS; i++) {
		struct ibv_mr *mr = ibv_reg_mr(dev->pd, &byte, 1, 0);

		vt_step("region %d", i);
		require(mr, "reg_mr: %m");
		key[i] = mr->rkey;
		require(!ibv_dereg_mr(mr), "dereg_mr");
	}
	qsort(key, KEYS, sizeof(key[0]), by_value);
	for (int i = 1; i < KEYS; i++)
		require(key[i] != key[i - 1], "two regions had key 0x%x",
			key[i]);
	printf("keys: %d regions, none with the key of another: ok\n", KEYS);
}

/* ---- completion queues ------------------------------------------------ */

#define CQE	256

/* @n sends whose completions nobody polls; with @ah they go to @dev itself */
static void pile_up(struct vt_end *end, struct ibv_ah *ah, struct vt_buf *buf,
		    int n)
{
	struct ibv_sge sge = vt_sge(buf, 0, buf->len);

	for (int i = 0; i < n; i++)
		vt_post_datagram(end->qp, &sge, ah, end->qp->qp_num, QKEY);
}

/* Does the event come?  Meanwhile @other may. */
static bool event(struct vt_dev *dev, enum ibv_event_type type,
		  enum ibv_event_type other, int ms)
{
	uint64_t end = vt_now_us() + ms * 1000ull;
	struct pollfd p = { .fd = dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event e;

	while (vt_now_us() < end) {
		if (poll(&p, 1, ms) <= 0)
			continue;
		require(!ibv_get_async_event(dev->ctx, &e),
			"get_async_event: %m");
		ibv_ack_async_event(&e);
		if (e.event_type == type)
			return true;
		require(e.event_type == other, "event \"%s\"",
			ibv_event_type_str(e.event_type));
	}
	return false;
}

/* Of the queue pair, too, in any order. */
static bool overruns(struct vt_dev *dev, int ms)
{
	return event(dev, IBV_EVENT_CQ_ERR, IBV_EVENT_QP_FATAL, ms);
}

static void holds(struct vt_dev *dev)
{
	struct vt_opt opt = {
		.type = IBV_QPT_UD, .qkey = QKEY, .send_wr = CQE + 1,
		.cqe = CQE,
	};
	struct vt_buf buf = vt_alloc(dev->pd, 8, 0, 0);
	struct ibv_ah *ah;
	struct vt_end end;

	vt_end_create(&end, dev, &opt);
	ah = vt_ah(&end, dev);
	vt_step("%d completions that nobody polls", CQE);
	pile_up(&end, ah, &buf, CQE);
	require(!overruns(dev, 20), "a queue of %d overruns at %d", CQE,
		CQE);
	for (int i = 0; i < CQE; i++)
		vt_wait(end.cq, MS, "one of those that piled up");
	vt_step("one more than %d", CQE);
	pile_up(&end, ah, &buf, CQE + 1);
	require(overruns(dev, MS), "a queue of %d holds %d", CQE, CQE + 1);
	require(!ibv_destroy_ah(ah), "destroy_ah");
	vt_end_destroy(&end);
	vt_free(&buf);
}

static void cqs(struct vt_dev *dev)
{
	static const struct { int asked, got; } sizes[] = {
		{ 1, 1 }, { 2, 2 }, { 3, 4 }, { CQE - 1, CQE }, { CQE, CQE },
		{ CQE + 1, 2 * CQE },
	};
	struct ibv_device_attr attr;
	struct ibv_cq *cq;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		vt_step("a completion queue of %d", sizes[i].asked);
		cq = ibv_create_cq(dev->ctx, sizes[i].asked, NULL, NULL, 0);
		require(cq, "create_cq: %m");
		require(cq->cqe == sizes[i].got, "it has %d entries, not %d",
			cq->cqe, sizes[i].got);
		require(!ibv_destroy_cq(cq), "destroy_cq");
	}
	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	vt_step("a completion queue of max_cqe");
	cq = ibv_create_cq(dev->ctx, attr.max_cqe, NULL, NULL, 0);
	require(cq, "create_cq: %m");
	require(cq->cqe == attr.max_cqe, "it has %d entries, max_cqe is %d",
		cq->cqe, attr.max_cqe);
	require(!ibv_destroy_cq(cq), "destroy_cq");
	errno = 0;
	cq = ibv_create_cq(dev->ctx, attr.max_cqe + 1, NULL, NULL, 0);
	require(!cq && errno == EINVAL, "one more than max_cqe: %m");
	holds(dev);
	printf("completion queues: as large as they say: ok\n");
}

/* ---- regions ---------------------------------------------------------- */

#define LEN	10000	/* three pages and what is left of the fourth */

/* WRITE and READ between whole @near and @far, by the addresses they go by */
static void moves(struct vt_end *a, struct vt_buf *near, uint64_t near_at,
		  struct ibv_mr *near_mr, struct vt_buf *far, uint64_t far_at,
		  struct ibv_mr *far_mr, const char *what)
{
	struct ibv_sge sge = {
		.addr = near_at, .length = LEN, .lkey = near_mr->lkey,
	};

	vt_step("%s", what);
	vt_fill(near->p, LEN, 1, 0);
	memset(far->p, 0, LEN);
	vt_post_rdma(a->qp, 1, IBV_WR_RDMA_WRITE, &sge, 1, far_at,
		     far_mr->rkey);
	vt_wait(a->cq, MS, what);
	vt_check(far->p, LEN, 1, 0, what);
	vt_fill(far->p, LEN, 2, 0);
	vt_post_rdma(a->qp, 2, IBV_WR_RDMA_READ, &sge, 1, far_at,
		     far_mr->rkey);
	vt_wait(a->cq, MS, what);
	vt_check(near->p, LEN, 2, 0, what);
	vt_check_guards(near, what);
	vt_check_guards(far, what);
}

static void beyond(struct vt_end *a, struct vt_buf *near, uint64_t far_at,
		   struct ibv_mr *far_mr, const char *what)
{
	struct ibv_sge sge = vt_sge(near, 0, LEN);

	vt_step("%s, one byte too far", what);
	vt_post_rdma(a->qp, 1, IBV_WR_RDMA_WRITE, &sge, 1, far_at + 1,
		     far_mr->rkey);
	vt_wait_status(a->cq, MS, IBV_WC_REM_ACCESS_ERR, what);
}

static struct ibv_mr *with_iova(struct vt_dev *dev, struct vt_buf *buf,
				uint64_t iova)
{
	struct ibv_mr *mr = ibv_reg_mr_iova(dev->pd, buf->p, LEN, iova,
					    VT_ALL_ACCESS);

	require(mr, "reg_mr_iova: %m");
	return mr;
}

static void regions(struct vt_dev *da, struct vt_dev *db)
{
	/* ib_core wants both addresses at the same place in a page. */
	const uint64_t iova = 0x123456789000, skew = 100;
	struct vt_buf near = vt_alloc(da->pd, LEN, skew, VT_ALL_ACCESS);
	struct vt_buf far = vt_alloc(db->pd, LEN, skew, VT_ALL_ACCESS);
	uint64_t in_page = (uintptr_t)far.p & 4095;
	struct ibv_mr *near_iova = with_iova(da, &near, iova + in_page);
	struct ibv_mr *far_iova = with_iova(db, &far, 2 * iova + in_page);
	struct ibv_mr *zero = ibv_reg_mr(db->pd, far.p, LEN, VT_ALL_ACCESS |
					 IBV_ACCESS_ZERO_BASED);
	struct vt_opt opt = { 0 };
	struct vt_end a, b;

	require(zero, "a zero-based region: %m");
	vt_end_create(&a, da, &opt);
	vt_end_create(&b, db, &opt);
	vt_connect(&a, &b, &opt);
	moves(&a, &near, iova + in_page, near_iova, &far, 2 * iova + in_page,
	      far_iova, "addresses of another choice");
	moves(&a, &near, (uintptr_t)near.p, near.mr, &far, 0, zero,
	      "zero-based");
	beyond(&a, &near, 0, zero, "zero-based");
	vt_end_destroy(&a);
	vt_end_destroy(&b);
	require(!ibv_dereg_mr(zero) && !ibv_dereg_mr(far_iova) &&
		!ibv_dereg_mr(near_iova), "dereg_mr");
	vt_free(&near);
	vt_free(&far);
	printf("regions: zero-based, and by addresses of another choice: ok\n");
}

/* ---- inline data ------------------------------------------------------ */

#define INLINE	512	/* the most there may be */

static void inline_data(struct vt_dev *da, struct vt_dev *db)
{
	static const size_t sizes[] = { 1, INLINE - 1, INLINE };
	struct vt_opt opt = { .max_inline = INLINE }, usual = { 0 };
	struct vt_buf far = vt_alloc(db->pd, 2 * INLINE, 0, VT_ALL_ACCESS);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	uint8_t data[INLINE + 1];
	struct ibv_sge sge = { .addr = (uintptr_t)data };
	struct vt_end a, b;

	vt_end_create(&a, da, &opt);
	vt_end_create(&b, db, &usual);
	vt_connect(&a, &b, &usual);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ibv_sge to = vt_sge(&far, 0, far.len);

		vt_step("%zu bytes of inline data", sizes[i]);
		memset(far.p, VT_POISON, far.len);
		vt_fill(data, sizes[i], i, 0);
		sge.length = sizes[i];
		vt_post_recv(b.qp, 1, &to, 1);
		vt_post_send(a.qp, 1, &sge, 1, IBV_SEND_INLINE);
		memset(data, 0, sizeof(data));
		vt_wait(a.cq, MS, "send");
		require(vt_wait(b.cq, MS, "receive").byte_len == sizes[i],
			"byte_len");
		vt_check(far.p, sizes[i], i, 0, "inline data");
		vt_check_byte(far.p + sizes[i], far.len - sizes[i], VT_POISON,
			      "behind inline data");
	}
	vt_step("more inline data than there may be");
	init.send_cq = init.recv_cq = a.cq;
	init.cap = (struct ibv_qp_cap) {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
		.max_recv_sge = 1, .max_inline_data = INLINE + 1,
	};
	errno = 0;
	require(!ibv_create_qp(da->pd, &init) && errno == EINVAL,
		"a queue pair for %d bytes: %m", INLINE + 1);
	vt_end_destroy(&a);
	vt_end_destroy(&b);
	vt_free(&far);
	printf("inline data: up to %d bytes: ok\n", INLINE);
}

/* ---- query_qp ---------------------------------------------------------- */

#define SAME(field) \
	require(got.field == want.field, #field " is %llu, not %llu", \
		(unsigned long long)got.field, (unsigned long long)want.field)

/* What was set is what is queried; the hop limit ib_core takes from the route. */
static void queried(struct vt_dev *dev)
{
	struct vt_opt opt = {
		.send_wr = 100, .recv_wr = 50, .max_sge = 3, .max_inline = 77,
		.access = IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_qp_attr got, want = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_512,
		.dest_qp_num = 0xabcdef, .rq_psn = 0x123456,
		.max_dest_rd_atomic = 7, .min_rnr_timer = 21, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ,
		.ah_attr = {
			.is_global = 1, .port_num = 1, .sl = 3,
			.grh = {
				.dgid = dev->gid, .sgid_index = dev->gid_index,
				.hop_limit = 11, .traffic_class = 0x68,
				.flow_label = 0x54321,
			},
		},
	};
	struct ibv_qp_init_attr init;
	struct vt_end end;

	vt_step("query_qp");
	vt_end_create(&end, dev, &opt);
	require(!ibv_modify_qp(end.qp, &want, IBV_QP_STATE | IBV_QP_AV |
			       IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			       IBV_QP_MIN_RNR_TIMER), "to RTR");
	want.qp_state = IBV_QPS_RTS;
	want.sq_psn = 0x654321;
	want.timeout = 19;
	want.retry_cnt = 5;
	want.rnr_retry = 6;
	want.max_rd_atomic = 9;
	require(!ibv_modify_qp(end.qp, &want, IBV_QP_STATE | IBV_QP_SQ_PSN |
			       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
		"to RTS");
	memset(&got, VT_POISON, sizeof(got));
	require(!ibv_query_qp(end.qp, &got, IBV_QP_DEST_QPN * 2 - 1, &init), "query_qp");
	SAME(qp_state);
	SAME(path_mtu);
	SAME(dest_qp_num);
	SAME(rq_psn);
	SAME(sq_psn);
	SAME(max_rd_atomic);
	SAME(max_dest_rd_atomic);
	SAME(min_rnr_timer);
	SAME(port_num);
	SAME(pkey_index);
	SAME(timeout);
	SAME(retry_cnt);
	SAME(rnr_retry);
	SAME(qp_access_flags);
	SAME(ah_attr.is_global);
	SAME(ah_attr.port_num);
	SAME(ah_attr.sl);
	SAME(ah_attr.grh.sgid_index);
	SAME(ah_attr.grh.traffic_class);
	SAME(ah_attr.grh.flow_label);
	require(!memcmp(&got.ah_attr.grh.dgid, &dev->gid, sizeof(dev->gid)),
		"dgid");
	require(got.cap.max_send_wr >= 100 && got.cap.max_recv_wr >= 50 &&
		got.cap.max_send_sge >= 3 && got.cap.max_recv_sge >= 3 &&
		got.cap.max_inline_data >= 77, "capacities");
	require(init.qp_type == IBV_QPT_RC && init.send_cq == end.cq &&
		init.recv_cq == end.cq && !init.sq_sig_all, "init_attr");
	vt_end_destroy(&end);
	printf("query_qp: what was set: ok\n");
}

/* ---- events of the port ------------------------------------------------- */

static void port_events(struct vt_dev *dev, const char *down, const char *up)
{
	vt_step("%s", down);
	require(!system(down), "%s", down);
	require(event(dev, IBV_EVENT_PORT_ERR, IBV_EVENT_GID_CHANGE, MS),
		"no event that the port is down");
	vt_step("%s", up);
	require(!system(up), "%s", up);
	require(event(dev, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_GID_CHANGE, MS),
		"no event that the port is up");
	printf("port: an event when it goes down, and when it is up: ok\n");
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct vt_dev *da, *db;

	vt_pair_parse(&pair, argc, argv, NULL);
	require(optind + 2 == argc, "by which commands do ports go down and up?");
	vt_pair_open(&pair, &da, &db);
	keys(da);
	cqs(da);
	regions(da, db);
	inline_data(da, db);
	queried(da);
	port_events(da, argv[optind], argv[optind + 1]);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_caps: ok\n");
	return 0;
}

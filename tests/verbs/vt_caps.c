// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_caps: what a device says of itself, and what it accepts, is what it does.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The overrun is told of, and of the queue pair that goes with it, in any order. */
static bool overruns(struct vt_dev *dev, int ms)
{
	uint64_t end = vt_now_us() + ms * 1000ull;
	struct pollfd p = { .fd = dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (vt_now_us() < end) {
		if (poll(&p, 1, ms) <= 0)
			continue;
		require(!ibv_get_async_event(dev->ctx, &event),
			"get_async_event: %m");
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_CQ_ERR)
			return true;
		require(event.event_type == IBV_EVENT_QP_FATAL, "event \"%s\"",
			ibv_event_type_str(event.event_type));
	}
	return false;
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
	ah = vt_ah(&end, &dev->gid);
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

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct vt_dev *da, *db;

	vt_pair_parse(&pair, argc, argv, NULL);
	vt_pair_open(&pair, &da, &db);
	keys(da);
	cqs(da);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_caps: ok\n");
	return 0;
}

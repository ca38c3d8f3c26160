// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_sqe: a datagram that can not be sent stops the send queue and nothing else
 * (SQE, IBA 10.3.1), and the queue pair can be brought back from there.
 *
 * The bad one has a wrong lkey, and as many good ones behind it as the kernel
 * takes several turns for.  One fails, all others are flushed, none is sent; also
 * if the program asks for RTS as soon as it sees the first completion.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define QKEY	0x11111111
#define GRH	40
#define LEN	64
#define MS	20000
#define BEHIND	16000	/* more than the kernel does at a stretch */
#define RECVS	64
#define RECV_ID	100000

/**
 * struct side - a port
 * @end: its queue pair
 * @tx: what it sends
 * @rx: where it receives
 * @ah: leads to the other side
 */
struct side {
	struct vt_end end;
	struct vt_buf tx, rx;
	struct ibv_ah *ah;
};

static struct side a, b;

static void open_side(struct side *s, struct vt_dev *dev)
{
	struct vt_opt opt = {
		.type = IBV_QPT_UD, .qkey = QKEY, .send_wr = 1 + BEHIND,
	};
	struct ibv_sge sge;

	vt_end_create(&s->end, dev, &opt);
	s->tx = vt_alloc(dev->pd, LEN, 0, IBV_ACCESS_LOCAL_WRITE);
	s->rx = vt_alloc(dev->pd, GRH + LEN, 0, IBV_ACCESS_LOCAL_WRITE);
	sge = vt_sge(&s->rx, 0, GRH + LEN);
	for (int i = 0; i < RECVS; i++)
		vt_post_recv(s->end.qp, RECV_ID, &sge, 1);
}

static void close_side(struct side *s)
{
	require(!ibv_destroy_ah(s->ah), "destroy_ah");
	vt_end_destroy(&s->end);
	vt_free(&s->tx);
	vt_free(&s->rx);
}

/* A datagram with wr_id 0 that has to arrive, and nothing before it */
static void goes(struct side *from, struct side *to, const char *what)
{
	struct ibv_sge sge = vt_sge(&from->tx, 0, LEN);
	struct ibv_wc wc;

	vt_step("%s", what);
	vt_fill(from->tx.p, LEN, 3, 0);
	memset(to->rx.p, VT_POISON, to->rx.len);
	vt_post_datagram(from->end.qp, &sge, from->ah, to->end.qp->qp_num,
			 QKEY);
	wc = vt_wait(from->end.cq, MS, what);
	require(wc.wr_id == 0 && wc.opcode == IBV_WC_SEND, "%s: wr_id %llu",
		what, (unsigned long long)wc.wr_id);
	wc = vt_wait(to->end.cq, MS, what);
	require(wc.wr_id == RECV_ID && wc.byte_len == GRH + LEN,
		"%s: wr_id %llu, %u bytes", what, (unsigned long long)wc.wr_id,
		wc.byte_len);
	vt_check(to->rx.p + GRH, LEN, 3, 0, what);
}

static void post_bad_and_good(void)
{
	static struct ibv_send_wr wr[1 + BEHIND];
	static struct ibv_sge good, bad;
	int rc;

	good = bad = vt_sge(&a.tx, 0, LEN);
	bad.lkey ^= 1;
	for (int i = 0; i <= BEHIND; i++)
		wr[i] = (struct ibv_send_wr) {
			.wr_id = 1 + i,
			.next = i < BEHIND ? &wr[i + 1] : NULL,
			.sg_list = i ? &good : &bad,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.ud = {
				.ah = a.ah,
				.remote_qpn = b.end.qp->qp_num,
				.remote_qkey = QKEY,
			},
		};
	rc = vt_try_send(a.end.qp, wr);
	require(!rc, "post_send: %s", strerror(rc));
}

static void first_fails(void)
{
	struct ibv_wc wc = vt_wait_status(a.end.cq, MS, IBV_WC_LOC_PROT_ERR,
					  "the wrong lkey");

	require(wc.wr_id == 1, "wr_id %llu", (unsigned long long)wc.wr_id);
}

static void rest_flushed(void)
{
	for (uint64_t id = 2; id <= 1 + BEHIND; id++) {
		struct ibv_wc wc = vt_wait_status(a.end.cq, MS, IBV_WC_WR_FLUSH_ERR,
						  "behind the wrong lkey");

		require(wc.wr_id == id, "wr_id %llu, not %llu",
			(unsigned long long)wc.wr_id, (unsigned long long)id);
	}
	vt_expect_none(a.end.cq, 0, "behind the last");
	vt_expect_none(b.end.cq, 20, "none was to be sent");
}

static int to_rts(enum ibv_qp_state cur)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = cur,
	};

	return ibv_modify_qp(a.end.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE);
}

/* what `ibctl qp show` says of @a fits the filter of jq */
static void shown(const char *filter)
{
	char cmd[256];

	vt_step("ibctl says %s", filter);
	snprintf(cmd, sizeof(cmd), "ibctl -j qp show %s %u | jq -e '%s'",
		 a.end.dev->name, a.end.qp->qp_num, filter);
	require(!system(cmd), "%s", cmd);
}

static void state_is(enum ibv_qp_state state)
{
	require(vt_state(a.end.qp) == state, "state is %d, not %d", vt_state(a.end.qp),
		state);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct vt_dev *da, *db;
	struct ibv_sge sge;
	uint64_t errors;

	vt_pair_parse(&pair, argc, argv, NULL);
	vt_pair_open(&pair, &da, &db);
	require(db != da, "which other device?");
	open_side(&a, da);
	open_side(&b, db);
	a.ah = vt_ah(&a.end, db);
	b.ah = vt_ah(&b.end, da);
	goes(&a, &b, "at first");

	errors = vt_counter(da, "qp_errors");
	vt_step("a wrong lkey");
	post_bad_and_good();
	first_fails();
	rest_flushed();
	state_is(IBV_QPS_SQE);
	shown(".state == \"sqe\" and .error_reason == \"local-protection\"");
	printf("one failed, %d flushed: ok\n", BEHIND);

	goes(&b, &a, "received in SQE");
	vt_step("posted in SQE");
	sge = vt_sge(&a.tx, 0, LEN);
	vt_post_datagram(a.end.qp, &sge, a.ah, b.end.qp->qp_num, QKEY);
	vt_wait_status(a.end.cq, MS, IBV_WC_WR_FLUSH_ERR, "posted in SQE");

	vt_step("back to RTS");
	require(to_rts(IBV_QPS_RTS) == EINVAL, "SQE is taken for RTS");
	state_is(IBV_QPS_SQE);
	require(!to_rts(IBV_QPS_SQE), "SQE to RTS");
	state_is(IBV_QPS_RTS);
	shown(".state == \"rts\" and .error_reason == \"none\"");
	goes(&a, &b, "in RTS again");

	vt_step("RTS as soon as the first has failed");
	post_bad_and_good();
	first_fails();
	require(!to_rts(IBV_QPS_SQE), "SQE to RTS");
	rest_flushed();
	goes(&a, &b, "in RTS at once");
	printf("back to RTS: ok\n");

	vt_step("to ERR");
	post_bad_and_good();
	first_fails();
	rest_flushed();
	require(!vt_to_err(a.end.qp), "SQE to ERR");
	shown(".state == \"err\" and .error_reason == \"local-protection\"");
	errors = vt_counter(da, "qp_errors") - errors;
	require(errors == 3, "qp_errors grew by %llu, not by 3",
		(unsigned long long)errors);
	printf("the reason stays: ok\n");

	close_side(&a);
	close_side(&b);
	vt_close(db);
	vt_close(da);
	printf("vt_sqe: ok\n");
	return 0;
}

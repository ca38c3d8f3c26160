// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_errors: each mistake has its own completion status, and exactly one.
 *
 *   access     wrong rkey, length, permission, PD, lkey, receive too short
 *   loop       1,000 wrong rkeys, each on a fresh queue pair (T38)
 *   rnr        receives that come late, and rnr_retry 0 to 6 (T34)
 *   pieces     one of two regions goes while their send waits for a receive
 *   gone       the own region goes while its send waits for the window, behind
 *              one that has arrived and is not acknowledged yet; the wire must be
 *              slow (300 ms) and the window small (8 packets)
 *   blackhole  a peer that answers nothing (T35); with -x COMMAND the wire is
 *              cut by that command, without it the peer's QP is destroyed
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shca_test.h"

#define MS	10000
#define LEN	4096
#define ALL	VT_ALL_ACCESS

struct rig {
	struct vt_dev *da, *db;
	struct vt_end a, b;
	struct vt_buf near, far;
};

static void rig_open(struct rig *r, const struct vt_opt *opt)
{
	vt_end_create(&r->a, r->da, opt);
	vt_end_create(&r->b, r->db, opt);
	vt_connect(&r->a, &r->b, opt);
}

static void rig_close(struct rig *r)
{
	vt_end_destroy(&r->a);
	if (r->b.qp)
		vt_end_destroy(&r->b);
}

/* ---- access ---------------------------------------------------------- */

static const struct access_case {
	const char *what;
	enum ibv_wr_opcode op;
	enum ibv_wc_status status;
	long addr_off;
	uint32_t len;
	uint32_t rkey_xor;
	int mr_access;		/* of the remote region */
	int qp_access;		/* of the remote queue pair, -1: none */
	bool other_pd;
	bool bad_lkey;
	bool no_reads;		/* the remote queue pair executes none */
} access_cases[] = {
#define WR	IBV_WR_RDMA_WRITE
#define RD	IBV_WR_RDMA_READ
#define ACCESS	IBV_WC_REM_ACCESS_ERR
#define INVALID	IBV_WC_REM_INV_REQ_ERR
	{ "WRITE, all right", WR, IBV_WC_SUCCESS, 0, LEN, 0, ALL },
	{ "READ, all right", RD, IBV_WC_SUCCESS, 0, LEN, 0, ALL },
	{ "WRITE, wrong rkey", WR, ACCESS, 0, 64, 1, ALL },
	{ "READ, wrong rkey", RD, ACCESS, 0, 64, 1, ALL },
	{ "WRITE, rkey of no region", WR, ACCESS, 0, 64, 0xa5a500, ALL },
	{ "READ, rkey of no region", RD, ACCESS, 0, 64, 0xa5a500, ALL },
	{ "WRITE, one byte too long", WR, ACCESS, 1, LEN, 0, ALL },
	{ "READ, one byte too long", RD, ACCESS, 1, LEN, 0, ALL },
	{ "WRITE, one byte too early", WR, ACCESS, -1, 64, 0, ALL },
	{ "READ, one byte too early", RD, ACCESS, -1, 64, 0, ALL },
	{ "WRITE, far beyond", WR, ACCESS, 1l << 40, 64, 0, ALL },
	{ "READ, far beyond", RD, ACCESS, 1l << 40, 64, 0, ALL },
	{ "WRITE, region without permission", WR, ACCESS, 0, 64, 0,
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ },
	{ "READ, region without permission", RD, ACCESS, 0, 64, 0,
	  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE },
	{ "WRITE, region of another PD", WR, ACCESS, 0, 64, 0, ALL,
	  .other_pd = true },
	{ "READ, region of another PD", RD, ACCESS, 0, 64, 0, ALL,
	  .other_pd = true },
	{ "WRITE, queue pair without permission", WR, INVALID, 0, 64, 0, ALL,
	  .qp_access = -1 },
	{ "READ, queue pair without permission", RD, INVALID, 0, 64, 0, ALL,
	  .qp_access = -1 },
	{ "READ, queue pair without resources for it", RD, INVALID, 0, 64, 0,
	  ALL, .no_reads = true },
	{ "WRITE, wrong lkey", WR, IBV_WC_LOC_PROT_ERR, 0, 64, 0, ALL,
	  .bad_lkey = true },
	{ "READ, wrong lkey", RD, IBV_WC_LOC_PROT_ERR, 0, 64, 0, ALL,
	  .bad_lkey = true },
#undef WR
#undef RD
};

static void access_one(struct vt_dev *da, struct vt_dev *db,
		       const struct access_case *c)
{
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = {
		.access = c->qp_access,
		.rd_atomic = c->no_reads ? -1 : 0,
	};
	struct ibv_pd *pd = db->pd;
	struct ibv_sge sge;
	struct ibv_wc wc;

	vt_step("%s", c->what);
	if (c->other_pd)
		pd = ibv_alloc_pd(db->ctx);
	require(pd, "alloc_pd: %m");
	rig_open(&r, &opt);
	r.near = vt_alloc(da->pd, LEN, 3, ALL);
	r.far = vt_alloc(pd, LEN, 5, c->mr_access);
	sge = vt_sge(&r.near, 0, c->len);
	if (c->bad_lkey)
		sge.lkey ^= 1;
	vt_post_rdma(r.a.qp, 1, c->op, &sge, 1, (uintptr_t)r.far.p +
		     c->addr_off, r.far.mr->rkey ^ c->rkey_xor);
	wc = vt_wait_status(r.a.cq, MS, c->status, c->what);
	require(wc.wr_id == 1, "wr_id");
	vt_expect_none(r.a.cq, 5, "one completion is enough");
	require((vt_state(r.a.qp) == IBV_QPS_ERR) == !!c->status,
		"state of the requester: %d", vt_state(r.a.qp));
	if (c->status == ACCESS || c->status == INVALID)
		require(vt_state(r.b.qp) == IBV_QPS_ERR,
			"the responder's queue pair is not in ERR");
	if (c->status) {
		vt_check_byte(r.near.p, LEN, VT_POISON, "refused, own side");
		vt_check_byte(r.far.p, LEN, VT_POISON, "refused, far side");
	}
	vt_check_guards(&r.near, c->what);
	vt_check_guards(&r.far, c->what);
	rig_close(&r);
	vt_free(&r.near);
	vt_free(&r.far);
	if (c->other_pd)
		require(!ibv_dealloc_pd(pd), "dealloc_pd");
}

static void short_receive(struct vt_dev *da, struct vt_dev *db)
{
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { 0 };
	struct ibv_sge from, to;
	struct ibv_wc wc;

	vt_step("SEND longer than the receive");
	rig_open(&r, &opt);
	r.near = vt_alloc(da->pd, LEN, 0, ALL);
	r.far = vt_alloc(db->pd, LEN, 0, ALL);
	from = vt_sge(&r.near, 0, 100);
	to = vt_sge(&r.far, 0, 99);
	vt_post_recv(r.b.qp, 2, &to, 1);
	vt_post_send(r.a.qp, 1, &from, 1, 0);
	wc = vt_wait_status(r.a.cq, MS, INVALID, "requester");
	require(wc.wr_id == 1, "wr_id");
	wc = vt_wait_status(r.b.cq, MS, IBV_WC_LOC_LEN_ERR, "responder");
	require(wc.wr_id == 2, "wr_id");
	vt_check_byte(r.far.p + 99, LEN - 99, VT_POISON, "behind the receive");
	rig_close(&r);
	vt_free(&r.near);
	vt_free(&r.far);
}

static void access_all(struct vt_dev *da, struct vt_dev *db)
{
	for (size_t i = 0; i < ARRAY_SIZE(access_cases); i++)
		access_one(da, db, &access_cases[i]);
	short_receive(da, db);
	printf("access: %zu mistakes, each with its own status: ok\n",
	       ARRAY_SIZE(access_cases) + 1 - 2);
}

/* ---- 1,000 wrong rkeys ------------------------------------------------ */

static void loop(struct vt_dev *da, struct vt_dev *db, unsigned int n)
{
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .send_wr = 8, .recv_wr = 8 };
	struct ibv_sge sge;
	struct ibv_wc wc;

	r.near = vt_alloc(da->pd, LEN, 0, ALL);
	r.far = vt_alloc(db->pd, LEN, 0, ALL);
	sge = vt_sge(&r.near, 0, 64);
	for (unsigned int i = 0; i < n; i++) {
		vt_step("wrong rkey %u of %u", i + 1, n);
		rig_open(&r, &opt);
		vt_post_rdma(r.a.qp, 1, IBV_WR_RDMA_WRITE, &sge, 1,
			     (uintptr_t)r.far.p, r.far.mr->rkey);
		vt_post_rdma(r.a.qp, 2, IBV_WR_RDMA_WRITE, &sge, 1,
			     (uintptr_t)r.far.p + (i % 3 == 1 ? LEN : 0),
			     r.far.mr->rkey ^ (i % 3 == 1 ? 0 : 1 + i % 2));
		vt_post_rdma(r.a.qp, 3, IBV_WR_RDMA_WRITE, &sge, 1,
			     (uintptr_t)r.far.p, r.far.mr->rkey);
		require(vt_wait(r.a.cq, MS, "good write").wr_id == 1, "wr_id");
		wc = vt_wait_status(r.a.cq, MS, ACCESS, "bad write");
		require(wc.wr_id == 2, "wr_id");
		wc = vt_wait_status(r.a.cq, MS, IBV_WC_WR_FLUSH_ERR, "next");
		require(wc.wr_id == 3, "wr_id");
		vt_expect_none(r.a.cq, 0, "behind them");
		rig_close(&r);
	}
	vt_free(&r.near);
	vt_free(&r.far);
	printf("loop: %u wrong rkeys on fresh queue pairs: ok\n", n);
}

/* ---- receiver not ready ---------------------------------------------- */

/* milliseconds of the IBA's codes that are used here */
static const struct { int code; unsigned int us; } rnr_timer[] = {
	{ 12, 640 }, { 1, 10 }, { 20, 10240 }, { 24, 40960 },
};

#define RNR_CODE	26	/* 81.92 ms */
#define RNR_US		81920

static void rnr_late(struct vt_dev *da, struct vt_dev *db, int code,
		     unsigned int timer_us, unsigned int late_us)
{
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .min_rnr_timer = code };
	struct ibv_sge from, to;
	uint64_t naks = vt_counter(da, "rx_rnr_naks"), start, took;

	vt_step("receive %u us late, RNR timer %u us", late_us, timer_us);
	rig_open(&r, &opt);
	r.near = vt_alloc(da->pd, LEN, 0, ALL);
	r.far = vt_alloc(db->pd, LEN, 0, ALL);
	vt_fill(r.near.p, LEN, late_us, 0);
	from = vt_sge(&r.near, 0, LEN);
	to = vt_sge(&r.far, 0, LEN);
	start = vt_now_us();
	vt_post_send(r.a.qp, 1, &from, 1, 0);
	if (late_us)
		vt_expect_none(r.a.cq, (late_us + 999) / 1000,
			       "before the receive was posted");
	vt_post_recv(r.b.qp, 2, &to, 1);
	vt_wait(r.a.cq, MS, "send");
	vt_wait(r.b.cq, MS, "receive");
	took = vt_now_us() - start;
	/*
	 * Once refused, it may not come again before the timer has run.  A
	 * millisecond is not always late: the SEND may leave after that.
	 */
	require(!late_us || took >= timer_us ||
		(late_us == 1000 && vt_counter(da, "rx_rnr_naks") == naks),
		"came after %llu us, the RNR timer is %u us",
		(unsigned long long)took, timer_us);
	vt_check(r.far.p, LEN, late_us, 0, "late receive");
	rig_close(&r);
	vt_free(&r.near);
	vt_free(&r.far);
}

/* that rnr_retry, and no more, and never before the timers have run */
static void rnr_fail(struct vt_dev *da, struct vt_dev *db, int retry)
{
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .min_rnr_timer = RNR_CODE,
			      .rnr_retry = retry + 1 };
	uint64_t start, took, naks;
	struct ibv_sge from;

	vt_step("rnr_retry %d", retry);
	rig_open(&r, &opt);
	r.near = vt_alloc(da->pd, 64, 0, ALL);
	from = vt_sge(&r.near, 0, 64);
	naks = vt_counter(da, "rx_rnr_naks");
	start = vt_now_us();
	vt_post_send(r.a.qp, 1, &from, 1, 0);
	vt_wait_status(r.a.cq, MS, IBV_WC_RNR_RETRY_EXC_ERR, "send");
	took = vt_now_us() - start;
	naks = vt_counter(da, "rx_rnr_naks") - naks;
	require(naks == retry + 1ull, "failed after %llu RNR NAKs",
		(unsigned long long)naks);
	require(took >= (uint64_t)retry * RNR_US,
		"failed after %llu us, %d retries take %u us",
		(unsigned long long)took, retry, retry * RNR_US);
	rig_close(&r);
	vt_free(&r.near);
	printf("rnr: rnr_retry %d fails after %llu ms (%d x 82)\n",
	       retry, (unsigned long long)took / 1000, retry);
}

static void rnr(struct vt_dev *da, struct vt_dev *db)
{
	static const unsigned int late[] = { 0, 1000, 5000, 50000 };

	for (size_t t = 0; t < ARRAY_SIZE(rnr_timer); t++)
		for (size_t l = 0; l < ARRAY_SIZE(late); l++)
			rnr_late(da, db, rnr_timer[t].code, rnr_timer[t].us,
				 late[l]);
	printf("rnr: late receives: ok\n");
	for (int retry = 0; retry <= 6; retry++)
		rnr_fail(da, db, retry);
	/* 7: without end; 20 timers of 40 ms are more than any count */
	rnr_late(da, db, 24, 40960, 820000);
	printf("rnr: rnr_retry 7 does not end: ok\n");
}

/* ---- pieces ---------------------------------------------------------- */

/*
 * The second of two regions goes while the SEND waits for a receive.  The SEND
 * fails, and nothing holds the first region: to deregister it ends.
 */
static void pieces(struct vt_dev *da, struct vt_dev *db)
{
	struct vt_opt opt = { .min_rnr_timer = 31 };	/* 491.52 ms */
	struct vt_buf first = vt_alloc(da->pd, 64, 0, ALL);
	struct vt_buf second = vt_alloc(da->pd, 64, 0, ALL);
	struct ibv_mr *mr = ibv_reg_mr(da->pd, second.p, 64, ALL);
	struct ibv_sge sge[] = {
		vt_sge(&first, 0, 64), vt_sge(&second, 0, 64),
	};
	struct rig r = { .da = da, .db = db };
	uint64_t naks = vt_counter(da, "rx_rnr_naks");

	vt_step("a region goes");
	require(mr, "reg_mr: %m");
	sge[1].lkey = mr->lkey;
	rig_open(&r, &opt);
	vt_post_send(r.a.qp, 1, sge, 2, 0);
	while (vt_counter(da, "rx_rnr_naks") == naks)
		usleep(1000);
	require(!ibv_dereg_mr(mr), "dereg_mr: %m");
	vt_wait_status(r.a.cq, MS, IBV_WC_LOC_PROT_ERR, "send");
	vt_step("the other region");
	vt_free(&first);
	vt_free(&second);
	rig_close(&r);
	printf("pieces: ok\n");
}

/* ---- the region goes --------------------------------------------------- */

#define LONG	(1u << 20)

/* @ask: the send in front is signalled, so its packet asks for an ACK */
static void gone_one(struct vt_dev *da, struct vt_dev *db, bool ask)
{
	struct rig r = { .da = da, .db = db };
	/* without a timer the doorbell is rung, so both are checked when posted */
	struct vt_opt opt = { .timeout = -1 };
	struct vt_buf lost = vt_alloc(da->pd, LONG, 0, ALL);
	struct ibv_sge from, to, tail;
	struct ibv_send_wr second, first = {
		.wr_id = 1, .next = &second, .sg_list = &from, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = ask ? IBV_SEND_SIGNALED : 0,
	};
	struct ibv_wc wc;
	int rc;

	vt_step("the region of a waiting send goes, the one before is %ssignalled",
		ask ? "" : "not ");
	rig_open(&r, &opt);
	r.near = vt_alloc(da->pd, LEN, 0, ALL);
	r.far = vt_alloc(db->pd, LONG, 0, ALL);
	vt_fill(r.near.p, 64, 7, 0);
	from = vt_sge(&r.near, 0, 64);
	to = vt_sge(&r.far, 0, 64);
	tail = vt_sge(&lost, 0, LONG);
	second = (struct ibv_send_wr){
		.wr_id = 2, .sg_list = &tail, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)r.far.p, r.far.mr->rkey },
	};
	vt_post_recv(r.b.qp, 10, &to, 1);
	vt_post_recv(r.b.qp, 11, &to, 1);
	/* its ACK opens the window a while before that of the next one comes */
	vt_post_send(r.a.qp, 0, &from, 1, 0);
	vt_expect_none(r.a.cq, 100, "the wire is slow");
	rc = vt_try_send(r.a.qp, &first);
	require(!rc, "post_send: %s", strerror(rc));
	require(!ibv_dereg_mr(lost.mr), "dereg_mr: %m");
	require(vt_wait(r.a.cq, MS, "the first").wr_id == 0, "wr_id");
	if (ask)
		require(vt_wait(r.a.cq, MS, "one that arrived").wr_id == 1,
			"wr_id");
	wc = vt_wait_status(r.a.cq, MS, IBV_WC_LOC_PROT_ERR, "no region");
	require(wc.wr_id == 2, "wr_id %llu", (unsigned long long)wc.wr_id);
	vt_expect_none(r.a.cq, 5, "behind it");
	require(vt_wait(r.b.cq, MS, "receive").wr_id == 10, "wr_id");
	require(vt_wait(r.b.cq, MS, "receive").wr_id == 11, "wr_id");
	rig_close(&r);
	vt_free(&r.near);
	vt_free(&r.far);
	lost.mr = ibv_reg_mr(da->pd, lost.p, LONG, ALL);
	require(lost.mr, "reg_mr: %m");
	vt_free(&lost);
}

static void gone(struct vt_dev *da, struct vt_dev *db)
{
	gone_one(da, db, true);
	gone_one(da, db, false);
	printf("gone: what was sent before succeeds, then its own status: ok\n");
}

/* ---- black hole ------------------------------------------------------ */

/* busy and total jiffies of the guest so far */
static void cpu_time(unsigned long long *busy, unsigned long long *total)
{
	unsigned long long v[8] = { 0 };
	FILE *f = fopen("/proc/stat", "r");

	require(f, "/proc/stat: %m");
	require(fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", v,
		       v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7) == 8,
		"/proc/stat");
	fclose(f);
	*busy = v[0] + v[1] + v[2] + v[5] + v[6];
	*total = *busy + v[3] + v[4];
}

static void blackhole(struct vt_dev *da, struct vt_dev *db, const char *cut,
		      int retry)
{
	/* between one and four times 4.096 us x 2^14, once more than retries */
	const uint64_t unit = 67109, lo = retry * unit;
	const uint64_t hi = 4 * (retry + 1) * unit + 50000;
	struct rig r = { .da = da, .db = db };
	struct vt_opt opt = { .timeout = 14, .retry = retry + 1, .channel = true };
	unsigned long long busy0, busy1, total0, total1;
	struct ibv_sge from;
	struct ibv_wc wc;
	uint64_t start, took;
	int rc;

	vt_step("black hole");
	rig_open(&r, &opt);
	r.near = vt_alloc(da->pd, LEN, 0, ALL);
	from = vt_sge(&r.near, 0, LEN);
	if (cut) {
		rc = system(cut);
		require(!rc, "\"%s\" ended with %d", cut, rc);
	} else {
		vt_end_destroy(&r.b);
	}
	rc = ibv_req_notify_cq(r.a.cq, 0);
	require(!rc, "req_notify_cq: %s", strerror(rc));
	cpu_time(&busy0, &total0);
	start = vt_now_us();
	for (int i = 0; i < 16; i++)
		vt_post_send(r.a.qp, i, &from, 1, 0);
	require(vt_wait_event(r.a.chan, MS), "no completion in %d ms", MS);
	took = vt_now_us() - start;
	cpu_time(&busy1, &total1);
	wc = vt_wait_status(r.a.cq, MS, IBV_WC_RETRY_EXC_ERR, "first send");
	require(wc.wr_id == 0, "wr_id");
	for (int i = 1; i < 16; i++) {
		wc = vt_wait_status(r.a.cq, MS, IBV_WC_WR_FLUSH_ERR, "later");
		require(wc.wr_id == (uint64_t)i, "wr_id");
	}
	printf("blackhole: gave up after %llu ms, CPU busy %llu of %llu ticks\n",
	       (unsigned long long)took / 1000, busy1 - busy0,
	       total1 - total0);
	require(took >= lo && took <= hi,
		"timeout 14 and %d retries are %llu to %llu ms", retry,
		(unsigned long long)lo / 1000, (unsigned long long)hi / 1000);
	require(2 * (busy1 - busy0) <= total1 - total0 + 10,
		"the CPU was busy while there was nothing to do");
	require(vt_state(r.a.qp) == IBV_QPS_ERR, "state is not ERR");
	rig_close(&r);
	vt_free(&r.near);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	const char *what = NULL, *cut = NULL;
	struct vt_dev *da, *db;
	unsigned int n = 1000;
	int c, retry = 7;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "n:x:r:")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c == 'n')
			n = vt_number(optarg, 1, 1000000);
		else if (c == 'r')
			retry = vt_number(optarg, 0, 7);
		else if (c == 'x')
			cut = optarg;
		else
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a || optind + 1 != argc) {
		fprintf(stderr, "usage: vt_errors " VT_PAIR_USAGE
			" [-n TIMES] [-r RETRIES] [-x COMMAND] access|loop|rnr|pieces|gone|blackhole\n");
		return 2;
	}
	what = argv[optind];
	setvbuf(stdout, NULL, _IOLBF, 0);
	vt_pair_open(&pair, &da, &db);
	if (!strcmp(what, "access"))
		access_all(da, db);
	else if (!strcmp(what, "loop"))
		loop(da, db, n);
	else if (!strcmp(what, "rnr"))
		rnr(da, db);
	else if (!strcmp(what, "pieces"))
		pieces(da, db);
	else if (!strcmp(what, "gone"))
		gone(da, db);
	else if (!strcmp(what, "blackhole"))
		blackhole(da, db, cut, retry);
	else
		fail("no such test: %s", what);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_errors %s: ok\n", what);
	return 0;
}

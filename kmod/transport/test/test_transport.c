// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of the transport in user space: two QPs over a bad wire, and the failures
 * that a wire and a peer can cause, each over in a time that is bounded.
 *
 * usage: test_transport [SEED [RUNS]]   random runs of your own, to look for more
 */
#include "sim.h"

enum {
	SECOND	= 1000000,	/* us */
};

static bool both_well(void)
{
	return sim.end[0].qp->state == IB_QPS_RTS &&
	       sim.end[1].qp->state == IB_QPS_RTS;
}

/* Let @us pass, or until all messages have ended. */
static bool run(u64 us)
{
	u64 end = sim.now + us;

	while (sim.now < end) {
		sim_app_step();
		sim_turns();
		sim_step();
		if (sim_app_done())
			return true;
	}
	return sim_app_done();
}

/* The same, and nobody posts. */
static void settle(u64 us)
{
	u64 end = sim.now + us;

	while (sim.now < end) {
		sim_turns();
		sim_step();
	}
}

static void all_well(const char *what)
{
	bool done = run(600ull * SECOND);

	if (!both_well())
		SIM_FAIL("%s: error %u and %u", what, sim.end[0].qp->why.reason,
			 sim.end[1].qp->why.reason);
	else if (!done)
		SIM_FAIL("%s: not over after 600 s", what);
	CHECK(done || !both_well(), "%s", what);
}

/* Faults of every kind in every mixture, but none that outlives the retries */
static void random_wire(void)
{
	struct sim_wire *w = &sim.wire;
	struct shca_dev *dev = sim.end[0].qp->dev;

	w->loss = sim_random(2) ? sim_random(30) / 1000. : 0;
	w->dup = sim_random(2) ? sim_random(50) / 1000. : 0;
	w->reorder = sim_random(2) ? sim_random(100) / 1000. : 0;
	w->local_loss = sim_random(3) ? 0 : sim_random(100) / 1000.;
	w->delay = sim_random(3) ? 50 + sim_random(500) : sim_random(20000);
	dev->window = sim_random(3) ? 128 : 1 + sim_random(200);
	dev->burst = 1 + sim_random(SHCA_BURST_MAX);
	sim.local = !sim_random(3);
	sim.max_len = sim_random(2) ? 20000 : SIM_MSG;
	sim.recv_rate = 1 + sim_random(10);
	sim.goal = sim_random(4) ? 50 : 300;
	if (!sim_random(3))
		sim.ops = 1 + sim_random(31);
}

static void test_random(u64 seed, u64 runs)
{
	u64 end;

	for (end = seed + runs; seed < end; seed++) {
		sim_start(seed, 0);
		random_wire();
		all_well("random faults");
		sim_stop();
	}
}

/*
 * In the midst of it a region goes, a QP may not be read from or written to any
 * more, or a QP is moved to the error state: what was done before counts, one
 * message says what happened, all behind it are flushed, and the peer finds out.
 */
static void test_failures(u64 seed, u64 runs)
{
	u64 end;

	for (end = seed + runs; seed < end; seed++) {
		u32 what;

		sim_start(seed, 0);
		random_wire();
		what = sim_random(4);
		run(sim_random(100000));
		if (what < 2)
			sim.end[what].gone = true;
		else if (what == 2)
			sim.end[0].qp->access = 0;
		else
			shca_qp_error(sim.end[0].qp, 1, 0xff, 0);
		if (!run(600ull * SECOND))
			SIM_FAIL("failure %u: not over after 600 s", what);
		sim_stop();
	}
}

/* A filter on our own side drops all: that ends, in the time of the retries. */
static void test_drop_all(void)
{
	sim_start(1, 0);
	sim.wire.drop_all = true;
	CHECK(run(30 * SECOND) || !both_well(), "packets dropped here: a hang");
	settle(30 * SECOND);
	CHECK(sim.end[0].status == IB_WC_RETRY_EXC_ERR, "ends with status %u",
	      sim.end[0].status);
	CHECK(sim.end[1].status == IB_WC_RETRY_EXC_ERR, "ends with status %u",
	      sim.end[1].status);
	sim_stop();

	/* The filter goes again before the retries are used up. */
	sim_start(2, 0);
	sim.wire.drop_all = true;
	run(SECOND / 2);
	CHECK(sim.end[0].qp->sq.retries < 7, "no retry is used up");
	sim.wire.drop_all = false;
	all_well("packets dropped here for a while");
	CHECK(sim.end[0].qp->sq.retries == 7, "retries do not come back");
	sim_stop();

	/* ACK timeout 0 means without end. */
	sim_start(3, 0);
	sim.wire.drop_all = true;
	sim.end[0].qp->sq.timeout = sim.end[1].qp->sq.timeout = 0;
	run(30 * SECOND);
	CHECK(both_well(), "timeout 0 ended");
	sim.wire.drop_all = false;
	all_well("no timeout");
	sim_stop();
}

/* Nothing leaves for two jiffies. */
static void hiccup(void)
{
	sim.wire.drop_all = true;
	settle(2 * SIM_US);
	sim.wire.drop_all = false;
}

/* Packets are dropped here now and then, by a queue that is full: no retry is due. */
static void test_drop_some(void)
{
	struct sim_end *a = &sim.end[0], *b = &sim.end[1];
	int i;

	sim_start(1, 0);
	for (i = 1; i <= 5; i++) {
		sim_post_recv(b);
		sim_post(a, IB_WR_SEND_WITH_IMM, 100);
		hiccup();
		settle(SECOND);
	}
	CHECK(b->recv_done == 5, "%u of 5 messages", b->recv_done);
	CHECK(!a->qp->sq.timeouts, "%lu timeouts", a->qp->sq.timeouts);
	sim_stop();

	/* While the peer says that it is not ready, over and over */
	sim_start(2, 0);
	sim_post(a, IB_WR_SEND, 100);
	for (i = 0; i < 100; i++) {
		hiccup();
		settle(SECOND / 5);
	}
	CHECK(a->qp->sq.rnr_naks > 100, "%lu RNR NAKs", a->qp->sq.rnr_naks);
	sim_post_recv(b);
	settle(SECOND);
	CHECK(both_well() && b->recv_done == 1, "error %u",
	      a->qp->why.reason);
	sim_stop();
}

/*
 * The first packet of a message never gets through, its second always does: the
 * peer is heard, but that must not go on for ever.
 */
static void test_black_hole(u32 delay, u32 timeout)
{
	struct sim_end *a = &sim.end[0];

	sim_start(1, 1024);
	sim.wire.too_large = 1000;
	sim.wire.delay = delay;
	a->qp->sq.timeout = timeout;
	sim_post_recv(&sim.end[1]);
	sim_post(a, IB_WR_SEND, 1500);
	settle(2ull * timeout * SIM_US * (1 + 2 + 4 * 6));
	CHECK(a->qp->sq.last_nak == (SHCA_AETH_NAK | SHCA_NAK_SEQUENCE),
	      "the peer was not heard");
	CHECK(a->status == IB_WC_RETRY_EXC_ERR,
	      "delay %u us, timeout %u jiffies: status %u after %lu timeouts",
	      delay, timeout, a->status, a->qp->sq.timeouts);
	sim_stop();
}

/* Responses of READs wait in the queue of a slow link for longer than the timeout. */
static void test_slow_reads(void)
{
	u64 seed;

	for (seed = 1; seed <= 8; seed++) {
		sim_start(seed, 1024);
		sim.ops = 1 << IB_WR_RDMA_READ;
		sim.max_len = SIM_MSG;
		sim.wire.rate = 375;
		sim.wire.queue = 1000;
		sim.wire.loss = .001;
		sim.wire.delay = 500;
		all_well("READs at 3 Mbit/s");
		sim_stop();
	}
}

/* A READ request comes a second time when its READ is over and the region gone. */
static void test_late_read(void)
{
	struct sim_end *a = &sim.end[0], *b = &sim.end[1];

	sim_start(1, 1024);
	sim.goal = 1;	/* it is signalled */
	sim.wire.keep = SHCA_OP_READ_REQUEST;
	sim_post(a, IB_WR_RDMA_READ, 3000);
	settle(SECOND / 10);
	CHECK(a->done == 1 && !a->status, "the READ has ended with %u", a->status);
	b->gone = true;
	sim_wire_deliver_kept();
	settle(SECOND / 10);
	CHECK(both_well(), "a late READ request puts a QP in error: %u and %u",
	      a->qp->why.reason, b->qp->why.reason);
	sim_stop();

	/* It goes while the second answer is under way. */
	sim_start(2, 256);
	sim.goal = 1;
	sim.wire.keep = SHCA_OP_READ_REQUEST;
	sim_post(a, IB_WR_RDMA_READ, SHCA_READ_CHUNK * 256);
	settle(SECOND / 10);
	a->qp->dev->burst = 1;
	shca_reader_start(b->qp, b->qp->rq.epsn - SHCA_READ_CHUNK,
			  (uintptr_t)b->source, b->mr.key,
			  SHCA_READ_CHUNK * 256, true);
	b->gone = true;
	shca_qp_kick(b->qp, SHCA_CTX_SOFTIRQ);
	settle(SECOND / 10);
	CHECK(!b->qp->rq.read.active, "the READ goes on without its region");
	CHECK(both_well(), "a READ answered again puts a QP in error: %u and %u",
	      a->qp->why.reason, b->qp->why.reason);
	sim_stop();

	/* The first time it is the peer's mistake: both end. */
	sim_start(3, 1024);
	b->gone = true;
	sim_post(a, IB_WR_RDMA_READ, 3000);
	settle(SECOND / 10);
	CHECK(a->status == IB_WC_REM_ACCESS_ERR, "status %u", a->status);
	CHECK(b->qp->state == IB_QPS_ERR, "the responder goes on");
	sim_stop();
}

/* A QP that was given no resources for READs answers none. */
static void test_no_reads(bool local)
{
	struct sim_end *a = &sim.end[0], *b = &sim.end[1];

	sim_start(1, 1024);
	sim.local = local;
	b->qp->attr.max_dest_rd_atomic = 0;
	settle(1);	/* sim_step() says whether they are of one device */
	sim_post(a, IB_WR_RDMA_READ, 3000);
	settle(SECOND / 10);
	CHECK(a->status == IB_WC_REM_INV_REQ_ERR, "status %u", a->status);
	CHECK(b->qp->state == IB_QPS_ERR, "the responder goes on");
	sim_stop();
}

/* An acknowledge that is due is not lost behind an old READ request. */
static void test_ack_and_read(bool gone)
{
	struct sim_end *a = &sim.end[0], *b = &sim.end[1];

	sim_start(1, 1024);
	sim.goal = 2;
	sim.wire.keep = SHCA_OP_READ_REQUEST;
	sim_post(a, IB_WR_RDMA_READ, 3000);
	settle(SECOND / 10);
	sim_post_recv(b);
	sim_post(a, IB_WR_SEND, 0);
	while (sim_wire_next() == ~0ull)
		sim_turns();
	b->gone = gone;
	/* Both lie in the inbox when the responder's turn comes. */
	sim_wire_deliver();
	sim_wire_deliver_kept();
	settle(SECOND);
	CHECK(a->done == 2 && both_well(), "%u done", a->done);
	CHECK(!a->qp->sq.timeouts, "the acknowledge does not come: %lu timeouts",
	      a->qp->sq.timeouts);
	sim_stop();
}

int main(int argc, char **argv)
{
	sim_app_alloc();
	if (argc > 1) {
		u64 seed = strtoul(argv[1], NULL, 0);
		u64 runs = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;

		test_random(seed, runs);
		test_failures(seed, runs);
	} else {
		test_drop_all();
		test_drop_some();
		test_black_hole(100, 17);
		test_black_hole(10000, 17);
		test_black_hole(600000, 2 * HZ);
		test_slow_reads();
		test_late_read();
		test_no_reads(false);
		test_no_reads(true);
		test_ack_and_read(false);
		test_ack_and_read(true);
		test_random(1, 40);
		test_failures(1, 150);
	}
	sim_app_free();
	return test_end();
}

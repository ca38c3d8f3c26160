// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_events: what arming a completion queue promises.
 *
 *  - one arming, one event; without arming none
 *  - armed for solicited completions, an ordinary one makes no event, a
 *    solicited one does, and so does one in error
 *  - a second request may widen what the first one waits for, never narrow it
 *  - armed while completions wait to be polled: the event comes with the next
 *  - never a lost event: one thread sends without pause, the other sleeps,
 *    arms, polls until empty, sleeps
 *
 * And IBV_EVENT_COMM_EST, once a connection, also of a queue pair used again;
 * IBV_EVENT_QP_FATAL, once an error, however much follows from it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shca_test.h"

#define MS	5000
#define QUIET	50

struct rig {
	struct vt_dev *da, *db;
	struct vt_end a, b;
	struct vt_buf near, far;
};

static void rig_open(struct rig *r)
{
	struct vt_opt opt = { 0 }, events = { .channel = true, .cqe = 512 };

	vt_end_create(&r->a, r->da, &opt);
	vt_end_create(&r->b, r->db, &events);
	vt_connect(&r->a, &r->b, &opt);
}

static void rig_close(struct rig *r)
{
	vt_end_destroy(&r->a);
	vt_end_destroy(&r->b);
}

static void arm(struct rig *r, int solicited_only)
{
	int rc = ibv_req_notify_cq(r->b.cq, solicited_only);

	require(!rc, "req_notify_cq: %s", strerror(rc));
}

static void message(struct rig *r, bool solicited)
{
	struct ibv_sge from = vt_sge(&r->near, 0, 16);
	struct ibv_sge to = vt_sge(&r->far, 0, 16);

	vt_post_recv(r->b.qp, 1, &to, 1);
	vt_post_send(r->a.qp, 2, &from, 1,
		     solicited ? IBV_SEND_SOLICITED : 0);
	vt_wait(r->a.cq, MS, "send");
}

static void expect_event(struct rig *r, const char *what)
{
	vt_step("%s", what);
	require(vt_wait_event(r->b.chan, MS), "no event");
}

static void expect_quiet(struct rig *r, const char *what)
{
	vt_step("%s", what);
	require(!vt_wait_event(r->b.chan, QUIET), "an event that nobody asked for");
}

static void drain(struct rig *r, int n)
{
	for (int i = 0; i < n; i++)
		vt_wait(r->b.cq, MS, "receive");
	vt_expect_none(r->b.cq, 0, "behind the last receive");
}

static void arming(struct rig *r)
{
	struct ibv_sge to = vt_sge(&r->far, 0, 16);
	int rc;

	message(r, true);
	expect_quiet(r, "not armed");
	drain(r, 1);

	arm(r, 0);
	message(r, false);
	expect_event(r, "armed for the next");
	message(r, true);
	expect_quiet(r, "once only");
	drain(r, 2);

	arm(r, 0);
	for (int i = 0; i < 5; i++)
		message(r, true);
	expect_event(r, "five completions, first event");
	expect_quiet(r, "five completions, one event");
	drain(r, 5);

	arm(r, 1);
	message(r, false);
	expect_quiet(r, "armed for solicited, an ordinary one came");
	message(r, true);
	expect_event(r, "armed for solicited, a solicited one came");
	drain(r, 2);

	arm(r, 1);
	arm(r, 0);
	message(r, false);
	expect_event(r, "solicited, then widened to any");
	drain(r, 1);

	arm(r, 0);
	arm(r, 1);
	message(r, false);
	expect_event(r, "any, then solicited: not narrowed");
	drain(r, 1);

	message(r, false);
	vt_step("armed with a completion waiting");
	require(vt_poll(r->a.cq, &(struct ibv_wc){ 0 }, 0) == false, "stray");
	arm(r, 0);
	expect_quiet(r, "armed with an old completion waiting");
	message(r, false);
	expect_event(r, "armed with an old completion waiting, a new one came");
	drain(r, 2);

	arm(r, 1);
	vt_post_recv(r->b.qp, 3, &to, 1);
	rc = vt_to_err(r->b.qp);
	require(!rc, "to ERR: %s", strerror(rc));
	expect_event(r, "armed for solicited, one in error came");
	vt_wait_status(r->b.cq, MS, IBV_WC_WR_FLUSH_ERR, "flushed receive");
	printf("arming: ok\n");
}

static void established(struct rig *r)
{
	struct vt_opt opt = { 0 };
	struct ibv_sge near = vt_sge(&r->near, 0, 8);
	struct vt_addr a, b;

	vt_end_create(&r->a, r->da, &opt);
	vt_end_create(&r->b, r->db, &opt);
	a = vt_addr_of(&r->a);
	b = vt_addr_of(&r->b);
	for (int i = 0; i < 3; i++) {
		vt_step("a request before RTS, connection %d", i);
		vt_to_rtr(&r->b, &a, &opt);
		vt_connect_to(&r->a, &b, &opt);
		for (int k = 0; k < 2; k++) {
			vt_post_rdma(r->a.qp, 1, IBV_WR_RDMA_WRITE, &near, 1,
				     (uintptr_t)r->far.p, r->far.mr->rkey);
			vt_wait(r->a.cq, MS, "write");
		}
		require(vt_async_event(r->db->ctx, IBV_EVENT_COMM_EST, MS),
			"no IBV_EVENT_COMM_EST");
		require(!vt_async_event(r->db->ctx, IBV_EVENT_COMM_EST, QUIET),
			"IBV_EVENT_COMM_EST twice");
		vt_to_init(&r->a, &opt);
		vt_to_init(&r->b, &opt);
	}
	rig_close(r);
	printf("established: ok\n");
}

/* A completion queue overruns, and its queue pair is used on and on. */
static void fatal(struct rig *r)
{
	struct vt_opt opt = { 0 }, small = { .cqe = 1 };
	struct ibv_sge near = vt_sge(&r->near, 0, 8);
	int flags = fcntl(r->da->ctx->async_fd, F_GETFL), seen = 0;
	struct ibv_async_event ev;
	uint64_t end;

	vt_step("a completion queue overruns");
	vt_end_create(&r->a, r->da, &small);
	vt_end_create(&r->b, r->db, &opt);
	vt_connect(&r->a, &r->b, &opt);
	for (int i = 0; i < r->a.cq->cqe + 50; i++) {
		vt_post_rdma(r->a.qp, 1, IBV_WR_RDMA_WRITE, &near, 1,
			     (uintptr_t)r->far.p, r->far.mr->rkey);
		if (i % 64 == 63)
			usleep(20000);
	}
	require(!fcntl(r->da->ctx->async_fd, F_SETFL, flags | O_NONBLOCK),
		"fcntl: %m");
	end = vt_now_us() + 500000;
	while (vt_now_us() < end) {
		if (ibv_get_async_event(r->da->ctx, &ev)) {
			usleep(1000);
			continue;
		}
		seen += ev.event_type == IBV_EVENT_QP_FATAL;
		ibv_ack_async_event(&ev);
	}
	require(!fcntl(r->da->ctx->async_fd, F_SETFL, flags), "fcntl: %m");
	require(seen == 1, "IBV_EVENT_QP_FATAL came %d times", seen);
	require(vt_state(r->a.qp) == IBV_QPS_ERR, "the queue pair is not in error");
	rig_close(r);
	printf("fatal: once: ok\n");
}

struct hammer {
	struct rig *r;
	unsigned long n;
};

#define WINDOW	32

/* keeps WINDOW messages under way; RNR retry covers a receiver that sleeps */
static void *hammer(void *arg)
{
	struct hammer *h = arg;
	struct ibv_sge from = vt_sge(&h->r->near, 0, 8);
	unsigned long posted = 0, done = 0;

	while (done < h->n) {
		while (posted < h->n && posted - done < WINDOW)
			vt_post_send(h->r->a.qp, posted++, &from, 1, 0);
		require(vt_wait(h->r->a.cq, MS, "hammer").wr_id == done,
			"send out of order");
		done++;
	}
	return NULL;
}

static void no_event_lost(struct rig *r, unsigned long n)
{
	struct ibv_sge to = vt_sge(&r->far, 0, 8);
	unsigned long got = 0, posted = 0, events = 0;
	struct hammer h = { .r = r, .n = n };
	pthread_t thread;
	struct ibv_wc wc;

	while (posted < 128)
		vt_post_recv(r->b.qp, posted++, &to, 1);
	arm(r, 0);
	require(!pthread_create(&thread, NULL, hammer, &h), "pthread_create");
	while (got < n) {
		vt_step("hammered, %lu of %lu messages", got, n);
		require(vt_wait_event(r->b.chan, MS),
			"an event was lost after %lu messages, %d are waiting",
			got, ibv_poll_cq(r->b.cq, 1, &wc));
		events++;
		arm(r, 0);
		while (ibv_poll_cq(r->b.cq, 1, &wc) == 1) {
			require(wc.status == IBV_WC_SUCCESS, "%s",
				ibv_wc_status_str(wc.status));
			require(wc.wr_id == got, "receive out of order");
			got++;
			vt_post_recv(r->b.qp, posted++, &to, 1);
		}
	}
	pthread_join(thread, NULL);
	printf("hammered: %lu messages, %lu events, none lost: ok\n", n,
	       events);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	unsigned long n = 20000;
	struct rig r;

	vt_pair_parse(&pair, argc, argv, &n);
	memset(&r, 0, sizeof(r));
	vt_pair_open(&pair, &r.da, &r.db);
	r.near = vt_alloc(r.da->pd, 64, 0, VT_ALL_ACCESS);
	r.far = vt_alloc(r.db->pd, 64, 0, VT_ALL_ACCESS);
	established(&r);
	fatal(&r);
	rig_open(&r);
	arming(&r);
	rig_close(&r);
	rig_open(&r);
	no_event_lost(&r, n);
	rig_close(&r);
	vt_free(&r.near);
	vt_free(&r.far);
	if (r.db != r.da)
		vt_close(r.db);
	vt_close(r.da);
	printf("vt_events: ok\n");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_hold: a program that still has the device open while it goes away.
 *
 * It maps the rings of several queue pairs, has receives posted and sends
 * under way, on the device's local path (the receiver is not ready) and on the
 * wire (nobody answers), prints "ready" and waits for a line on stdin.  Whoever runs it
 * deletes the device in between (unloads the module, removes the namespace).
 * Then it goes on as a program that has not noticed: polls, posts, asks,
 * destroys everything and exits.  Errors are fine there; a crash is not, nor
 * a completion that is not one, nor a call that never returns.
 *
 * -a  the device must have said so: IBV_EVENT_DEVICE_FATAL
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define QPS	4
#define DEPTH	64
#define LEN	4096

static void check_destroy(int rc, const char *what)
{
	if (rc)
		printf("%s: %s\n", what, strerror(rc));
	require(!rc || rc == EIO || rc == ENODEV || rc == EBUSY, "%s: %s",
		what, strerror(rc));
}

/* everything the queue still holds; each must be one of ours */
static unsigned int drain(struct ibv_cq *cq, unsigned int posted)
{
	unsigned int n = 0;
	struct ibv_wc wc;
	int rc;

	while ((rc = ibv_poll_cq(cq, 1, &wc)) > 0) {
		require(wc.wr_id < 2 * DEPTH, "wr_id %llu is not ours",
			(unsigned long long)wc.wr_id);
		require(++n <= posted, "more completions than requests");
	}
	require(rc == 0, "poll_cq: %d", rc);
	return n;
}

static bool device_fatal(struct ibv_context *ctx)
{
	struct ibv_async_event event;
	struct pollfd p = { .fd = ctx->async_fd, .events = POLLIN };
	uint64_t end = vt_now_us() + 5000000;

	while (vt_now_us() < end) {
		if (poll(&p, 1, 1000) <= 0)
			continue;
		if (ibv_get_async_event(ctx, &event))
			return false;
		printf("event: %s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct vt_opt opt = { .send_wr = DEPTH, .recv_wr = DEPTH,
			      .channel = true };
	struct vt_end end[QPS];
	struct vt_addr nobody;
	unsigned int n = 0;
	bool fatal = false;
	struct vt_dev *dev, *same;
	struct ibv_sge sge;
	struct vt_buf buf;
	struct ibv_wc wc;
	char line[64];
	int c;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "a")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c == 'a')
			fatal = true;
		else
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a || pair.dev_b) {
		fprintf(stderr, "usage: vt_hold -d DEV [-g GID] [-a] [-t SECONDS]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	vt_pair_open(&pair, &dev, &same);
	buf = vt_alloc(dev->pd, LEN, 0, VT_ALL_ACCESS);
	sge = vt_sge(&buf, 0, LEN);
	for (int i = 0; i < QPS; i++)
		vt_end_create(&end[i], dev, &opt);
	/* 0 and 1 with each other, 2 with itself, 3 with nobody */
	vt_connect(&end[0], &end[1], &opt);
	vt_connect(&end[2], &end[2], &opt);
	nobody = vt_addr_of(&end[3]);
	nobody.qpn = 0xabcdef;
	vt_connect_to(&end[3], &nobody, &opt);
	for (int i = 0; i < QPS; i++) {
		require(!ibv_req_notify_cq(end[i].cq, 0), "req_notify_cq");
		for (int k = 0; k < DEPTH / 2; k++)
			vt_post_recv(end[i].qp, k, &sge, 1);
	}
	vt_post_send(end[0].qp, DEPTH, &sge, 1, 0);
	vt_wait(end[0].cq, 10000, "send before the removal");
	vt_wait(end[1].cq, 10000, "receive before the removal");
	/* more than there are receives */
	for (int k = 1; k < DEPTH; k++)
		vt_post_send(end[2].qp, DEPTH + k, &sge, 1, 0);
	for (int k = 1; k < DEPTH / 2; k++)
		vt_post_send(end[3].qp, DEPTH + k, &sge, 1, 0);
	printf("ready\n");
	require(fgets(line, sizeof(line), stdin), "nothing on stdin");

	vt_step("after the removal");
	if (fatal)
		require(device_fatal(dev->ctx), "no IBV_EVENT_DEVICE_FATAL");
	for (int i = 0; i < QPS; i++)
		n += drain(end[i].cq, 2 * DEPTH);
	for (int i = 0; i < QPS; i++) {
		/* the rings are still mapped: posting may fail, not fault */
		struct ibv_send_wr wr = {
			.wr_id = 1, .sg_list = &sge, .num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
		};

		vt_try_recv(end[i].qp, 1, &sge, 1);
		vt_try_send(end[i].qp, &wr);
		ibv_req_notify_cq(end[i].cq, 0);
		for (int k = 0; k < 100; k++)
			if (ibv_poll_cq(end[i].cq, 1, &wc) > 0)
				n++;
	}
	printf("%u completions after the removal\n", n);
	for (int i = 0; i < QPS; i++) {
		check_destroy(ibv_destroy_qp(end[i].qp), "destroy_qp");
		check_destroy(ibv_destroy_cq(end[i].cq), "destroy_cq");
		check_destroy(ibv_destroy_comp_channel(end[i].chan),
			      "destroy_comp_channel");
	}
	check_destroy(ibv_dereg_mr(buf.mr), "dereg_mr");
	check_destroy(ibv_dealloc_pd(dev->pd), "dealloc_pd");
	check_destroy(ibv_close_device(dev->ctx), "close_device");
	printf("vt_hold: ok\n");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_leave: goes while its packets are still in somebody's queue (T07).
 *
 * Posts 1,000 sends of 4 KiB to a peer that the caller has put behind a delay,
 * destroys everything at once and exits.  No step may take a second: destroying
 * must not wait for an skb.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define LEN	4096
#define LIMIT	1000000

static void timed(int rc, uint64_t start, const char *what)
{
	uint64_t took = vt_now_us() - start;

	require(!rc, "%s: %s", what, strerror(rc));
	printf("%s: %llu us\n", what, (unsigned long long)took);
	require(took < LIMIT, "%s took %llu ms", what,
		(unsigned long long)took / 1000);
}

int main(int argc, char **argv)
{
	struct vt_opt opt = { .send_wr = 1024, .recv_wr = 1 };
	struct vt_pair pair = { .seconds = 60 };
	unsigned int n = 1000;
	struct vt_dev *da, *db;
	struct vt_end a, b;
	struct vt_buf buf;
	struct ibv_sge sge;
	uint64_t start;
	int c;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "n:")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c == 'n')
			n = vt_number(optarg, 1, 1024);
		else
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a) {
		fprintf(stderr, "usage: vt_leave " VT_PAIR_USAGE " [-n SENDS]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	vt_pair_open(&pair, &da, &db);
	vt_end_create(&a, da, &opt);
	vt_end_create(&b, db, &opt);
	vt_connect(&a, &b, &opt);
	buf = vt_alloc(da->pd, LEN, 0, VT_ALL_ACCESS);
	sge = vt_sge(&buf, 0, LEN);
	for (unsigned int i = 0; i < n; i++)
		vt_post_send(a.qp, i, &sge, 1, 0);
	vt_expect_none(a.cq, 100, "the wire is not delayed");

	start = vt_now_us();
	timed(ibv_destroy_qp(a.qp), start, "destroy_qp");
	start = vt_now_us();
	timed(ibv_destroy_cq(a.cq), start, "destroy_cq");
	start = vt_now_us();
	timed(ibv_dereg_mr(buf.mr), start, "dereg_mr");
	/* the page is in the packets still; the process may do what it likes */
	memset(buf.p, 0xee, LEN);
	start = vt_now_us();
	timed(ibv_destroy_qp(b.qp), start, "destroy_qp of the peer");
	timed(ibv_destroy_cq(b.cq), start, "destroy_cq of the peer");
	start = vt_now_us();
	if (db != da)
		vt_close(db);
	vt_close(da);
	timed(0, start, "close");
	printf("vt_leave: ok\n");
	return 0;
}

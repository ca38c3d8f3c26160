// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_rewrite: RDMA from and to memory that a second thread rewrites without
 * pause.  Whoever sends pages by reference computes an ICRC that is stale when
 * the packet leaves; that may cost a round, never the work request, never the
 * queue pair.  The bytes that arrive may be old or new, but each of them must
 * be one of the values that were written.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

struct writer {
	uint8_t *p;
	size_t len;
	atomic_bool stop;
	atomic_ulong rounds;
};

static void *rewrite(void *arg)
{
	struct writer *w = arg;
	uint8_t value = 0;

	while (!atomic_load(&w->stop)) {
		value = (value + 1) & 0x7f;
		memset(w->p, value, w->len);
		atomic_fetch_add(&w->rounds, 1);
	}
	return NULL;
}

static void check_values(const uint8_t *p, size_t len, const char *what)
{
	for (size_t i = 0; i < len; i++)
		require(p[i] < 0x80, "%s: byte %zu is 0x%02x, nobody wrote that",
			what, i, p[i]);
}

/* @n operations of @len bytes on memory of @src that is being rewritten */
static void run(struct vt_end *a, struct vt_end *b, enum ibv_wr_opcode op,
		size_t len, unsigned int n, unsigned int ms)
{
	bool read = op == IBV_WR_RDMA_READ;
	struct vt_buf near = vt_alloc(a->dev->pd, len, 0, VT_ALL_ACCESS);
	struct vt_buf far = vt_alloc(b->dev->pd, len, 0, VT_ALL_ACCESS);
	struct vt_buf *from = read ? &far : &near, *to = read ? &near : &far;
	const char *what = read ? "READ" : "WRITE";
	struct writer w = { .p = from->p, .len = len };
	struct ibv_sge sge = vt_sge(&near, 0, len);
	uint64_t start = vt_now_us();
	pthread_t thread;

	memset(from->p, 0, len);
	require(!pthread_create(&thread, NULL, rewrite, &w), "pthread_create");
	for (unsigned int i = 0; i < n; i++) {
		vt_step("%s %u of %u", what, i + 1, n);
		memset(to->p, 0xff, len);
		vt_post_rdma(a->qp, i, op, &sge, 1, (uintptr_t)far.p,
			     far.mr->rkey);
		require(vt_wait(a->cq, ms, what).wr_id == i, "wrong wr_id");
		check_values(to->p, len, what);
	}
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	require(atomic_load(&w.rounds) > 1, "the buffer was not rewritten");
	vt_check_guards(&near, what);
	vt_check_guards(&far, what);
	printf("%-5s %u x %zu bytes, rewritten %lu times meanwhile, %.1f s\n",
	       what, n, len, atomic_load(&w.rounds),
	       (vt_now_us() - start) / 1e6);
	fflush(stdout);
	vt_free(&near);
	vt_free(&far);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 300 };
	/* a stale ICRC in a last packet costs an ACK timeout: a short one */
	struct vt_opt opt = { .timeout = 14 };
	unsigned int n = 1000, ms = 30000;
	size_t len = 1 << 20;
	struct vt_dev *da, *db;
	struct vt_end a, b;
	int c;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "n:l:w:")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c == 'n')
			n = vt_number(optarg, 1, 1000000);
		else if (c == 'l')
			len = vt_number(optarg, 1, 1 << 30);
		else if (c == 'w')
			ms = vt_number(optarg, 1, 600000);
		else
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a) {
		fprintf(stderr, "usage: vt_rewrite " VT_PAIR_USAGE
			" [-n TIMES] [-l BYTES] [-w MS]\n");
		return 2;
	}
	vt_pair_open(&pair, &da, &db);
	vt_end_create(&a, da, &opt);
	vt_end_create(&b, db, &opt);
	vt_connect(&a, &b, &opt);
	run(&a, &b, IBV_WR_RDMA_READ, len, n, ms);
	run(&a, &b, IBV_WR_RDMA_WRITE, len, n, ms);
	require(vt_state(a.qp) == IBV_QPS_RTS && vt_state(b.qp) == IBV_QPS_RTS,
		"a queue pair has left RTS");
	vt_end_destroy(&a);
	vt_end_destroy(&b);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_rewrite: ok\n");
	return 0;
}

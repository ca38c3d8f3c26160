// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_self: a queue pair connected to itself, and two queue pairs whose both
 * ends send at the same moment.  These are the shapes in which the sending
 * and the receiving half of one queue pair wait for each other.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define MS	30000

static void self_size(struct vt_end *e, struct vt_buf *src, struct vt_buf *dst,
		      size_t len, uint64_t seed)
{
	struct ibv_sge from = vt_sge(src, 0, len), to = vt_sge(dst, 0, len);
	unsigned int seen = 0;

	/* SEND: one completion of each half, in any order */
	vt_step("SEND of %zu bytes to itself", len);
	vt_fill(src->p, len, seed, 0);
	memset(dst->p, VT_POISON, dst->len);
	vt_post_recv(e->qp, 1, &to, 1);
	vt_post_send(e->qp, 2, &from, 1, 0);
	while (seen != 3) {
		struct ibv_wc wc = vt_wait(e->cq, MS, "SEND to itself");

		require(wc.wr_id == 1 || wc.wr_id == 2, "wrong wr_id");
		require(!(seen & wc.wr_id), "wr_id %llu completed twice",
			(unsigned long long)wc.wr_id);
		require(wc.wr_id == 2 || wc.byte_len == len,
			"byte_len %u, not %zu", wc.byte_len, len);
		seen |= wc.wr_id;
	}
	vt_check(dst->p, len, seed, 0, "SEND to itself");
	vt_check_byte(dst->p + len, dst->len - len, VT_POISON, "behind");

	vt_step("WRITE of %zu bytes to itself", len);
	vt_fill(src->p, len, seed + 1, 0);
	vt_post_rdma(e->qp, 3, IBV_WR_RDMA_WRITE, &from, 1, (uintptr_t)dst->p,
		     dst->mr->rkey);
	require(vt_wait(e->cq, MS, "WRITE to itself").wr_id == 3, "wr_id");
	vt_check(dst->p, len, seed + 1, 0, "WRITE to itself");

	vt_step("READ of %zu bytes from itself", len);
	vt_fill(src->p, len, seed + 2, 0);
	vt_post_rdma(e->qp, 4, IBV_WR_RDMA_READ, &to, 1, (uintptr_t)src->p,
		     src->mr->rkey);
	require(vt_wait(e->cq, MS, "READ from itself").wr_id == 4, "wr_id");
	vt_check(dst->p, len, seed + 2, 0, "READ from itself");
}

static void self(struct vt_dev *dev)
{
	static const size_t sizes[] = { 0, 1, 4096, 65537, 1 << 20 };
	struct vt_buf src = vt_alloc(dev->pd, 1 << 20, 5, VT_ALL_ACCESS);
	struct vt_buf dst = vt_alloc(dev->pd, 1 << 20, 9, VT_ALL_ACCESS);
	struct vt_opt opt = { 0 };
	struct vt_end e;

	vt_end_create(&e, dev, &opt);
	vt_connect(&e, &e, &opt);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		self_size(&e, &src, &dst, sizes[i], 100 + 10 * i);
	vt_check_guards(&src, "source");
	vt_check_guards(&dst, "destination");
	vt_end_destroy(&e);
	vt_free(&src);
	vt_free(&dst);
	printf("%s: a queue pair connected to itself: ok\n", dev->name);
	fflush(stdout);
}

struct both {
	struct vt_end end;
	struct vt_buf src, dst;
	unsigned int rounds, depth;
	uint64_t my_seed, peer_seed;
	size_t len;
	pthread_barrier_t *start;
};

/* one end: every round @depth sends against @depth receives, all at once */
static void *one_end(void *arg)
{
	struct both *me = arg;

	for (unsigned int r = 0; r < me->rounds; r++) {
		for (unsigned int i = 0; i < me->depth; i++) {
			struct ibv_sge to = vt_sge(&me->dst, i * me->len,
						   me->len);

			vt_fill(me->src.p + i * me->len, me->len,
				me->my_seed + r * me->depth + i, 0);
			vt_post_recv(me->end.qp, i, &to, 1);
		}
		pthread_barrier_wait(me->start);
		for (unsigned int i = 0; i < me->depth; i++) {
			struct ibv_sge from = vt_sge(&me->src, i * me->len,
						     me->len);

			vt_post_send(me->end.qp, 1000 + i, &from, 1, 0);
		}
		for (unsigned int i = 0; i < 2 * me->depth; i++)
			vt_wait(me->end.cq, MS, "both ends sending");
		for (unsigned int i = 0; i < me->depth; i++)
			vt_check(me->dst.p + i * me->len, me->len,
				 me->peer_seed + r * me->depth + i, 0,
				 "both ends sending");
	}
	return NULL;
}

static void both(struct vt_dev *da, struct vt_dev *db, unsigned int rounds,
		 size_t len)
{
	struct both side[2] = { 0 };
	struct vt_opt opt = { 0 };
	pthread_barrier_t start;
	pthread_t thread;

	vt_step("both ends sending %zu bytes", len);
	pthread_barrier_init(&start, NULL, 2);
	for (int i = 0; i < 2; i++) {
		struct both *s = &side[i];

		*s = (struct both){
			.rounds = rounds, .depth = 4, .len = len,
			.my_seed = i ? 5000000 : 1,
			.peer_seed = i ? 1 : 5000000, .start = &start,
		};
		vt_end_create(&s->end, i ? db : da, &opt);
		s->src = vt_alloc(s->end.dev->pd, 4 * len, 1, VT_ALL_ACCESS);
		s->dst = vt_alloc(s->end.dev->pd, 4 * len, 2, VT_ALL_ACCESS);
	}
	vt_connect(&side[0].end, &side[1].end, &opt);
	require(!pthread_create(&thread, NULL, one_end, &side[1]),
		"pthread_create");
	one_end(&side[0]);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		vt_check_guards(&side[i].dst, "destination");
		vt_end_destroy(&side[i].end);
		vt_free(&side[i].src);
		vt_free(&side[i].dst);
	}
	pthread_barrier_destroy(&start);
	printf("both ends sending %zu bytes, %u times 4: ok\n", len, rounds);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 300 };
	unsigned int rounds = 10;
	struct vt_dev *da, *db;
	size_t len = 1 << 20;
	int c;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "n:l:")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c == 'n')
			rounds = vt_number(optarg, 1, 1000000);
		else if (c == 'l')
			len = vt_number(optarg, 1, 1 << 28);
		else
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a) {
		fprintf(stderr, "usage: vt_self " VT_PAIR_USAGE
			" [-n ROUNDS] [-l BYTES]\n");
		return 2;
	}
	vt_pair_open(&pair, &da, &db);
	self(da);
	if (db != da)
		self(db);
	both(da, db, rounds, len);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_self: ok\n");
	return 0;
}

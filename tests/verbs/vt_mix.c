// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_mix: lists of SEND, WRITE and READ in any order, posted in one go.
 *
 * What completes is verified at that moment, and so is all before it: a READ
 * has its bytes, what a SEND or WRITE carried has arrived, completions come in the
 * order of the list and those of unsignalled operations not at all.
 *
 *	vt_mix -d DEV ... [-n LISTS] [-O TIMEOUT] [-r RETRIES] [-s SEED] [LIST]
 *
 * LIST is what to post, for example S64,w1000,R65536: an operation (S, W, R; in
 * small letters unsignalled; with F behind it fenced) and its bytes.  Without one
 * each list is another random one.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define MS	20000
#define MAX_LIST	48
#define SLOT	(1u << 16)
#define TAIL	16	/* bytes behind a message that nobody may touch */

enum op { SEND, WRITE, READ };

struct item {
	enum op op;
	bool signal, fence;
	size_t len;
};

static struct vt_end a, b;
static struct vt_buf near_buf, far_buf;
static struct item list[MAX_LIST];
static unsigned int count;
static uint64_t base;	/* seed of the first slot's pattern */

static size_t slot(unsigned int i)
{
	return (size_t)i * (SLOT + TAIL);
}

static void add(const struct item *item)
{
	require(count < MAX_LIST, "more than %d operations", MAX_LIST);
	require(item->len <= SLOT, "more than %u bytes", SLOT);
	list[count++] = *item;
}

static void parse(char *text)
{
	char *word, *save, *end;

	count = 0;
	for (word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		const char *kind = strchr("SsWwRr", *word);
		struct item item = { 0 };

		require(kind && *kind, "%s: no operation", word);
		item.op = (kind - "SsWwRr") / 2;
		item.signal = !strchr("swr", *word);
		item.fence = word[1] == 'F';
		item.len = strtoul(word + 1 + item.fence, &end, 10);
		require(!*end, "%s: bytes?", word);
		add(&item);
	}
	require(count && list[count - 1].signal,
		"the last operation is to be signalled");
}

static void draw(void)
{
	static const size_t len[] = { 0, 1, 64, 1000, 1024, 1025, 5000, 30000 };
	unsigned int n = 2 + random() % (MAX_LIST - 1);

	for (count = 0; count < n;) {
		struct item item = {
			.op = random() % 3,
			.signal = random() % 2 || count + 1 == n,
			.fence = random() % 8 == 0,
			.len = len[random() % ARRAY_SIZE(len)],
		};

		add(&item);
	}
}

/* The bytes are where they come from; where they go to is poison. */
static void prepare(void)
{
	for (unsigned int i = 0; i < count; i++) {
		struct vt_buf *from = list[i].op == READ ? &far_buf : &near_buf;
		struct vt_buf *to = list[i].op == READ ? &near_buf : &far_buf;

		vt_fill(from->p + slot(i), list[i].len, base + i, 0);
		memset(to->p + slot(i), VT_POISON, list[i].len + TAIL);
		if (list[i].op == SEND) {
			struct ibv_sge sge = vt_sge(to, slot(i), list[i].len);

			vt_post_recv(b.qp, i, &sge, 1);
		}
	}
}

static void post(void)
{
	static const enum ibv_wr_opcode verb[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	static struct ibv_send_wr wr[MAX_LIST];
	static struct ibv_sge sge[MAX_LIST];
	int rc;

	for (unsigned int i = 0; i < count; i++) {
		sge[i] = vt_sge(&near_buf, slot(i), list[i].len);
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i + 1 < count ? &wr[i + 1] : NULL,
			.sg_list = &sge[i],
			.num_sge = 1,
			.opcode = verb[list[i].op],
			.send_flags = (list[i].signal ? IBV_SEND_SIGNALED : 0) |
				      (list[i].fence ? IBV_SEND_FENCE : 0),
			.wr.rdma = {
				.remote_addr = (uintptr_t)far_buf.p + slot(i),
				.rkey = far_buf.mr->rkey,
			},
		};
	}
	rc = vt_try_send(a.qp, wr);
	require(!rc, "post_send: %s", strerror(rc));
}

static void check(unsigned int i)
{
	static const char *const name[] = { "SEND", "WRITE", "READ" };
	const uint8_t *to = list[i].op == READ ? near_buf.p : far_buf.p;

	vt_check(to + slot(i), list[i].len, base + i, 0, name[list[i].op]);
	vt_check_byte(to + slot(i) + list[i].len, TAIL, VT_POISON,
		      "behind the message");
}

static void one_list(void)
{
	unsigned int done = 0, i;
	struct ibv_wc wc;

	prepare();
	post();
	while (done < count) {
		wc = vt_wait(a.cq, MS, "the list");
		for (i = done; !list[i].signal; i++)
			;
		require(wc.wr_id == i, "operation %llu completed, not %u",
			(unsigned long long)wc.wr_id, i);
		for (; done <= i; done++)
			check(done);
	}
	vt_expect_none(a.cq, 0, "behind the list");
	for (i = 0; i < count; i++) {
		if (list[i].op != SEND)
			continue;
		wc = vt_wait(b.cq, MS, "receive");
		require(wc.wr_id == i && wc.byte_len == list[i].len,
			"receive %llu of %u bytes, not %u of %zu",
			(unsigned long long)wc.wr_id, wc.byte_len, i,
			list[i].len);
	}
}

int main(int argc, char **argv)
{
	struct vt_opt opt = { 0 };
	struct vt_pair pair = { .seconds = 300 };
	struct vt_dev *da, *db;
	unsigned long n = 1, seed = 1;
	int c;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "n:O:r:s:")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c == 'n')
			n = vt_number(optarg, 1, 1000000);
		else if (c == 's')
			seed = vt_number(optarg, 0, 1000000);
		else if (c == 'O')	/* 0 stands for none: there is no timer */
			opt.timeout = vt_number(optarg, 0, 31) ?: -1;
		else if (c == 'r')
			opt.retry = vt_number(optarg, 0, 7) + 1;
		else
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a || optind + 1 < argc) {
		fprintf(stderr, "usage: vt_mix " VT_PAIR_USAGE
			" [-n LISTS] [-O TIMEOUT] [-r RETRIES] [-s SEED] [LIST]\n");
		return 2;
	}
	vt_pair_open(&pair, &da, &db);
	vt_end_create(&a, da, &opt);
	vt_end_create(&b, db, &opt);
	vt_connect(&a, &b, &opt);
	near_buf = vt_alloc(da->pd, slot(MAX_LIST), 1, VT_ALL_ACCESS);
	far_buf = vt_alloc(db->pd, slot(MAX_LIST), 3, VT_ALL_ACCESS);
	srandom(seed);
	if (optind < argc)
		parse(argv[optind]);
	for (unsigned long i = 0; i < n; i++, base += MAX_LIST) {
		vt_step("list %lu of seed %lu", i, seed);
		if (optind == argc)
			draw();
		one_list();
	}
	vt_check_guards(&near_buf, "near");
	vt_check_guards(&far_buf, "far");
	vt_end_destroy(&a);
	vt_end_destroy(&b);
	vt_free(&near_buf);
	vt_free(&far_buf);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_mix: %lu lists: ok\n", n);
	return 0;
}

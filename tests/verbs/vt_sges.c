// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_sges: SENDs of as many pieces as a work request may have, each piece across
 * the end of a page, several work requests in one list, every byte verified.
 *
 *	vt_sges -d DEV [-D DEV2] ...
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "shca_test.h"

#define MS	10000
#define LIST	8
#define SGES	16
#define PAGE	4096

static struct vt_end a, b;
static struct vt_buf from, to;

static void list(unsigned int nsge, unsigned int piece)
{
	size_t len = (size_t)nsge * piece;
	struct ibv_sge sge[LIST][SGES], into;
	struct ibv_send_wr wr[LIST] = {}, *bad;

	vt_step("%u pieces of %u bytes", nsge, piece);
	vt_check_guards(&to, "receive buffer");
	memset(to.p, VT_POISON, to.len);
	for (unsigned int i = 0; i < LIST; i++) {
		into = vt_sge(&to, i * len, len);
		vt_post_recv(b.qp, i, &into, 1);
		for (unsigned int k = 0; k < nsge; k++) {
			/* the k-th page end, and as much on either side */
			size_t at = (k + 1) * PAGE - piece / 2;

			vt_fill(from.p + at, piece, nsge, k * piece);
			sge[i][k] = vt_sge(&from, at, piece);
		}
		wr[i].wr_id = i;
		wr[i].next = i + 1 < LIST ? &wr[i + 1] : NULL;
		wr[i].sg_list = sge[i];
		wr[i].num_sge = nsge;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].send_flags = IBV_SEND_SIGNALED;
	}
	require(!ibv_post_send(a.qp, wr, &bad), "post_send");
	for (unsigned int i = 0; i < LIST; i++) {
		vt_wait(a.cq, MS, "send");
		vt_wait(b.cq, MS, "receive");
		vt_check(to.p + i * len, len, nsge, 0, "message");
	}
	vt_check_byte(to.p + LIST * len, to.len - LIST * len, VT_POISON,
		      "what was not sent");
}

int main(int argc, char **argv)
{
	static const unsigned int pieces[] = { 2, 64, 250, 256 };
	struct vt_opt opt = { .max_sge = SGES };
	struct vt_pair pair = { .seconds = 100 };
	struct vt_dev *da, *db;

	vt_pair_parse(&pair, argc, argv, NULL);
	require(optind == argc, "there is nothing else to say");
	vt_pair_open(&pair, &da, &db);
	vt_end_create(&a, da, &opt);
	vt_end_create(&b, db, &opt);
	vt_connect(&a, &b, &opt);
	from = vt_alloc(da->pd, (SGES + 1) * PAGE, 0, VT_ALL_ACCESS);
	to = vt_alloc(db->pd, LIST * SGES * 256 + 64, 1, VT_ALL_ACCESS);
	for (unsigned int nsge = 1; nsge <= SGES; nsge++)
		for (size_t p = 0; p < ARRAY_SIZE(pieces); p++)
			list(nsge, pieces[p]);
	vt_end_destroy(&a);
	vt_end_destroy(&b);
	vt_free(&from);
	vt_free(&to);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_sges: ok\n");
	return 0;
}

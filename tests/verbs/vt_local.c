// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_local: what can go wrong while one queue pair of a device writes straight
 * into the memory of another of the same device.
 *
 *   overlap   source and target share memory: the target gets what memmove()
 *             would have made of it
 *   vanish    the responder is destroyed, or moved to ERR, in mid-message
 *   dereg     a region of either side is deregistered in mid-message: nothing
 *             is written any more once that has returned
 *   stop      the requester is moved to ERR, or destroyed, in mid-message
 *   late      the peer is not ready at first, and asked over the wire
 *   corrupt   the responder's process writes an index into its receive queue that
 *             can not be: the requester gives up as it would over the wire
 *   flap      the port goes down and up all the time (somebody else sees to
 *             that): every message succeeds, each byte is what it should be
 *
 * Mid-message is where a long message is after post_send, which executes only
 * its beginning.  A round in which it was over too soon shows nothing; a test of
 * nothing but such rounds fails.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shca_test.h"
#include "softhca-abi.h"

#define MS	20000
#define MIB	(1u << 20)
#define LONG	(32 * MIB)
#define FLAPPED	(4 * MIB)	/* the wire is slow on debug kernels */
#define TOUCHED	0x3c

enum op { SEND, WRITE, READ, OPS };

static const char *const op_name[] = { "SEND", "WRITE", "READ" };

struct rig {
	struct vt_dev *dev;
	struct vt_end a, b;
	struct vt_buf near, far;
};

static void rig_open(struct rig *r)
{
	/* a wire that does not answer is given up after about 100 ms */
	struct vt_opt opt = { .timeout = 13, .retry = 2 };

	vt_end_create(&r->a, r->dev, &opt);
	vt_end_create(&r->b, r->dev, &opt);
	vt_connect(&r->a, &r->b, &opt);
}

static void rig_close(struct rig *r)
{
	if (r->a.qp)
		vt_end_destroy(&r->a);
	if (r->b.qp)
		vt_end_destroy(&r->b);
}

/* @a sends, writes or reads; the target of a SEND and WRITE is @far */
static void post(struct rig *r, enum op op, struct ibv_sge near,
		 struct ibv_sge far, uint32_t rkey)
{
	if (op == SEND) {
		vt_post_recv(r->b.qp, 2, &far, 1);
		vt_post_send(r->a.qp, 1, &near, 1, 0);
	} else {
		vt_post_rdma(r->a.qp, 1, op == READ ? IBV_WR_RDMA_READ :
						      IBV_WR_RDMA_WRITE,
			     &near, 1, far.addr, rkey);
	}
}

/* ---- overlap ---------------------------------------------------------- */

static void overlap_one(struct rig *r, struct ibv_mr *twin, enum op op,
			size_t len, long shift)
{
	size_t from = shift < 0 ? -shift : 0, to = shift < 0 ? 0 : shift;
	size_t all = len + labs(shift);
	uint8_t *want = malloc(all), *p = r->near.p;
	struct ibv_sge src = vt_sge(&r->near, from, len);
	struct ibv_sge dst = vt_sge(&r->near, to, len);

	vt_step("%s of %zu bytes, %ld further on%s", op_name[op], len, shift,
		twin ? ", two regions" : "");
	require(want, "malloc");
	vt_fill(p, all, len + shift, 0);
	memcpy(want, p, all);
	memmove(want + to, want + from, len);
	if (twin)
		dst.lkey = twin->lkey;
	post(r, op, op == READ ? dst : src, op == READ ? src : dst,
	     op == READ ? r->near.mr->rkey : dst.lkey);
	vt_wait(r->a.cq, MS, op_name[op]);
	if (op == SEND)
		vt_wait(r->b.cq, MS, "receive");
	for (size_t i = 0; i < all; i++)
		require(p[i] == want[i], "byte %zu is 0x%02x, not 0x%02x", i,
			p[i], want[i]);
	free(want);
}

static void overlap(struct rig *r)
{
	static const struct { size_t len; long shift; } shape[] = {
		{ 100, 1 }, { 4096, 1 }, { 4096, 4095 }, { 9000, 4096 },
		{ 65536, 3 }, { 65537, 65536 }, { 300000, 1 },
		{ 300000, 4096 }, { 300000, 70001 }, { MIB, 100 },
		{ 1000, 1000 }, { 1000, 0 },
	};
	struct ibv_mr *twin = ibv_reg_mr(r->dev->pd, r->near.p, 2 * MIB,
					 VT_ALL_ACCESS);

	require(twin, "reg_mr: %m");
	rig_open(r);
	for (int op = 0; op < OPS; op++)
		for (size_t i = 0; i < ARRAY_SIZE(shape); i++)
			for (int two = 0; two < 2; two++) {
				overlap_one(r, two ? twin : NULL, op,
					    shape[i].len, shape[i].shift);
				overlap_one(r, two ? twin : NULL, op,
					    shape[i].len, -shape[i].shift);
			}
	rig_close(r);
	require(!ibv_dereg_mr(twin), "dereg_mr");
	vt_check_guards(&r->near, "overlapping");
	printf("overlap: as memmove: ok\n");
}

/* ---- in mid-message --------------------------------------------------- */

static void long_message(struct rig *r, enum op op)
{
	post(r, op, vt_sge(&r->near, 0, LONG), vt_sge(&r->far, 0, LONG),
	     r->far.mr->rkey);
}

/* The one completion; true if it is @status, false if it is a success */
static bool ended(struct rig *r, enum ibv_wc_status status, const char *what)
{
	struct ibv_wc wc;

	require(vt_poll(r->a.cq, &wc, MS), "%s: no completion", what);
	require(wc.wr_id == 1, "wr_id");
	require(wc.status == status || wc.status == IBV_WC_SUCCESS,
		"%s: %s, not %s", what, ibv_wc_status_str(wc.status),
		ibv_wc_status_str(status));
	vt_expect_none(r->a.cq, 0, "one completion is enough");
	return wc.status == status;
}

static void hit(const char *test, unsigned int hits, unsigned int rounds)
{
	require(hits, "%s: in none of %u rounds was the message under way",
		test, rounds);
	printf("%s: in mid-message %u times of %u: ok\n", test, hits, rounds);
}

static void vanish(struct rig *r, unsigned long n)
{
	unsigned int hits = 0, rounds = 0;

	for (unsigned long i = 0; i < n; i++)
		for (int op = 0; op < OPS; op++) {
			vt_step("%s to a responder that is %s", op_name[op],
				i % 2 ? "destroyed" : "moved to ERR");
			rig_open(r);
			long_message(r, op);
			if (i % 2)
				vt_end_destroy(&r->b);
			else
				require(!vt_to_err(r->b.qp), "to ERR");
			hits += ended(r, IBV_WC_RETRY_EXC_ERR, op_name[op]);
			rounds++;
			if (i % 2)
				r->b.qp = NULL;
			rig_close(r);
		}
	hit("vanish", hits, rounds);
}

static void reopen(struct rig *r, struct vt_buf *buf)
{
	buf->mr = ibv_reg_mr(r->dev->pd, buf->p, buf->len, VT_ALL_ACCESS);
	require(buf->mr, "reg_mr: %m");
}

static void dereg_one(struct rig *r, enum op op, bool own, unsigned int *hits)
{
	struct vt_buf *gone = own ? &r->near : &r->far;
	enum ibv_wc_status status = own ? IBV_WC_LOC_PROT_ERR :
				    op == SEND ? IBV_WC_REM_OP_ERR :
						 IBV_WC_REM_ACCESS_ERR;

	vt_step("%s, the %s region is deregistered", op_name[op],
		own ? "own" : "far");
	rig_open(r);
	long_message(r, op);
	require(!ibv_dereg_mr(gone->mr), "dereg_mr: %m");
	/* whoever writes on, or reads on, betrays itself */
	memset(gone->p, TOUCHED, gone->len);
	*hits += ended(r, status, op_name[op]);
	usleep(20000);
	vt_check_byte(gone->p, gone->len, TOUCHED, "written after dereg_mr");
	reopen(r, gone);
	rig_close(r);
}

static void dereg(struct rig *r, unsigned long n)
{
	unsigned int hits = 0, rounds = 0;

	for (unsigned long i = 0; i < n; i++)
		for (int op = 0; op < OPS; op++)
			for (int own = 0; own < 2; own++, rounds++)
				dereg_one(r, op, own, &hits);
	hit("dereg", hits, rounds);
}

static void stop(struct rig *r, unsigned long n)
{
	unsigned int hits = 0, rounds = 0;

	for (unsigned long i = 0; i < n; i++)
		for (int op = 0; op < OPS; op++) {
			vt_step("%s of a requester that is moved to ERR",
				op_name[op]);
			rig_open(r);
			long_message(r, op);
			require(!vt_to_err(r->a.qp), "to ERR");
			hits += ended(r, IBV_WC_WR_FLUSH_ERR, op_name[op]);
			rounds++;
			/* the responder keeps its receive until it ends too */
			if (op == SEND)
				require(!vt_to_err(r->b.qp), "to ERR");
			rig_close(r);

			vt_step("%s of a requester that is destroyed",
				op_name[op]);
			rig_open(r);
			long_message(r, op);
			require(!ibv_destroy_qp(r->a.qp), "destroy_qp");
			memset(r->far.p, TOUCHED, LONG);
			memset(r->near.p, TOUCHED, LONG);
			usleep(5000);
			vt_check_byte(r->far.p, LONG, TOUCHED, "far");
			vt_check_byte(r->near.p, LONG, TOUCHED, "near");
			r->a.qp = NULL;
			require(!ibv_destroy_cq(r->a.cq), "destroy_cq");
			rig_close(r);
		}
	hit("stop", hits, rounds);
}

/* ---- late ------------------------------------------------------------- */

static void late(struct rig *r, unsigned long n)
{
	struct vt_opt opt = { .timeout = 13 };
	struct vt_addr a, b;

	for (unsigned long i = 0; i < n; i++) {
		vt_step("a peer that is ready late");
		vt_end_create(&r->a, r->dev, &opt);
		vt_end_create(&r->b, r->dev, &opt);
		a = vt_addr_of(&r->a);
		b = vt_addr_of(&r->b);
		vt_connect_to(&r->a, &b, &opt);
		post(r, WRITE, vt_sge(&r->near, 0, 5000),
		     vt_sge(&r->far, 0, 5000), r->far.mr->rkey);
		usleep(10000 * (i % 8));
		vt_connect_to(&r->b, &a, &opt);
		/* a stream right behind it; each in its turn */
		for (unsigned int k = 0; k < 100; k++)
			post(r, k % 2 ? READ : WRITE, vt_sge(&r->near, 0, 5000),
			     vt_sge(&r->far, 0, 5000), r->far.mr->rkey);
		for (unsigned int k = 0; k <= 100; k++)
			vt_wait(r->a.cq, MS, "a peer that is ready late");
		rig_close(r);
	}
	printf("late: %lu peers: ok\n", n);
}

/* ---- corrupt ---------------------------------------------------------- */

/*
 * The producer index of @qp's receive queue: the word, in one of the rings that
 * this process has mapped, that counts the receives posted
 */
static volatile uint32_t *recv_index(struct ibv_qp *qp)
{
	enum { FIRST = 77 };
	const size_t at = sizeof(struct shca_ring_hdr) +
			  offsetof(struct shca_ring_hdr, prod);
	volatile uint32_t *word, *found = NULL;
	unsigned long from, to;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	require(maps, "/proc/self/maps: %m");
	for (int i = 0; i < FIRST; i++)
		vt_post_recv(qp, i, NULL, 0);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/dev/infiniband/uverbs") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		word = (volatile uint32_t *)(from + at);
		if (*word != FIRST)
			continue;
		vt_post_recv(qp, FIRST, NULL, 0);
		if (*word == FIRST + 1)
			found = word;
		break;
	}
	fclose(maps);
	require(found, "the mapping of the receive queue was not found");
	return found;
}

static void corrupt(struct rig *r)
{
	/* noticed after 2 x 4 ms on the wire, which doubles once */
	struct vt_opt opt = { .timeout = 10, .retry = 2 };
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM,
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		struct ibv_sge sge = vt_sge(&r->near, 0, 64);
		volatile uint32_t *prod;

		vt_step("a corrupt receive queue, opcode %d", ops[i]);
		vt_end_create(&r->a, r->dev, &opt);
		vt_end_create(&r->b, r->dev, &opt);
		vt_connect(&r->a, &r->b, &opt);
		prod = recv_index(r->b.qp);
		*prod += 1000;
		vt_post_rdma(r->a.qp, 1, ops[i], &sge, 1,
			     (uintptr_t)r->far.p, r->far.mr->rkey);
		vt_wait_status(r->a.cq, 2000, IBV_WC_RETRY_EXC_ERR,
			       "to a corrupt receive queue");
		require(vt_state(r->b.qp) == IBV_QPS_ERR,
			"the corrupt queue pair is not in ERR");
		rig_close(r);
	}
	printf("corrupt: the requester gives up: ok\n");
}

/* ---- flap ------------------------------------------------------------- */

static void flap(struct rig *r, unsigned long n)
{
	/* silence is noticed after 67 ms */
	struct vt_opt opt = { .timeout = 14, .retry = 8 };
	struct vt_buf *to;

	vt_end_create(&r->a, r->dev, &opt);
	vt_end_create(&r->b, r->dev, &opt);
	vt_connect(&r->a, &r->b, &opt);
	for (unsigned long i = 0; i < n; i++)
		for (int op = 0; op < OPS; op++) {
			vt_step("%s %lu while the port flaps", op_name[op], i);
			to = op == READ ? &r->near : &r->far;
			vt_fill(op == READ ? r->far.p : r->near.p, FLAPPED,
				OPS * i + op, 0);
			memset(to->p, 0, FLAPPED);
			post(r, op, vt_sge(&r->near, 0, FLAPPED),
			     vt_sge(&r->far, 0, FLAPPED), r->far.mr->rkey);
			vt_wait(r->a.cq, 3 * MS, op_name[op]);
			if (op == SEND)
				vt_wait(r->b.cq, MS, "receive");
			require(!memcmp(r->near.p, r->far.p, FLAPPED),
				"the bytes are not those that were sent");
		}
	rig_close(r);
	printf("flap: %lu messages: ok\n", n * OPS);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 300 };
	unsigned long n = 4;
	struct rig r = { 0 };
	struct vt_dev *same;
	const char *what;

	vt_pair_parse(&pair, argc, argv, &n);
	require(optind + 1 == argc && !pair.dev_b, "one device and one test");
	what = argv[optind];
	vt_pair_open(&pair, &r.dev, &same);
	r.near = vt_alloc(r.dev->pd, LONG, 1, VT_ALL_ACCESS);
	r.far = vt_alloc(r.dev->pd, LONG, 2, VT_ALL_ACCESS);
	if (!strcmp(what, "overlap"))
		overlap(&r);
	else if (!strcmp(what, "vanish"))
		vanish(&r, n);
	else if (!strcmp(what, "dereg"))
		dereg(&r, n);
	else if (!strcmp(what, "stop"))
		stop(&r, n);
	else if (!strcmp(what, "late"))
		late(&r, n);
	else if (!strcmp(what, "corrupt"))
		corrupt(&r);
	else if (!strcmp(what, "flap"))
		flap(&r, n);
	else
		fail("no such test: %s", what);
	vt_check_guards(&r.near, "near");
	vt_check_guards(&r.far, "far");
	vt_free(&r.near);
	vt_free(&r.far);
	vt_close(r.dev);
	printf("vt_local %s: ok\n", what);
	return 0;
}

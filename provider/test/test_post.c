// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting: slots, indices, the doorbell, refused work requests. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static struct fake_qp f;

static struct shca_send_wqe *send_slot(uint32_t index)
{
	return shca_wq_slot(&f.qp.sq, index);
}

static int post(struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	*bad = NULL;
	return shca_post_send(&f.qp.vqp.qp, wr, bad);
}

static int post_recv(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	*bad = NULL;
	return shca_post_recv(&f.qp.vqp.qp, wr, bad);
}

static void layout_is_checked(void)
{
	struct shca_create_qp_resp l;
	struct shca_qp qp;
	static char map[8192] __attribute__((aligned(64)));

	fake_qp_open(&f, IBV_QPT_RC, 0);
#define REFUSED(change) do {						\
	l = f.layout;							\
	memset(&qp, 0, sizeof(qp));					\
	change;								\
	CHECK(shca_qp_init_rings(&qp, map, &l) == EPROTO);		\
} while (0)
	REFUSED(l.sq_entries = 6);
	REFUSED(l.sq_entries = 1u << 31);
	REFUSED(l.rq_entries = 3);
	REFUSED(l.sq_max_sge = 1u << 28);
	REFUSED(l.sq_max_inline = l.sq_stride);
	REFUSED(l.sq_max_inline = UINT32_MAX);
	REFUSED(l.rq_max_sge = 5);
	REFUSED(l.rq_offset = UINT32_MAX - 7);
	REFUSED(l.sq_offset = 0);
	REFUSED(l.sq_offset += 4);
	REFUSED(l.map.size -= 1);
	REFUSED(l.map.size = 100);
#undef REFUSED
	/* a QP without receives, and wider slots than needed: both fine */
	l = f.layout;
	memset(&qp, 0, sizeof(qp));
	l.rq_entries = 0;
	l.sq_max_sge = 1;
	CHECK(shca_qp_init_rings(&qp, map, &l) == 0);
	fake_qp_close(&f);
}

static void fields_rc(void)
{
	struct ibv_sge sge[2] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	struct ibv_send_wr wr = {
		.wr_id = 0x1122334455667788,
		.sg_list = sge, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_FENCE | IBV_SEND_SOLICITED,
		.imm_data = 0x01020304,
		.wr.rdma = { .remote_addr = 0xabcd00000001, .rkey = 0x55 },
	};
	struct ibv_send_wr *bad;
	struct shca_send_wqe *wqe;

	fake_qp_open(&f, IBV_QPT_RC, 5);
	memset(send_slot(5), 0xff, f.layout.sq_stride);
	CHECK(post(&wr, &bad) == 0 && !bad);
	wqe = send_slot(5);
	CHECK(wqe->wr_id == wr.wr_id);
	CHECK(wqe->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
	CHECK(wqe->flags == 5);
	CHECK(wqe->num_sge == 2 && wqe->inline_len == 0 && wqe->rsvd == 0);
	CHECK(wqe->imm == 0x01020304);
	CHECK(wqe->rdma.remote_addr == 0xabcd00000001);
	CHECK(wqe->rdma.rkey == 0x55 && wqe->rdma.rsvd[4] == 0);
	CHECK(!memcmp(wqe + 1, sge, sizeof(sge)));
	CHECK(f.qp.sq.hdr->prod == 6 && f.qp.sq.prod == 6);
	CHECK(fake_qp_doorbells(&f) == 0);

	/* no immediate, no remote address: zero, whatever the union held */
	wr.opcode = IBV_WR_SEND;
	CHECK(post(&wr, &bad) == 0);
	wqe = send_slot(6);
	CHECK(wqe->imm == 0 && wqe->rdma.remote_addr == 0 &&
	      wqe->rdma.rkey == 0);

	/* all signaled */
	f.qp.sq_sig_all = true;
	CHECK(post(&wr, &bad) == 0);
	CHECK(send_slot(7)->flags == 7);
	fake_qp_close(&f);
}

static void fields_ud(void)
{
	struct shca_ah ah = { .number = 0x9999 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = 7,
		.wr.ud = { .ah = &ah.ah, .remote_qpn = 3, .remote_qkey = 4 },
	};
	struct ibv_send_wr *bad;

	fake_qp_open(&f, IBV_QPT_UD, 0);
	CHECK(post(&wr, &bad) == 0);
	CHECK(send_slot(0)->ud.ah == 0x9999);
	CHECK(send_slot(0)->ud.remote_qpn == 3);
	CHECK(send_slot(0)->ud.remote_qkey == 4);
	CHECK(send_slot(0)->imm == 7 && send_slot(0)->num_sge == 0);

	wr.wr.ud.ah = NULL;
	CHECK(post(&wr, &bad) == EINVAL && bad == &wr);
	fake_qp_close(&f);
}

static void inline_data(void)
{
	char a[SQ_INLINE], b[SQ_INLINE];
	struct ibv_sge sge[8] = {
		{ (uintptr_t)a, 3, 0 }, { 0, 0, 0 }, { (uintptr_t)b, 2, 0 },
	};
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = 3,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
	};
	struct ibv_send_wr *bad;
	int i;

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	fake_qp_open(&f, IBV_QPT_RC, 0);
	CHECK(post(&wr, &bad) == 0);
	CHECK(send_slot(0)->inline_len == 5 && send_slot(0)->num_sge == 0);
	CHECK(send_slot(0)->flags == IBV_SEND_INLINE);
	CHECK(!memcmp(send_slot(0) + 1, "aaabb", 5));

	/* to the last byte, from more pieces than the SQ has entries */
	for (i = 0; i < 8; i++)
		sge[i] = (struct ibv_sge) { (uintptr_t)a, SQ_INLINE / 8, 0 };
	wr.num_sge = 8;
	CHECK(post(&wr, &bad) == 0);
	CHECK(send_slot(1)->inline_len == SQ_INLINE);
	CHECK(!memcmp(send_slot(1) + 1, a, SQ_INLINE));

	sge[7].length++;
	CHECK(post(&wr, &bad) == EINVAL && bad == &wr);
	/* a sum that is small modulo 2^32 */
	sge[0].length = UINT32_MAX;
	sge[1].length = 2;
	wr.num_sge = 2;
	CHECK(post(&wr, &bad) == EINVAL && bad == &wr);
	wr.num_sge = -1;
	CHECK(post(&wr, &bad) == EINVAL && bad == &wr);
	wr.num_sge = 0;
	CHECK(post(&wr, &bad) == 0);
	CHECK(send_slot(2)->inline_len == 0);
	CHECK(f.qp.sq.hdr->prod == 3);
	fake_qp_close(&f);
}

/* The second of three is faulty: the first is posted, the third is not. */
static void refuse_second(struct ibv_send_wr faulty, int err)
{
	struct ibv_send_wr third = { .wr_id = 3, .opcode = IBV_WR_SEND };
	struct ibv_send_wr first = { .wr_id = 1, .opcode = IBV_WR_SEND };
	struct shca_ah ah = { .number = 1 };
	uint32_t prod = f.qp.sq.hdr->prod;
	struct ibv_send_wr *bad;

	first.wr.ud.ah = &ah.ah;
	third.wr.ud.ah = &ah.ah;
	first.next = &faulty;
	faulty.next = &third;
	memset(send_slot(prod + 1), 0xee, sizeof(struct shca_send_wqe));
	CHECK(post(&first, &bad) == err);
	CHECK(bad == &faulty);
	CHECK(f.qp.sq.hdr->prod == prod + 1);
	CHECK(send_slot(prod)->wr_id == 1);
	CHECK(send_slot(prod + 1)->wr_id == 0xeeeeeeeeeeeeeeee);
	f.qp.sq.hdr->cons = prod + 1;
}

static void refused_sends(void)
{
	struct ibv_sge sge[SQ_SGE + 1] = {};
	struct ibv_send_wr ok = { .sg_list = sge, .opcode = IBV_WR_SEND };
	struct shca_ah ah = {};
	struct ibv_send_wr wr;
	unsigned int op;

	fake_qp_open(&f, IBV_QPT_RC, UINT32_MAX - 3);
	wr = ok, wr.num_sge = SQ_SGE + 1;
	refuse_second(wr, EINVAL);
	wr = ok, wr.num_sge = -1;
	refuse_second(wr, EINVAL);
	wr = ok, wr.send_flags = IBV_SEND_IP_CSUM;
	refuse_second(wr, EINVAL);
	wr = ok, wr.send_flags = 1u << 31;
	refuse_second(wr, EINVAL);
	wr = ok, wr.opcode = IBV_WR_RDMA_READ, wr.send_flags = IBV_SEND_INLINE;
	refuse_second(wr, EINVAL);
	for (op = IBV_WR_ATOMIC_CMP_AND_SWP; op < 20; op++) {
		wr = ok, wr.opcode = op;
		refuse_second(wr, EOPNOTSUPP);
	}
	sge[0].length = 1u << 31;
	sge[1].length = 1;
	wr = ok, wr.num_sge = 2;
	refuse_second(wr, EINVAL);
	sge[0].length = UINT32_MAX;
	refuse_second(wr, EINVAL);
	fake_qp_close(&f);

	fake_qp_open(&f, IBV_QPT_UD, 0);
	ok.wr.ud.ah = &ah.ah;
	for (op = 0; op < 20; op++) {
		if (op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM)
			continue;
		wr = ok, wr.opcode = op;
		refuse_second(wr, op < IBV_WR_ATOMIC_CMP_AND_SWP ? EINVAL :
								  EOPNOTSUPP);
	}
	fake_qp_close(&f);
}

static void full_queue(void)
{
	struct ibv_send_wr wr[SQ_ENTRIES + 2], *bad;
	unsigned int i;

	memset(wr, 0, sizeof(wr));
	for (i = 0; i < SQ_ENTRIES + 2; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i < SQ_ENTRIES + 1 ? &wr[i + 1] : NULL;
	}
	fake_qp_open(&f, IBV_QPT_RC, UINT32_MAX - 2);
	CHECK(post(wr, &bad) == ENOMEM && bad == &wr[SQ_ENTRIES]);
	CHECK(f.qp.sq.hdr->prod == UINT32_MAX - 2 + SQ_ENTRIES);
	/* the kernel may be reading the oldest slot: it is untouched */
	CHECK(send_slot(UINT32_MAX - 2)->wr_id == 0);
	CHECK(post(&wr[SQ_ENTRIES + 1], &bad) == ENOMEM &&
	      bad == &wr[SQ_ENTRIES + 1]);
	CHECK(send_slot(UINT32_MAX - 2)->wr_id == 0);
	/* one slot comes back: one may be posted */
	f.qp.sq.hdr->cons++;
	CHECK(post(&wr[SQ_ENTRIES], &bad) == ENOMEM &&
	      bad == &wr[SQ_ENTRIES + 1]);
	CHECK(send_slot(UINT32_MAX - 2)->wr_id == SQ_ENTRIES);
	/* an impossible index counts as a full queue */
	f.qp.sq.hdr->cons = f.qp.sq.hdr->prod + 5;
	CHECK(post(&wr[SQ_ENTRIES + 1], &bad) == ENOMEM);
	fake_qp_close(&f);
}

static void wrap(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr rwr = {}, *rbad;
	uint32_t start = UINT32_MAX - 20, i;

	fake_qp_open(&f, IBV_QPT_RC, start);
	for (i = 0; i < 50; i++) {
		wr.wr_id = i;
		rwr.wr_id = i;
		CHECK(post(&wr, &bad) == 0);
		CHECK(post_recv(&rwr, &rbad) == 0);
		CHECK(f.qp.sq.hdr->prod == start + i + 1);
		CHECK(f.qp.rq.hdr->prod == start + i + 1);
		CHECK(send_slot(start + i)->wr_id == i);
		if (i >= 3) {	/* the kernel stays three behind */
			f.qp.sq.hdr->cons = start + i - 2;
			f.qp.rq.hdr->cons = start + i - 2;
		}
	}
	fake_qp_close(&f);
}

static void doorbell(void)
{
	struct ibv_send_wr wr[3], *bad;
	struct ibv_recv_wr rwr = {}, *rbad;
	int pipe_fd;

	memset(wr, 0, sizeof(wr));
	wr[0].opcode = IBV_WR_SEND, wr[0].next = &wr[1];
	wr[1].opcode = IBV_WR_SEND, wr[1].next = &wr[2];
	wr[2].opcode = IBV_WR_SEND;
	fake_qp_open(&f, IBV_QPT_RC, 0);
	CHECK(post(wr, &bad) == 0);
	CHECK(fake_qp_doorbells(&f) == 0);
	f.qp.sq.hdr->cons = 3;

	/* one for a list, and one for the good part of a list */
	f.qp.sq.hdr->flags = SHCA_RING_NEED_WAKEUP;
	CHECK(post(wr, &bad) == 0);
	CHECK(fake_qp_doorbells(&f) == 1);
	f.qp.sq.hdr->cons = 6;
	wr[2].opcode = IBV_WR_BIND_MW;
	CHECK(post(wr, &bad) == EOPNOTSUPP && bad == &wr[2]);
	CHECK(fake_qp_doorbells(&f) == 1);
	/* none if nothing was posted, none for another flag */
	CHECK(post(&wr[2], &bad) == EOPNOTSUPP);
	CHECK(fake_qp_doorbells(&f) == 0);
	f.qp.sq.hdr->flags = ~SHCA_RING_NEED_WAKEUP;
	f.qp.sq.hdr->cons = 8;
	CHECK(post(&wr[1], &bad) == EOPNOTSUPP);
	CHECK(fake_qp_doorbells(&f) == 0);

	/* the RQ has a flag of its own */
	CHECK(post_recv(&rwr, &rbad) == 0);
	CHECK(fake_qp_doorbells(&f) == 0);
	f.qp.rq.hdr->flags = SHCA_RING_NEED_WAKEUP;
	CHECK(post_recv(&rwr, &rbad) == 0);
	CHECK(fake_qp_doorbells(&f) == 1);

	/* a doorbell that fails is reported, with the whole list as bad */
	pipe_fd = f.context.cmd_fd;
	f.context.cmd_fd = open("/dev/full", O_WRONLY);
	f.qp.sq.hdr->cons = f.qp.sq.hdr->prod;
	f.qp.sq.hdr->flags = SHCA_RING_NEED_WAKEUP;
	CHECK(post(wr, &bad) == ENOSPC && bad == wr);
	CHECK(post_recv(&rwr, &rbad) == ENOSPC && rbad == &rwr);
	close(f.context.cmd_fd);
	f.context.cmd_fd = pipe_fd;
	fake_qp_close(&f);
}

static void recv_fields_and_errors(void)
{
	struct ibv_sge sge[RQ_SGE + 1] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct ibv_recv_wr wr[RQ_ENTRIES + 1], *bad;
	struct shca_recv_wqe *wqe;
	unsigned int i;

	memset(wr, 0, sizeof(wr));
	fake_qp_open(&f, IBV_QPT_RC, 0);
	wr[0].wr_id = 42, wr[0].sg_list = sge, wr[0].num_sge = 2;
	memset(shca_wq_slot(&f.qp.rq, 0), 0xff, 64);
	CHECK(post_recv(wr, &bad) == 0 && !bad);
	wqe = shca_wq_slot(&f.qp.rq, 0);
	CHECK(wqe->wr_id == 42 && wqe->num_sge == 2 && wqe->rsvd == 0);
	CHECK(!memcmp(wqe + 1, sge, 2 * sizeof(sge[0])));

	wr[0].next = &wr[1];
	wr[1].sg_list = sge, wr[1].num_sge = RQ_SGE + 1;
	CHECK(post_recv(wr, &bad) == EINVAL && bad == &wr[1]);
	CHECK(f.qp.rq.hdr->prod == 2);
	wr[1].num_sge = -1;
	CHECK(post_recv(&wr[1], &bad) == EINVAL);
	sge[0].length = UINT32_MAX;
	wr[1].num_sge = 2;
	CHECK(post_recv(&wr[1], &bad) == EINVAL);
	CHECK(f.qp.rq.hdr->prod == 2);

	f.qp.rq.hdr->cons = 2;
	for (i = 0; i < RQ_ENTRIES + 1; i++) {
		wr[i].wr_id = 100 + i, wr[i].num_sge = 0;
		wr[i].next = i < RQ_ENTRIES ? &wr[i + 1] : NULL;
	}
	CHECK(post_recv(wr, &bad) == ENOMEM && bad == &wr[RQ_ENTRIES]);
	wqe = shca_wq_slot(&f.qp.rq, 2);
	CHECK(wqe->wr_id == 100);
	fake_qp_close(&f);
}

static void states(void)
{
	static const struct {
		enum ibv_qp_state state;
		int send, recv;
	} want[] = {
		{ IBV_QPS_RESET, EINVAL, EINVAL },
		{ IBV_QPS_INIT, EINVAL, 0 },
		{ IBV_QPS_RTR, EINVAL, 0 },
		{ IBV_QPS_RTS, 0, 0 },
		{ IBV_QPS_SQD, 0, 0 },
		{ IBV_QPS_SQE, 0, 0 },
		{ IBV_QPS_ERR, 0, 0 },
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr rwr = {}, *rbad;
	unsigned int i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		fake_qp_open(&f, IBV_QPT_RC, 0);
		shca_qp_set_open(&f.qp, want[i].state);
		CHECK(post(&wr, &bad) == want[i].send);
		CHECK(post_recv(&rwr, &rbad) == want[i].recv);
		CHECK(f.qp.sq.hdr->prod == !want[i].send);
		fake_qp_close(&f);
	}

	/* a reset, done either way by the kernel, leaves an empty queue */
	for (i = 0; i < 2; i++) {
		fake_qp_open(&f, IBV_QPT_RC, 10);
		CHECK(post(&wr, &bad) == 0);
		f.qp.sq.hdr->prod = i ? 0 : 11;
		f.qp.sq.hdr->cons = f.qp.sq.hdr->prod;
		shca_qp_resync(&f.qp);
		CHECK(post(&wr, &bad) == 0);
		CHECK(f.qp.sq.hdr->prod == (i ? 1 : 12));
		fake_qp_close(&f);
	}
}

void test_post(void)
{
	run("post: the kernel's layout is checked", layout_is_checked);
	run("post: fields of an RC send", fields_rc);
	run("post: fields of a UD send", fields_ud);
	run("post: inline data", inline_data);
	run("post: faulty sends", refused_sends);
	run("post: full queue", full_queue);
	run("post: indices wrap", wrap);
	run("post: doorbell", doorbell);
	run("post: receives", recv_fields_and_errors);
	run("post: states of the QP", states);
}

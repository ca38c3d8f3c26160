// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The builder API: what it writes, when it publishes, what it refuses. */
#include <errno.h>
#include <string.h>

#include "unit.h"

#define OPS_UD	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_RC	(OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ)

static struct fake_qp f;
static struct ibv_qp_ex *ex = &f.qp.vqp.qp_ex;

static void open_qp(enum ibv_qp_type type, uint32_t start)
{
	fake_qp_open(&f, type, start);
	shca_build_init(&f.qp, type == IBV_QPT_UD ? OPS_UD : OPS_RC);
	CHECK(ibv_qp_to_qp_ex(&f.qp.vqp.qp) == ex);
}

static struct shca_send_wqe *slot(uint32_t index)
{
	return shca_wq_slot(&f.qp.sq, index);
}

static uint32_t prod(void)
{
	return f.qp.sq.hdr->prod;
}

/* The lock is free: whoever holds it would hang the application. */
static bool unlocked(void)
{
	if (pthread_spin_trylock(&f.qp.sq.lock))
		return false;
	pthread_spin_unlock(&f.qp.sq.lock);
	return true;
}

static void ops(void)
{
	CHECK(shca_build_supported(IBV_QPT_RC, 0));
	CHECK(shca_build_supported(IBV_QPT_RC, OPS_RC));
	CHECK(shca_build_supported(IBV_QPT_UD, OPS_UD));
	CHECK(!shca_build_supported(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_READ));
	CHECK(!shca_build_supported(IBV_QPT_UD, IBV_QP_EX_WITH_TSO));
	CHECK(!shca_build_supported(IBV_QPT_RC,
				    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP));
	CHECK(!shca_build_supported(IBV_QPT_RC, OPS_RC | 1ull << 63));

	fake_qp_open(&f, IBV_QPT_RC, 0);
	CHECK(!ibv_qp_to_qp_ex(&f.qp.vqp.qp));
	shca_build_init(&f.qp, IBV_QP_EX_WITH_SEND);
	CHECK(ibv_qp_to_qp_ex(&f.qp.vqp.qp) == ex);
	CHECK(ex->wr_send && !ex->wr_send_imm && !ex->wr_rdma_read);
	CHECK(!ex->wr_set_ud_addr);
	fake_qp_close(&f);
}

static void fields(void)
{
	struct ibv_sge sge[SQ_SGE] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct ibv_data_buf bufs[3] = { { "abc", 3 }, { NULL, 0 }, { "de", 2 } };

	open_qp(IBV_QPT_RC, 0);
	ibv_wr_start(ex);
	ex->wr_id = 1, ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, 0x11, 0x2222);
	ibv_wr_set_sge(ex, 7, 8, 9);
	ex->wr_id = 2, ex->wr_flags = IBV_SEND_FENCE;
	ibv_wr_rdma_write_imm(ex, 0x12, 0x3333, 0x44);
	ibv_wr_set_sge_list(ex, 2, sge);
	ex->wr_id = 3, ex->wr_flags = 0;
	ibv_wr_rdma_read(ex, 0x13, 0x5555);
	ibv_wr_set_sge(ex, 7, 8, 9);
	ex->wr_id = 4, ex->wr_flags = IBV_SEND_INLINE;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 3, bufs);
	ex->wr_id = 5;
	ibv_wr_send_imm(ex, 0x66);
	ibv_wr_set_inline_data(ex, "xyz", 3);
	ex->wr_id = 6;
	ibv_wr_send(ex);	/* an empty message; INLINE says nothing yet */
	CHECK(prod() == 0);	/* nothing to be seen so far */
	CHECK(!unlocked());
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(prod() == 6 && unlocked());
	CHECK(fake_qp_doorbells(&f) == 0);

	CHECK(slot(0)->wr_id == 1 && slot(0)->flags == IBV_SEND_SIGNALED);
	CHECK(slot(0)->opcode == IB_UVERBS_WR_RDMA_WRITE);
	CHECK(slot(0)->rdma.rkey == 0x11 && slot(0)->rdma.remote_addr == 0x2222);
	CHECK(slot(0)->num_sge == 1 && slot(0)->sge[0].lkey == 7 &&
	      slot(0)->sge[0].addr == 8 && slot(0)->sge[0].length == 9);
	CHECK(slot(1)->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
	CHECK(slot(1)->imm == 0x44 && slot(1)->flags == IBV_SEND_FENCE);
	CHECK(slot(1)->num_sge == 2 && !memcmp(slot(1) + 1, sge, 32));
	CHECK(slot(2)->opcode == IB_UVERBS_WR_RDMA_READ);
	CHECK(slot(2)->rdma.rkey == 0x13 && slot(2)->imm == 0);
	CHECK(slot(3)->opcode == IB_UVERBS_WR_SEND);
	CHECK(slot(3)->inline_len == 5 && slot(3)->num_sge == 0);
	CHECK(slot(3)->flags == IBV_SEND_INLINE);
	CHECK(!memcmp(slot(3) + 1, "abcde", 5));
	CHECK(slot(4)->imm == 0x66 && slot(4)->inline_len == 3);
	CHECK(slot(5)->flags == 0 && slot(5)->num_sge == 0 &&
	      slot(5)->inline_len == 0);
	fake_qp_close(&f);
}

static void last_setter_wins(void)
{
	open_qp(IBV_QPT_RC, 0);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);
	ibv_wr_set_inline_data(ex, "abcd", 4);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, "abcd", 4);
	ibv_wr_set_sge(ex, 1, 2, 3);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(slot(0)->inline_len == 4 && slot(0)->num_sge == 0 &&
	      slot(0)->flags == IBV_SEND_INLINE);
	CHECK(slot(1)->inline_len == 0 && slot(1)->num_sge == 1 &&
	      slot(1)->flags == 0);
	fake_qp_close(&f);
}

static void ud(void)
{
	struct shca_ah ah = { .number = 1234 };

	open_qp(IBV_QPT_UD, 0);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, &ah.ah, 5, 6);
	ibv_wr_set_sge(ex, 1, 2, 3);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(slot(0)->ud.ah == 1234 && slot(0)->ud.remote_qpn == 5 &&
	      slot(0)->ud.remote_qkey == 6);

	/* without an address: the last one, or one in the middle */
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send_imm(ex, 1);
	ibv_wr_set_ud_addr(ex, &ah.ah, 5, 6);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, NULL, 5, 6);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	CHECK(prod() == 1 && unlocked());
	fake_qp_close(&f);
}

static void aborted(void)
{
	open_qp(IBV_QPT_RC, UINT32_MAX);
	f.qp.sq.hdr->flags = SHCA_RING_NEED_WAKEUP;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	CHECK(prod() == UINT32_MAX && unlocked());
	CHECK(fake_qp_doorbells(&f) == 0);

	/* after an error, too */
	ibv_wr_start(ex);
	ex->wr_flags = 1u << 30;
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	CHECK(unlocked());

	/* nothing begun: nothing posted, no doorbell */
	ex->wr_flags = 0;
	ibv_wr_start(ex);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(prod() == UINT32_MAX && fake_qp_doorbells(&f) == 0);

	/* what was dropped is overwritten; the doorbell rings once */
	ibv_wr_start(ex);
	ex->wr_id = 9;
	ibv_wr_send(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(prod() == 1 && slot(UINT32_MAX)->wr_id == 9);
	CHECK(fake_qp_doorbells(&f) == 1);
	fake_qp_close(&f);
}

/* A good WR, then one that @bad makes faulty, then another good one. */
static void refused(void (*bad)(void), int err)
{
	uint32_t before = prod();

	ex->wr_flags = 0;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	bad();
	ex->wr_flags = 0;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);
	ibv_wr_set_inline_data(ex, "a", 1);
	CHECK(ibv_wr_complete(ex) == err);
	CHECK(prod() == before && unlocked());
	CHECK(fake_qp_doorbells(&f) == 0);
}

static void many_sges(void)
{
	struct ibv_sge sge[SQ_SGE + 1] = {};

	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, SQ_SGE + 1, sge);
}

static void huge_num_sge(void)
{
	struct ibv_sge sge = {};

	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, (size_t)1 << 32, &sge);
}

static void long_message(void)
{
	struct ibv_sge sge[2] = { { 0, 1u << 31, 0 }, { 0, 1, 0 } };

	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 2, sge);
}

static void wrapping_message(void)
{
	struct ibv_sge sge[2] = { { 0, UINT32_MAX, 0 }, { 0, 2, 0 } };

	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 2, sge);
}

static void long_inline(void)
{
	char data[SQ_INLINE + 1] = {};

	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, sizeof(data));
}

static void wrapping_inline(void)
{
	char c = 0;
	struct ibv_data_buf b[3] = {
		{ &c, 1 }, { &c, SIZE_MAX }, { &c, 1 },
	};

	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 3, b);
}

static void wrapping_inline32(void)
{
	char c = 0;
	struct ibv_data_buf b[2] = { { &c, 2 }, { &c, UINT32_MAX } };

	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 2, b);
}

static void inline_read(void)
{
	ibv_wr_rdma_read(ex, 1, 2);
	ibv_wr_set_inline_data(ex, "a", 1);
}

static void unknown_flag(void)
{
	ex->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_send(ex);
}

static void too_many(void)
{
	unsigned int i;

	for (i = 0; i < SQ_ENTRIES; i++)
		ibv_wr_send(ex);
}

static void errors(void)
{
	open_qp(IBV_QPT_RC, UINT32_MAX - 1);
	f.qp.sq.hdr->flags = SHCA_RING_NEED_WAKEUP;
	refused(many_sges, EINVAL);
	refused(huge_num_sge, EINVAL);
	refused(long_message, EINVAL);
	refused(wrapping_message, EINVAL);
	refused(long_inline, EINVAL);
	refused(wrapping_inline, EINVAL);
	refused(wrapping_inline32, EINVAL);
	refused(inline_read, EINVAL);
	refused(unknown_flag, EINVAL);
	refused(too_many, ENOMEM);

	/* setters without a WR, and after an error, are harmless */
	ibv_wr_start(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);
	ibv_wr_set_inline_data(ex, "a", 1);
	CHECK(ibv_wr_complete(ex) == 0);

	/* a state in which nothing may be sent */
	shca_qp_set_open(&f.qp, IBV_QPS_RTR);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == EINVAL);
	shca_qp_set_open(&f.qp, IBV_QPS_RTS);

	/* and all of this left the queue usable, to the last slot */
	ibv_wr_start(ex);
	too_many();
	CHECK(ibv_wr_complete(ex) == 0);
	CHECK(prod() == UINT32_MAX - 1 + SQ_ENTRIES);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	CHECK(ibv_wr_complete(ex) == ENOMEM);
	fake_qp_close(&f);
}

void test_build(void)
{
	run("build: operations", ops);
	run("build: fields", fields);
	run("build: last setter wins", last_setter_wins);
	run("build: UD", ud);
	run("build: abort", aborted);
	run("build: errors", errors);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Polling, plain and extended, and the arithmetic of arming. */
#include <errno.h>
#include <string.h>

#include "unit.h"

static struct fake_cq f;

static const struct shca_cqe sample = {
	.wr_id = 0x1111111111111111, .status = IBV_WC_REM_ACCESS_ERR,
	.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .vendor_err = 0x22,
	.byte_len = 0x33333333, .imm = 0x44444444, .qp_num = 0x555555,
	.src_qp = 0x666666,
	.wc_flags = SHCA_CQE_GRH | SHCA_CQE_WITH_IMM | SHCA_CQE_WITH_SMAC,
	.pkey_index = 0x7777, .slid = 0x8888, .sl = 9, .dlid_path_bits = 10,
	.vlan_id = 0xffff,
};

static bool unlocked(void)
{
	if (pthread_spin_trylock(&f.cq.lock))
		return false;
	pthread_spin_unlock(&f.cq.lock);
	return true;
}

static void layout_is_checked(void)
{
	static char map[4096] __attribute__((aligned(64)));
	struct shca_create_cq_resp l;
	struct shca_cq cq = {};

	fake_cq_open(&f, 0);
	l = f.layout, l.entries = 0;
	CHECK(shca_cq_init_ring(&cq, map, &l) == EPROTO);
	l = f.layout, l.entries = 7;
	CHECK(shca_cq_init_ring(&cq, map, &l) == EPROTO);
	l = f.layout, l.entries = 1u << 31;
	CHECK(shca_cq_init_ring(&cq, map, &l) == EPROTO);
	l = f.layout, l.map.size--;
	CHECK(shca_cq_init_ring(&cq, map, &l) == EPROTO);
	fake_cq_close(&f);
}

static void poll_fields(void)
{
	struct ibv_wc wc[2], untouched;

	memset(wc, 0xaa, sizeof(wc));
	untouched = wc[1];
	fake_cq_open(&f, 0);
	CHECK(shca_cq_poll(&f.cq.vcq.cq, 2, wc) == 0);
	CHECK(wc[0].wr_id == untouched.wr_id);
	fake_cq_push(&f, &sample);
	CHECK(shca_cq_poll(&f.cq.vcq.cq, 0, wc) == 0);
	CHECK(f.cq.hdr->cons == 0);
	CHECK(shca_cq_poll(&f.cq.vcq.cq, 2, wc) == 1);
	CHECK(f.cq.hdr->cons == 1);
	CHECK(wc[0].wr_id == sample.wr_id);
	CHECK(wc[0].status == IBV_WC_REM_ACCESS_ERR);
	CHECK(wc[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(wc[0].vendor_err == 0x22 && wc[0].byte_len == 0x33333333);
	CHECK(wc[0].imm_data == 0x44444444 && wc[0].qp_num == 0x555555);
	CHECK(wc[0].src_qp == 0x666666);
	CHECK(wc[0].wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM));
	CHECK(wc[0].pkey_index == 0x7777 && wc[0].slid == 0x8888);
	CHECK(wc[0].sl == 9 && wc[0].dlid_path_bits == 10);
	CHECK(!memcmp(&wc[1], &untouched, sizeof(untouched)));
	fake_cq_close(&f);
}

/* Every byte of ibv_wc that is a field comes from the CQE, none from before. */
static void poll_leaves_nothing(void)
{
	struct shca_cqe zero = {};
	struct ibv_wc wc;
	const unsigned char *p = (const unsigned char *)&wc;
	unsigned int i;

	fake_cq_open(&f, 0);
	fake_cq_push(&f, &zero);
	memset(&wc, 0xaa, sizeof(wc));
	CHECK(shca_cq_poll(&f.cq.vcq.cq, 1, &wc) == 1);
	for (i = 0; i <= offsetof(struct ibv_wc, dlid_path_bits); i++)
		CHECK(p[i] == 0);
	fake_cq_close(&f);
}

static void poll_batches_and_wraps(void)
{
	struct shca_cqe cqe = {};
	struct ibv_wc wc[CQ_ENTRIES];
	uint64_t pushed = 0, polled = 0;
	uint32_t start = UINT32_MAX - 13;
	int round, n, i;

	fake_cq_open(&f, start);
	for (round = 0; round < 40; round++) {
		while (pushed - polled < CQ_ENTRIES) {
			cqe.wr_id = pushed++;
			fake_cq_push(&f, &cqe);
		}
		n = shca_cq_poll(&f.cq.vcq.cq, 3 + round % 7, wc);
		CHECK(n == (3 + round % 7 < CQ_ENTRIES ? 3 + round % 7 :
			    CQ_ENTRIES));
		for (i = 0; i < n; i++)
			CHECK(wc[i].wr_id == polled++);
		CHECK(f.cq.hdr->cons == start + (uint32_t)polled);
	}
	/* fewer than asked for: the producer was looked at once more */
	n = shca_cq_poll(&f.cq.vcq.cq, 1, wc);
	polled += n;
	cqe.wr_id = pushed++;
	fake_cq_push(&f, &cqe);
	n = shca_cq_poll(&f.cq.vcq.cq, CQ_ENTRIES, wc);
	CHECK(polled + n == pushed);
	fake_cq_close(&f);
}

static void extended(void)
{
	struct ibv_poll_cq_attr attr = {}, bad = { .comp_mask = 1 };
	struct ibv_cq_ex *ex = &f.cq.vcq.cq_ex;
	struct shca_cqe cqe = sample;
	struct ibv_wc wc;

	fake_cq_open(&f, UINT32_MAX);
	CHECK(ibv_start_poll(ex, &attr) == ENOENT && unlocked());
	CHECK(ibv_start_poll(ex, &bad) == EINVAL && unlocked());

	fake_cq_push(&f, &cqe);
	cqe.wr_id = 2;
	cqe.status = IBV_WC_SUCCESS;
	fake_cq_push(&f, &cqe);
	fake_cq_push(&f, &cqe);
	CHECK(ibv_start_poll(ex, &attr) == 0 && !unlocked());
	CHECK(ex->wr_id == sample.wr_id && ex->status == sample.status);
	CHECK(ibv_wc_read_opcode(ex) == IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(ibv_wc_read_vendor_err(ex) == 0x22);
	CHECK(ibv_wc_read_byte_len(ex) == 0x33333333);
	CHECK(ibv_wc_read_imm_data(ex) == 0x44444444);
	CHECK(ibv_wc_read_qp_num(ex) == 0x555555);
	CHECK(ibv_wc_read_src_qp(ex) == 0x666666);
	CHECK(ibv_wc_read_wc_flags(ex) == 3);
	CHECK(ibv_wc_read_slid(ex) == 0x8888);
	CHECK(ibv_wc_read_sl(ex) == 9);
	CHECK(ibv_wc_read_dlid_path_bits(ex) == 10);
	CHECK(f.cq.hdr->cons == UINT32_MAX);	/* still being read */
	CHECK(ibv_next_poll(ex) == 0);
	CHECK(f.cq.hdr->cons == 0);
	CHECK(ex->wr_id == 2 && ex->status == IBV_WC_SUCCESS);
	ibv_end_poll(ex);
	CHECK(f.cq.hdr->cons == 1 && unlocked());

	/* to the end; both ways of polling mix */
	CHECK(ibv_start_poll(ex, &attr) == 0);
	CHECK(ibv_next_poll(ex) == ENOENT && !unlocked());
	CHECK(f.cq.hdr->cons == 2);
	ibv_end_poll(ex);
	CHECK(f.cq.hdr->cons == 2 && unlocked());
	CHECK(shca_cq_poll(ibv_cq_ex_to_cq(ex), 1, &wc) == 0);
	fake_cq_push(&f, &cqe);
	CHECK(shca_cq_poll(ibv_cq_ex_to_cq(ex), 1, &wc) == 1);
	CHECK(ibv_start_poll(ex, &attr) == ENOENT);

	/* without the lock */
	f.cq.single_threaded = true;
	fake_cq_push(&f, &cqe);
	CHECK(ibv_start_poll(ex, &attr) == 0 && unlocked());
	ibv_end_poll(ex);
	fake_cq_close(&f);
}

static uint32_t arm(int solicited_only)
{
	CHECK(shca_cq_req_notify(&f.cq.vcq.cq, solicited_only) == 0);
	return f.cq.hdr->arm;
}

static void arming(void)
{
	const uint32_t top = UINT32_MAX >> SHCA_CQ_ARM_SEQ_SHIFT;

	fake_cq_open(&f, 0);
	CHECK(arm(1) == (1 << 2 | SHCA_CQ_ARM_SOLICITED));
	CHECK(arm(1) == (1 << 2 | SHCA_CQ_ARM_SOLICITED));
	CHECK(arm(0) == (1 << 2 | SHCA_CQ_ARM_NEXT));		/* widened */
	CHECK(arm(1) == (1 << 2 | SHCA_CQ_ARM_NEXT));		/* not narrowed */
	f.cq.hdr->fired = 1;
	CHECK(arm(1) == (2 << 2 | SHCA_CQ_ARM_SOLICITED));
	f.cq.hdr->fired = 2;
	CHECK(arm(0) == (3 << 2 | SHCA_CQ_ARM_NEXT));

	/* the sequence wraps at 2^30 */
	f.cq.hdr->arm = top << 2 | SHCA_CQ_ARM_NEXT;
	f.cq.hdr->fired = top;
	CHECK(arm(0) == (0 << 2 | SHCA_CQ_ARM_NEXT));
	CHECK(arm(1) == (0 << 2 | SHCA_CQ_ARM_NEXT));
	f.cq.hdr->fired = 0;
	CHECK(arm(1) == (1 << 2 | SHCA_CQ_ARM_SOLICITED));
	fake_cq_close(&f);
}

void test_cq(void)
{
	run("cq: the kernel's layout is checked", layout_is_checked);
	run("cq: fields of a completion", poll_fields);
	run("cq: every field is written", poll_leaves_nothing);
	run("cq: batches, indices wrap", poll_batches_and_wraps);
	run("cq: extended", extended);
	run("cq: arming", arming);
}

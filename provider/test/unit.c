// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The harness of the unit tests, and the fake objects. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static unsigned int passed, failed, bad_checks;

void check(bool ok, const char *what, const char *file, int line)
{
	if (ok)
		return;
	__atomic_add_fetch(&bad_checks, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
}

void run(const char *name, void (*fn)(void))
{
	bad_checks = 0;
	fn();
	if (bad_checks)
		failed++;
	else
		passed++;
	printf("%s %s\n", bad_checks ? "FAIL" : "ok  ", name);
	fflush(stdout);
}

/* LeakSanitizer reads /proc, which a chroot may lack; it asks here. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return access("/proc/self/task", F_OK) != 0;
}

static void *zalloc_aligned(size_t size)
{
	void *p = aligned_alloc(64, (size + 63) / 64 * 64);

	if (!p)
		abort();
	return memset(p, 0, size);
}

void fake_qp_open(struct fake_qp *f, enum ibv_qp_type type, uint32_t start)
{
	struct shca_create_qp_resp *l = &f->layout;
	struct shca_ring_hdr *hdr;
	int fds[2];

	memset(f, 0, sizeof(*f));
	l->sq_offset = 2 * sizeof(*hdr);
	l->sq_entries = SQ_ENTRIES;
	l->sq_stride = sizeof(struct shca_send_wqe) + SQ_INLINE;
	l->sq_max_inline = SQ_INLINE;
	l->sq_max_sge = SQ_SGE;
	l->rq_offset = l->sq_offset + l->sq_entries * l->sq_stride;
	l->rq_entries = RQ_ENTRIES;
	l->rq_stride = 64;
	l->rq_max_sge = RQ_SGE;
	l->map.size = l->rq_offset + l->rq_entries * l->rq_stride;

	hdr = zalloc_aligned(l->map.size);
	hdr[0].prod = start;
	hdr[0].cons = start;
	hdr[1].prod = start;
	hdr[1].cons = start;
	if (pipe(fds) || fcntl(fds[0], F_SETFL, O_NONBLOCK))
		abort();
	f->doorbell = fds[0];
	f->context.cmd_fd = fds[1];
	f->qp.vqp.qp.context = &f->context;
	f->qp.vqp.qp.handle = QP_HANDLE;
	f->qp.vqp.qp.qp_type = type;
	if (shca_qp_init_rings(&f->qp, hdr, l))
		abort();
	shca_qp_set_open(&f->qp, IBV_QPS_RTS);
}

void fake_qp_close(struct fake_qp *f)
{
	close(f->doorbell);
	close(f->context.cmd_fd);
	free(f->qp.map);
}

int fake_qp_doorbells(struct fake_qp *f)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
	} cmd;
	int n = 0;

	while (read(f->doorbell, &cmd, sizeof(cmd)) == sizeof(cmd)) {
		CHECK(cmd.hdr.command == IB_USER_VERBS_CMD_POST_SEND);
		CHECK(cmd.hdr.in_words * 4 == sizeof(cmd));
		CHECK(cmd.hdr.out_words * 4 ==
		      sizeof(struct ib_uverbs_post_send_resp));
		CHECK(cmd.core.response);
		CHECK(cmd.core.qp_handle == QP_HANDLE);
		CHECK(cmd.core.wr_count == 0 && cmd.core.sge_count == 0);
		CHECK(cmd.core.wqe_size >= sizeof(struct ib_uverbs_send_wr));
		n++;
	}
	return n;
}

void fake_cq_open(struct fake_cq *f, uint32_t start)
{
	struct shca_cq_hdr *hdr;

	memset(f, 0, sizeof(*f));
	f->layout.entries = CQ_ENTRIES;
	f->layout.map.size = sizeof(*hdr) +
			     CQ_ENTRIES * sizeof(struct shca_cqe);
	hdr = zalloc_aligned(f->layout.map.size);
	hdr->prod = start;
	hdr->cons = start;
	if (shca_cq_init_ring(&f->cq, hdr, &f->layout))
		abort();
	shca_cq_init_ex(&f->cq);
}

void fake_cq_close(struct fake_cq *f)
{
	free(f->cq.hdr);
}

void fake_cq_push(struct fake_cq *f, const struct shca_cqe *cqe)
{
	struct shca_cq_hdr *hdr = f->cq.hdr;
	struct shca_cqe *slots = (struct shca_cqe *)(hdr + 1);
	uint32_t prod = hdr->prod;

	slots[prod & (CQ_ENTRIES - 1)] = *cqe;
	shca_store_release(&hdr->prod, prod + 1);
}

int main(void)
{
	test_post();
	test_build();
	test_cq();
	test_race();
	test_why();
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Unit tests of the provider: its rings in malloc'ed memory, a pipe in place of
 * the device's file, and the test itself in the role of the kernel.
 */
#ifndef SHCA_TEST_UNIT_H
#define SHCA_TEST_UNIT_H

#include "../softhca.h"

#define CHECK(cond)	check(!!(cond), #cond, __FILE__, __LINE__)

void check(bool ok, const char *what, const char *file, int line);
void run(const char *name, void (*fn)(void));

enum {
	SQ_ENTRIES = 8, SQ_SGE = 4, SQ_INLINE = 64,
	RQ_ENTRIES = 4, RQ_SGE = 2,
	CQ_ENTRIES = 8,
	QP_HANDLE = 77,
};

struct fake_qp {
	struct shca_qp qp;
	struct ibv_context context;
	struct shca_create_qp_resp layout;
	int doorbell;		/* read end of the pipe */
};

struct fake_cq {
	struct shca_cq cq;
	struct shca_create_cq_resp layout;
};

/* All indices start at @start, which lets a test cross 2^32. */
void fake_qp_open(struct fake_qp *f, enum ibv_qp_type type, uint32_t start);
void fake_qp_close(struct fake_qp *f);
/* Doorbells rung since the last call; checks that each is well formed. */
int fake_qp_doorbells(struct fake_qp *f);

void fake_cq_open(struct fake_cq *f, uint32_t start);
void fake_cq_close(struct fake_cq *f);
/* The kernel's part: the CQE is written, then published. */
void fake_cq_push(struct fake_cq *f, const struct shca_cqe *cqe);

void test_post(void);
void test_build(void);
void test_cq(void);
void test_race(void);
void test_why(void);

#endif /* SHCA_TEST_UNIT_H */

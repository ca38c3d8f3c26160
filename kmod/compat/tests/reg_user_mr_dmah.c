// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 6.17: reg_user_mr is given a DMA handle. */
#include <rdma/ib_verbs.h>

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				 u64 va, int access, struct ib_dmah *dmah,
				 struct ib_udata *udata)
{
	return NULL;
}

const struct ib_device_ops shca_probe = { .reg_user_mr = reg_user_mr };

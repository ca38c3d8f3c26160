/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Ops of struct ib_device_ops whose arguments have changed. */
#ifndef _SHCA_COMPAT_OPS_H
#define _SHCA_COMPAT_OPS_H

#include <rdma/ib_verbs.h>

#include "generated.h"

#ifdef HAVE_CREATE_CQ_ATTRS
int shca_op_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		      struct uverbs_attr_bundle *attrs);
#else
int shca_op_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		      struct ib_udata *udata);
#endif

#ifdef HAVE_REG_USER_MR_DMAH
struct ib_mr *shca_op_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				  u64 va, int access, struct ib_dmah *dmah,
				  struct ib_udata *udata);
#else
struct ib_mr *shca_op_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				  u64 va, int access, struct ib_udata *udata);
#endif

#endif /* _SHCA_COMPAT_OPS_H */

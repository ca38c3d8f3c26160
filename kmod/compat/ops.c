// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ops of struct ib_device_ops whose arguments have changed: create_cq gets all
 * attributes since 6.11, reg_user_mr a handle for DMA hints since 6.17, which
 * a device without DMA refuses.
 */
#include <rdma/uverbs_ioctl.h>

#include "../verbs/ops.h"
#include "ops.h"

#ifdef HAVE_CREATE_CQ_ATTRS
int shca_op_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		      struct uverbs_attr_bundle *attrs)
{
	return shca_create_cq(cq, attr, attrs ? &attrs->driver_udata : NULL);
}
#else
int shca_op_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		      struct ib_udata *udata)
{
	return shca_create_cq(cq, attr, udata);
}
#endif

#ifdef HAVE_REG_USER_MR_DMAH
struct ib_mr *shca_op_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				  u64 va, int access, struct ib_dmah *dmah,
				  struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return shca_reg_user_mr(pd, start, length, va, access, udata);
}
#else
struct ib_mr *shca_op_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				  u64 va, int access, struct ib_udata *udata)
{
	return shca_reg_user_mr(pd, start, length, va, access, udata);
}
#endif

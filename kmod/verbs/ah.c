// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles: ib_core's end.  The handle that WQEs name is object/av.h's
 * and lives from create to destroy.  Kernel consumers call these in any
 * context, even with interrupts off.
 */
#include "../object/pd.h"
#include "ops.h"

/**
 * shca_create_ah - ib_device_ops.create_ah and create_user_ah
 * @ibah: the handle
 * @init: where it points to
 * @udata: of a process: answered with struct shca_create_ah_resp
 *
 * Context: any for the kernel, process for a process.
 * Return: 0, -EINVAL, -ENOMEM, -EBUSY (too many) or -EFAULT.
 */
int shca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		   struct ib_udata *udata)
{
	struct shca_dev *dev = to_shca(ibah->device);
	struct shca_ib_ah *ah = to_shca_ah(ibah);
	struct shca_create_ah_resp resp = {};
	struct shca_av av;
	int ret;

	if (udata && udata->outlen < shca_answer_min(shca_create_ah_resp, ah))
		return -EINVAL;
	ret = shca_av_from_attr(dev, init->ah_attr, &av);
	if (ret)
		return ret;
	ah->attr = *init->ah_attr;
	ah->ah = shca_ah_create(dev, to_shca_pd(ibah->pd), &av, udata);
	if (IS_ERR(ah->ah))
		return PTR_ERR(ah->ah);
	if (!udata)
		return 0;

	resp.ah = ah->ah->number;
	ret = shca_answer(udata, &resp, sizeof(resp));
	if (ret)
		shca_ah_destroy(dev, ah->ah);
	return ret;
}

/**
 * shca_query_ah - ib_device_ops.query_ah
 * @ibah: the handle
 * @attr: filled in as the handle was created
 *
 * Context: any.
 * Return: 0.
 */
int shca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_shca_ah(ibah)->attr;
	return 0;
}

/**
 * shca_destroy_ah - ib_device_ops.destroy_ah
 * @ibah: the handle; WQEs that name it and were not sent yet will fail
 * @flags: RDMA_DESTROY_AH_SLEEPABLE or 0
 *
 * Context: any.
 * Return: 0.
 */
int shca_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	shca_ah_destroy(to_shca(ibah->device), to_shca_ah(ibah)->ah);
	return 0;
}

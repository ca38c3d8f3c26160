// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How libibverbs finds the provider, and the objects without a ring: device,
 * context, PD, MR, AH.
 *
 * A device is ours if the kernel says so by its driver id; its name is the
 * administrator's affair.  No state here is shared between threads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softhca.h"

/**
 * shca_map - map a ring that the kernel offers
 * @context: the context it belongs to
 * @info: where it lies, from the kernel's response
 *
 * Context: may sleep.
 * Return: the mapping, or NULL with errno set.
 */
void *shca_map(struct ibv_context *context, const struct shca_mmap_info *info)
{
	void *map;

	if (!info->size) {
		errno = EPROTO;
		return NULL;
	}
	map = mmap(NULL, info->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   context->cmd_fd, (off_t)info->offset);
	return map == MAP_FAILED ? NULL : map;
}

static int query_device(struct ibv_context *context,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int ret;

	ret = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp,
				       &resp_size);
	if (ret)
		return ret;
	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(fw >> 32) & 0xffff,
		 (unsigned int)(fw >> 16) & 0xffff, (unsigned int)fw & 0xffff);
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num,
		      struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct ibv_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ret = ibv_cmd_alloc_pd(context, pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
	int ret = ibv_cmd_dealloc_pd(pd);

	if (!ret)
		free(pd);
	return ret;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			     uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ibv_reg_mr cmd = {};
	struct verbs_mr *vmr;
	int ret;

	/* ib_core knows another errno for what no driver of a device can. */
	if (access & IBV_ACCESS_ON_DEMAND) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	ret = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd,
			     sizeof(cmd), &resp, sizeof(resp));
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	return &vmr->ibv_mr;
}

static int dereg_mr(struct verbs_mr *vmr)
{
	int ret = ibv_cmd_dereg_mr(vmr);

	if (!ret)
		free(vmr);
	return ret;
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct {
		struct ib_uverbs_create_ah_resp core;
		struct shca_create_ah_resp drv;
	} resp = {};
	struct shca_ah *ah;
	int ret;

	static_assert(offsetof(__typeof__(resp), drv) == sizeof(resp.core),
		      "the driver's response follows the core's");

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ret = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.core, sizeof(resp));
	if (ret) {
		free(ah);
		errno = ret;
		return NULL;
	}
	ah->number = resp.drv.ah;
	return &ah->ah;
}

static int destroy_ah(struct ibv_ah *ibah)
{
	int ret = ibv_cmd_destroy_ah(ibah);

	if (!ret)
		free(shca_to_ah(ibah));
	return ret;
}

static void free_context(struct ibv_context *context)
{
	struct verbs_context *vctx = shca_container_of(context,
						       struct verbs_context,
						       context);

	verbs_uninit_context(vctx);
	free(vctx);
}

static const struct verbs_context_ops context_ops = {
	.query_device_ex	= query_device,
	.query_port		= query_port,
	.alloc_pd		= alloc_pd,
	.dealloc_pd		= dealloc_pd,
	.reg_mr			= reg_mr,
	.dereg_mr		= dereg_mr,
	.create_ah		= create_ah,
	.destroy_ah		= destroy_ah,
	.create_cq		= shca_cq_create,
	.create_cq_ex		= shca_cq_create_ex,
	.destroy_cq		= shca_cq_destroy,
	.poll_cq		= shca_cq_poll,
	.req_notify_cq		= shca_cq_req_notify,
	.create_qp		= shca_qp_create,
	.create_qp_ex		= shca_qp_create_ex,
	.modify_qp		= shca_qp_modify,
	.query_qp		= shca_qp_query,
	.destroy_qp		= shca_qp_destroy,
	.post_send		= shca_post_send,
	.post_recv		= shca_post_recv,
	/* Native InfiniBand; with RoCE the kernel answers EOPNOTSUPP. */
	.attach_mcast		= ibv_cmd_attach_mcast,
	.detach_mcast		= ibv_cmd_detach_mcast,
	.free_context		= free_context,
};

/* A context has nothing of ours, and we use nothing of the module's response. */
static struct verbs_context *alloc_context(struct ibv_device *device,
					   int cmd_fd, void *private_data)
{
	struct ib_uverbs_get_context_resp resp = {};
	struct ibv_get_context cmd = {};
	struct verbs_context *vctx;

	(void)private_data;

	/* The fourth argument is the offset of vctx in what is allocated. */
	vctx = _verbs_init_and_alloc_context(device, cmd_fd, sizeof(*vctx),
					     NULL, SHCA_DRIVER_ID);
	if (!vctx)
		return NULL;
	if (ibv_cmd_get_context(vctx, &cmd, sizeof(cmd), &resp, sizeof(resp)))
		goto err_uninit_context;
	verbs_set_ops(vctx, &context_ops);
	return vctx;

err_uninit_context:
	verbs_uninit_context(vctx);
	free(vctx);
	return NULL;
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs)
{
	(void)sysfs;
	return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

static const struct verbs_match_ent match_table[] = {
	{ .kind = SHCA_MATCH_DRIVER_ID, .u.driver_id = SHCA_DRIVER_ID },
	{ .kind = SHCA_MATCH_END },
};

static const struct verbs_device_ops device_ops = {
	.name			= "softhca",
	.match_min_abi_version	= SHCA_ABI_VERSION,
	.match_max_abi_version	= SHCA_ABI_VERSION,
	.match_table		= match_table,
	.alloc_device		= alloc_device,
	.uninit_device		= uninit_device,
	.alloc_context		= alloc_context,
};

static __attribute__((constructor)) void shca_register(void)
{
	shca_register_driver(&device_ops);
}

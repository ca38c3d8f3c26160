// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of verbs.  It is constant; an op that is missing is unsupported.
 * Each link adds its own (roce_port.c, ib_port.c), and fabric/ the agents.
 */
#include <linux/module.h>

#include "../compat/ops.h"
#include "../object/cq.h"
#include "../object/pd.h"
#include "mmap.h"
#include "ops.h"

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "softhca\n");
}
static DEVICE_ATTR_RO(hca_type);

/* node_exporter shows no device at all if one of them lacks it. */
static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "softhca\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *shca_attrs[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL,
};

static const struct attribute_group shca_attr_group = {
	.attrs = shca_attrs,
};

const struct ib_device_ops shca_device_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= SHCA_DRIVER_ID,
	.uverbs_abi_ver		= SHCA_ABI_VERSION,
	.device_group		= &shca_attr_group,
	.dealloc_driver		= shca_device_dealloc,

	.query_device		= shca_query_device,
	.get_dev_fw_str		= shca_get_dev_fw_str,
	.alloc_hw_port_stats	= shca_alloc_hw_port_stats,
	.get_hw_stats		= shca_get_hw_stats,
	.counter_alloc_stats	= shca_counter_alloc_stats,
	.counter_bind_qp	= shca_counter_bind_qp,
	.counter_unbind_qp	= shca_counter_unbind_qp,
	.counter_dealloc	= shca_counter_dealloc,
	.counter_update_stats	= shca_counter_update_stats,

	.alloc_ucontext		= shca_alloc_ucontext,
	.dealloc_ucontext	= shca_dealloc_ucontext,
	.disassociate_ucontext	= shca_disassociate_ucontext,
	.mmap			= shca_mmap,
	.mmap_free		= shca_mmap_free,

	.alloc_pd		= shca_alloc_pd,
	.dealloc_pd		= shca_dealloc_pd,

	.create_ah		= shca_create_ah,
	.create_user_ah		= shca_create_ah,
	.query_ah		= shca_query_ah,
	.destroy_ah		= shca_destroy_ah,

	.get_dma_mr		= shca_get_dma_mr,
	.reg_user_mr		= shca_op_reg_user_mr,
	.dereg_mr		= shca_dereg_mr,

	.create_cq		= shca_op_create_cq,
	.pre_destroy_cq		= shca_pre_destroy_cq,
	.destroy_cq		= shca_destroy_cq,
	.poll_cq		= shca_poll_cq,
	.req_notify_cq		= shca_req_notify_cq,

	.create_qp		= shca_create_qp,
	.modify_qp		= shca_modify_qp,
	.query_qp		= shca_query_qp,
	.destroy_qp		= shca_destroy_qp,
	.post_send		= shca_post_send,
	.post_recv		= shca_post_recv,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, shca_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, shca_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_ah, shca_ib_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, shca_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, shca_ib_qp, ib),
};

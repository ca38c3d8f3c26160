// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a device and its port say about themselves.  What depends on the link
 * is in roce_port.c and ib_port.c.
 */
#include <rdma/ib_verbs.h>

#include "device.h"
#include "ops.h"

/*
 * Programs want an IEEE OUI here and some take 0 for a fault.  Nobody has sold
 * us one, so it is locally administered (second bit of the first octet): 02,
 * then "SH".  The GUIDs do not tell: they are those of the netdevs.
 */
#define SHCA_VENDOR_ID	0x025348

#define SHCA_FW_MAJOR	0
#define SHCA_FW_MINOR	1
#define SHCA_FW_SUBMINOR	0

/* The counters' names, by enum shca_stat */
const struct rdma_stat_desc shca_stat_descs[SHCA_STAT_COUNT] = {
#define x(stat) { .name = #stat },
	SHCA_STATS(x)
#undef x
};

/**
 * shca_query_device - ib_device_ops.query_device
 * @ib: the device
 * @attr: filled in; what is left 0 is not supported
 * @udata: no input is known; NULL on newer kernels
 *
 * Context: process.
 * Return: 0, or -EINVAL if there is driver specific input.
 */
int shca_query_device(struct ib_device *ib, struct ib_device_attr *attr,
		      struct ib_udata *udata)
{
	if (udata && udata->inlen)
		return -EINVAL;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = (u64)SHCA_FW_MAJOR << 32 | SHCA_FW_MINOR << 16 |
		       SHCA_FW_SUBMINOR;
	attr->sys_image_guid = ib->node_guid;
	attr->vendor_id = SHCA_VENDOR_ID;
	attr->max_mr_size = SHCA_MAX_MR_BYTES;
	attr->page_size_cap = GENMASK(31, PAGE_SHIFT);
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_RC_RNR_NAK_GEN;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->max_qp = SHCA_MAX_QP;
	attr->max_qp_wr = SHCA_MAX_QP_WR;
	attr->max_send_sge = SHCA_MAX_SGE;
	attr->max_recv_sge = SHCA_MAX_SGE;
	attr->max_sge_rd = SHCA_MAX_SGE;
	attr->max_cq = SHCA_MAX_CQ;
	attr->max_cqe = SHCA_MAX_CQE;
	attr->max_mr = SHCA_MAX_MR;
	attr->max_pd = SHCA_MAX_PD;
	attr->max_ah = SHCA_MAX_AH;
	attr->max_qp_rd_atom = SHCA_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = SHCA_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SHCA_MAX_QP * SHCA_MAX_RD_ATOMIC;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	attr->max_pkeys = shca_dev_pkeys(to_shca(ib));
	if (to_shca(ib)->node) {
		attr->max_mcast_grp = SHCA_MAX_MCAST_GRP;
		attr->max_mcast_qp_attach = SHCA_MAX_MCAST_QP;
		attr->max_total_mcast_qp_attach = SHCA_MAX_MCAST_ATTACH;
	}
	attr->local_ca_ack_delay = 15;	/* 4.096 us << 15 = 134 ms */
	return 0;
}

/**
 * shca_port_state - state of the port
 * @dev: the device
 *
 * Context: any.
 * Return: the state; on RoCE IB_PORT_ACTIVE or IB_PORT_DOWN.
 */
enum ib_port_state shca_port_state(const struct shca_dev *dev)
{
	if (dev->node)
		return shca_pi_state(&shca_node_port(dev)->info);
	return READ_ONCE(dev->port_active) ? IB_PORT_ACTIVE : IB_PORT_DOWN;
}

/**
 * shca_port_mtu - bytes of payload that a packet carries at the most
 * @dev: the device
 *
 * Context: any.
 * Return: their code.
 */
enum ib_mtu shca_port_mtu(const struct shca_dev *dev)
{
	if (dev->node)
		return shca_pi_mtu(&shca_node_port(dev)->info);
	return READ_ONCE(dev->mtu);
}

/**
 * shca_port_max_mtu - what shca_port_mtu() may become
 * @dev: the device
 *
 * A datagram QP may send that much, for on a native port the subnet manager
 * may change the MTU while there are QPs; the link refuses what is too large.
 *
 * Context: any.
 * Return: the code.
 */
enum ib_mtu shca_port_max_mtu(const struct shca_dev *dev)
{
	return dev->node ? IB_MTU_4096 : shca_port_mtu(dev);
}

/**
 * shca_get_dev_fw_str - ib_device_ops.get_dev_fw_str
 * @ib: the device
 * @str: filled in, IB_FW_VERSION_NAME_MAX bytes
 *
 * Context: any.
 */
void shca_get_dev_fw_str(struct ib_device *ib, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%d.%d.%d", SHCA_FW_MAJOR,
		 SHCA_FW_MINOR, SHCA_FW_SUBMINOR);
}

/**
 * shca_alloc_hw_port_stats - ib_device_ops.alloc_hw_port_stats
 * @ib: the device
 * @port: 1
 *
 * Context: process, may sleep.
 * Return: the counters' names and room for their values, or NULL.
 */
struct rdma_hw_stats *shca_alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(shca_stat_descs, SHCA_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * shca_get_hw_stats - ib_device_ops.get_hw_stats
 * @ib: the device
 * @stats: filled in
 * @port: 1
 * @index: of the one that is wanted; all are filled in
 *
 * ib_core adds what the counters of QPs show, so that is left out.  It can be
 * more than is there, for a multicast packet is one of the port's and one of each
 * member's; then the difference wraps, and ib_core's sum wraps back.
 *
 * Context: process.
 * Return: how many were filled in, or -EINVAL.
 */
int shca_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		      u32 port, int index)
{
	struct shca_dev *dev = to_shca(ib);
	u64 counted[SHCA_QP_STAT_COUNT];
	int i;

	if (port != 1 || !stats)
		return -EINVAL;
	shca_counters_sum(dev, counted);
	for (i = 0; i < SHCA_STAT_COUNT; i++)
		stats->value[i] = shca_stats_sum(dev->stats, i);
	for (i = 0; i < SHCA_QP_STAT_COUNT; i++)
		stats->value[i] -= counted[i];
	return SHCA_STAT_COUNT;
}

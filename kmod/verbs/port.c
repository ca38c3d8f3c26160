// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a device and its port say about themselves.
 *
 * State, MTU and speed follow the netdev: shca_port_refresh() takes them over
 * under RTNL, everybody else reads them without a lock, so that a query may
 * come from any context.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

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

static const struct rdma_stat_desc stat_descs[SHCA_STAT_COUNT] = {
#define x(stat) { .name = #stat },
	SHCA_STATS(x)
#undef x
};

/* IBA's codes of link speed and width, for at most this many Mbit/s */
static const struct {
	u32 mbps;
	u16 speed;
	u8 width;
} rates[] = {
	{   2500, IB_SPEED_SDR,	  IB_WIDTH_1X },
	{  10000, IB_SPEED_SDR,	  IB_WIDTH_4X },
	{  25000, IB_SPEED_EDR,	  IB_WIDTH_1X },
	{  40000, IB_SPEED_QDR,	  IB_WIDTH_4X },
	{  50000, IB_SPEED_HDR,	  IB_WIDTH_1X },
	{ 100000, IB_SPEED_EDR,	  IB_WIDTH_4X },
	{ 200000, IB_SPEED_HDR,	  IB_WIDTH_4X },
	{ ~0,	  IB_SPEED_NDR,	  IB_WIDTH_4X },
};

/* What a netdev that names no speed (most virtual ones) is taken for */
#define SHCA_SPEED_DEFAULT	SPEED_10000

static u32 netdev_speed(struct net_device *ndev)
{
	struct ethtool_link_ksettings ks;

	if (__ethtool_get_link_ksettings(ndev, &ks) ||
	    ks.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return ks.base.speed;
}

/**
 * shca_port_refresh - take over what the netdev says
 * @dev: the device
 * @state_changed: set to whether the port went up or down
 *
 * Context: process, under RTNL.
 * Return: true if state or MTU changed.
 */
bool shca_port_refresh(struct shca_dev *dev, bool *state_changed)
{
	struct net_device *ndev = dev->ndev;
	bool active = netif_running(ndev) && netif_carrier_ok(ndev);
	u32 mtu = iboe_get_mtu(READ_ONCE(ndev->mtu)) ?: IB_MTU_256;
	bool mtu_changed = mtu != dev->mtu;

	ASSERT_RTNL();
	*state_changed = active != dev->port_active;
	WRITE_ONCE(dev->port_active, active);
	WRITE_ONCE(dev->mtu, mtu);
	WRITE_ONCE(dev->speed, netdev_speed(ndev));
	return *state_changed || mtu_changed;
}

/**
 * shca_port_state - state of the port
 * @dev: the device
 *
 * Context: any.
 * Return: IB_PORT_ACTIVE or IB_PORT_DOWN.
 */
enum ib_port_state shca_port_state(const struct shca_dev *dev)
{
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
	return READ_ONCE(dev->mtu);
}

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
	attr->max_pkeys = SHCA_PKEY_TBL_LEN;
	attr->local_ca_ack_delay = 15;	/* 4.096 us << 15 = 134 ms */
	return 0;
}

/**
 * shca_query_port - ib_device_ops.query_port
 * @ib: the device
 * @port: 1
 * @attr: filled in; zeroed by ib_core
 *
 * Context: any.
 * Return: 0.
 */
int shca_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct shca_dev *dev = to_shca(ib);
	u32 mbps = READ_ONCE(dev->speed) ?: SHCA_SPEED_DEFAULT;
	int i = 0;

	attr->state = shca_port_state(dev);
	attr->phys_state = attr->state == IB_PORT_ACTIVE ?
		IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = shca_port_mtu(dev);
	attr->gid_tbl_len = SHCA_GID_TBL_LEN;
	attr->pkey_tbl_len = SHCA_PKEY_TBL_LEN;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = SHCA_MAX_MSG;
	attr->max_vl_num = 1;
	while (mbps > rates[i].mbps)
		i++;
	attr->active_speed = rates[i].speed;
	attr->active_width = rates[i].width;
	return 0;
}

/**
 * shca_query_pkey - ib_device_ops.query_pkey
 * @ib: the device
 * @port: 1
 * @index: 0
 * @pkey: set to the default one, with full membership
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int shca_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index >= SHCA_PKEY_TBL_LEN)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/**
 * shca_get_port_immutable - ib_device_ops.get_port_immutable
 * @ib: the device
 * @port: 1
 * @im: what never changes
 *
 * Context: process.
 * Return: 0.
 */
int shca_get_port_immutable(struct ib_device *ib, u32 port,
			    struct ib_port_immutable *im)
{
	im->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	im->max_mad_size = IB_MGMT_MAD_SIZE;
	im->gid_tbl_len = SHCA_GID_TBL_LEN;
	im->pkey_tbl_len = SHCA_PKEY_TBL_LEN;
	return 0;
}

/**
 * shca_get_link_layer - ib_device_ops.get_link_layer
 * @ib: the device
 * @port: 1
 *
 * Context: any.
 * Return: that of RoCE.
 */
enum rdma_link_layer shca_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
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
	return rdma_alloc_hw_stats_struct(stat_descs, SHCA_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * shca_get_hw_stats - ib_device_ops.get_hw_stats
 * @ib: the device
 * @stats: filled in
 * @port: 1
 * @index: of the one that is wanted; all are filled in
 *
 * Context: process.
 * Return: how many were filled in, or -EINVAL.
 */
int shca_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		      u32 port, int index)
{
	struct shca_dev *dev = to_shca(ib);
	int i;

	if (port != 1 || !stats)
		return -EINVAL;
	for (i = 0; i < SHCA_STAT_COUNT; i++)
		stats->value[i] = shca_stats_sum(dev->stats, i);
	return SHCA_STAT_COUNT;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A RoCE port: state, MTU and speed follow the netdev.  shca_port_refresh()
 * takes them over under RTNL, everybody else reads them without a lock, so that
 * a query may come from any context.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include "device.h"
#include "ops.h"

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

static int roce_query_port(struct ib_device *ib, u32 port,
			   struct ib_port_attr *attr)
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

static int roce_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index >= SHCA_PKEY_TBL_LEN)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int roce_get_port_immutable(struct ib_device *ib, u32 port,
				   struct ib_port_immutable *im)
{
	im->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	im->max_mad_size = IB_MGMT_MAD_SIZE;
	im->gid_tbl_len = SHCA_GID_TBL_LEN;
	im->pkey_tbl_len = SHCA_PKEY_TBL_LEN;
	return 0;
}

static enum rdma_link_layer roce_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

const struct ib_device_ops shca_roce_device_ops = {
	.query_port		= roce_query_port,
	.query_pkey		= roce_query_pkey,
	.get_port_immutable	= roce_get_port_immutable,
	.get_link_layer		= roce_get_link_layer,
};

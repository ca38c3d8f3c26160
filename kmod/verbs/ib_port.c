// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A native InfiniBand port: what verbs say of it is what the subnet manager has
 * set (dev->node).  Read without a lock, so that a query may come from any
 * context; fabric/ tells ib_core of changes.
 */
#include <rdma/ib_mad.h>

#include "../object/mcast.h"
#include "device.h"
#include "ops.h"

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	const struct shca_port_info *pi;

	if (port != 1)
		return -EINVAL;
	pi = &shca_node_port(to_shca(ib))->info;
	attr->state = shca_pi_state(pi);
	attr->phys_state = shca_pi_phys(pi);
	attr->max_mtu = shca_pi_mtu_cap(pi);
	attr->active_mtu = shca_pi_mtu(pi);
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = SHCA_IB_PKEYS;
	attr->port_cap_flags = be32_to_cpu(pi->cap_mask);
	attr->max_msg_sz = SHCA_MAX_MSG;
	attr->bad_pkey_cntr = be16_to_cpu(pi->p_key_violations);
	attr->qkey_viol_cntr = be16_to_cpu(pi->q_key_violations);
	attr->lid = shca_pi_lid(pi);
	attr->lmc = shca_pi_lmc(pi);
	attr->sm_lid = be16_to_cpu(pi->sm_lid);
	attr->sm_sl = pi->mtu_smsl & 15;
	attr->max_vl_num = pi->vl_init >> 4;
	attr->subnet_timeout = pi->rereg_timeout & SHCA_PI_TIMEOUT_MASK;
	attr->active_width = pi->width_active;
	attr->active_speed = IB_SPEED_SDR;
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (port != 1 || index >= SHCA_IB_PKEYS)
		return -EINVAL;
	*pkey = shca_dev_pkey(to_shca(ib), index);
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index,
		     union ib_gid *gid)
{
	struct shca_dev *dev = to_shca(ib);

	if (port != 1 || index)
		return -EINVAL;
	gid->global.subnet_prefix = shca_node_port(dev)->info.gid_prefix;
	gid->global.interface_id = dev->node->guid;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port,
			      struct ib_port_immutable *im)
{
	im->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	im->max_mad_size = IB_MGMT_MAD_SIZE;
	im->gid_tbl_len = 1;
	im->pkey_tbl_len = SHCA_IB_PKEYS;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static int attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct shca_qp *qp = to_shca_qp(ibqp);

	if (qp->type != IB_QPT_UD || !shca_lid_is_mcast(lid))
		return -EINVAL;
	return shca_mcast_attach(qp, gid, lid);
}

static int detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return shca_mcast_detach(to_shca_qp(ibqp), gid, lid);
}

const struct ib_device_ops shca_ib_device_ops = {
	.query_port		= query_port,
	.query_pkey		= query_pkey,
	.query_gid		= query_gid,
	.get_port_immutable	= get_port_immutable,
	.get_link_layer		= get_link_layer,
	.attach_mcast		= attach_mcast,
	.detach_mcast		= detach_mcast,
};

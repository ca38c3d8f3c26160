// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address vectors, handles and flows.
 *
 * An AH lives in dev->ahs from create to destroy.  Its lookups copy the AV
 * under RCU, so destroy neither waits nor leaves a pointer behind.  Both may
 * be called in any context, even with interrupts off (core_locking.rst).
 */
#include <linux/slab.h>
#include <net/dst.h>
#include <rdma/ib_cache.h>

#include "../base/device.h"
#include "av.h"

static int roce_av(const struct rdma_ah_attr *attr, struct shca_av *av)
{
	const struct ib_gid_attr *sgid = attr->grh.sgid_attr;
	struct net_device *ndev;

	if (!av->grh || !sgid || sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;
	av->ipv4 = ipv6_addr_v4mapped((struct in6_addr *)&av->sgid);
	if (av->ipv4 != ipv6_addr_v4mapped((struct in6_addr *)&av->dgid))
		return -EINVAL;
	av->hop_limit = av->hop_limit ?: 64;
	av->sport = rdma_flow_label_to_udp_sport(av->flow_label);

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (!IS_ERR(ndev))
		av->ifindex = ndev->ifindex;
	rcu_read_unlock();
	return 0;
}

static int ib_av(const struct rdma_ah_attr *attr, struct shca_av *av)
{
	if (attr->type != RDMA_AH_ATTR_TYPE_IB)
		return -EINVAL;
	av->dlid = rdma_ah_get_dlid(attr);
	av->path_bits = rdma_ah_get_path_bits(attr);
	/* Without a GRH a group has no name. */
	if (shca_lid_is_mcast(av->dlid) && !av->grh)
		return -EINVAL;
	return 0;
}

/**
 * shca_av_from_attr - take over what ib_core resolved
 * @dev: the device
 * @attr: address; its sgid_attr is valid during the call
 * @av: filled in
 *
 * Context: any.
 * Return: 0, or -EINVAL if the address is not one of the device's link.
 */
int shca_av_from_attr(struct shca_dev *dev, const struct rdma_ah_attr *attr,
		      struct shca_av *av)
{
	const struct ib_global_route *grh = &attr->grh;

	memset(av, 0, sizeof(*av));
	av->grh = rdma_ah_get_ah_flags(attr) & IB_AH_GRH;
	av->sl = rdma_ah_get_sl(attr);
	if (av->grh) {
		if (grh->sgid_attr)
			av->sgid = grh->sgid_attr->gid;
		av->dgid = grh->dgid;
		av->tclass = grh->traffic_class;
		av->hop_limit = grh->hop_limit;
		av->flow_label = grh->flow_label & 0xfffff;
	}
	return dev->node ? ib_av(attr, av) : roce_av(attr, av);
}

/**
 * shca_ah_create - make an address handle
 * @dev: the device
 * @pd: who may use it
 * @av: where it points to
 * @user: for a process, whose memory cgroup is charged
 *
 * Processes may have SHCA_MAX_AH of the numbers, the kernel's consumers those and
 * as many more: what a process takes, the connection manager does not miss.
 *
 * Context: any.
 * Return: the handle, or ERR_PTR(-ENOMEM) or ERR_PTR(-EBUSY).
 */
struct shca_ah *shca_ah_create(struct shca_dev *dev, struct shca_pd *pd,
			       const struct shca_av *av, bool user)
{
	struct xa_limit limit = XA_LIMIT(1, user ? SHCA_MAX_AH :
						   2 * SHCA_MAX_AH);
	gfp_t gfp = user ? GFP_ATOMIC | __GFP_ACCOUNT : GFP_ATOMIC;
	struct shca_ah *ah = kzalloc(sizeof(*ah), gfp);
	unsigned long flags;
	int ret;

	if (!ah)
		return ERR_PTR(-ENOMEM);
	ah->pd = pd;
	ah->av = *av;
	xa_lock_irqsave(&dev->ahs, flags);
	ret = __xa_alloc(&dev->ahs, &ah->number, NULL, limit, GFP_ATOMIC);
	if (!ret)
		__xa_store(&dev->ahs, ah->number, ah, GFP_ATOMIC);
	xa_unlock_irqrestore(&dev->ahs, flags);
	if (ret) {
		kfree(ah);
		return ERR_PTR(ret);
	}
	return ah;
}

/** shca_ah_destroy - the mirror; any context */
void shca_ah_destroy(struct shca_dev *dev, struct shca_ah *ah)
{
	unsigned long flags;

	xa_lock_irqsave(&dev->ahs, flags);
	__xa_erase(&dev->ahs, ah->number);
	xa_unlock_irqrestore(&dev->ahs, flags);
	kfree_rcu(ah, rcu);
}

/**
 * shca_ah_lookup - the AV that a WQE names
 * @dev: the device
 * @number: from the WQE, from anywhere
 * @pd: the QP's protection domain
 * @av: filled in
 *
 * Context: any.
 * Return: 0, -ENOENT or -EPERM (other protection domain).
 */
int shca_ah_lookup(struct shca_dev *dev, u32 number, struct shca_pd *pd,
		   struct shca_av *av)
{
	struct shca_ah *ah;
	int ret = -ENOENT;

	rcu_read_lock();
	ah = xa_load(&dev->ahs, number);
	if (ah) {
		ret = ah->pd == pd ? 0 : -EPERM;
		if (!ret)
			*av = ah->av;
	}
	rcu_read_unlock();
	return ret;
}

/** shca_flow_set - point a flow elsewhere; the caller owns its runner */
void shca_flow_set(struct shca_flow *flow, const struct shca_av *av)
{
	shca_flow_clear(flow);
	flow->av = *av;
}

/** shca_flow_clear - forget the route; the caller owns its runner */
void shca_flow_clear(struct shca_flow *flow)
{
	dst_release(flow->dst);
	flow->dst = NULL;
}

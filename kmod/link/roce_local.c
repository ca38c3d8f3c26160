// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the local path (transport/local.c) has to know of RoCEv2: which
 * addresses lead back to the device, whether somebody captures, and what the
 * receiver of a datagram is told about a path that no packet took.  No state,
 * no lock.
 */
#include <linux/netdevice.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../base/device.h"
#include "../uapi/softhca-abi.h"
#include "../wire/icrc.h"
#include "roce.h"

/**
 * shca_roce_leads_back - see struct shca_link_ops
 * @dev: the device
 * @av: where to
 *
 * A link-local address is one of the netdev that the AV's own GID belongs to.
 *
 * Context: process or softirq.
 * Return: true if the destination is an address of the device.
 */
bool shca_roce_leads_back(struct shca_dev *dev, const struct shca_av *av)
{
	struct net_device *ndev = NULL;
	bool ours = false;
	struct net *net;

	rcu_read_lock();
	net = READ_ONCE(dev->net);
	if (!net)
		goto out;
	if (ipv6_addr_type((const struct in6_addr *)&av->dgid) &
	    IPV6_ADDR_LINKLOCAL) {
		ndev = dev_get_by_index_rcu(net, av->ifindex);
		if (!ndev)
			goto out;
	}
	ours = shca_roce_has_gid(dev, &av->dgid, ndev);
out:
	rcu_read_unlock();
	return ours;
}

/**
 * shca_roce_watched - see struct shca_link_ops
 * @dev: the device
 *
 * A packet socket for all protocols (tcpdump, ibctl capture) sits on the loopback
 * interface, which packets to ourselves pass, or on all interfaces.
 *
 * Context: process or softirq.
 * Return: true if there is one.
 */
bool shca_roce_watched(struct shca_dev *dev)
{
	bool watched = false;
	struct net *net;

	rcu_read_lock();
	net = READ_ONCE(dev->net);
	if (net)
		watched = dev_nit_active(net->loopback_dev);
	rcu_read_unlock();
	return watched;
}

/**
 * shca_roce_local_grh - see struct shca_link_ops
 * @flow: where to; its packets are counted on
 * @len: bytes from BTH to ICRC, had there been a packet
 * @grh: filled in as by shca_roce_fill_grh()
 * @cqe: its path fields are filled in; wc_flags are added to
 *
 * Context: the owner of the flow's runner.
 */
void shca_roce_local_grh(struct shca_flow *flow, u32 len,
			 u8 grh[SHCA_GRH_LEN], struct shca_cqe *cqe)
{
	struct iphdr ip;

	if (flow->av.ipv4) {
		shca_roce_ipv4(&ip, flow, SHCA_UDP_LEN + len);
		ip_send_check(&ip);
		memset(grh, 0, SHCA_GRH_LEN - sizeof(ip));
		memcpy(grh + SHCA_GRH_LEN - sizeof(ip), &ip, sizeof(ip));
		cqe->network_hdr_type = RDMA_NETWORK_IPV4;
	} else {
		shca_roce_ipv6((struct ipv6hdr *)grh, &flow->av,
			       SHCA_UDP_LEN + len);
		cqe->network_hdr_type = RDMA_NETWORK_IPV6;
	}
	cqe->wc_flags |= SHCA_CQE_GRH;
	cqe->vlan_id = SHCA_CQE_NO_VLAN;
	cqe->port_num = 1;
}

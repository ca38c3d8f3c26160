// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netlink: packets at ports of native InfiniBand, for whoever captures them.
 *
 * link/ib.c shows each packet.  While nobody has joined the group it is looked at
 * no further; else a copy goes to those who have.  No lock.
 */
#include <linux/ktime.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "../base/device.h"
#include "netlink_gen.h"
#include "netlink_ops.h"

/* Attributes but the data, and their headers */
#define FRAME_ROOM	(nla_total_size(SOFTHCA_NAME_MAX + 1) + \
			 2 * nla_total_size(sizeof(u32)) + \
			 2 * nla_total_size_64bit(sizeof(u64)) + NLA_HDRLEN)

static int fill_frame(struct sk_buff *msg, const struct shca_dev *dev,
		      const struct sk_buff *skb, bool sent, u32 qpn, u64 number)
{
	char name[IB_DEVICE_NAME_MAX];
	struct nlattr *data;
	void *hdr;

	/* It may be renamed meanwhile; then a mixture is no worse. */
	strscpy(name, dev->ib.name, sizeof(name));
	hdr = genlmsg_put(msg, 0, 0, &shca_nl_family, 0,
			  SOFTHCA_CMD_FRAME_NTF);
	if (!hdr ||
	    nla_put_string(msg, SOFTHCA_A_FRAME_DEV, name) ||
	    nla_put_u32(msg, SOFTHCA_A_FRAME_SENT, sent) ||
	    (qpn && nla_put_u32(msg, SOFTHCA_A_FRAME_QPN, qpn)) ||
	    nla_put_u64_64bit(msg, SOFTHCA_A_FRAME_TIME, ktime_get_real_ns(),
			      SOFTHCA_A_FRAME_PAD) ||
	    nla_put_u64_64bit(msg, SOFTHCA_A_FRAME_NUMBER, number,
			      SOFTHCA_A_FRAME_PAD))
		return -EMSGSIZE;
	data = nla_reserve(msg, SOFTHCA_A_FRAME_DATA, skb->len);
	if (!data || skb_copy_bits(skb, 0, nla_data(data), skb->len))
		return -EMSGSIZE;
	genlmsg_end(msg, hdr);
	return 0;
}

/**
 * shca_nl_frame - tell those who capture of a packet
 * @dev: see &typedef shca_tap_fn, as for the others
 * @skb: the packet
 * @sent: which way
 * @qpn: whose
 *
 * Context: any but hard interrupts, under RCU.
 */
void shca_nl_frame(struct shca_dev *dev, const struct sk_buff *skb, bool sent,
		   u32 qpn)
{
	struct net *net = read_pnet(&dev->ib.coredev.rdma_net);
	struct sk_buff *msg;
	u64 number;

	if (!genl_has_listeners(&shca_nl_family, net, SHCA_NLGRP_CAPTURE))
		return;
	/* What is lost here leaves a gap, too. */
	number = atomic64_inc_return(&dev->captured);
	msg = genlmsg_new(FRAME_ROOM + skb->len, GFP_ATOMIC | __GFP_NOWARN);
	if (!msg)
		return;
	if (fill_frame(msg, dev, skb, sent, qpn, number))
		nlmsg_free(msg);
	else
		genlmsg_multicast_netns(&shca_nl_family, net, msg, 0,
					SHCA_NLGRP_CAPTURE, GFP_ATOMIC);
}

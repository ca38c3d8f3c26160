/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the operations of the netlink family share (netlink.c). */
#ifndef _SHCA_NETLINK_OPS_H
#define _SHCA_NETLINK_OPS_H

#include <net/genetlink.h>

#include "../link/cable.h"

struct shca_dev;

extern struct genl_family shca_nl_family;

bool shca_nl_visible(struct shca_dev *dev, const struct net *net);
struct shca_dev *shca_nl_find(const struct net *net,
			      const struct nlattr *attr,
			      struct netlink_ext_ack *extack);
struct shca_dev *shca_nl_next(const struct net *net, u32 index);

/**
 * typedef shca_nl_fill_fn - write what is to be known of a device
 * @skb: message being made
 * @portid: of the receiver
 * @seq: of the request
 * @flags: NLM_F_*
 * @dev: the device
 * @netdev: the receiver may know how the interface is called
 *
 * Return: 0 or -EMSGSIZE, then nothing was written.
 */
typedef int shca_nl_fill_fn(struct sk_buff *skb, u32 portid, u32 seq,
			    int flags, const struct shca_dev *dev, bool netdev);

int shca_nl_reply(struct genl_info *info, struct sk_buff *reply, int ret);
int shca_nl_show_device(struct sk_buff *skb, struct genl_info *info,
			const struct nlattr *name, shca_nl_fill_fn *fill);
int shca_nl_show_devices(struct sk_buff *skb, struct netlink_callback *cb,
			 shca_nl_fill_fn *fill);
int shca_nl_dump_attrs(struct netlink_callback *cb, struct nlattr **attrs,
		       int maxattr, const struct nla_policy *policy,
		       int only_do);
int shca_nl_dump_result(const struct sk_buff *skb, int ret);

void shca_nl_frame(struct shca_dev *dev, const struct sk_buff *skb, bool sent,
		   u32 qpn);
void shca_nl_tell_fabric(struct sk_buff *msg);
void shca_nl_cable_changed(enum shca_cable_change change,
			   const struct shca_cable_info *info);

int shca_nl_fill_device(struct sk_buff *skb, u32 portid, u32 seq, int flags,
			u8 cmd, const struct shca_dev *dev, bool netdev);

#endif /* _SHCA_NETLINK_OPS_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netlink: show counters.  Their names are those of sysfs (base/stats.h).
 */
#include <net/genetlink.h>

#include "../base/device.h"
#include "../base/stats.h"
#include "../verbs/device.h"
#include "netlink_gen.h"
#include "netlink_ops.h"

static int fill_stats(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		      const struct shca_dev *dev)
{
	char name[IB_DEVICE_NAME_MAX];
	struct nlattr *nest;
	void *hdr;
	int i;

	strscpy(name, dev->ib.name, sizeof(name));
	hdr = genlmsg_put(skb, portid, seq, &shca_nl_family, flags,
			  SOFTHCA_CMD_STATS_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, SOFTHCA_A_STATS_DEV, name))
		goto err_cancel;
	for (i = 0; i < SHCA_STAT_COUNT; i++) {
		nest = nla_nest_start(skb, SOFTHCA_A_STATS_STAT);
		if (!nest ||
		    nla_put_string(skb, SOFTHCA_A_STAT_NAME,
				   shca_stat_names[i]) ||
		    nla_put_u64_64bit(skb, SOFTHCA_A_STAT_VALUE,
				      shca_stats_sum(dev->stats, i),
				      SOFTHCA_A_STAT_PAD))
			goto err_cancel;
		nla_nest_end(skb, nest);
	}
	genlmsg_end(skb, hdr);
	return 0;

err_cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/**
 * shca_nl_stats_get_doit - show the counters of a device
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	struct shca_dev *dev;
	int ret;

	dev = shca_nl_find(genl_info_net(info), info->attrs[SOFTHCA_A_STATS_DEV],
			   info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	ret = reply ? fill_stats(reply, info->snd_portid, info->snd_seq, 0,
				 dev) : -ENOMEM;
	shca_device_put(dev);
	if (ret) {
		nlmsg_free(reply);
		return ret;
	}
	return genlmsg_reply(reply, info);
}

/**
 * shca_nl_stats_get_dumpit - show the counters of all devices
 * @skb: buffer for replies
 * @cb: request; args[0] is the index of the device to go on with
 *
 * Context: process.
 * Return: bytes in the buffer, 0 at the end, or a negative errno.
 */
int shca_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attrs[ARRAY_SIZE(shca_nl_stats_get_policy)];
	struct net *net = sock_net(skb->sk);
	struct shca_dev *dev;
	int ret;

	ret = shca_nl_dump_attrs(cb, attrs, ARRAY_SIZE(attrs) - 1,
				 shca_nl_stats_get_policy, SOFTHCA_A_STATS_DEV);
	if (ret)
		return ret;

	while ((dev = shca_nl_next(net, cb->args[0]))) {
		ret = fill_stats(skb, NETLINK_CB(cb->skb).portid,
				 cb->nlh->nlmsg_seq, NLM_F_MULTI, dev);
		if (!ret)
			cb->args[0] = dev->ib.index + 1;
		shca_device_put(dev);
		if (ret)
			break;
	}
	return shca_nl_dump_result(skb, ret);
}

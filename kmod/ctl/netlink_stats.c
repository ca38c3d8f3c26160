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
		      const struct shca_dev *dev, bool netdev)
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
	return shca_nl_show_device(skb, info, info->attrs[SOFTHCA_A_STATS_DEV],
				   fill_stats);
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
	int ret;

	ret = shca_nl_dump_attrs(cb, attrs, ARRAY_SIZE(attrs) - 1,
				 shca_nl_stats_get_policy, SOFTHCA_A_STATS_DEV);
	return ret ?: shca_nl_show_devices(skb, cb, fill_stats);
}

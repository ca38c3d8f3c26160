// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The generic netlink family "softhca": what its operations share, and its
 * notifications.  The operations are in netlink_dev.c, _qp.c and _stats.c.
 *
 * What a request may carry is checked by the generated policies
 * (netlink_gen.c) before a handler runs.  A handler finds the device, which
 * gives it a reference, and hands the work to verbs/device.c; it holds no lock
 * of its own.  A caller sees, and changes, only devices that ib_core lets its
 * network namespace use; for others the answer is that there is no such
 * device.  Every refusal has a sentence and, where one is to blame, the
 * attribute.
 *
 * Notifications of devices come from verbs/device.c's chain, whoever made the
 * change, and go to the same namespaces that may read the device; those of
 * cables come from link/cable.c, those of packets from link/ib.c.
 */
#include <linux/module.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "../link/ib.h"
#include "../verbs/device.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "netlink_ops.h"

/**
 * shca_nl_visible - whether processes of a namespace may know about a device
 * @dev: the device; registered, or being told to be gone
 * @net: the namespace
 *
 * Context: any.
 * Return: true if so.
 */
bool shca_nl_visible(struct shca_dev *dev, const struct net *net)
{
	return rdma_dev_access_netns(&dev->ib, net);
}

/**
 * shca_nl_find - find the device that a request names
 * @net: the caller's namespace
 * @attr: the attribute with the name, or NULL if it is missing
 * @extack: why not
 *
 * Context: process.
 * Return: the device with a reference for shca_device_put(), or an ERR_PTR.
 */
struct shca_dev *shca_nl_find(const struct net *net,
			      const struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	char name[IB_DEVICE_NAME_MAX];
	struct shca_dev *dev;

	if (!attr) {
		NL_SET_ERR_MSG(extack, "the request names no device");
		return ERR_PTR(-EINVAL);
	}
	nla_strscpy(name, attr, sizeof(name));
	dev = shca_device_find(name);
	if (dev && shca_nl_visible(dev, net))
		return dev;
	if (dev)
		shca_device_put(dev);
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "there is no softhca device of this name");
	return ERR_PTR(-ENODEV);
}

/**
 * shca_nl_next - walk over the devices that a namespace may see
 * @net: the caller's namespace
 * @index: 0 at first, then one more than that of the last device
 *
 * Context: process.
 * Return: the device with a reference for shca_device_put(), or NULL.
 */
struct shca_dev *shca_nl_next(const struct net *net, u32 index)
{
	struct shca_dev *dev;

	while ((dev = shca_device_find_from(index)) &&
	       !shca_nl_visible(dev, net)) {
		index = dev->ib.index + 1;
		shca_device_put(dev);
	}
	return dev;
}

/**
 * shca_nl_reply - send what was to be shown, or drop it
 * @info: the request
 * @reply: the answer, or NULL if @ret is not 0
 * @ret: 0, or why there is none
 *
 * Context: process.
 * Return: @ret, or what sending it returned.
 */
int shca_nl_reply(struct genl_info *info, struct sk_buff *reply, int ret)
{
	if (!ret)
		return genlmsg_reply(reply, info);
	nlmsg_free(reply);
	return ret;
}

/*
 * May who sent a request know how the interface of a device is called?  In shared
 * mode everybody sees all devices, but interfaces are their namespace's.
 */
static bool may_see_netdev(const struct sk_buff *request,
			   const struct shca_dev *dev, const struct net *net)
{
	return dev->ndev && (net_eq(dev_net(dev->ndev), net) ||
			     netlink_capable(request, CAP_NET_ADMIN));
}

/**
 * shca_nl_show_device - answer a request about one device
 * @skb: the request
 * @info: its attributes
 * @name: its attribute with the name, or NULL if it is missing
 * @fill: writes the answer
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_show_device(struct sk_buff *skb, struct genl_info *info,
			const struct nlattr *name, shca_nl_fill_fn *fill)
{
	struct net *net = genl_info_net(info);
	struct sk_buff *reply;
	struct shca_dev *dev;
	int ret;

	dev = shca_nl_find(net, name, info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	ret = reply ? fill(reply, info->snd_portid, info->snd_seq, 0, dev,
			   may_see_netdev(skb, dev, net)) : -ENOMEM;
	shca_device_put(dev);
	return shca_nl_reply(info, reply, ret);
}

/**
 * shca_nl_show_devices - go on with a dump of all devices
 * @skb: buffer for replies
 * @cb: the dump; args[0] is the index to go on with
 * @fill: writes the answer for one
 *
 * Context: process.
 * Return: bytes in the buffer, 0 at the end, or a negative errno.
 */
int shca_nl_show_devices(struct sk_buff *skb, struct netlink_callback *cb,
			 shca_nl_fill_fn *fill)
{
	struct net *net = sock_net(skb->sk);
	struct shca_dev *dev;
	int ret = 0;

	while (!ret && (dev = shca_nl_next(net, cb->args[0]))) {
		ret = fill(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   NLM_F_MULTI, dev,
			   may_see_netdev(cb->skb, dev, net));
		if (!ret)
			cb->args[0] = dev->ib.index + 1;
		shca_device_put(dev);
	}
	return shca_nl_dump_result(skb, ret);
}

/**
 * shca_nl_dump_attrs - attributes of a dump's request
 * @cb: the dump
 * @attrs: filled in, @maxattr + 1 of them
 * @maxattr: of the operation
 * @policy: of the operation
 * @only_do: an attribute that only a do of the operation takes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_dump_attrs(struct netlink_callback *cb, struct nlattr **attrs,
		       int maxattr, const struct nla_policy *policy,
		       int only_do)
{
	int ret;

	ret = nlmsg_parse(cb->nlh, GENL_HDRLEN, attrs, maxattr, policy,
			  cb->extack);
	if (ret)
		return ret;
	if (attrs[only_do]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[only_do],
				    "a dump does not take this attribute");
		return -EINVAL;
	}
	return 0;
}

/**
 * shca_nl_dump_result - what a dump handler returns
 * @skb: buffer for replies
 * @ret: of the last message put into it
 *
 * A message that does not fit is put into the next buffer, unless this one was
 * empty: then the dump would never get past it.
 *
 * Return: bytes in the buffer, 0 at the end, or a negative errno.
 */
int shca_nl_dump_result(const struct sk_buff *skb, int ret)
{
	if (ret == -EMSGSIZE && skb->len)
		return skb->len;
	return ret < 0 ? ret : skb->len;
}

static void multicast_to(struct net *net, struct sk_buff *msg, int group)
{
	struct sk_buff *copy;

	if (!genl_has_listeners(&shca_nl_family, net, group))
		return;
	copy = skb_clone(msg, GFP_ATOMIC);
	if (copy)
		genlmsg_multicast_netns(&shca_nl_family, net, copy,
					0, group, GFP_ATOMIC);
}

/*
 * Send a message about a device to the namespaces that may see it: @own to that
 * of its interface, @msg to the others.
 */
static void multicast(struct shca_dev *dev, struct sk_buff *msg,
		      struct sk_buff *own)
{
	struct net *net;

	rcu_read_lock();
	for_each_net_rcu(net)
		if (shca_nl_visible(dev, net))
			multicast_to(net, dev->ndev &&
				     net_eq(dev_net(dev->ndev), net) ? own : msg,
				     SHCA_NLGRP_MONITOR);
	rcu_read_unlock();
}

/**
 * shca_nl_tell_fabric - send what happened to a cable or switch
 * @msg: the notification; consumed
 *
 * Only the privileged may list cables and switches, which are of no namespace:
 * those who have CAP_NET_ADMIN in the initial user namespace.
 *
 * Context: process.
 */
void shca_nl_tell_fabric(struct sk_buff *msg)
{
	struct net *net;

	rcu_read_lock();
	for_each_net_rcu(net)
		if (net->user_ns == &init_user_ns)
			multicast_to(net, msg, SHCA_NLGRP_FABRIC);
	rcu_read_unlock();
	nlmsg_free(msg);
}

static int device_changed(struct notifier_block *nb, unsigned long change,
			  void *data)
{
	static const u8 cmd[] = {
		[SHCA_DEVICE_NEW] = SOFTHCA_CMD_DEV_NEW_NTF,
		[SHCA_DEVICE_SET] = SOFTHCA_CMD_DEV_SET_NTF,
		[SHCA_DEVICE_DEL] = SOFTHCA_CMD_DEV_DEL_NTF,
	};
	struct shca_dev *dev = data;
	struct sk_buff *msg, *own;

	if (change >= ARRAY_SIZE(cmd))
		return NOTIFY_DONE;
	/* Nobody's rights are known here, but where they listen. */
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	own = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (msg && own &&
	    !shca_nl_fill_device(msg, 0, 0, 0, cmd[change], dev, false) &&
	    !shca_nl_fill_device(own, 0, 0, 0, cmd[change], dev, true))
		multicast(dev, msg, own);
	nlmsg_free(msg);
	nlmsg_free(own);
	return NOTIFY_DONE;
}

static struct notifier_block shca_nl_nb = {
	.notifier_call = device_changed,
};

struct genl_family shca_nl_family __ro_after_init = {
	.name = SOFTHCA_FAMILY_NAME,
	.version = SOFTHCA_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.ops = shca_nl_ops,
	.n_ops = ARRAY_SIZE(shca_nl_ops),
	.resv_start_op = SOFTHCA_CMD_DEV_GET,
	.mcgrps = shca_nl_mcgrps,
	.n_mcgrps = ARRAY_SIZE(shca_nl_mcgrps),
};

/**
 * shca_nl_init - register the family
 *
 * Context: process; the module's init, after devices can be added.
 * Return: 0 or a negative errno.
 */
int __init shca_nl_init(void)
{
	int ret;

	ret = genl_register_family(&shca_nl_family);
	if (ret)
		return ret;
	ret = shca_device_notify_register(&shca_nl_nb);
	if (ret)
		goto err_unregister_family;
	shca_cable_listen(shca_nl_cable_changed);
	shca_ib_tap_set(shca_nl_frame);
	return 0;

err_unregister_family:
	genl_unregister_family(&shca_nl_family);
	return ret;
}

/**
 * shca_nl_exit - unregister the family
 *
 * Context: process; the module's exit. No request runs afterwards.
 */
void shca_nl_exit(void)
{
	shca_ib_tap_set(NULL);
	shca_cable_listen(NULL);
	shca_device_notify_unregister(&shca_nl_nb);
	genl_unregister_family(&shca_nl_family);
}

MODULE_ALIAS_GENL_FAMILY(SOFTHCA_FAMILY_NAME);

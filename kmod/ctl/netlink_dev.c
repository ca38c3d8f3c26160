// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netlink: show, create, delete and set up devices.
 */
#include <linux/netdevice.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "../base/device.h"
#include "../verbs/device.h"
#include "netlink_gen.h"
#include "netlink_ops.h"
#include "nodes.h"

static_assert(sizeof_field(struct ib_device, name) == SOFTHCA_NAME_MAX + 1);
static_assert(sizeof_field(struct net_device, name) ==
	      SOFTHCA_NETDEV_NAME_MAX + 1);
static_assert((int)SOFTHCA_PORT_STATE_DOWN == (int)IB_PORT_DOWN);
static_assert((int)SOFTHCA_PORT_STATE_ACTIVE == (int)IB_PORT_ACTIVE);
static_assert((int)SOFTHCA_PORT_STATE_MAX == (int)IB_PORT_ACTIVE_DEFER);

static int fill_netdev(struct sk_buff *skb, struct net_device *ndev,
		       bool names)
{
	char ifname[IFNAMSIZ];

	strscpy(ifname, ndev->name, sizeof(ifname));
	if (names &&
	    (nla_put_u32(skb, SOFTHCA_A_DEV_NETDEV_IFINDEX, ndev->ifindex) ||
	     nla_put_string(skb, SOFTHCA_A_DEV_NETDEV_NAME, ifname)))
		return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, SOFTHCA_A_DEV_NETNS_INODE,
			      dev_net(ndev)->ns.inum, SOFTHCA_A_DEV_PAD))
		return -EMSGSIZE;
	return 0;
}

static int fill_ib(struct sk_buff *skb, const struct shca_dev *dev)
{
	const struct shca_port_info *pi = &shca_node_port(dev)->info;

	if (nla_put_u32(skb, SOFTHCA_A_DEV_LID, shca_pi_lid(pi)) ||
	    nla_put_u32(skb, SOFTHCA_A_DEV_SM_LID, be16_to_cpu(pi->sm_lid)) ||
	    nla_put_u64_64bit(skb, SOFTHCA_A_DEV_NETNS_INODE,
			      read_pnet(&dev->ib.coredev.rdma_net)->ns.inum,
			      SOFTHCA_A_DEV_PAD))
		return -EMSGSIZE;
	return 0;
}

/**
 * shca_nl_fill_device - put a message about a device into a buffer
 * @skb: the buffer
 * @portid: of the message's header
 * @seq: of the message's header
 * @flags: of the message's header
 * @cmd: SOFTHCA_CMD_*
 * @dev: the device; registered, or being told to be gone
 * @netdev: the receiver may know how its interface is called
 *
 * Context: process.
 * Return: 0 or -EMSGSIZE; then the buffer is as before.
 */
int shca_nl_fill_device(struct sk_buff *skb, u32 portid, u32 seq, int flags,
			u8 cmd, const struct shca_dev *dev, bool netdev)
{
	u32 link = dev->node ? SOFTHCA_LINK_IB : SOFTHCA_LINK_ROCE;
	char name[IB_DEVICE_NAME_MAX];
	void *hdr;

	/* It may be renamed meanwhile; then a mixture is no worse. */
	strscpy(name, dev->ib.name, sizeof(name));

	hdr = genlmsg_put(skb, portid, seq, &shca_nl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SOFTHCA_A_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, SOFTHCA_A_DEV_NAME, name) ||
	    (dev->ndev && fill_netdev(skb, dev->ndev, netdev)) ||
	    nla_put_u32(skb, SOFTHCA_A_DEV_LINK, link) ||
	    nla_put_u32(skb, SOFTHCA_A_DEV_PORT_STATE, shca_port_state(dev)) ||
	    nla_put_u32(skb, SOFTHCA_A_DEV_ACTIVE_MTU,
			ib_mtu_enum_to_int(shca_port_mtu(dev))) ||
	    nla_put_u64_64bit(skb, SOFTHCA_A_DEV_NODE_GUID,
			      be64_to_cpu(dev->ib.node_guid),
			      SOFTHCA_A_DEV_PAD) ||
	    nla_put_u32(skb, SOFTHCA_A_DEV_WINDOW, READ_ONCE(dev->window)) ||
	    nla_put_u32(skb, SOFTHCA_A_DEV_BURST, READ_ONCE(dev->burst)) ||
	    (dev->node && fill_ib(skb, dev))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int fill_dev(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		    const struct shca_dev *dev, bool netdev)
{
	return shca_nl_fill_device(skb, portid, seq, flags,
				   SOFTHCA_CMD_DEV_GET, dev, netdev);
}

/**
 * shca_nl_dev_get_doit - show a device
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return shca_nl_show_device(skb, info, info->attrs[SOFTHCA_A_DEV_NAME],
				   fill_dev);
}

/**
 * shca_nl_dev_get_dumpit - show all devices
 * @skb: buffer for replies
 * @cb: request; args[0] is the index to go on with
 *
 * Context: process.
 * Return: bytes in the buffer, 0 at the end, or a negative errno.
 */
int shca_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attrs[ARRAY_SIZE(shca_nl_dev_get_policy)];
	int ret;

	ret = shca_nl_dump_attrs(cb, attrs, ARRAY_SIZE(attrs) - 1,
				 shca_nl_dev_get_policy, SOFTHCA_A_DEV_NAME);
	return ret ?: shca_nl_show_devices(skb, cb, fill_dev);
}

static int new_roce(struct genl_info *info, const char *name)
{
	struct nlattr *netdev_attr = info->attrs[SOFTHCA_A_DEV_NETDEV_NAME];
	struct nlattr *guid_attr = info->attrs[SOFTHCA_A_DEV_NODE_GUID];
	char ifname[IFNAMSIZ];
	struct net_device *ndev;
	int ret;

	if (!netdev_attr) {
		NL_SET_ERR_MSG(info->extack, "the request lacks netdev-name");
		return -EINVAL;
	}
	if (guid_attr) {
		NL_SET_ERR_MSG_ATTR(info->extack, guid_attr,
				    "a RoCE device has the GUID of its network interface");
		return -EINVAL;
	}
	nla_strscpy(ifname, netdev_attr, sizeof(ifname));
	ndev = dev_get_by_name(genl_info_net(info), ifname);
	if (!ndev) {
		NL_SET_ERR_MSG_ATTR(info->extack, netdev_attr,
				    "there is no network interface of this name in your network namespace");
		return -ENODEV;
	}
	ret = shca_nodes_add_roce(name, ndev, info->extack);
	dev_put(ndev);
	switch (ret) {
	case 0:
	case -ENOMEM:
	case -EADDRINUSE:
	case -EEXIST:
	case -EINVAL:
		break;
	default:
		NL_SET_BAD_ATTR(info->extack, netdev_attr);
		break;
	}
	return ret;
}

static int new_ib(struct genl_info *info, const char *name)
{
	struct nlattr *netdev_attr = info->attrs[SOFTHCA_A_DEV_NETDEV_NAME];
	struct nlattr *guid_attr = info->attrs[SOFTHCA_A_DEV_NODE_GUID];
	u64 guid = guid_attr ? nla_get_u64(guid_attr) : 0;
	int ret;

	if (netdev_attr) {
		NL_SET_ERR_MSG_ATTR(info->extack, netdev_attr,
				    "a device of link type ib has no network interface, but a port for a cable");
		return -EINVAL;
	}
	if (guid_attr && !guid) {
		NL_SET_ERR_MSG_ATTR(info->extack, guid_attr,
				    "0 is no GUID");
		return -EINVAL;
	}
	ret = shca_nodes_add_ib(name, guid, info->extack);
	if (ret == -EADDRINUSE)
		NL_SET_BAD_ATTR(info->extack, guid_attr);
	return ret;
}

/**
 * shca_nl_dev_new_doit - create a device
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_dev_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *name_attr = info->attrs[SOFTHCA_A_DEV_NAME];
	struct nlattr *link_attr = info->attrs[SOFTHCA_A_DEV_LINK];
	char name[IB_DEVICE_NAME_MAX];
	int ret;

	if (!name_attr) {
		NL_SET_ERR_MSG(info->extack, "the request lacks name");
		return -EINVAL;
	}
	nla_strscpy(name, name_attr, sizeof(name));
	if (link_attr && nla_get_u32(link_attr) == SOFTHCA_LINK_IB)
		ret = new_ib(info, name);
	else
		ret = new_roce(info, name);
	if ((ret == -EEXIST || ret == -EINVAL) && info->extack &&
	    !info->extack->bad_attr)
		NL_SET_BAD_ATTR(info->extack, name_attr);
	return ret;
}

/**
 * shca_nl_dev_del_doit - delete a device
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_dev_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	char name[IB_DEVICE_NAME_MAX];
	struct shca_dev *dev;

	dev = shca_nl_find(genl_info_net(info), info->attrs[SOFTHCA_A_DEV_NAME],
			   info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	/* Removal waits for our reference, so let go of it first. */
	shca_device_put(dev);
	nla_strscpy(name, info->attrs[SOFTHCA_A_DEV_NAME], sizeof(name));
	return shca_device_del(name, info->extack);
}

/**
 * shca_nl_dev_set_doit - change settings of a device
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *window = info->attrs[SOFTHCA_A_DEV_WINDOW];
	struct nlattr *burst = info->attrs[SOFTHCA_A_DEV_BURST];
	struct shca_dev *dev;
	int ret = 0;

	dev = shca_nl_find(genl_info_net(info), info->attrs[SOFTHCA_A_DEV_NAME],
			   info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if (!window && !burst) {
		NL_SET_ERR_MSG(info->extack,
			       "the request names nothing to set");
		ret = -EINVAL;
	}
	/* The policy has checked the values: none is refused after another. */
	if (!ret && window)
		ret = shca_device_set_window(dev, nla_get_u32(window),
					     info->extack);
	if (!ret && burst)
		ret = shca_device_set_burst(dev, nla_get_u32(burst),
					    info->extack);
	shca_device_put(dev);
	return ret;
}

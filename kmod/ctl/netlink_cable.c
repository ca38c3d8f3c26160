// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netlink: show, plug and pull cables.
 *
 * A handler holds the nodes at both ends for as long as it looks at their plugs.
 */
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "../base/device.h"
#include "../compat/extack.h"
#include "../fabric/switch.h"
#include "../link/cable.h"
#include "../verbs/device.h"
#include "netlink_gen.h"
#include "netlink_ops.h"

static_assert(sizeof_field(struct shca_cable_end, node) ==
	      SOFTHCA_NAME_MAX + 1);

/**
 * struct socket_ref - a plug, and what keeps it
 * @dev: its device, or NULL
 * @sw: its switch, or NULL
 * @plug: the plug
 */
struct socket_ref {
	struct shca_dev *dev;
	struct shca_switch *sw;
	struct shca_plug *plug;
};

static int socket_of_switch(struct genl_info *info, struct nlattr *port_attr,
			    struct socket_ref *ref)
{
	u32 port = nla_get_u32(port_attr);

	if (port && port <= ref->sw->node.num_ports) {
		ref->plug = &ref->sw->port[port - 1].plug;
		return 0;
	}
	shca_extack(info->extack, "the switch has ports 1 to %u",
		    ref->sw->node.num_ports);
	NL_SET_BAD_ATTR(info->extack, port_attr);
	shca_switch_put(ref->sw);
	return -ENOENT;
}

static int socket_of_device(struct genl_info *info, struct nlattr *node_attr,
			    struct nlattr *port_attr, struct socket_ref *ref)
{
	int ret;

	ref->dev = shca_nl_find(genl_info_net(info), node_attr, info->extack);
	if (IS_ERR(ref->dev)) {
		NL_SET_ERR_MSG_ATTR(info->extack, node_attr,
				    "there is no softhca device or switch of this name");
		return PTR_ERR(ref->dev);
	}
	ref->plug = ref->dev->plug;
	if (ref->plug && nla_get_u32(port_attr) == 1)
		return 0;
	if (!ref->plug) {
		NL_SET_ERR_MSG_ATTR(info->extack, node_attr,
				    "this device speaks RoCE; a cable goes into devices of link type ib");
		ret = -EOPNOTSUPP;
	} else {
		NL_SET_ERR_MSG_ATTR(info->extack, port_attr,
				    "the device has one port, and its number is 1");
		ret = -ENOENT;
	}
	shca_device_put(ref->dev);
	return ret;
}

static int socket_find(struct genl_info *info, int node, int port,
		       struct socket_ref *ref)
{
	struct nlattr *node_attr = info->attrs[node];
	struct nlattr *port_attr = info->attrs[port];
	char name[SHCA_SWITCH_NAME_MAX + 1];

	if (!node_attr || !port_attr) {
		NL_SET_ERR_MSG(info->extack,
			       "the request names no port at an end of the cable");
		return -EINVAL;
	}
	nla_strscpy(name, node_attr, sizeof(name));
	*ref = (struct socket_ref) { .sw = shca_switch_find(name) };
	if (ref->sw)
		return socket_of_switch(info, port_attr, ref);
	return socket_of_device(info, node_attr, port_attr, ref);
}

static void socket_put(struct socket_ref *ref)
{
	if (ref->sw)
		shca_switch_put(ref->sw);
	else
		shca_device_put(ref->dev);
}

static int fill_cable(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct shca_cable_end end[2], bool up)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &shca_nl_family, NLM_F_MULTI, SOFTHCA_CMD_CABLE_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, SOFTHCA_A_CABLE_NODE, end[0].node) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_PORT, end[0].port) ||
	    nla_put_string(skb, SOFTHCA_A_CABLE_PEER_NODE, end[1].node) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_PEER_PORT, end[1].port) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_LINK_STATE,
			up ? SOFTHCA_LINK_STATE_UP : SOFTHCA_LINK_STATE_DOWN)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * shca_nl_cable_get_dumpit - show all cables, or those of a node
 * @skb: buffer for replies
 * @cb: request; args[0] is the number of the last cable that was shown
 *
 * Context: process.
 * Return: bytes in the buffer, 0 at the end, or a negative errno.
 */
int shca_nl_cable_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attrs[ARRAY_SIZE(shca_nl_cable_get_policy)];
	struct shca_cable_end end[2];
	u32 id = cb->args[0];
	struct nlattr *node;
	bool up;
	int ret;

	ret = nlmsg_parse(cb->nlh, GENL_HDRLEN, attrs, ARRAY_SIZE(attrs) - 1,
			  shca_nl_cable_get_policy, cb->extack);
	if (ret)
		return ret;
	node = attrs[SOFTHCA_A_CABLE_NODE];
	while (shca_cable_next(&id, end, &up)) {
		if (node && nla_strcmp(node, end[0].node) &&
		    nla_strcmp(node, end[1].node))
			continue;
		ret = fill_cable(skb, cb, end, up);
		if (ret)
			break;
		cb->args[0] = id;
	}
	return shca_nl_dump_result(skb, ret);
}

/**
 * shca_nl_cable_new_doit - plug a cable in
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_cable_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct socket_ref a, b;
	const char *why = NULL;
	int ret;

	ret = socket_find(info, SOFTHCA_A_CABLE_NODE, SOFTHCA_A_CABLE_PORT, &a);
	if (ret)
		return ret;
	ret = socket_find(info, SOFTHCA_A_CABLE_PEER_NODE,
			  SOFTHCA_A_CABLE_PEER_PORT, &b);
	if (ret)
		goto put_a;
	ret = shca_cable_add(a.plug, b.plug, &why);
	if (ret)
		shca_extack(info->extack, "%s", why);
	socket_put(&b);
put_a:
	socket_put(&a);
	return ret;
}

/**
 * shca_nl_cable_del_doit - pull the cable of a port
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_cable_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct socket_ref a;
	int ret;

	ret = socket_find(info, SOFTHCA_A_CABLE_NODE, SOFTHCA_A_CABLE_PORT, &a);
	if (ret)
		return ret;
	ret = shca_cable_del(a.plug);
	if (ret)
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[SOFTHCA_A_CABLE_PORT],
				    "the port has no cable");
	socket_put(&a);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netlink: show, plug and pull cables.
 *
 * A handler holds the nodes at both ends for as long as it looks at their plugs.
 */
#include <linux/in.h>
#include <linux/inet.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
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
static_assert(SHCA_SHIM_UDP_PORT == SOFTHCA_CABLE_UDP_PORT);
static_assert((int)SHCA_PEER_SILENT == (int)SOFTHCA_PEER_STATE_SILENT);
static_assert((int)SHCA_PEER_DISABLED == (int)SOFTHCA_PEER_STATE_DISABLED);
static_assert((int)SHCA_PEER_DEAF == (int)SOFTHCA_PEER_STATE_DEAF);
static_assert((int)SHCA_PEER_READY == (int)SOFTHCA_PEER_STATE_READY);

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

/* ib_core renames devices and asks nobody. */
static bool is_device_too(struct genl_info *info, const char *name)
{
	struct shca_dev *dev = shca_device_find(name);
	bool visible = dev && shca_nl_visible(dev, genl_info_net(info));

	if (dev)
		shca_device_put(dev);
	return visible;
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
	if (ref->sw && is_device_too(info, name)) {
		shca_switch_put(ref->sw);
		NL_SET_ERR_MSG_ATTR(info->extack, node_attr,
				    "a switch and a device have this name; give the device another: rdma dev set NAME name OTHER");
		return -ENOTUNIQ;
	}
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

static int fill_peer(struct sk_buff *skb, const struct shca_cable_end *end)
{
	if (nla_put_string(skb, SOFTHCA_A_CABLE_PEER_NODE, end->node) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_PEER_PORT, end->port))
		return -EMSGSIZE;
	return 0;
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, SOFTHCA_A_CABLE_PAD);
}

static int fill_far(struct sk_buff *skb, const struct shca_far_info *info)
{
	const struct sockaddr_storage *sa = &info->far.addr;
	char addr[SOFTHCA_ADDRESS_MAX + 1];
	u16 port;

	snprintf(addr, sizeof(addr), "%pISc", sa);
	port = be16_to_cpu(((const struct sockaddr_in *)sa)->sin_port);
	if (nla_put_string(skb, SOFTHCA_A_CABLE_REMOTE, addr) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_UDP_PORT, port) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_ID, info->far.id) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_PEER_STATE, info->peer) ||
	    put_u64(skb, SOFTHCA_A_CABLE_STRANGERS, info->strangers) ||
	    put_u64(skb, SOFTHCA_A_CABLE_MALFORMED, info->malformed) ||
	    put_u64(skb, SOFTHCA_A_CABLE_RX_LOST, info->rx_lost) ||
	    put_u64(skb, SOFTHCA_A_CABLE_TX_LOST, info->tx_lost))
		return -EMSGSIZE;
	return 0;
}

static int fill_cable(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		      u8 cmd, const struct shca_cable_info *c)
{
	void *hdr;

	hdr = genlmsg_put(skb, portid, seq, &shca_nl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, SOFTHCA_A_CABLE_NODE, c->end[0].node) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_PORT, c->end[0].port) ||
	    (c->remote ? fill_far(skb, &c->far) :
			 fill_peer(skb, &c->end[1])) ||
	    nla_put_u32(skb, SOFTHCA_A_CABLE_LINK_STATE,
			c->up ? SOFTHCA_LINK_STATE_UP :
				SOFTHCA_LINK_STATE_DOWN)) {
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
	struct shca_cable_info c;
	u32 id = cb->args[0];
	struct nlattr *node;
	int ret;

	ret = nlmsg_parse(cb->nlh, GENL_HDRLEN, attrs, ARRAY_SIZE(attrs) - 1,
			  shca_nl_cable_get_policy, cb->extack);
	if (ret)
		return ret;
	node = attrs[SOFTHCA_A_CABLE_NODE];
	while (shca_cable_next(&id, &c)) {
		if (node && nla_strcmp(node, c.end[0].node) &&
		    (c.remote || nla_strcmp(node, c.end[1].node)))
			continue;
		ret = fill_cable(skb, NETLINK_CB(cb->skb).portid,
				 cb->nlh->nlmsg_seq, NLM_F_MULTI,
				 SOFTHCA_CMD_CABLE_GET, &c);
		if (ret)
			break;
		cb->args[0] = id;
	}
	return shca_nl_dump_result(skb, ret);
}

/* Can it be the address of one other host, whatever the interface? */
static bool is_host(const struct sockaddr_storage *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;
	__be32 ip = in->sin_addr.s_addr;

	if (sa->ss_family == AF_INET)
		return !ipv4_is_zeronet(ip) && !ipv4_is_loopback(ip) &&
		       !ipv4_is_multicast(ip) && !ipv4_is_lbcast(ip);
	return !(ipv6_addr_type(&in6->sin6_addr) &
		 (IPV6_ADDR_LOOPBACK | IPV6_ADDR_MULTICAST |
		  IPV6_ADDR_LINKLOCAL | IPV6_ADDR_MAPPED)) &&
	       !ipv6_addr_any(&in6->sin6_addr);
}

static int get_far(struct genl_info *info, struct shca_far *far)
{
	struct nlattr *addr = info->attrs[SOFTHCA_A_CABLE_REMOTE];
	struct nlattr *port = info->attrs[SOFTHCA_A_CABLE_UDP_PORT];
	struct nlattr *id = info->attrs[SOFTHCA_A_CABLE_ID];
	u32 number = port ? nla_get_u32(port) : SHCA_SHIM_UDP_PORT;
	char text[SOFTHCA_ADDRESS_MAX + 1];

	if (!id) {
		NL_SET_ERR_MSG(info->extack,
			       "a cable to another host needs a number (id), the same at both ends");
		return -EINVAL;
	}
	if (!number || number > 65535) {
		NL_SET_ERR_MSG_ATTR(info->extack, port,
				    "a UDP port is 1 to 65535");
		return -ERANGE;
	}
	nla_strscpy(text, addr, sizeof(text));
	*far = (struct shca_far) { .id = nla_get_u32(id) };
	if (inet_pton_with_scope(genl_info_net(info), AF_UNSPEC, text, NULL,
				 &far->addr) || !is_host(&far->addr)) {
		NL_SET_ERR_MSG_ATTR(info->extack, addr,
				    "remote must be the address of another host, IPv4, or IPv6 that is not link-local");
		return -EINVAL;
	}
	/* At the same place for both families */
	((struct sockaddr_in *)&far->addr)->sin_port = cpu_to_be16(number);
	return 0;
}

static int new_remote(struct genl_info *info, struct shca_plug *plug)
{
	const char *why = NULL;
	struct shca_far far;
	int ret;

	if (info->attrs[SOFTHCA_A_CABLE_PEER_NODE] ||
	    info->attrs[SOFTHCA_A_CABLE_PEER_PORT]) {
		NL_SET_ERR_MSG(info->extack,
			       "the other end of a cable is a port or at another host, not both");
		return -EINVAL;
	}
	ret = get_far(info, &far);
	if (ret)
		return ret;
	ret = shca_cable_add_remote(plug, genl_info_net(info), &far, &why);
	if (ret)
		shca_extack(info->extack, "%s", why);
	return ret;
}

static int new_local(struct genl_info *info, struct shca_plug *plug)
{
	const char *why = NULL;
	struct socket_ref b;
	int ret;

	if (info->attrs[SOFTHCA_A_CABLE_UDP_PORT] ||
	    info->attrs[SOFTHCA_A_CABLE_ID]) {
		NL_SET_ERR_MSG(info->extack,
			       "udp-port and id are of a cable to another host, which needs remote");
		return -EINVAL;
	}
	ret = socket_find(info, SOFTHCA_A_CABLE_PEER_NODE,
			  SOFTHCA_A_CABLE_PEER_PORT, &b);
	if (ret)
		return ret;
	ret = shca_cable_add(plug, b.plug, &why);
	if (ret)
		shca_extack(info->extack, "%s", why);
	socket_put(&b);
	return ret;
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
	struct socket_ref a;
	int ret;

	ret = socket_find(info, SOFTHCA_A_CABLE_NODE, SOFTHCA_A_CABLE_PORT, &a);
	if (ret)
		return ret;
	if (info->attrs[SOFTHCA_A_CABLE_REMOTE])
		ret = new_remote(info, a.plug);
	else
		ret = new_local(info, a.plug);
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

/**
 * shca_nl_cable_changed - tell those who listen of a cable
 * @change: what happened
 * @info: the cable
 *
 * Context: process, under shca_cable_mutex.
 */
void shca_nl_cable_changed(enum shca_cable_change change,
			   const struct shca_cable_info *info)
{
	static const u8 cmd[] = {
		[SHCA_CABLE_NEW] = SOFTHCA_CMD_CABLE_NEW_NTF,
		[SHCA_CABLE_SET] = SOFTHCA_CMD_CABLE_SET_NTF,
		[SHCA_CABLE_DEL] = SOFTHCA_CMD_CABLE_DEL_NTF,
	};
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (msg && fill_cable(msg, 0, 0, 0, cmd[change], info)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (msg)
		shca_nl_tell_fabric(msg);
}

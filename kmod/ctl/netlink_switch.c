// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netlink: show, create and delete switches.
 */
#include <net/genetlink.h>

#include "../fabric/switch.h"
#include "netlink_gen.h"
#include "netlink_ops.h"
#include "nodes.h"

static_assert(SHCA_SWITCH_NAME_MAX == SOFTHCA_NAME_MAX);
static_assert((int)SHCA_SWITCH_PORTS_MAX == SOFTHCA_SWITCH_PORTS_MAX);
static_assert((int)SHCA_PORT_ACTIVE == (int)SOFTHCA_PORT_STATE_ACTIVE);

static int fill_port(struct sk_buff *skb, const struct shca_port_info *pi,
		     u32 number)
{
	struct nlattr *nest = nla_nest_start(skb, SOFTHCA_A_SWITCH_PORT);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SOFTHCA_A_SWITCH_PORT_NUMBER, number) ||
	    nla_put_u32(skb, SOFTHCA_A_SWITCH_PORT_STATE, shca_pi_state(pi)) ||
	    nla_put_u32(skb, SOFTHCA_A_SWITCH_PORT_MTU,
			128 << shca_pi_mtu(pi))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_switch(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		       u8 cmd, const struct shca_switch *sw)
{
	const struct shca_node *n = &sw->node;
	void *hdr;
	int i;

	hdr = genlmsg_put(skb, portid, seq, &shca_nl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, SOFTHCA_A_SWITCH_NAME, sw->name) ||
	    nla_put_u32(skb, SOFTHCA_A_SWITCH_PORTS, n->num_ports) ||
	    nla_put_u64_64bit(skb, SOFTHCA_A_SWITCH_GUID, be64_to_cpu(n->guid),
			      SOFTHCA_A_SWITCH_PAD) ||
	    nla_put_u32(skb, SOFTHCA_A_SWITCH_LID,
			shca_pi_lid(&n->port[0].info)))
		goto err_cancel;
	for (i = 1; i <= n->num_ports; i++)
		if (fill_port(skb, &n->port[i].info, i))
			goto err_cancel;
	genlmsg_end(skb, hdr);
	return 0;

err_cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/* The attribute with the name, as text; the request must have it. */
static struct nlattr *get_name(struct genl_info *info,
			       char name[SHCA_SWITCH_NAME_MAX + 1])
{
	struct nlattr *attr = info->attrs[SOFTHCA_A_SWITCH_NAME];

	if (attr)
		nla_strscpy(name, attr, SHCA_SWITCH_NAME_MAX + 1);
	else
		NL_SET_ERR_MSG(info->extack, "the request lacks name");
	return attr;
}

/**
 * shca_nl_switch_get_doit - show a switch
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_switch_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	char name[SHCA_SWITCH_NAME_MAX + 1];
	struct nlattr *attr = get_name(info, name);
	struct sk_buff *reply;
	struct shca_switch *sw;
	int ret;

	if (!attr)
		return -EINVAL;
	sw = shca_switch_find(name);
	if (!sw) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "there is no switch of this name");
		return -ENODEV;
	}
	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	ret = reply ? fill_switch(reply, info->snd_portid, info->snd_seq, 0,
				  SOFTHCA_CMD_SWITCH_GET, sw) : -ENOMEM;
	shca_switch_put(sw);
	return shca_nl_reply(info, reply, ret);
}

/**
 * shca_nl_switch_get_dumpit - show all switches
 * @skb: buffer for replies
 * @cb: request; args[0] is the number of the switch to go on with
 *
 * Context: process.
 * Return: bytes in the buffer, 0 at the end, or a negative errno.
 */
int shca_nl_switch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attrs[ARRAY_SIZE(shca_nl_switch_get_policy)];
	struct shca_switch *sw;
	int ret;

	ret = shca_nl_dump_attrs(cb, attrs, ARRAY_SIZE(attrs) - 1,
				 shca_nl_switch_get_policy,
				 SOFTHCA_A_SWITCH_NAME);
	while (!ret && (sw = shca_switch_find_from(cb->args[0]))) {
		ret = fill_switch(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, NLM_F_MULTI,
				  SOFTHCA_CMD_SWITCH_GET, sw);
		if (!ret)
			cb->args[0] = sw->id + 1;
		shca_switch_put(sw);
	}
	return shca_nl_dump_result(skb, ret);
}

/* Requests are the only way that switches come and go. */
static void tell(u8 cmd, const struct shca_switch *sw)
{
	struct sk_buff *msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (msg && fill_switch(msg, 0, 0, 0, cmd, sw)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (msg)
		shca_nl_tell_fabric(msg);
}

/**
 * shca_nl_switch_new_doit - create a switch
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_switch_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *ports = info->attrs[SOFTHCA_A_SWITCH_PORTS];
	struct nlattr *guid_attr = info->attrs[SOFTHCA_A_SWITCH_GUID];
	u64 guid = guid_attr ? nla_get_u64(guid_attr) : 0;
	char name[SHCA_SWITCH_NAME_MAX + 1];
	struct nlattr *attr = get_name(info, name);
	struct shca_switch *sw;
	int ret;

	if (!attr)
		return -EINVAL;
	if (!ports) {
		NL_SET_ERR_MSG(info->extack, "the request lacks ports");
		return -EINVAL;
	}
	if (guid_attr && !guid) {
		NL_SET_ERR_MSG_ATTR(info->extack, guid_attr, "0 is no GUID");
		return -EINVAL;
	}
	ret = shca_nodes_add_switch(name, nla_get_u32(ports), guid,
				    info->extack);
	if (ret == -EADDRINUSE)
		NL_SET_BAD_ATTR(info->extack, guid_attr);
	if (ret == -EEXIST || ret == -EINVAL)
		NL_SET_BAD_ATTR(info->extack, attr);
	sw = ret ? NULL : shca_switch_find(name);
	if (sw) {
		tell(SOFTHCA_CMD_SWITCH_NEW_NTF, sw);
		shca_switch_put(sw);
	}
	return ret;
}

/**
 * shca_nl_switch_del_doit - delete a switch
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_switch_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	char name[SHCA_SWITCH_NAME_MAX + 1];
	struct nlattr *attr = get_name(info, name);
	struct shca_switch *sw;
	int ret = -ENODEV;

	if (!attr)
		return -EINVAL;
	sw = shca_switch_find(name);
	if (sw)
		ret = shca_switch_del(name);
	if (ret)
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "there is no switch of this name");
	else
		tell(SOFTHCA_CMD_SWITCH_DEL_NTF, sw);
	if (sw)
		shca_switch_put(sw);
	return ret;
}

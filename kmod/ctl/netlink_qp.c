// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netlink: show queue pairs.
 */
#include <linux/jiffies.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <net/genetlink.h>
#include <rdma/ib_verbs.h>

#include "../base/device.h"
#include "../object/qp.h"
#include "../object/qp_stats.h"
#include "../verbs/device.h"
#include "netlink_gen.h"
#include "netlink_ops.h"

static_assert(sizeof_field(struct shca_qp, comm) == SOFTHCA_COMM_MAX + 1);
static_assert((int)SOFTHCA_QP_TYPE_SMI == (int)IB_QPT_SMI);
static_assert((int)SOFTHCA_QP_TYPE_GSI == (int)IB_QPT_GSI);
static_assert((int)SOFTHCA_QP_TYPE_RC == (int)IB_QPT_RC);
static_assert((int)SOFTHCA_QP_TYPE_UD == (int)IB_QPT_UD);
static_assert((int)SOFTHCA_QP_STATE_RESET == (int)IB_QPS_RESET);
static_assert((int)SOFTHCA_QP_STATE_MAX == (int)IB_QPS_ERR);

/* A process as the reader numbers it; 0 if it cannot see it, or if it is gone. */
static u32 visible_pid(const struct shca_qp *qp)
{
	struct pid *pid;
	u32 nr = 0;

	if (!qp->pid)
		return 0;
	rcu_read_lock();
	pid = find_pid_ns(qp->pid, &init_pid_ns);
	if (pid)
		nr = pid_nr_ns(pid, task_active_pid_ns(current));
	rcu_read_unlock();
	return nr;
}

/* The name of a process that the reader cannot see is not for it either. */
static bool visible_comm(const struct shca_qp *qp)
{
	return !qp->pid || task_active_pid_ns(current) == &init_pid_ns ||
	       visible_pid(qp);
}

/* Slots posted and not completed; 0 if the poster wrote nonsense. */
static u32 posted(const struct shca_ring *ring)
{
	return ring->hdr ? max(shca_ring_avail(ring, ring->cons), 0) : 0;
}

static int fill_qp_error(struct sk_buff *skb, struct shca_qp *qp)
{
	/* Pairs with shca_qp_error(), which writes the reason last. */
	u32 reason = smp_load_acquire(&qp->why.reason);

	if (nla_put_u32(skb, SOFTHCA_A_QP_ERROR_REASON, reason))
		return -EMSGSIZE;
	if (reason == SOFTHCA_ERROR_REASON_NONE || qp->why.opcode > 0xfe)
		return 0;
	if (nla_put_u32(skb, SOFTHCA_A_QP_ERROR_OPCODE, qp->why.opcode) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_ERROR_PSN, qp->why.psn))
		return -EMSGSIZE;
	return 0;
}

static int put_count(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, SOFTHCA_A_QP_PAD);
}

static int fill_qp_counters(struct sk_buff *skb, const struct shca_qp *qp)
{
	unsigned long heard = READ_ONCE(qp->last_heard);
	struct shca_qp_stats s;
	u64 ms = U64_MAX;

	if (heard)
		ms = jiffies64_to_msecs(jiffies - heard);
	shca_qp_stats(qp, &s);
	if (put_count(skb, SOFTHCA_A_QP_TX_BYTES, s.tx_bytes) ||
	    put_count(skb, SOFTHCA_A_QP_RX_BYTES, s.rx_bytes) ||
	    put_count(skb, SOFTHCA_A_QP_TX_PACKETS, s.tx_packets) ||
	    put_count(skb, SOFTHCA_A_QP_RX_PACKETS, s.rx_packets) ||
	    put_count(skb, SOFTHCA_A_QP_RETRANSMITS, s.tx_retransmits) ||
	    put_count(skb, SOFTHCA_A_QP_TX_MESSAGES, s.tx_messages) ||
	    put_count(skb, SOFTHCA_A_QP_RX_MESSAGES, s.rx_messages) ||
	    put_count(skb, SOFTHCA_A_QP_TX_BYTES_REFERENCED,
		      s.tx_bytes_referenced) ||
	    put_count(skb, SOFTHCA_A_QP_TX_BYTES_COPIED, s.tx_bytes_copied) ||
	    put_count(skb, SOFTHCA_A_QP_RX_RNR_NAKS, s.rx_rnr_naks) ||
	    put_count(skb, SOFTHCA_A_QP_ACK_TIMEOUTS, s.ack_timeouts) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_LAST_NAK,
			READ_ONCE(qp->sq.last_nak)) ||
	    put_count(skb, SOFTHCA_A_QP_LAST_HEARD_MS, ms))
		return -EMSGSIZE;
	return 0;
}

/*
 * The runners go on while we read their fields, so the values are each right
 * but need not be of the same moment.
 */
static int fill_qp(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		   struct shca_qp *qp)
{
	char name[IB_DEVICE_NAME_MAX];
	void *hdr;

	lockdep_assert_held(&qp->mod);
	strscpy(name, qp->dev->ib.name, sizeof(name));

	hdr = genlmsg_put(skb, portid, seq, &shca_nl_family, flags,
			  SOFTHCA_CMD_QP_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, SOFTHCA_A_QP_DEV, name) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_QPN, qp->qpn) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_TYPE, qp->type) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_STATE, shca_qp_state(qp)) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_PID, visible_pid(qp)) ||
	    (visible_comm(qp) &&
	     nla_put_string(skb, SOFTHCA_A_QP_COMM, qp->comm)))
		goto err_cancel;
	if (shca_qp_connected(qp) &&
	    (nla_put_u32(skb, SOFTHCA_A_QP_DEST_QPN, qp->dest_qpn) ||
	     nla_put(skb, SOFTHCA_A_QP_SGID, sizeof(qp->av.sgid),
		     &qp->av.sgid) ||
	     nla_put(skb, SOFTHCA_A_QP_DGID, sizeof(qp->av.dgid),
		     &qp->av.dgid)))
		goto err_cancel;
	if (nla_put_u32(skb, SOFTHCA_A_QP_PATH_MTU, qp->mtu) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_SQ_PSN, READ_ONCE(qp->sq.psn)) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_ACKED_PSN, READ_ONCE(qp->sq.una)) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_RQ_PSN, READ_ONCE(qp->rq.epsn)) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_SQ_POSTED, posted(&qp->sq.ring)) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_RQ_POSTED, posted(&qp->rq.ring)) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_RETRIES_LEFT,
			READ_ONCE(qp->sq.retries)) ||
	    nla_put_u32(skb, SOFTHCA_A_QP_RNR_RETRIES_LEFT,
			READ_ONCE(qp->sq.rnr_retries)) ||
	    fill_qp_counters(skb, qp) || fill_qp_error(skb, qp))
		goto err_cancel;
	genlmsg_end(skb, hdr);
	return 0;

err_cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/*
 * Put a QP into a message if it is alive, visible and, with @dev, of that
 * device. Our reference keeps its memory, but not its rings and its device.
 * Those are there as long as qp->map is, which changes under @mod.
 * Return: 0 also when there is nothing to put; then the message is empty.
 */
static int fill_qp_if(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		      struct shca_qp *qp, const struct shca_dev *dev,
		      const struct net *net)
{
	int ret = 0;

	mutex_lock(&qp->mod);
	if (qp->map && (!dev || qp->dev == dev) &&
	    shca_nl_visible(qp->dev, net))
		ret = fill_qp(skb, portid, seq, flags, qp);
	mutex_unlock(&qp->mod);
	return ret;
}

/**
 * shca_nl_qp_get_doit - show a queue pair
 * @skb: request
 * @info: its attributes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int shca_nl_qp_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SOFTHCA_A_QP_QPN];
	struct net *net = genl_info_net(info);
	struct sk_buff *reply = NULL;
	struct shca_dev *dev;
	struct shca_qp *qp;
	int ret;

	dev = shca_nl_find(net, info->attrs[SOFTHCA_A_QP_DEV], info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "the request lacks qpn");
		ret = -EINVAL;
		goto out_put_dev;
	}
	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply) {
		ret = -ENOMEM;
		goto out_put_dev;
	}
	ret = 0;
	qp = nla_get_u32(attr) <= 1 ?
		shca_qp_get_special(dev, nla_get_u32(attr)) :
		shca_qp_get(nla_get_u32(attr));
	if (qp) {
		ret = fill_qp_if(reply, info->snd_portid, info->snd_seq, 0, qp,
				 dev, net);
		shca_qp_put(qp);
	}
	if (!ret && !reply->len) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the device has no queue pair of this number");
		ret = -ENOENT;
	}

out_put_dev:
	shca_device_put(dev);
	return shca_nl_reply(info, reply, ret);
}

/*
 * QP0 and QP1 of each device; args[0] is the index of the device to go on with,
 * and in its lowest bit the number of the QP.
 */
static int dump_special(struct sk_buff *skb, struct netlink_callback *cb,
			const struct shca_dev *only, const struct net *net)
{
	struct shca_dev *dev;
	struct shca_qp *qp;
	int ret = 0;

	while (!ret && (dev = shca_nl_next(net, cb->args[0] / 2))) {
		if (cb->args[0] / 2 != dev->ib.index)
			cb->args[0] = dev->ib.index * 2;
		qp = shca_qp_get_special(dev, cb->args[0] & 1);
		if (qp) {
			ret = fill_qp_if(skb, NETLINK_CB(cb->skb).portid,
					 cb->nlh->nlmsg_seq, NLM_F_MULTI, qp,
					 only ?: dev, net);
			shca_qp_put(qp);
		}
		if (!ret)
			cb->args[0]++;
		shca_device_put(dev);
	}
	return ret;
}

/* QPs with a number of their own; args[1] is the one to go on with. */
static int dump_qps(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct shca_dev *only, const struct net *net)
{
	u32 qpn = cb->args[1];
	struct shca_qp *qp;
	int ret = 0;

	while (!ret && (qp = shca_qp_next(&qpn))) {
		ret = fill_qp_if(skb, NETLINK_CB(cb->skb).portid,
				 cb->nlh->nlmsg_seq, NLM_F_MULTI, qp, only,
				 net);
		shca_qp_put(qp);
		if (!ret)
			cb->args[1] = ++qpn;
		cond_resched();
	}
	return ret;
}

/**
 * shca_nl_qp_get_dumpit - show the queue pairs of one device or of all
 * @skb: buffer for replies
 * @cb: request; args as of dump_special() and dump_qps(), args[2] is set once the
 *	device of the request was found
 *
 * Context: process.
 * Return: bytes in the buffer, 0 at the end, or a negative errno.
 */
int shca_nl_qp_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attrs[ARRAY_SIZE(shca_nl_qp_get_policy)];
	struct net *net = sock_net(skb->sk);
	struct shca_dev *only = NULL;
	int ret;

	ret = shca_nl_dump_attrs(cb, attrs, ARRAY_SIZE(attrs) - 1,
				 shca_nl_qp_get_policy, SOFTHCA_A_QP_QPN);
	if (ret)
		return ret;
	if (attrs[SOFTHCA_A_QP_DEV]) {
		only = shca_nl_find(net, attrs[SOFTHCA_A_QP_DEV], cb->extack);
		/* A device removed in mid-dump has no more QPs. */
		if (IS_ERR(only))
			return cb->args[2] ? 0 : PTR_ERR(only);
		cb->args[2] = 1;
	}

	ret = dump_special(skb, cb, only, net);
	if (!ret)
		ret = dump_qps(skb, cb, only, net);
	if (only)
		shca_device_put(only);
	return shca_nl_dump_result(skb, ret);
}

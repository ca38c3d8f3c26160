// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Switch: what it does with a packet, and its agents.
 *
 * Runs in the work of the plug that the packet came by, so several packets of
 * a switch may be under way at a time.  The forwarding tables are read without
 * a lock while a subnet manager changes them; agents change the node under
 * sw->lock.  Handing a packet on only queues it.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include <rdma/ib_mad.h>

#include "../base/limits.h"
#include "../link/ib.h"
#include "../object/runner.h"
#include "forward.h"
#include "notice.h"
#include "sma_mad.h"
#include "switch.h"

static void count(struct shca_switch *sw, u8 port, enum shca_pma_counter c,
		  u64 n)
{
	atomic64_add(n, &sw->count[port].v[c]);
}

static void drop(struct shca_switch *sw, u8 port, enum shca_fwd_why why,
		 struct sk_buff *skb)
{
	static const enum shca_pma_counter counter[] = {
		[SHCA_FWD_NO_ROUTE]	= SHCA_PMA_RELAY_ERRORS,
		[SHCA_FWD_STATE]	= SHCA_PMA_XMIT_DISCARDS,
		[SHCA_FWD_VL15]		= SHCA_PMA_VL15_DROPPED,
		[SHCA_FWD_VL]		= SHCA_PMA_XMIT_DISCARDS,
		[SHCA_FWD_ERROR]	= SHCA_PMA_RCV_ERRORS,
	};

	count(sw, port, counter[why], 1);
	kfree_skb(skb);
}

/* As shca_forward() and shca_forward_directed() have decided */
static void drop_fwd(struct shca_switch *sw, u8 in, const struct shca_fwd *f,
		     struct sk_buff *skb)
{
	drop(sw, f->ports ? __ffs64(f->ports) : in, f->why, skb);
}

/* Set the VL that the way out wants. A clone's header is made its own first. */
static bool set_vl(struct sk_buff *skb, u8 vl)
{
	struct shca_lrh *l = (struct shca_lrh *)skb->data;

	if (shca_lrh_vl(l) == vl)
		return true;
	if (skb_ensure_writable(skb, sizeof(*l)))
		return false;
	l = (struct shca_lrh *)skb->data;
	l->vl_lver = vl << 4;
	return true;
}

static void send_out(struct shca_switch *sw, u8 in, u8 out, struct sk_buff *skb)
{
	const struct shca_lrh *l = (const void *)skb->data;
	const struct shca_port_info *pi = &sw->node.port[out].info;
	bool multicast = shca_lid_is_mcast(be16_to_cpu(l->dlid));
	u32 len = skb->len;
	u8 vl;

	if (shca_lrh_vl(l) != SHCA_VL_MGMT) {
		vl = shca_node_vl(&sw->node, in, out, shca_lrh_sl(l));
		if (vl == SHCA_VL_MGMT || !set_vl(skb, vl) ||
		    len > (128u << shca_pi_mtu(pi)) + SHCA_IB_HDR_MAX +
			  SHCA_ICRC_SIZE) {
			drop(sw, out, SHCA_FWD_VL, skb);
			return;
		}
	}
	if (shca_plug_send(&sw->port[out - 1].plug, skb)) {
		count(sw, out, SHCA_PMA_XMIT_DISCARDS, 1);
		return;
	}
	count(sw, out, SHCA_PMA_XMIT_DATA, len / 4);
	count(sw, out, multicast ? SHCA_PMA_MULTI_XMIT : SHCA_PMA_UNI_XMIT, 1);
}

/* By one port or several; the last one gets the packet, the others clones. */
static void send_ports(struct shca_switch *sw, u8 in, u64 ports,
		       struct sk_buff *skb)
{
	struct sk_buff *copy;
	u8 out;

	while (ports) {
		out = __ffs64(ports);
		ports &= ports - 1;
		if (!ports) {
			send_out(sw, in, out, skb);
			return;
		}
		copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		if (copy)
			send_out(sw, in, out, copy);
		else
			count(sw, out, SHCA_PMA_XMIT_DISCARDS, 1);
	}
}

/* Send a packet of the switch's own, or one that now goes by LID. */
static void route(struct shca_switch *sw, u8 in, struct sk_buff *skb)
{
	struct shca_fwd f = shca_forward(&sw->node, in, (void *)skb->data);

	if (f.verdict == SHCA_FWD_OUT)
		send_ports(sw, in, f.ports, skb);
	else if (f.verdict == SHCA_FWD_DROP)
		drop_fwd(sw, in, &f, skb);
	else
		drop(sw, in, SHCA_FWD_NO_ROUTE, skb);
}

static u16 own_lid(const struct shca_switch *sw)
{
	return shca_pi_lid(&sw->node.port[0].info);
}

/* Tell the subnet manager. Traps may be lost: SMs sweep. */
static void send_trap(struct shca_switch *sw, const struct shca_smp *smp)
{
	const struct shca_port_info *pi = &sw->node.port[0].info;
	struct shca_mad_path path = {
		.mgmt = true,
		.sl = pi->mtu_smsl & 15,
		.slid = own_lid(sw),
		.dlid = be16_to_cpu(pi->sm_lid),
		.pkey = SHCA_PKEY_FULL,
	};
	struct sk_buff *skb;

	if (!path.slid || !path.dlid)
		return;
	skb = shca_mad_frame(&path, smp);
	if (skb)
		route(sw, 0, skb);
}

static void act(struct shca_switch *sw, const struct shca_sma_call *c)
{
	struct shca_plug *plug;

	if (c->changed & SHCA_SMA_TIMEOUT)
		mod_delayed_work(shca_wq, &sw->trap_work, 0);
	if (!c->changed_port)
		return;
	plug = &sw->port[c->changed_port - 1].plug;
	if (c->changed & SHCA_SMA_DISABLE)
		shca_plug_later(plug, SHCA_PLUG_DISABLE);
	if (c->changed & SHCA_SMA_ENABLE)
		shca_plug_later(plug, SHCA_PLUG_ENABLE);
	if (c->changed & SHCA_SMA_BOUNCE)
		shca_plug_later(plug, SHCA_PLUG_BOUNCE);
}

static enum shca_mad_result agent_smp(struct shca_switch *sw, u8 in,
				      const void *mad, struct shca_smp *reply)
{
	struct shca_sma_call c = {
		.in = mad,
		.out = reply,
		.port = in,
		.now = ktime_get_boottime_seconds(),
	};
	enum shca_mad_result result;
	struct shca_smp trap;
	bool due = false;

	spin_lock(&sw->lock);
	result = shca_sma_mad(&sw->node, &c);
	if (c.changed & SHCA_SMA_BAD_M_KEY)
		due = shca_notice_bad_m_key(&sw->node, in,
					    ktime_get_boottime_ns(),
					    &sw->trap_tid, mad, &trap);
	spin_unlock(&sw->lock);
	if (due)
		send_trap(sw, &trap);
	act(sw, &c);
	return result;
}

static enum shca_mad_result agent_perf(struct shca_switch *sw, const void *mad,
				       struct shca_smp *reply)
{
	struct shca_pma_ports ports = {
		.first = 0,
		.count = sw->node.num_ports + 1,
		.sums = true,
		.now = sw->now,
		.base = sw->base,
	};
	enum shca_mad_result result;
	int p, i;

	spin_lock(&sw->lock);
	for (p = 0; p <= sw->node.num_ports; p++)
		for (i = 0; i < SHCA_PMA_COUNTERS; i++)
			sw->now[p].v[i] = atomic64_read(&sw->count[p].v[i]);
	result = shca_pma_mad(mad, (struct shca_pma_mad *)reply, &ports);
	spin_unlock(&sw->lock);
	return result;
}

static void violation(struct shca_switch *sw, u8 in, u16 trap,
		      const struct sk_buff *skb)
{
	struct shca_key_violation v;
	struct shca_smp smp;
	bool due;

	shca_key_violation_of(skb->data, trap, &v);
	spin_lock(&sw->lock);
	due = shca_notice_bad_key(&sw->node, in, ktime_get_boottime_ns(),
				  &sw->trap_tid, &v, &smp);
	spin_unlock(&sw->lock);
	if (due)
		send_trap(sw, &smp);
}

/*
 * What guards QP1: a partition, and a key that programs can not use.  The path
 * gets our own entry of the partition: a limited member's would meet no answer
 * of its like (IBA 10.9.3).
 */
static bool keys_ok(struct shca_switch *sw, u8 in, struct shca_mad_path *path,
		    const struct sk_buff *skb)
{
	const struct shca_node_port *port = &sw->node.port[0];
	u16 index;

	if (!shca_node_is_member(port, path->pkey, &index)) {
		violation(sw, in, SHCA_TRAP_BAD_P_KEY, skb);
		return false;
	}
	if (path->qkey != IB_QP1_QKEY) {
		violation(sw, in, SHCA_TRAP_BAD_Q_KEY, skb);
		return false;
	}
	path->pkey = be16_to_cpu(port->pkey[index]);
	return true;
}

/* Send a MAD in a packet that went over @hops cables already. */
static void send_mad(struct shca_switch *sw, u8 in, struct shca_mad_path *path,
		     const struct shca_smp *smp, u8 hops, u64 ports)
{
	struct sk_buff *frame = shca_mad_frame(path, smp);

	if (frame) {
		shca_frame(frame)->hops = hops;
		if (ports)
			send_ports(sw, in, ports, frame);
		else
			route(sw, in, frame);
	} else {
		count(sw, in, SHCA_PMA_XMIT_DISCARDS, 1);
	}
}

/* A MAD for one of the agents; @path is how it came. */
static void local(struct shca_switch *sw, u8 in, struct shca_mad_path *path,
		  const struct shca_smp *smp, struct sk_buff *skb)
{
	/* What came by LID after its path goes back by LID to where that ends. */
	bool directed = path->mgmt && smp->hop_cnt &&
			smp->mgmt_class == SHCA_MAD_CLASS_SMP_DR &&
			smp->dr_dlid == cpu_to_be16(SHCA_LID_PERMISSIVE);
	struct shca_mad_path back;
	enum shca_mad_result result;
	struct shca_fwd f = {};
	struct shca_smp reply;

	if (!path->mgmt && !keys_ok(sw, in, path, skb)) {
		kfree_skb(skb);
		return;
	}
	result = path->mgmt ? agent_smp(sw, in, smp, &reply) :
			      agent_perf(sw, smp, &reply);
	if (result != SHCA_MAD_REPLY) {
		/*
		 * Nobody here asked, or knows what it is.  Who pings a switch
		 * has not found an error of the link.
		 */
		if (result == SHCA_MAD_NOT_OURS && path->mgmt)
			count(sw, in, SHCA_PMA_VL15_DROPPED, 1);
		kfree_skb(skb);
		return;
	}
	back = *path;
	back.src_qpn = path->dst_qpn;
	back.dst_qpn = path->src_qpn;
	back.dlid = path->slid;
	back.slid = own_lid(sw);
	if (directed) {
		f = shca_forward_directed(&sw->node, 0, true, &reply);
		if (f.verdict == SHCA_FWD_BY_LID) {
			back.dlid = f.lid;
		} else if (f.verdict == SHCA_FWD_OUT) {
			back.dlid = SHCA_LID_PERMISSIVE;
			back.slid = SHCA_LID_PERMISSIVE;
		} else {
			drop_fwd(sw, in, &f, skb);
			return;
		}
	}
	/* An answer is a new packet, and provokes none. */
	send_mad(sw, 0, &back, &reply, 0, f.ports);
	consume_skb(skb);
}

/* A directed-route SMP: along its path, or for us, or on by LID. */
static void directed(struct shca_switch *sw, u8 in, bool by_lid,
		     struct shca_mad_path *path, const struct shca_smp *mad,
		     struct sk_buff *skb)
{
	struct shca_smp smp = *mad;
	struct shca_fwd f;

	f = shca_forward_directed(&sw->node, in, by_lid, &smp);
	switch (f.verdict) {
	case SHCA_FWD_OUT:
		path->slid = SHCA_LID_PERMISSIVE;
		path->dlid = SHCA_LID_PERMISSIVE;
		send_mad(sw, in, path, &smp, shca_frame(skb)->hops, f.ports);
		consume_skb(skb);
		break;
	case SHCA_FWD_BY_LID:
		path->slid = own_lid(sw) ?: SHCA_LID_PERMISSIVE;
		path->dlid = f.lid;
		send_mad(sw, 0, path, &smp, shca_frame(skb)->hops, 0);
		consume_skb(skb);
		break;
	case SHCA_FWD_LOCAL:
		local(sw, in, path, &smp, skb);
		break;
	default:
		drop_fwd(sw, in, &f, skb);
		break;
	}
}

static void for_us(struct shca_switch *sw, u8 in, bool by_lid,
		   struct sk_buff *skb)
{
	bool mgmt = shca_lrh_vl((const void *)skb->data) == SHCA_VL_MGMT;
	struct shca_mad_path path;
	const struct shca_smp *smp;

	smp = shca_mad_of_frame(skb, &path);
	if (!smp)
		drop(sw, in, mgmt ? SHCA_FWD_VL15 : SHCA_FWD_ERROR, skb);
	else if (path.mgmt && smp->mgmt_class == SHCA_MAD_CLASS_SMP_DR &&
		 (smp->hop_cnt || !by_lid))
		directed(sw, in, by_lid, &path, smp, skb);
	else if (by_lid)
		local(sw, in, &path, smp, skb);
	else
		drop(sw, in, SHCA_FWD_VL15, skb);
}

static u32 switch_receive(struct shca_plug *plug, struct sk_buff *skb)
{
	struct shca_switch *sw = container_of(plug, struct shca_switch_port,
					      plug)->sw;
	const struct shca_lrh *l;
	u8 in = plug->port;
	struct shca_fwd f;

	if (!pskb_may_pull(skb, sizeof(*l)) ||
	    shca_lrh_check(skb->data, skb_headlen(skb), skb->len)) {
		count(sw, in, SHCA_PMA_RCV_ERRORS, 1);
		kfree_skb(skb);
		return 0;
	}
	l = (const void *)skb->data;
	count(sw, in, SHCA_PMA_RCV_DATA, skb->len / 4);
	count(sw, in, shca_lid_is_mcast(be16_to_cpu(l->dlid)) ?
	      SHCA_PMA_MULTI_RCV : SHCA_PMA_UNI_RCV, 1);

	f = shca_forward(&sw->node, in, l);
	switch (f.verdict) {
	case SHCA_FWD_OUT:
		send_ports(sw, in, f.ports, skb);
		return hweight64(f.ports);
	case SHCA_FWD_LOCAL:
		for_us(sw, in, true, skb);
		return 1;
	case SHCA_FWD_DIRECTED:
		for_us(sw, in, false, skb);
		return 1;
	default:
		drop_fwd(sw, in, &f, skb);
		return 0;
	}
}

/**
 * shca_switch_trap_work - tell the SM that links came or went, if it is time
 * @work: sw->trap_work
 *
 * Context: work.
 */
void shca_switch_trap_work(struct work_struct *work)
{
	struct shca_switch *sw = container_of(to_delayed_work(work),
					      struct shca_switch, trap_work);
	struct shca_smp trap;
	bool due;
	u64 wait;

	spin_lock_bh(&sw->lock);
	due = shca_notice_take_change(&sw->node, 0, ktime_get_boottime_ns(),
				      &sw->trap_tid, &trap, &wait);
	spin_unlock_bh(&sw->lock);
	if (due)
		send_trap(sw, &trap);
	if (wait)
		queue_delayed_work(shca_wq, &sw->trap_work,
				   nsecs_to_jiffies(wait) + 1);
}

static void switch_link(struct shca_plug *plug, enum shca_node_link link)
{
	struct shca_switch *sw = container_of(plug, struct shca_switch_port,
					      plug)->sw;
	u8 was;

	spin_lock_bh(&sw->lock);
	was = shca_node_link(&sw->node, plug->port, link);
	shca_notice_change(&sw->node, 0, SHCA_NOTICE_LINK);
	spin_unlock_bh(&sw->lock);
	if (link != SHCA_NODE_LINK_UP && was > SHCA_PORT_DOWN)
		count(sw, plug->port, SHCA_PMA_LINK_DOWNED, 1);
	mod_delayed_work(shca_wq, &sw->trap_work, 0);
}

static void switch_name(struct shca_plug *plug, char *name, size_t size)
{
	strscpy(name, container_of(plug, struct shca_switch_port,
				   plug)->sw->name, size);
}

const struct shca_plug_ops shca_switch_plug_ops = {
	.receive = switch_receive,
	.link = switch_link,
	.name = switch_name,
};

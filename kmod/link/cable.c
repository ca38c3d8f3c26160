// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cables, and the plugs that they go into.
 *
 * shca_cable_mutex guards the list of cables, what is plugged in where, and
 * whether links are up; the ports are told of their links under it, so they
 * hear of changes in order.  Senders read plug->cable under RCU.  Pulling a
 * cable takes it out of everybody's sight, and bury() frees it a grace period
 * later, when none of our locks is held: what is at another host's end has
 * works that take the mutex.  A plug may go with its node once
 * shca_plugs_close() has returned: no packet is on its way into it then.
 *
 * Order: the mutex is taken with none of our locks held but the owner's list
 * of nodes, and below it only ports' node locks, ib_core's event handlers, the
 * list of devices to tell of one, and what the socket layer takes.
 */
#include <linux/mutex.h>
#include <linux/slab.h>

#include "../object/runner.h"
#include "../wire/lrh.h"
#include "remote.h"

/* Packets that wait at a plug; management is let in when data are not */
#define QUEUE_DATA_MAX		4096
#define QUEUE_MGMT_MAX		(QUEUE_DATA_MAX + 256)
/*
 * Packets of one turn of the work, and of one stretch with BHs off, which ends as
 * well after so many deliveries: a multicast packet costs one for each member.
 */
#define TURN_PACKETS		256
#define STRETCH_PACKETS		16
#define STRETCH_DELIVERIES	64
/* Time for an answer to leave before its port goes down */
#define LATER_DELAY		msecs_to_jiffies(50)

/**
 * struct shca_cable - a cable
 * @list: in cables, by @id; then in a list for bury()
 * @id: number, never used again
 * @end: the plugs; [1] is NULL if the other end is at another host
 * @remote: that end, or NULL
 * @peer: the port at that end wants a link and hears us
 * @pulled: it joins nothing any more
 * @up: both ports want a link
 */
struct shca_cable {
	struct list_head list;
	u32 id;
	struct shca_plug *end[2];
	struct shca_remote *remote;
	bool peer;
	bool pulled;
	bool up;
};

DEFINE_MUTEX(shca_cable_mutex);	/* see above */
static LIST_HEAD(cables);
static u32 last_id;
static shca_cable_listen_fn *listener;	/* or NULL; under the mutex */

/**
 * shca_cable_queue - queue a packet, if there is room
 * @queue: where
 * @skb: data at the LRH, which is linear; consumed
 *
 * Context: any but hard interrupts.
 * Return: 0 or -ENOBUFS.
 */
int shca_cable_queue(struct sk_buff_head *queue, struct sk_buff *skb)
{
	const struct shca_lrh *l = (const void *)skb->data;
	u32 max = shca_lrh_vl(l) == SHCA_VL_MGMT ? QUEUE_MGMT_MAX :
						   QUEUE_DATA_MAX;

	if (skb_queue_len_lockless(queue) >= max) {
		kfree_skb(skb);
		return -ENOBUFS;
	}
	skb_queue_tail(queue, skb);
	return 0;
}

static int plug_queue(struct shca_plug *plug, struct sk_buff *skb)
{
	int ret = shca_cable_queue(&plug->queue, skb);

	if (ret)
		return ret;
	queue_work(shca_wq, &plug->work);
	return 0;
}

static void plug_stretch(struct shca_plug *plug, int *budget)
{
	struct sk_buff *skb;
	int n = STRETCH_PACKETS;
	u32 deliveries = 0;

	local_bh_disable();
	rcu_read_lock();
	while (n-- && deliveries < STRETCH_DELIVERIES && (*budget)-- > 0 &&
	       (skb = skb_dequeue(&plug->queue)))
		deliveries += plug->ops->receive(plug, skb);
	rcu_read_unlock();
	local_bh_enable();
}

static void plug_work(struct work_struct *work)
{
	struct shca_plug *plug = container_of(work, struct shca_plug, work);
	int budget = TURN_PACKETS;

	while (budget > 0 && !skb_queue_empty_lockless(&plug->queue)) {
		plug_stretch(plug, &budget);
		cond_resched();
	}
	if (!skb_queue_empty_lockless(&plug->queue))
		queue_work(shca_wq, &plug->work);
}

/**
 * shca_plug_send - send a packet by the cable
 * @plug: the port's plug
 * @skb: the packet, data at the LRH, which is linear; consumed
 *
 * Context: any but hard interrupts.
 * Return: 0, -ENETDOWN (no link), -ELOOP (it went round and round) or
 * -ENOBUFS (the far port is too slow).
 */
int shca_plug_send(struct shca_plug *plug, struct sk_buff *skb)
{
	struct shca_cable *c;
	int ret = -ENETDOWN;

	rcu_read_lock();
	c = rcu_dereference(plug->cable);
	if (c && READ_ONCE(c->up)) {
		shca_frame(skb)->looped = false;
		if (++shca_frame(skb)->hops > SHCA_HOPS_MAX)
			ret = -ELOOP;
		else
			ret = c->remote ? shca_remote_send(c->remote, skb) :
			      plug_queue(c->end[c->end[0] == plug], skb);
	}
	rcu_read_unlock();
	if (ret == -ENETDOWN || ret == -ELOOP)
		kfree_skb(skb);
	return ret;
}

/**
 * shca_plug_loop - send a packet to the port itself
 * @plug: the port's plug
 * @skb: as for shca_plug_send(); consumed
 *
 * Context: any but hard interrupts.
 * Return: 0, -ENETDOWN if the plug is closed, or -ENOBUFS.
 */
int shca_plug_loop(struct shca_plug *plug, struct sk_buff *skb)
{
	int ret;

	shca_frame(skb)->looped = true;
	/* Closing waits for those who have not seen it. */
	rcu_read_lock();
	if (READ_ONCE(plug->closed)) {
		kfree_skb(skb);
		ret = -ENETDOWN;
	} else {
		ret = plug_queue(plug, skb);
	}
	rcu_read_unlock();
	return ret;
}

static void cable_info(const struct shca_cable *c, struct shca_cable_info *info)
{
	struct shca_plug *plug;
	int i;

	lockdep_assert_held(&shca_cable_mutex);
	memset(info, 0, sizeof(*info));
	for (i = 0; i < 2; i++) {
		plug = c->end[i];
		if (!plug)
			continue;
		plug->ops->name(plug, info->end[i].node,
				sizeof(info->end[i].node));
		info->end[i].port = plug->port;
	}
	info->up = c->up;
	info->remote = c->remote;
	if (c->remote)
		shca_remote_info(c->remote, &info->far);
}

static void tell(const struct shca_cable *c, enum shca_cable_change change)
{
	struct shca_cable_info info;

	if (!listener)
		return;
	cable_info(c, &info);
	listener(change, &info);
}

/**
 * shca_cable_listen - say who is told of cables
 * @listen: called for each change; NULL: nobody
 *
 * On return the one before is not running.
 *
 * Context: process, may sleep.
 */
void shca_cable_listen(shca_cable_listen_fn *listen)
{
	mutex_lock(&shca_cable_mutex);
	listener = listen;
	mutex_unlock(&shca_cable_mutex);
}

static void cable_set(struct shca_cable *c, bool up)
{
	int i;

	lockdep_assert_held(&shca_cable_mutex);
	if (c->up == up)
		return;
	WRITE_ONCE(c->up, up);
	for (i = 0; i < 2; i++) {
		struct shca_plug *p = c->end[i];

		/* A node that goes does not want to know. */
		if (!p || p->closed)
			continue;
		p->ops->link(p, up ? SHCA_NODE_LINK_UP :
			     p->enabled ? SHCA_NODE_LINK_DOWN :
					  SHCA_NODE_LINK_DISABLED);
	}
	if (!c->pulled)
		tell(c, SHCA_CABLE_SET);
}

static void cable_update(struct shca_cable *c)
{
	bool wanted = c->end[0]->enabled;

	if (c->remote) {
		if (shca_remote_want(c->remote, wanted))
			c->peer = false;
		cable_set(c, wanted && c->peer);
	} else {
		cable_set(c, wanted && c->end[1]->enabled);
	}
}

static void cable_bounce(struct shca_cable *c)
{
	cable_set(c, false);
	if (c->remote) {
		shca_remote_bounce(c->remote);
		c->peer = false;
	}
	cable_update(c);
}

static void cable_pull(struct shca_cable *c, struct list_head *pulled)
{
	lockdep_assert_held(&shca_cable_mutex);
	RCU_INIT_POINTER(c->end[0]->cable, NULL);
	if (c->end[1])
		RCU_INIT_POINTER(c->end[1]->cable, NULL);
	c->pulled = true;
	if (c->remote)
		shca_remote_pull(c->remote);
	cable_set(c, false);
	tell(c, SHCA_CABLE_DEL);
	list_move_tail(&c->list, pulled);
}

/*
 * Free what was pulled, once no sender or receiver is in it any more, nor in one
 * that was pulled before.
 */
static void bury(struct list_head *pulled)
{
	struct shca_cable *c, *next;

	synchronize_rcu();
	list_for_each_entry_safe(c, next, pulled, list) {
		if (c->remote)
			shca_remote_end(c->remote);
		kfree(c);
	}
}

/**
 * shca_cable_receive - a packet came from another host
 * @c: by this cable
 * @skb: the packet, data at the LRH, which is linear, hops in its control
 *	block; consumed
 *
 * Context: softirq, under RCU.
 * Return: 0, -ENETDOWN or -ENOBUFS.
 */
int shca_cable_receive(struct shca_cable *c, struct sk_buff *skb)
{
	if (READ_ONCE(c->up))
		return plug_queue(c->end[0], skb);
	kfree_skb(skb);
	return -ENETDOWN;
}

/**
 * shca_cable_peer - the port at another host came or went
 * @c: the cable to it
 * @session: of ours, which @ready is about
 * @bounced: its end of the link was down, if for a moment only
 * @ready: it wants a link and hears us
 *
 * Context: process, may sleep; not under shca_cable_mutex.
 */
void shca_cable_peer(struct shca_cable *c, u32 session, bool bounced,
		     bool ready)
{
	mutex_lock(&shca_cable_mutex);
	if (!c->pulled) {
		if (bounced)
			cable_set(c, false);
		/* Another may have begun while this was on its way to here. */
		c->peer = ready && session == shca_remote_session(c->remote);
		cable_update(c);
	}
	mutex_unlock(&shca_cable_mutex);
}

static struct shca_cable *plugged(struct shca_plug *plug)
{
	return rcu_dereference_protected(plug->cable,
					 lockdep_is_held(&shca_cable_mutex));
}

static void plug_later(struct work_struct *work)
{
	struct shca_plug *plug = container_of(to_delayed_work(work),
					      struct shca_plug, later);
	struct shca_cable *c;
	bool was_up, bounce;

	mutex_lock(&shca_cable_mutex);
	c = plugged(plug);
	was_up = c && c->up;
	if (test_and_clear_bit(SHCA_PLUG_DISABLE, &plug->todo))
		plug->enabled = false;
	if (test_and_clear_bit(SHCA_PLUG_ENABLE, &plug->todo))
		plug->enabled = true;
	bounce = test_and_clear_bit(SHCA_PLUG_BOUNCE, &plug->todo);
	if (c && bounce)
		cable_bounce(c);
	else if (c)
		cable_update(c);
	/* The link is as it was, but the port may be disabled, or not any more. */
	if (!was_up && !(c && c->up) && !plug->closed)
		plug->ops->link(plug, plug->enabled ? SHCA_NODE_LINK_DOWN :
						      SHCA_NODE_LINK_DISABLED);
	mutex_unlock(&shca_cable_mutex);
}

/**
 * shca_plug_later - do something to the link, but not before an answer left
 * @plug: the port's plug, open
 * @what: SHCA_PLUG_*; of _ENABLE and _DISABLE the last one counts
 *
 * Context: any.
 */
void shca_plug_later(struct shca_plug *plug, int what)
{
	if (what == SHCA_PLUG_ENABLE)
		clear_bit(SHCA_PLUG_DISABLE, &plug->todo);
	if (what == SHCA_PLUG_DISABLE)
		clear_bit(SHCA_PLUG_ENABLE, &plug->todo);
	set_bit(what, &plug->todo);
	queue_delayed_work(shca_wq, &plug->later, LATER_DELAY);
}

/**
 * shca_plug_init - prepare a plug; nothing is plugged in
 * @plug: the plug
 * @ops: its port
 * @port: the port's number
 */
void shca_plug_init(struct shca_plug *plug, const struct shca_plug_ops *ops,
		    u8 port)
{
	memset(plug, 0, sizeof(*plug));
	plug->ops = ops;
	plug->port = port;
	plug->enabled = true;
	skb_queue_head_init(&plug->queue);
	INIT_WORK(&plug->work, plug_work);
	INIT_DELAYED_WORK(&plug->later, plug_later);
}

/**
 * shca_plugs_close - pull the cables of a node and let nothing in any more
 * @first: its plugs, open
 * @n: how many
 * @stride: bytes from one to the next
 *
 * On return no op of the plugs is running or will be called.
 *
 * Context: process, may sleep.
 */
void shca_plugs_close(struct shca_plug *first, int n, size_t stride)
{
	struct shca_plug *plug;
	LIST_HEAD(pulled);
	int i;

	mutex_lock(&shca_cable_mutex);
	for (i = 0; i < n; i++) {
		plug = (void *)first + i * stride;
		WRITE_ONCE(plug->closed, true);
		if (plugged(plug))
			cable_pull(plugged(plug), &pulled);
	}
	mutex_unlock(&shca_cable_mutex);
	bury(&pulled);
	for (i = 0; i < n; i++) {
		plug = (void *)first + i * stride;
		cancel_work_sync(&plug->work);
	}
	/* A port's work may have asked for something at another one. */
	for (i = 0; i < n; i++) {
		plug = (void *)first + i * stride;
		cancel_delayed_work_sync(&plug->later);
		skb_queue_purge(&plug->queue);
	}
}

static int plug_refuses(struct shca_plug *plug, const char *busy,
			const char **why)
{
	lockdep_assert_held(&shca_cable_mutex);
	if (plug->closed) {
		*why = "a node of the cable is being removed";
		return -ENODEV;
	}
	if (plugged(plug)) {
		*why = busy;
		return -EBUSY;
	}
	return 0;
}

static struct shca_cable *cable_alloc(const char **why)
{
	struct shca_cable *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		*why = "there is not enough memory for a cable";
	return c;
}

static void cable_plug(struct shca_cable *c)
{
	int i;

	c->id = ++last_id;
	list_add_tail(&c->list, &cables);
	for (i = 0; i < 2; i++)
		if (c->end[i])
			rcu_assign_pointer(c->end[i]->cable, c);
	tell(c, SHCA_CABLE_NEW);
	cable_update(c);
}

/**
 * shca_cable_add - join two ports
 * @a: the one
 * @b: the other
 * @why: on refusal, a sentence without a full stop
 *
 * Context: process, may sleep; the caller keeps both nodes.
 * Return: 0, -EINVAL, -EBUSY, -ENODEV or -ENOMEM.
 */
int shca_cable_add(struct shca_plug *a, struct shca_plug *b, const char **why)
{
	struct shca_cable *c;
	int ret;

	if (a == b) {
		*why = "a cable joins two ports, and these are one";
		return -EINVAL;
	}
	c = cable_alloc(why);
	if (!c)
		return -ENOMEM;
	c->end[0] = a;
	c->end[1] = b;
	mutex_lock(&shca_cable_mutex);
	ret = plug_refuses(a, "the first port has a cable already; ibctl cable list shows it",
			   why) ?:
	      plug_refuses(b, "the second port has a cable already; ibctl cable list shows it",
			   why);
	if (!ret)
		cable_plug(c);
	mutex_unlock(&shca_cable_mutex);
	if (ret)
		kfree(c);
	return ret;
}

/**
 * shca_cable_add_remote - join a port with one of another host
 * @plug: the port
 * @net: namespace that the packets travel in; the cable goes with it
 * @far: where the other end is
 * @why: on refusal, a sentence without a full stop
 *
 * Context: process, may sleep; the caller keeps the node and the namespace.
 * Return: 0, or a negative errno: those of shca_cable_add(), -EEXIST,
 * -EADDRINUSE and what else a socket may be refused with.
 */
int shca_cable_add_remote(struct shca_plug *plug, struct net *net,
			  const struct shca_far *far, const char **why)
{
	struct shca_cable *c = cable_alloc(why);
	int ret;

	if (!c)
		return -ENOMEM;
	c->end[0] = plug;
	mutex_lock(&shca_cable_mutex);
	ret = plug_refuses(plug, "the port has a cable already; ibctl cable list shows it",
			   why);
	if (!ret) {
		c->remote = shca_remote_new(c, net, far, why);
		ret = PTR_ERR_OR_ZERO(c->remote);
	}
	if (!ret)
		cable_plug(c);
	mutex_unlock(&shca_cable_mutex);
	if (ret)
		kfree(c);
	return ret;
}

/**
 * shca_cable_del - pull the cable of a port
 * @plug: the port's plug
 *
 * Context: process, may sleep; the caller keeps the node.
 * Return: 0, or -ENOENT if there is none.
 */
int shca_cable_del(struct shca_plug *plug)
{
	struct shca_cable *c;
	LIST_HEAD(pulled);

	mutex_lock(&shca_cable_mutex);
	c = plugged(plug);
	if (c)
		cable_pull(c, &pulled);
	mutex_unlock(&shca_cable_mutex);
	if (!c)
		return -ENOENT;
	bury(&pulled);
	return 0;
}

/**
 * shca_cables_pull_net - pull the cables that go through a namespace
 * @net: the namespace, which goes
 *
 * Context: process, may sleep.
 */
void shca_cables_pull_net(const struct net *net)
{
	struct shca_cable *c, *next;
	LIST_HEAD(pulled);

	mutex_lock(&shca_cable_mutex);
	list_for_each_entry_safe(c, next, &cables, list)
		if (c->remote && shca_remote_net(c->remote) == net)
			cable_pull(c, &pulled);
	mutex_unlock(&shca_cable_mutex);
	bury(&pulled);
}

/**
 * shca_cable_next - walk over the cables
 * @id: 0 at first; advanced to the cable found
 * @info: filled in
 *
 * Context: process, may sleep.
 * Return: false at the end.
 */
bool shca_cable_next(u32 *id, struct shca_cable_info *info)
{
	struct shca_cable *c;
	bool found = false;

	mutex_lock(&shca_cable_mutex);
	list_for_each_entry(c, &cables, list) {
		if (c->id <= *id)
			continue;
		cable_info(c, info);
		*id = c->id;
		found = true;
		break;
	}
	mutex_unlock(&shca_cable_mutex);
	return found;
}

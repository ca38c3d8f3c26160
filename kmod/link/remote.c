// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The other end of a cable to another host.
 *
 * Both hosts say hello twice a second: whether their port wants a link, their
 * session, and the other's if they hear it (struct shca_hello).  There is a link
 * while both ports want one and our session is heard.  What is heard only wakes
 * a work, at most every HELLO_SOON, so a peer can make neither our ports nor our
 * hellos go faster than that.  Packets say that the peer is there, too, and nothing
 * of what it wants or hears.
 *
 * Packets are sent by work too, since sending may wait for memory.  The socket
 * copies them, and IP fragments what exceeds the path's MTU.
 *
 * A remote lives from shca_remote_new() to shca_remote_end().  It is in its
 * socket's list until shca_remote_pull(), under shca_cable_mutex; receivers
 * find it there under RCU.  Everything that came from the peer was checked by
 * shca_shim_ok(), and is one word, read once.
 */
#include <linux/bvec.h>
#include <linux/rculist.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/uio.h>
#include <net/sock.h>

#include "../object/runner.h"
#include "remote.h"

#define HELLO_PERIOD	(HZ / 2)
#define HELLO_SOON	(HZ / 50)
/* Silence after which there is no peer: three hellos may be lost. */
#define HELLO_LIFE	(2 * HZ)
/* Packets that one turn of the work sends */
#define TURN_PACKETS	256

/* Say hello before it is due, but not more often than every HELLO_SOON. */
static void hello_soon(struct shca_remote *r)
{
	unsigned long due = READ_ONCE(r->hello_ran) + HELLO_SOON, now = jiffies;

	mod_delayed_work(shca_wq, &r->hello,
			 time_before(now, due) ? due - now : 0);
}

static int send_iter(struct shca_remote *r, struct msghdr *msg)
{
	msg->msg_flags = MSG_DONTWAIT;
	msg->msg_name = &r->far.addr;
	msg->msg_namelen = r->far.addr.ss_family == AF_INET ?
			   sizeof(struct sockaddr_in) :
			   sizeof(struct sockaddr_in6);
	return sock_sendmsg(r->sock->sock, msg);
}

static u32 new_session(void)
{
	return get_random_u32() ?: 1;
}

/* One that is lost is followed by another. */
static void send_hello(struct shca_remote *r, bool want, u32 session, u32 heard)
{
	struct shca_hello h = {
		.shim = {
			.version = SHCA_SHIM_VERSION,
			.kind = SHCA_SHIM_HELLO,
			.flags = want ? SHCA_HELLO_WANT : 0,
			.id = cpu_to_be32(r->far.id),
		},
		.session = cpu_to_be32(session),
		.heard = cpu_to_be32(heard),
	};
	struct kvec vec = { .iov_base = &h, .iov_len = sizeof(h) };
	struct msghdr msg = {};

	iov_iter_kvec(&msg.msg_iter, WRITE, &vec, 1, sizeof(h));
	send_iter(r, &msg);
}

static bool hears_us(u8 flags, u32 heard, u32 session)
{
	return (flags & SHCA_HELLO_WANT) && heard == session;
}

static void hello_work(struct work_struct *work)
{
	struct shca_remote *r = container_of(to_delayed_work(work),
					     struct shca_remote, hello);
	/* What it heard belongs to this session or one before; see hear() */
	u32 peer_heard = smp_load_acquire(&r->peer_heard);
	u32 peer = READ_ONCE(r->peer_session);
	u8 flags = READ_ONCE(r->flags);
	bool heard, ready, bounced, news;
	u32 session;

	WRITE_ONCE(r->hello_ran, jiffies);
	heard = flags != SHCA_NOT_HEARD &&
		time_before(jiffies, READ_ONCE(r->heard) + HELLO_LIFE);
	/* Our end goes down because we hear nothing; the peer may not know. */
	if (r->hears && !heard)
		WRITE_ONCE(r->session, new_session());
	/*
	 * The peer hears of a new session not before this run has looked at it
	 * and told the cable that it was not heard yet.
	 */
	session = READ_ONCE(r->session);
	bounced = r->ready && peer != r->hello_peer;
	ready = heard && hears_us(flags, peer_heard, session);
	WRITE_ONCE(r->hears, heard);
	news = bounced || ready != r->ready || session != r->hello_session;
	if (news)
		shca_cable_peer(r->cable, session, bounced, ready);
	r->ready = ready;
	r->hello_peer = peer;
	r->hello_session = session;
	send_hello(r, READ_ONCE(r->want), session, heard ? peer : 0);
	/* The peer may wait for news, and a subnet manager not for the peer. */
	queue_delayed_work(shca_wq, &r->hello,
			   news ? HELLO_SOON : HELLO_PERIOD);
}

/* Written only when it moves on: packets come faster than jiffies. */
static void heard_now(struct shca_remote *r)
{
	unsigned long now = jiffies;

	if (READ_ONCE(r->heard) != now)
		WRITE_ONCE(r->heard, now);
}

static void hear(struct shca_remote *r, const struct shca_hello *h)
{
	u32 session = be32_to_cpu(h->session), heard = be32_to_cpu(h->heard);

	/* Nobody's, or our own thrown back at us */
	if (!session || session == READ_ONCE(r->session)) {
		atomic64_inc(&r->malformed);
		return;
	}
	heard_now(r);
	if (READ_ONCE(r->hears) && READ_ONCE(r->flags) == h->shim.flags &&
	    READ_ONCE(r->peer_session) == session &&
	    READ_ONCE(r->peer_heard) == heard)
		return;
	WRITE_ONCE(r->flags, h->shim.flags);
	WRITE_ONCE(r->peer_session, session);
	/* Whoever sees this one sees the session too; pairs with hello_work(). */
	smp_store_release(&r->peer_heard, heard);
	hello_soon(r);
}

/* Cut off what it came in, and make it one of a cable. */
static void take(struct shca_remote *r, struct sk_buff *skb, u8 hops)
{
	u32 head = sizeof(struct udphdr) + sizeof(struct shca_shim);

	if (!pskb_may_pull(skb, head + sizeof(struct shca_lrh))) {
		atomic64_inc(&r->rx_lost);
		kfree_skb(skb);
		return;
	}
	__skb_pull(skb, head);
	skb_orphan(skb);
	skb_scrub_packet(skb, true);
	skb->dev = NULL;
	skb->ip_summed = CHECKSUM_NONE;
	*shca_frame(skb) = (struct shca_frame) { .hops = hops };
	if (shca_cable_receive(r->cable, skb))
		atomic64_inc(&r->rx_lost);
}

/**
 * shca_remote_receive - a datagram came from the other end
 * @r: the end, as its address and the cable's number say
 * @skb: data at the UDP header; consumed
 * @s: its shim
 *
 * Context: softirq, under RCU.
 */
void shca_remote_receive(struct shca_remote *r, struct sk_buff *skb,
			 const struct shca_shim *s)
{
	u32 len = skb->len - sizeof(struct udphdr);

	if (!shca_shim_ok(s, len)) {
		atomic64_inc(&r->malformed);
		kfree_skb(skb);
	} else if (s->kind == SHCA_SHIM_PACKET) {
		/*
		 * Hellos get lost among packets for which the path is too slow,
		 * but who sends them is there.
		 */
		heard_now(r);
		take(r, skb, s->hops);
	} else {
		struct shca_hello h;

		if (!skb_copy_bits(skb, sizeof(struct udphdr), &h, sizeof(h)))
			hear(r, &h);
		consume_skb(skb);
	}
}

/* The linear part and the fragments: the socket makes the one copy. */
static int send_parts(struct shca_remote *r, struct sk_buff *skb)
{
	struct bio_vec part[MAX_SKB_FRAGS + 1];
	struct msghdr msg = {};
	int i, n = 0;

	part[n].bv_page = virt_to_page(skb->data);
	part[n].bv_offset = offset_in_page(skb->data);
	part[n++].bv_len = skb_headlen(skb);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *f = &skb_shinfo(skb)->frags[i];

		part[n].bv_page = skb_frag_page(f);
		part[n].bv_offset = skb_frag_off(f);
		part[n++].bv_len = skb_frag_size(f);
	}
	iov_iter_bvec(&msg.msg_iter, WRITE, part, n, skb->len);
	return send_iter(r, &msg);
}

static bool send_packet(struct shca_remote *r, struct sk_buff *skb)
{
	struct shca_shim *s;

	/* One that IP has put together, and goes on to the next host */
	if (skb_has_frag_list(skb) && skb_linearize(skb))
		return false;
	if (skb_cow_head(skb, sizeof(*s)))
		return false;
	s = skb_push(skb, sizeof(*s));
	*s = (struct shca_shim) {
		.version = SHCA_SHIM_VERSION,
		.kind = SHCA_SHIM_PACKET,
		.hops = shca_frame(skb)->hops,
		.id = cpu_to_be32(r->far.id),
	};
	return send_parts(r, skb) >= 0;
}

static void tx_work(struct work_struct *work)
{
	struct shca_remote *r = container_of(work, struct shca_remote, tx_work);
	int budget = TURN_PACKETS;
	struct sk_buff *skb;

	while (budget-- && (skb = skb_dequeue(&r->tx))) {
		if (!send_packet(r, skb))
			atomic64_inc(&r->tx_lost);
		consume_skb(skb);
		cond_resched();
	}
	if (!skb_queue_empty_lockless(&r->tx))
		queue_work(shca_wq, &r->tx_work);
}

/**
 * shca_remote_send - send a packet to the other host
 * @r: the other end
 * @skb: the packet, data at the LRH, which is linear, hops in its control
 *	block; consumed
 *
 * Context: any but hard interrupts, under RCU.
 * Return: 0 or -ENOBUFS.
 */
int shca_remote_send(struct shca_remote *r, struct sk_buff *skb)
{
	int ret = shca_cable_queue(&r->tx, skb);

	if (ret)
		atomic64_inc(&r->tx_lost);
	else
		queue_work(shca_wq, &r->tx_work);
	return ret;
}

/**
 * shca_remote_want - say whether our port wants a link
 * @r: the other end, not pulled
 * @want: it does
 *
 * Context: process, under shca_cable_mutex.
 * Return: whether a new session has begun, as by shca_remote_bounce().
 */
bool shca_remote_want(struct shca_remote *r, bool want)
{
	lockdep_assert_held(&shca_cable_mutex);
	if (r->want == want)
		return false;
	WRITE_ONCE(r->want, want);
	if (want)
		hello_soon(r);
	else
		shca_remote_bounce(r);
	return !want;
}

/**
 * shca_remote_bounce - our end of the link was down, if for a moment only
 * @r: the other end, not pulled
 *
 * A new session begins, which the peer has not heard yet: the cable takes it for
 * not there until shca_cable_peer() says otherwise.
 *
 * Context: process, under shca_cable_mutex.
 */
void shca_remote_bounce(struct shca_remote *r)
{
	lockdep_assert_held(&shca_cable_mutex);
	WRITE_ONCE(r->session, new_session());
	hello_soon(r);
}

/**
 * shca_remote_session - the session that the peer is to hear
 * @r: the other end, not pulled
 *
 * Context: process, under shca_cable_mutex.
 * Return: its number.
 */
u32 shca_remote_session(const struct shca_remote *r)
{
	lockdep_assert_held(&shca_cable_mutex);
	return READ_ONCE(r->session);
}

/**
 * shca_remote_new - make the other end of a cable
 * @cable: the cable; it outlives the end
 * @net: namespace that the packets travel in
 * @far: where the end is
 * @why: on refusal, a sentence without a full stop
 *
 * It begins to say hello.
 *
 * Context: process, under shca_cable_mutex.
 * Return: the end, or an ERR_PTR.
 */
struct shca_remote *shca_remote_new(struct shca_cable *cable, struct net *net,
				    const struct shca_far *far,
				    const char **why)
{
	struct shca_remote *r = kzalloc(sizeof(*r), GFP_KERNEL);

	lockdep_assert_held(&shca_cable_mutex);
	if (!r) {
		*why = "there is not enough memory for a cable";
		return ERR_PTR(-ENOMEM);
	}
	r->cable = cable;
	r->far = *far;
	r->session = new_session();
	r->hello_session = r->session;
	r->flags = SHCA_NOT_HEARD;
	r->hello_ran = jiffies - HELLO_SOON;
	INIT_DELAYED_WORK(&r->hello, hello_work);
	skb_queue_head_init(&r->tx);
	INIT_WORK(&r->tx_work, tx_work);
	r->sock = shca_remote_sock_get(net, far, why);
	if (IS_ERR(r->sock)) {
		struct shca_remote *err = ERR_CAST(r->sock);

		kfree(r);
		return err;
	}
	list_add_tail_rcu(&r->list, &r->sock->remotes);
	hello_soon(r);
	return r;
}

/**
 * shca_remote_pull - let nobody find the end any more
 * @r: the end
 *
 * Context: process, under shca_cable_mutex.
 */
void shca_remote_pull(struct shca_remote *r)
{
	lockdep_assert_held(&shca_cable_mutex);
	list_del_rcu(&r->list);
}

/**
 * shca_remote_end - free it
 * @r: the end, pulled a grace period ago
 *
 * Context: process, may sleep; no lock of ours is held.
 */
void shca_remote_end(struct shca_remote *r)
{
	cancel_delayed_work_sync(&r->hello);
	cancel_work_sync(&r->tx_work);
	skb_queue_purge(&r->tx);
	/* The peer need not wait for the silence. */
	send_hello(r, false, new_session(), 0);
	mutex_lock(&shca_cable_mutex);
	shca_remote_sock_put(r->sock);
	mutex_unlock(&shca_cable_mutex);
	kfree(r);
}

/**
 * shca_remote_net - the namespace that the packets travel in
 * @r: the other end
 *
 * Return: the namespace, which may be going.
 */
const struct net *shca_remote_net(const struct shca_remote *r)
{
	return r->sock->net;
}

static enum shca_peer_state peer_state(const struct shca_remote *r)
{
	u8 flags = READ_ONCE(r->flags);

	if (!READ_ONCE(r->hears))
		return SHCA_PEER_SILENT;
	if (!(flags & SHCA_HELLO_WANT))
		return SHCA_PEER_DISABLED;
	return hears_us(flags, READ_ONCE(r->peer_heard),
			READ_ONCE(r->session)) ? SHCA_PEER_READY :
						 SHCA_PEER_DEAF;
}

/**
 * shca_remote_info - describe the other end
 * @r: the end
 * @info: filled in
 *
 * Context: process, under shca_cable_mutex.
 */
void shca_remote_info(const struct shca_remote *r, struct shca_far_info *info)
{
	lockdep_assert_held(&shca_cable_mutex);
	info->far = r->far;
	info->peer = peer_state(r);
	info->strangers = atomic64_read(&r->sock->strangers);
	info->malformed = atomic64_read(&r->malformed);
	info->rx_lost = atomic64_read(&r->rx_lost);
	info->tx_lost = atomic64_read(&r->tx_lost);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The UDP sockets of cables to other hosts.
 *
 * Each (namespace, family, UDP port) with a cable has a tunnel socket, created
 * with the first cable and released with the last, so nothing listens without
 * one.  A datagram is of the cable whose number it has and whose peer sent it,
 * by address and port; all others are strangers.
 *
 * Kernel sockets hold no reference to their namespace.  When it goes away,
 * remote_net_exit() pulls its cables and waits for those that others are just
 * pulling.
 *
 * shca_cable_mutex guards the lists of sockets and ends; receivers walk the
 * list of ends under RCU.
 */
#include <linux/in.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/wait.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "../compat/udp_tunnel.h"
#include "remote.h"

/* Packets that may wait below the socket, in bytes with what they cost */
#define SEND_BUFFER	(4 << 20)

/**
 * struct remote_net - what a namespace has
 * @socks: its sockets; under shca_cable_mutex
 * @idle: woken with the last one
 */
struct remote_net {
	struct list_head socks;
	wait_queue_head_t idle;
};

static unsigned int remote_net_id;

static __be16 port_of(const struct shca_far *far)
{
	/* At the same place for both families */
	return ((const struct sockaddr_in *)&far->addr)->sin_port;
}

static bool same_addr(const struct shca_far *a, const struct shca_far *b)
{
	const struct sockaddr_in *a4 = (const void *)&a->addr;
	const struct sockaddr_in *b4 = (const void *)&b->addr;
	const struct sockaddr_in6 *a6 = (const void *)&a->addr;
	const struct sockaddr_in6 *b6 = (const void *)&b->addr;

	if (a->addr.ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}

static bool is_from(const struct sk_buff *skb, const struct shca_far *far)
{
	const struct sockaddr_in *in = (const void *)&far->addr;
	const struct sockaddr_in6 *in6 = (const void *)&far->addr;

	if (udp_hdr(skb)->source != port_of(far))
		return false;
	if (far->addr.ss_family == AF_INET)
		return ip_hdr(skb)->saddr == in->sin_addr.s_addr;
	return ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &in6->sin6_addr);
}

/* A datagram, data at the UDP header, its checksum verified */
static int remote_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct shca_remote_sock *s = rcu_dereference_sk_user_data(sk);
	struct shca_remote *r;
	struct shca_shim shim;

	skb = s ? skb_share_check(skb, GFP_ATOMIC) : skb;
	if (!skb)
		return 0;
	if (!s || skb_is_gso(skb) ||
	    skb_copy_bits(skb, sizeof(struct udphdr), &shim, sizeof(shim)))
		goto stranger;
	list_for_each_entry_rcu(r, &s->remotes, list) {
		if (r->far.id == be32_to_cpu(shim.id) && is_from(skb, &r->far)) {
			shca_remote_receive(r, skb, &shim);
			return 0;
		}
	}
stranger:
	if (s)
		atomic64_inc(&s->strangers);
	kfree_skb(skb);
	return 0;
}

static int sock_open(struct shca_remote_sock *s)
{
	struct udp_port_cfg port = {
		.family = s->family,
		.local_udp_port = s->port,
		.ipv6_v6only = 1,
		.use_udp_checksums = 1,
		.use_udp6_tx_checksums = 1,
		.use_udp6_rx_checksums = 1,
	};
	struct udp_tunnel_sock_cfg cfg = {
		.sk_user_data = s,
		.encap_type = 1,
		.encap_rcv = remote_encap_rcv,
	};
	int ret;

	ret = udp_sock_create(s->net, &port, &s->sock);
	if (ret)
		return ret;
	/* What exceeds the MTU goes in fragments, here or on the way. */
	if (s->family == AF_INET)
		ip_sock_set_mtu_discover(s->sock->sk, IP_PMTUDISC_DONT);
	s->sock->sk->sk_sndbuf = SEND_BUFFER;
	shca_udp_tunnel_setup(s->net, s->sock, &cfg);
	return 0;
}

static struct shca_remote_sock *sock_find(struct remote_net *rn, u16 family,
					  __be16 port)
{
	struct shca_remote_sock *s;

	list_for_each_entry(s, &rn->socks, list)
		if (s->family == family && s->port == port)
			return s;
	return NULL;
}

static struct shca_remote_sock *sock_new(struct net *net,
					 const struct shca_far *far,
					 const char **why)
{
	struct remote_net *rn = net_generic(net, remote_net_id);
	struct shca_remote_sock *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int ret;

	if (!s) {
		*why = "there is not enough memory for a cable";
		return ERR_PTR(-ENOMEM);
	}
	s->net = net;
	s->family = far->addr.ss_family;
	s->port = port_of(far);
	INIT_LIST_HEAD(&s->remotes);
	ret = sock_open(s);
	if (ret) {
		*why = ret == -EADDRINUSE ?
			"the UDP port is in use in this network namespace" :
			"the UDP socket for the cable could not be created";
		kfree(s);
		return ERR_PTR(ret);
	}
	list_add_tail(&s->list, &rn->socks);
	return s;
}

/**
 * shca_remote_sock_get - the socket for another end
 * @net: namespace; somebody's reference keeps it
 * @far: where the end is
 * @why: on refusal, a sentence without a full stop
 *
 * Context: process, under shca_cable_mutex.
 * Return: the socket, for shca_remote_sock_put(), or an ERR_PTR.
 */
struct shca_remote_sock *shca_remote_sock_get(struct net *net,
					      const struct shca_far *far,
					      const char **why)
{
	struct remote_net *rn = net_generic(net, remote_net_id);
	struct shca_remote_sock *s;
	struct shca_remote *r;

	lockdep_assert_held(&shca_cable_mutex);
	s = sock_find(rn, far->addr.ss_family, port_of(far)) ?:
	    sock_new(net, far, why);
	if (IS_ERR(s))
		return s;
	list_for_each_entry(r, &s->remotes, list) {
		if (r->far.id == far->id && same_addr(&r->far, far)) {
			*why = "there is a cable of this number to this address already";
			return ERR_PTR(-EEXIST);
		}
	}
	s->users++;
	return s;
}

/**
 * shca_remote_sock_put - an end has gone; with the last one the socket goes
 * @s: its socket
 *
 * Context: process, may sleep, under shca_cable_mutex.
 */
void shca_remote_sock_put(struct shca_remote_sock *s)
{
	struct remote_net *rn = net_generic(s->net, remote_net_id);

	lockdep_assert_held(&shca_cable_mutex);
	if (--s->users)
		return;
	list_del(&s->list);
	shca_udp_tunnel_release(s->sock);
	kfree(s);
	wake_up_all(&rn->idle);
}

static int __net_init remote_net_init(struct net *net)
{
	struct remote_net *rn = net_generic(net, remote_net_id);

	INIT_LIST_HEAD(&rn->socks);
	init_waitqueue_head(&rn->idle);
	return 0;
}

/* Nobody is left in the namespace who could add a cable. */
static void __net_exit remote_net_exit(struct net *net)
{
	struct remote_net *rn = net_generic(net, remote_net_id);

	shca_cables_pull_net(net);
	/* Those that were pulled by others; they wait for nothing of ours. */
	wait_event(rn->idle, list_empty(&rn->socks));
	/* Who took the last one out uses @rn until it drops the mutex. */
	mutex_lock(&shca_cable_mutex);
	mutex_unlock(&shca_cable_mutex);
}

static struct pernet_operations remote_net_ops = {
	.init = remote_net_init,
	.exit = remote_net_exit,
	.id = &remote_net_id,
	.size = sizeof(struct remote_net),
};

/**
 * shca_remote_sock_init - prepare all namespaces, present and future
 *
 * Context: process, from module init.
 * Return: 0 or a negative errno.
 */
int shca_remote_sock_init(void)
{
	return register_pernet_subsys(&remote_net_ops);
}

/**
 * shca_remote_sock_exit - the mirror; there is no cable any more
 *
 * Context: process, from module exit.
 */
void shca_remote_sock_exit(void)
{
	unregister_pernet_subsys(&remote_net_ops);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Routes.  A flow keeps the route of its last packet, with a reference; the
 * owner of the flow's runner is the only one who touches it, so no lock.
 * Routing changes make the kept route invalid, which dst_check() tells.
 */
#include <net/dst.h>
#include <net/ip6_fib.h>
#include <net/route.h>
#include <net/sock.h>

#include "../compat/route.h"
#include "roce.h"

static __be32 gid_ipv4(const union ib_gid *gid)
{
	return ((const struct in6_addr *)gid)->s6_addr32[3];
}

static bool link_local(const union ib_gid *gid)
{
	return ipv6_addr_type((const struct in6_addr *)gid) &
	       IPV6_ADDR_LINKLOCAL;
}

static struct dst_entry *route4(struct net *net, const struct shca_av *av,
				int oif)
{
	struct flowi4 fl4 = {
		.flowi4_oif = oif,
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_uid = sock_net_uid(net, NULL),
		.saddr = gid_ipv4(&av->sgid),
		.daddr = gid_ipv4(&av->dgid),
		.fl4_sport = htons(av->sport),
		.fl4_dport = htons(SHCA_ROCE_PORT),
	};
	struct rtable *rt;

	shca_flow4_set_tos(&fl4, av->tclass);
	rt = ip_route_output_flow(net, &fl4, NULL);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	/* What an unprivileged socket may not do, a QP may not either. */
	if (rt->rt_flags & RTCF_BROADCAST) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	return &rt->dst;
}

static struct dst_entry *route6(struct net *net, const struct shca_av *av,
				int oif)
{
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_uid = sock_net_uid(net, NULL),
		.saddr = *(const struct in6_addr *)&av->sgid,
		.daddr = *(const struct in6_addr *)&av->dgid,
		.flowlabel = ip6_make_flowinfo(av->tclass,
					       htonl(av->flow_label)),
		.fl6_sport = htons(av->sport),
		.fl6_dport = htons(SHCA_ROCE_PORT),
	};

	return shca_ip6_route(net, &fl6);
}

static struct dst_entry *route(struct net *net, const struct shca_av *av,
			       int oif)
{
	return av->ipv4 ? route4(net, av, oif) : route6(net, av, oif);
}

/**
 * shca_roce_route - the route of a flow
 * @net: namespace of the device
 * @flow: owned by the caller's runner
 *
 * The netdev of the own GID is preferred.  It does not count where the
 * destination is an address of this namespace: such traffic stays in the host,
 * whatever netdev holds the address, unless routing rules say otherwise.
 *
 * Context: process or softirq, under RCU.
 * Return: the route, whose reference is the flow's, or ERR_PTR.
 */
struct dst_entry *shca_roce_route(struct net *net, struct shca_flow *flow)
{
	const struct shca_av *av = &flow->av;
	struct dst_entry *dst = flow->dst;
	int oif = av->ifindex;

	if (dst) {
		if (dst_check(dst, flow->cookie))
			return dst;
		dst_release(dst);
		flow->dst = NULL;
	}

	if (av->ipv4 && inet_addr_type(net, gid_ipv4(&av->dgid)) == RTN_LOCAL)
		oif = 0;
	dst = route(net, av, oif);
	/* A link-local address means nothing without a netdev. */
	if (IS_ERR(dst) && oif && !link_local(&av->dgid))
		dst = route(net, av, 0);
	if (IS_ERR(dst))
		return dst;
	flow->cookie = av->ipv4 ? 0 :
		rt6_get_cookie(container_of(dst, struct rt6_info, dst));
	flow->dst = dst;
	return dst;
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Looking up routes. */
#ifndef _SHCA_COMPAT_ROUTE_H
#define _SHCA_COMPAT_ROUTE_H

#include <net/flow.h>
#include <net/inet_dscp.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>

#include "generated.h"

#ifdef HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>
#endif

static inline void shca_flow4_set_tos(struct flowi4 *fl4, u8 tos)
{
#ifdef HAVE_FLOWI4_DSCP
	fl4->flowi4_dscp = inet_dsfield_to_dscp(tos);
#else
	fl4->flowi4_tos = tos & INET_DSCP_MASK;
#endif
}

/* Return: a route with a reference, or ERR_PTR */
static inline struct dst_entry *shca_ip6_route(struct net *net,
					       struct flowi6 *fl6)
{
#if !IS_ENABLED(CONFIG_IPV6)
	return ERR_PTR(-EAFNOSUPPORT);
#elif defined(HAVE_IPV6_STUB)
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl6, NULL);
#else
	return ip6_dst_lookup_flow(net, NULL, fl6, NULL);
#endif
}

#endif /* _SHCA_COMPAT_ROUTE_H */

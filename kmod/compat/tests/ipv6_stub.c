// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 6.x: IPv6 routes are looked up through a table of functions. */
#include <net/ipv6_stubs.h>

struct dst_entry *shca_probe(struct net *net, struct flowi6 *fl6)
{
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl6, NULL);
}

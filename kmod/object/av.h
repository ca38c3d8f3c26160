/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Address vectors and flows: where packets go.
 *
 * An AV is plain data, copied when an AH is created or a QP modified.  A flow
 * is an AV in use by one side of a QP, with the route cached; it belongs to
 * that side's runner.
 */
#ifndef _SHCA_AV_H
#define _SHCA_AV_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>

struct dst_entry;
struct shca_dev;
struct shca_pd;

/**
 * struct shca_av - an address vector
 * @sgid: own GID; IPv4 addresses are mapped (::ffff:a.b.c.d)
 * @dgid: the peer's
 * @ipv4: both are IPv4
 * @ifindex: netdev of the own GID, 0 if unknown
 * @tclass: traffic class, the IP DS field
 * @hop_limit: IP TTL or hop limit
 * @sl: service level
 * @flow_label: of IPv6, 20 bits
 * @sport: UDP source port, for the paths' entropy
 * @dlid: native InfiniBand: the peer's LID, or that of a group
 * @path_bits: native InfiniBand: to be added to the own LID
 * @grh: packets carry a GRH; always, but on native InfiniBand
 */
struct shca_av {
	union ib_gid sgid;
	union ib_gid dgid;
	bool ipv4;
	u8 tclass;
	u8 hop_limit;
	u8 sl;
	int ifindex;
	u32 flow_label;
	u16 sport;
	u16 dlid;
	u8 path_bits;
	bool grh;
};

/**
 * struct shca_flow - an AV with the route to it
 * @av: the AV
 * @dst: route, or NULL; checked with @cookie before use
 * @cookie: of IPv6 routes
 * @ip_id: IPv4 identification of the next packet
 */
struct shca_flow {
	struct shca_av av;
	struct dst_entry *dst;
	u32 cookie;
	u16 ip_id;
};

/**
 * struct shca_ah - an address handle; found by number under RCU
 * @rcu: frees it after lookups have ended
 * @pd: who may use it
 * @number: names it in a WQE
 * @av: where it points to; constant
 */
struct shca_ah {
	struct rcu_head rcu;
	struct shca_pd *pd;
	u32 number;
	struct shca_av av;
};

int shca_av_from_attr(struct shca_dev *dev, const struct rdma_ah_attr *attr,
		      struct shca_av *av);
struct shca_ah *shca_ah_create(struct shca_dev *dev, struct shca_pd *pd,
			       const struct shca_av *av, bool user);
void shca_ah_destroy(struct shca_dev *dev, struct shca_ah *ah);
int shca_ah_lookup(struct shca_dev *dev, u32 number, struct shca_pd *pd,
		   struct shca_av *av);

void shca_flow_set(struct shca_flow *flow, const struct shca_av *av);
void shca_flow_clear(struct shca_flow *flow);

#endif /* _SHCA_AV_H */

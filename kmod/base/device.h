/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device: one HCA with one port, registered with ib_core.
 *
 * Life: allocated and registered by verbs/device.c, unregistered by ib_core's
 * own road whoever asks (ibctl, rdma link, netdev or namespace gone, module
 * exit), freed by ib_core after ops.dealloc_driver and a grace period.  When
 * dealloc_driver runs, no QP, CQ, MR, AH or PD of the device is left, so no
 * runner, timer or work of it either.
 */
#ifndef _SHCA_DEVICE_H
#define _SHCA_DEVICE_H

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "limits.h"
#include "node.h"
#include "stats.h"

struct shca_link_ops;
struct shca_plug;
struct shca_pma;
struct shca_qp;

/**
 * struct shca_dev - a device
 * @ib: what ib_core knows
 * @ndev: the netdev under the port, a reference is held; NULL on a native
 *	InfiniBand port
 * @ndev_tracker: that reference
 * @net: the namespace whose sockets this device holds open; NULL when it does
 *	not (any more). Written under the link's own mutex, read under RCU.
 * @list: in the list of devices (verbs/device.c), under its mutex
 * @link: how packets reach the peer
 * @link_list: the link's own list, of the devices of a namespace; changed by
 *	open and close under the link's mutex, walked under RCU
 * @window: packets a QP may have in flight; WRITE_ONCE by ctl, 1..1024
 * @burst: packets handed to the link at a time; WRITE_ONCE by ctl,
 *	1..SHCA_BURST_MAX
 * @stats: per-CPU counters
 * @captured: packets that were told to those who capture (ctl/netlink_capture.c)
 * @pma: owned by fabric/pma.c
 * @mrs: memory regions by index (key >> 8); lookups under RCU
 * @mr_next: index after that of the last region; under the lock of @mrs
 * @ahs: address handles by number; lookups under RCU. xa_lock is taken with
 *	interrupts off, because verbs create and destroy AHs in any context
 * @qps: QPs that exist, SHCA_MAX_QP at the most
 * @cqs: CQs that exist, SHCA_MAX_CQ at the most
 * @special: QP0 (native InfiniBand only) and QP1 of the port, under RCU; written
 *	by create_qp and destroy_qp
 * @node: native InfiniBand: what the subnet manager sees; else NULL. Owned by
 *	fabric/hca.c
 * @node_lock: guards changes of @node, interrupts off; a leaf
 * @plug: native InfiniBand: where the cable goes in; owned by fabric/hca.c
 * @mcast_lock: guards changes of @mcast, BHs off; a leaf
 * @mcast: members of multicast groups, by MGID and LID of the group; walked under
 *	RCU
 * @mcast_seed: of their hash, since programs choose MGIDs
 * @mcast_members: how many there are, SHCA_MAX_MCAST_ATTACH at the most; under
 *	@mcast_lock
 * @mcast_groups: groups with a member, SHCA_MAX_MCAST_GRP at the most; the same
 * @bound_mutex: guards @bound, what its QPs have in bound_at, and the three below;
 *	nothing but the lock of @counters is taken under it
 * @bound: QPs that are bound to a counter of ib_core's (verbs/counter.c)
 * @bound_ended: what QPs had counted in counters when they were unbound
 * @counters: our part of each counter of ib_core's, by its number
 * @counter_next: number after that of the last one
 * @attached: what fabric/ adds to it is there (verbs/device.c)
 * @announced: listeners were told that it exists, and it is in the list; under
 *	the list's mutex
 * @port_active: the netdev is up and has a carrier
 * @mtu: enum ib_mtu that fits the netdev's MTU
 * @speed: of the netdev in Mbit/s, 0 if it does not say
 *
 * The last three follow the netdev: written under RTNL, read at any time. On a
 * native InfiniBand port they are 0 and @node says what they would.
 */
struct shca_dev {
	struct ib_device ib;
	struct net_device *ndev;
	netdevice_tracker ndev_tracker;
	struct net *net;
	struct list_head list;
	const struct shca_link_ops *link;
	struct list_head link_list;
	u32 window;
	u32 burst;
	struct shca_stats __percpu *stats;
	atomic64_t captured;
	struct shca_pma *pma;
	struct xarray mrs;
	u32 mr_next;
	struct xarray ahs;
	atomic_t qps;
	atomic_t cqs;
	struct shca_qp __rcu *special[2];
	struct shca_node *node;
	spinlock_t node_lock;	/* changes of *node */
	struct shca_plug *plug;
	spinlock_t mcast_lock;	/* changes of mcast */
	DECLARE_HASHTABLE(mcast, 8);
	u32 mcast_seed;
	u32 mcast_members;
	u32 mcast_groups;
	struct mutex bound_mutex;	/* QPs bound to counters */
	struct list_head bound;
	u64 bound_ended[SHCA_QP_STAT_COUNT];
	struct xarray counters;
	u32 counter_next;
	bool attached;
	bool announced;
	bool port_active;
	u32 mtu;
	u32 speed;
};

static inline struct shca_dev *to_shca(struct ib_device *ib)
{
	return container_of(ib, struct shca_dev, ib);
}

/* The port as the subnet manager sees it, of a native InfiniBand device */
static inline struct shca_node_port *shca_node_port(const struct shca_dev *dev)
{
	return &dev->node->port[1];
}

/* Length of the P_Key table */
static inline u16 shca_dev_pkeys(const struct shca_dev *dev)
{
	return dev->node ? SHCA_IB_PKEYS : SHCA_PKEY_TBL_LEN;
}

/* An entry of it; @index was checked when it was set */
static inline u16 shca_dev_pkey(const struct shca_dev *dev, u16 index)
{
	return dev->node ? be16_to_cpu(READ_ONCE(shca_node_port(dev)->pkey[index])) :
			   SHCA_PKEY_FULL;
}

#define shca_count(dev, name) \
	this_cpu_inc((dev)->stats->v[SHCA_STAT_##name])
#define shca_count_add(dev, name, n) \
	this_cpu_add((dev)->stats->v[SHCA_STAT_##name], n)

#endif /* _SHCA_DEVICE_H */

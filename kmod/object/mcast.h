/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Members of multicast groups: which QPs get what is sent to a group. */
#ifndef _SHCA_MCAST_H
#define _SHCA_MCAST_H

#include <linux/jhash.h>
#include <rdma/ib_verbs.h>

#include "../base/device.h"

struct shca_qp;

/**
 * struct shca_mcast - a QP in a group; in dev->mcast
 * @node: in the bucket of the group; walked under RCU
 * @rcu: frees it
 * @mgid: the group
 * @mlid: its LID in this subnet
 * @qp: the member; a reference is held
 */
struct shca_mcast {
	struct hlist_node node;
	struct rcu_head rcu;
	union ib_gid mgid;
	u16 mlid;
	struct shca_qp *qp;
};

int shca_mcast_attach(struct shca_qp *qp, const union ib_gid *mgid, u16 mlid);
int shca_mcast_detach(struct shca_qp *qp, const union ib_gid *mgid, u16 mlid);
bool shca_mcast_joined(struct shca_dev *dev, const union ib_gid *mgid,
		       u16 mlid);

static inline u32 shca_mcast_hash(const struct shca_dev *dev, const void *mgid,
				  u16 mlid)
{
	return jhash(mgid, sizeof(union ib_gid), dev->mcast_seed ^ mlid);
}

static inline bool shca_mcast_is_of(const struct shca_mcast *m,
				    const void *mgid, u16 mlid)
{
	return m->mlid == mlid && !memcmp(&m->mgid, mgid, sizeof(m->mgid));
}

/*
 * Walk over the members of a group under RCU or dev->mcast_lock; @mgid points to 16
 * bytes.  Under RCU a member's QP may be going: use shca_qp_tryget().
 */
#define shca_mcast_for_each(dev, m, mgid, lid)				\
	hash_for_each_possible_rcu((dev)->mcast, m, node,		\
				   shca_mcast_hash(dev, mgid, lid),	\
				   lockdep_is_held(&(dev)->mcast_lock))	\
		if (shca_mcast_is_of(m, mgid, lid))

#endif /* _SHCA_MCAST_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Members of multicast groups: which QPs get what is sent to a group. */
#ifndef _SHCA_MCAST_H
#define _SHCA_MCAST_H

#include <rdma/ib_verbs.h>

struct shca_dev;
struct shca_qp;

/**
 * struct shca_mcast - a QP in a group; in dev->mcast
 * @node: in the bucket of the group's LID; walked under RCU
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
bool shca_mcast_joined(struct shca_dev *dev, u16 mlid);

/*
 * Walk over the members of the groups of a LID, and of some others, under RCU or
 * dev->mcast_lock.  Under RCU a member's QP may be going: use shca_qp_tryget().
 */
#define shca_mcast_for_each(dev, m, lid)				\
	hash_for_each_possible_rcu((dev)->mcast, m, node, lid,		\
				   lockdep_is_held(&(dev)->mcast_lock))

#endif /* _SHCA_MCAST_H */

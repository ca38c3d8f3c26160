// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Members of multicast groups.
 *
 * dev->mcast is changed under dev->mcast_lock and walked under RCU.  A member
 * holds a reference to its QP; ib_core detaches a QP before it destroys it, so
 * the table is empty when the device goes.
 */
#include <linux/slab.h>

#include "../base/device.h"
#include "../base/limits.h"
#include "mcast.h"
#include "qp.h"

/* The member that @qp is of a group, and how many the group has. */
static struct shca_mcast *find(struct shca_dev *dev, const struct shca_qp *qp,
			       const union ib_gid *mgid, u16 mlid, u32 *members)
{
	struct shca_mcast *m, *found = NULL;

	lockdep_assert_held(&dev->mcast_lock);
	*members = 0;
	shca_mcast_for_each(dev, m, mgid, mlid) {
		++*members;
		if (m->qp == qp)
			found = m;
	}
	return found;
}

/**
 * shca_mcast_attach - make a QP a member of a group
 * @qp: a datagram QP
 * @mgid: the group
 * @mlid: its LID
 *
 * To attach it again changes nothing.
 *
 * Context: process.
 * Return: 0; -ENOMEM, also if the group has as many members, or the device as
 * many groups or members of groups, as it says there can be.
 */
int shca_mcast_attach(struct shca_qp *qp, const union ib_gid *mgid, u16 mlid)
{
	struct shca_mcast *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	struct shca_dev *dev = qp->dev;
	bool added = false;
	u32 members;
	int ret = 0;

	if (!m)
		return -ENOMEM;
	m->mgid = *mgid;
	m->mlid = mlid;
	m->qp = qp;
	spin_lock_bh(&dev->mcast_lock);
	if (!find(dev, qp, mgid, mlid, &members)) {
		added = members < SHCA_MAX_MCAST_QP &&
			dev->mcast_members < SHCA_MAX_MCAST_ATTACH &&
			dev->mcast_groups + !members <= SHCA_MAX_MCAST_GRP;
		ret = added ? 0 : -ENOMEM;
	}
	if (added) {
		dev->mcast_members++;
		dev->mcast_groups += !members;
		kref_get(&qp->ref);
		hash_add_rcu(dev->mcast, &m->node,
			     shca_mcast_hash(dev, mgid, mlid));
	}
	spin_unlock_bh(&dev->mcast_lock);
	if (!added)
		kfree(m);
	return ret;
}

/**
 * shca_mcast_detach - the mirror
 * @qp: the QP
 * @mgid: the group
 * @mlid: its LID
 *
 * Context: process.
 * Return: 0, or -EINVAL if it is no member.
 */
int shca_mcast_detach(struct shca_qp *qp, const union ib_gid *mgid, u16 mlid)
{
	struct shca_dev *dev = qp->dev;
	struct shca_mcast *m;
	u32 members;

	spin_lock_bh(&dev->mcast_lock);
	m = find(dev, qp, mgid, mlid, &members);
	if (m) {
		hash_del_rcu(&m->node);
		dev->mcast_members--;
		dev->mcast_groups -= members == 1;
	}
	spin_unlock_bh(&dev->mcast_lock);
	if (!m)
		return -EINVAL;
	/* Whoever still sees it uses shca_qp_tryget(). */
	shca_qp_put(qp);
	kfree_rcu(m, rcu);
	return 0;
}

/**
 * shca_mcast_joined - is any QP a member of a group?
 * @dev: the device
 * @mgid: the group
 * @mlid: its LID
 *
 * Context: any.
 */
bool shca_mcast_joined(struct shca_dev *dev, const union ib_gid *mgid, u16 mlid)
{
	struct shca_mcast *m;
	bool found = false;

	rcu_read_lock();
	shca_mcast_for_each(dev, m, mgid, mlid) {
		found = true;
		break;
	}
	rcu_read_unlock();
	return found;
}

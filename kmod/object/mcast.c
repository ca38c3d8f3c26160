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

/* The member that @qp is of a group; any member, if @qp is NULL. */
static struct shca_mcast *find(struct shca_dev *dev, const struct shca_qp *qp,
			       const union ib_gid *mgid, u16 mlid)
{
	struct shca_mcast *m;

	lockdep_assert_held(&dev->mcast_lock);
	shca_mcast_for_each(dev, m, mlid)
		if ((!qp || m->qp == qp) && m->mlid == mlid &&
		    !memcmp(&m->mgid, mgid, sizeof(*mgid)))
			return m;
	return NULL;
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
 * Return: 0; -ENOMEM, also if the device has as many groups or members of
 * groups as it says it can have.
 */
int shca_mcast_attach(struct shca_qp *qp, const union ib_gid *mgid, u16 mlid)
{
	struct shca_mcast *m = kzalloc(sizeof(*m), GFP_KERNEL);
	struct shca_dev *dev = qp->dev;
	bool first, added = false;
	int ret = 0;

	if (!m)
		return -ENOMEM;
	m->mgid = *mgid;
	m->mlid = mlid;
	m->qp = qp;
	spin_lock_bh(&dev->mcast_lock);
	if (!find(dev, qp, mgid, mlid)) {
		first = !find(dev, NULL, mgid, mlid);
		added = dev->mcast_members < SHCA_MAX_MCAST_ATTACH &&
			dev->mcast_groups + first <= SHCA_MAX_MCAST_GRP;
		ret = added ? 0 : -ENOMEM;
	}
	if (added) {
		dev->mcast_members++;
		dev->mcast_groups += first;
		kref_get(&qp->ref);
		hash_add_rcu(dev->mcast, &m->node, mlid);
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

	spin_lock_bh(&dev->mcast_lock);
	m = find(dev, qp, mgid, mlid);
	if (m) {
		hash_del_rcu(&m->node);
		dev->mcast_members--;
		dev->mcast_groups -= !find(dev, NULL, mgid, mlid);
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
 * shca_mcast_joined - is any QP a member of a group of this LID?
 * @dev: the device
 * @mlid: the LID
 *
 * Context: any.
 */
bool shca_mcast_joined(struct shca_dev *dev, u16 mlid)
{
	struct shca_mcast *m;
	bool found = false;

	rcu_read_lock();
	shca_mcast_for_each(dev, m, mlid) {
		found = m->mlid == mlid;
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

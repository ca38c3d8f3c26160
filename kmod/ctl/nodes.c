// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices and switches are added: with a name and a GUID that no other has, be it
 * of the same kind or not.  A cable's end is named by its node, and a subnet
 * manager takes nodes with one GUID for the same.
 *
 * Each kind has its own list and lock.  nodes_mutex is held from the look at the
 * other kind's list until the new one is in its own; it is the first of our locks.
 * ib_core renames devices without asking, so two may have one name later.
 */
#include <linux/errno.h>
#include <linux/mutex.h>

#include "../compat/extack.h"
#include "../fabric/switch.h"
#include "../verbs/device.h"
#include "nodes.h"

static DEFINE_MUTEX(nodes_mutex);	/* see above */

static bool is_switch(const char *name, struct netlink_ext_ack *extack)
{
	struct shca_switch *sw;

	lockdep_assert_held(&nodes_mutex);
	sw = shca_switch_find(name);
	if (!sw)
		return false;
	shca_switch_put(sw);
	shca_extack(extack,
		    "the name is taken: there is a switch of this name already");
	return true;
}

static bool is_device(const char *name, struct netlink_ext_ack *extack)
{
	struct shca_dev *dev;

	lockdep_assert_held(&nodes_mutex);
	dev = shca_device_find(name);
	if (!dev)
		return false;
	shca_device_put(dev);
	shca_extack(extack,
		    "the name is taken: there is a device of this name already");
	return true;
}

/**
 * shca_nodes_add_roce - add a device over a netdev
 * @name: its name
 * @ndev: the netdev; the caller holds a reference
 * @extack: why not; or NULL
 *
 * Context: process, may sleep; RTNL not held.
 * Return: 0, -EEXIST, or what shca_device_add() returns.
 */
int shca_nodes_add_roce(const char *name, struct net_device *ndev,
			struct netlink_ext_ack *extack)
{
	int ret = -EEXIST;

	mutex_lock(&nodes_mutex);
	if (!is_switch(name, extack))
		ret = shca_device_add(name, ndev, extack);
	mutex_unlock(&nodes_mutex);
	return ret;
}

/**
 * shca_nodes_add_ib - add a device with a native InfiniBand port
 * @name: its name
 * @guid: of node and port, in host order; 0: a random one of our own
 * @extack: why not; or NULL
 *
 * Context: process, may sleep; RTNL not held.
 * Return: 0, -EEXIST, -EADDRINUSE, or what shca_device_add_ib() returns.
 */
int shca_nodes_add_ib(const char *name, u64 guid,
		      struct netlink_ext_ack *extack)
{
	int ret = -EEXIST;

	mutex_lock(&nodes_mutex);
	if (is_switch(name, extack))
		goto unlock;
	ret = -EADDRINUSE;
	if (!guid || !shca_switch_guid_taken(guid, extack))
		ret = shca_device_add_ib(name, guid, extack);
unlock:
	mutex_unlock(&nodes_mutex);
	return ret;
}

/**
 * shca_nodes_add_switch - add a switch
 * @name: its name
 * @ports: external ports
 * @guid: of the node, in host order; 0: a random one of our own
 * @extack: why not; or NULL
 *
 * Context: process, may sleep.
 * Return: 0, -EEXIST, -EADDRINUSE, or what shca_switch_add() returns.
 */
int shca_nodes_add_switch(const char *name, u32 ports, u64 guid,
			  struct netlink_ext_ack *extack)
{
	int ret = -EEXIST;

	mutex_lock(&nodes_mutex);
	if (is_device(name, extack))
		goto unlock;
	ret = -EADDRINUSE;
	if (!guid || !shca_device_guid_taken(guid, extack))
		ret = shca_switch_add(name, ports, guid, extack);
unlock:
	mutex_unlock(&nodes_mutex);
	return ret;
}

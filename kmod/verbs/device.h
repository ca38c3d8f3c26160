/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Devices: adding, removing, finding them, and telling who is interested.
 *
 * A device that was found comes with a reference (of ib_device_try_get()) that
 * keeps it registered: whoever removes it waits for shca_device_put().  So hold
 * it briefly, and never while waiting for a removal.
 */
#ifndef _SHCA_VERBS_DEVICE_H
#define _SHCA_VERBS_DEVICE_H

#include <linux/notifier.h>

#include "../base/device.h"

struct netlink_ext_ack;

/**
 * enum shca_device_change - what happened to a device
 * @SHCA_DEVICE_NEW: it was added and is ready for use
 * @SHCA_DEVICE_SET: a setting, its name, the port's state or its MTU changed
 * @SHCA_DEVICE_DEL: it is gone: no reference can be taken, ib_core's queries
 *	must not be called, but name, index, GUID, netdev and settings may still
 *	be read during the call, and so may shca_port_state() and _mtu()
 */
enum shca_device_change {
	SHCA_DEVICE_NEW,
	SHCA_DEVICE_SET,
	SHCA_DEVICE_DEL,
};

/**
 * struct shca_device_part - what a later folder adds to every device
 * @ops: its verbs, merged into those of verbs/
 * @ib_ops: more of them, for native InfiniBand
 * @attach: called before the device is registered; its link is known
 * @detach: the mirror, when nothing of the device is left; not called if
 *	@attach failed or was not reached
 */
struct shca_device_part {
	const struct ib_device_ops *ops;
	const struct ib_device_ops *ib_ops;
	int (*attach)(struct shca_dev *dev, bool ib);
	void (*detach)(struct shca_dev *dev);
};

void shca_device_set_parent(struct device *parent);
void shca_device_set_part(const struct shca_device_part *part);

int shca_device_add(const char *name, struct net_device *ndev,
		    struct netlink_ext_ack *extack);
int shca_check_name(const char *what, const char *name,
		    struct netlink_ext_ack *extack);
u64 shca_random_guid(void);
bool shca_device_guid_taken(u64 guid, struct netlink_ext_ack *extack);
int shca_device_add_ib(const char *name, u64 guid,
		       struct netlink_ext_ack *extack);
int shca_device_del(const char *name, struct netlink_ext_ack *extack);
int shca_device_set_window(struct shca_dev *dev, u32 window,
			   struct netlink_ext_ack *extack);
int shca_device_set_burst(struct shca_dev *dev, u32 burst,
			  struct netlink_ext_ack *extack);

struct shca_dev *shca_device_find(const char *name);
struct shca_dev *shca_device_find_from(u32 index);
void shca_device_put(struct shca_dev *dev);

int shca_device_notify_register(struct notifier_block *nb);
void shca_device_notify_unregister(struct notifier_block *nb);

void shca_device_netdev_changed(struct net_device *ndev);
void shca_device_netdev_gone(struct net_device *ndev);
void shca_device_renamed(struct ib_device *ib);
void shca_device_changed(struct shca_dev *dev);

/* port.c: what the port says, without ib_core's help and in any context */
enum ib_port_state shca_port_state(const struct shca_dev *dev);
enum ib_mtu shca_port_mtu(const struct shca_dev *dev);
enum ib_mtu shca_port_max_mtu(const struct shca_dev *dev);

#endif /* _SHCA_VERBS_DEVICE_H */

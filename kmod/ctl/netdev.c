// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What happens to netdevs, passed on to the devices over them.  GIDs are
 * ib_core's business.
 */
#include <linux/netdevice.h>

#include "../verbs/device.h"
#include "ctl.h"

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		shca_device_netdev_changed(ndev);
		break;
	case NETDEV_UNREGISTER:
		shca_device_netdev_gone(ndev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

/**
 * shca_netdev_init - begin to listen
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int shca_netdev_init(void)
{
	return register_netdevice_notifier(&netdev_nb);
}

/**
 * shca_netdev_exit - stop listening
 *
 * It makes every netdev look as if it went, so devices begin to go here.
 *
 * Context: module exit.
 */
void shca_netdev_exit(void)
{
	unregister_netdevice_notifier(&netdev_nb);
}

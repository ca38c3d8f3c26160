/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Devices and switches share names and GUIDs, and each sort has its own list and
 * lock.  Here they are added, one at a time.
 */
#ifndef _SHCA_NODES_H
#define _SHCA_NODES_H

#include <linux/types.h>

struct net_device;
struct netlink_ext_ack;

int shca_nodes_add_roce(const char *name, struct net_device *ndev,
			struct netlink_ext_ack *extack);
int shca_nodes_add_ib(const char *name, u64 guid,
		      struct netlink_ext_ack *extack);
int shca_nodes_add_switch(const char *name, u32 ports, u64 guid,
			  struct netlink_ext_ack *extack);

#endif /* _SHCA_NODES_H */

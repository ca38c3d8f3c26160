/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The generic netlink family "softhca" (docs/netlink/softhca.md), to which
 * pkg/genl and ibctl talk.
 */
#ifndef _SHCA_NETLINK_H
#define _SHCA_NETLINK_H

int shca_nl_init(void);
void shca_nl_exit(void);

#endif /* _SHCA_NETLINK_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What main.c starts and stops in ctl/, but for netlink.h. */
#ifndef _SHCA_CTL_H
#define _SHCA_CTL_H

int shca_netdev_init(void);
void shca_netdev_exit(void);

int shca_rename_init(void);
void shca_rename_exit(void);

void shca_rdma_link_init(void);
void shca_rdma_link_exit(void);

#endif /* _SHCA_CTL_H */

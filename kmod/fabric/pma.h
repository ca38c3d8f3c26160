/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Performance management: the counters of a port as a management datagram asks
 * for them.  perfquery reads them from afar, sysfs from near.
 *
 * main.c makes it a part of every device (struct shca_device_part).
 */
#ifndef _SHCA_PMA_H
#define _SHCA_PMA_H

#include <rdma/ib_verbs.h>

struct shca_dev;

int shca_pma_attach(struct shca_dev *dev);
void shca_pma_detach(struct shca_dev *dev);

extern const struct ib_device_ops shca_fabric_ops;

#endif /* _SHCA_PMA_H */

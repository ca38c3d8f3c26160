/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Performance management: the counters of a port as a management datagram asks
 * for them.  perfquery reads them from afar, sysfs from near.
 *
 * verbs/device.c: shca_pma_attach() before ib_register_device(), then
 * ib_set_device_ops(&dev->ib, &shca_fabric_ops); shca_pma_detach() in
 * dealloc_driver.
 */
#ifndef _SHCA_PMA_H
#define _SHCA_PMA_H

#include <rdma/ib_verbs.h>

struct shca_dev;

int shca_pma_attach(struct shca_dev *dev);
void shca_pma_detach(struct shca_dev *dev);

extern const struct ib_device_ops shca_fabric_ops;

#endif /* _SHCA_PMA_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Performance management: the counters of a port as a management datagram asks
 * for them.  perfquery reads them from afar, sysfs from near.
 */
#ifndef _SHCA_PMA_H
#define _SHCA_PMA_H

#include <linux/types.h>

struct ib_mad;
struct shca_dev;

int shca_pma_attach(struct shca_dev *dev);
void shca_pma_detach(struct shca_dev *dev);

int shca_pma_process(struct shca_dev *dev, u8 port, const struct ib_mad *in,
		     struct ib_mad *out);

#endif /* _SHCA_PMA_H */

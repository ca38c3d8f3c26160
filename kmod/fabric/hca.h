/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What fabric/ adds to every device (struct shca_device_part, by main.c): a
 * performance agent, and on native InfiniBand a port with its agents.
 */
#ifndef _SHCA_HCA_H
#define _SHCA_HCA_H

#include <rdma/ib_verbs.h>

struct shca_dev;

int shca_hca_attach(struct shca_dev *dev, bool ib);
void shca_hca_detach(struct shca_dev *dev);

extern const struct ib_device_ops shca_fabric_ops;
extern const struct ib_device_ops shca_fabric_ib_ops;

#endif /* _SHCA_HCA_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Compiles on no kernel: a wrong pointer type must be an error; see probe.sh. */
#include <rdma/ib_verbs.h>

void shca_probe(struct ib_device_ops *ops, struct ib_device *ib)
{
	ops->query_device = ib;
}

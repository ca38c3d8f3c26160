// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Compiles on every kernel; see probe.sh. */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

struct ib_device_ops shca_probe;

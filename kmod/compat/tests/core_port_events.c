// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 6.14: ib_core itself reports the state of a port by its netdev's. */
#include <rdma/ib_verbs.h>

const struct ib_device_ops shca_probe = { .report_port_event = NULL };

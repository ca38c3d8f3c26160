// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 6.16: rdma link del asks the driver. */
#include <rdma/rdma_netlink.h>

static int dellink(struct ib_device *ib)
{
	return 0;
}

struct rdma_link_ops shca_probe = { .dellink = dellink };

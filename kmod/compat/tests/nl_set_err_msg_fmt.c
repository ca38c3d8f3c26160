// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 6.2: messages of netlink with names and numbers in them. */
#include <linux/netlink.h>

void shca_probe(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_FMT(extack, "%d", 1);
}

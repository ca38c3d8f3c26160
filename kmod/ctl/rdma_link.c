// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma link add NAME type softhca netdev IF
 *
 * The RDMA netlink protocol has no room for a reason, so a refusal's sentence
 * goes to the kernel's log.  Deleting is ib_core's (IBK_ALLOW_USER_UNREG).
 */
#include <linux/module.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "ctl.h"
#include "nodes.h"

static int newlink(const char *name, struct net_device *ndev)
{
	struct netlink_ext_ack extack = {};
	int ret = shca_nodes_add_roce(name, ndev, &extack);

	if (ret && extack._msg)
		pr_info_ratelimited("softhca: %s: %s\n", name, extack._msg);
	return ret;
}

static struct rdma_link_ops link_ops = {
	.type = "softhca",
	.newlink = newlink,
};

/**
 * shca_rdma_link_init - offer the link type
 *
 * Context: module init.
 */
void shca_rdma_link_init(void)
{
	rdma_link_register(&link_ops);
}

/**
 * shca_rdma_link_exit - the mirror; waits for calls under way
 *
 * Context: module exit.
 */
void shca_rdma_link_exit(void)
{
	rdma_link_unregister(&link_ops);
}

MODULE_ALIAS_RDMA_LINK("softhca");

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * softhca: a software InfiniBand/RoCE host channel adapter.
 *
 * This file starts the parts and stops them in the opposite order.  After
 * ib_unregister_driver() no device is left, and nothing that a device had.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "ctl/ctl.h"
#include "ctl/netlink.h"
#include "fabric/hca.h"
#include "fabric/switch.h"
#include "link/crc.h"
#include "link/link.h"
#include "object/runner.h"
#include "transport/transport.h"
#include "uapi/softhca-abi.h"
#include "verbs/device.h"

static struct device *root;

static const struct shca_device_part fabric = {
	.ops = &shca_fabric_ops,
	.ib_ops = &shca_fabric_ib_ops,
	.attach = shca_hca_attach,
	.detach = shca_hca_detach,
};

static int __init shca_init(void)
{
	int ret;

	ret = shca_runner_init_wq();
	if (ret)
		return ret;
	root = root_device_register("softhca");
	if (IS_ERR(root)) {
		ret = PTR_ERR(root);
		goto exit_wq;
	}
	shca_device_set_parent(root);
	shca_device_set_part(&fabric);
	ret = shca_crc_init();
	if (ret)
		goto unregister_root;
	ret = shca_ib_init(shca_transport_receive);
	if (ret)
		goto exit_crc;
	ret = shca_roce_init(shca_transport_receive);
	if (ret)
		goto exit_ib;
	ret = shca_netdev_init();
	if (ret)
		goto exit_roce;
	ret = shca_rename_init();
	if (ret)
		goto exit_netdev;
	/* From here on there may be devices, so nothing after it fails. */
	ret = shca_nl_init();
	if (ret)
		goto exit_rename;
	shca_rdma_link_init();
	return 0;

exit_rename:
	shca_rename_exit();
exit_netdev:
	shca_netdev_exit();
exit_roce:
	shca_roce_exit();
exit_ib:
	shca_ib_exit();
exit_crc:
	shca_crc_exit();
unregister_root:
	root_device_unregister(root);
exit_wq:
	shca_runner_exit_wq();
	return ret;
}

static void __exit shca_exit(void)
{
	shca_rdma_link_exit();
	shca_nl_exit();
	shca_rename_exit();
	shca_netdev_exit();
	ib_unregister_driver((enum rdma_driver_id)SHCA_DRIVER_ID);
	/* Devices that go have something to say to a subnet manager. */
	shca_switch_exit();
	shca_roce_exit();
	shca_ib_exit();
	shca_crc_exit();
	root_device_unregister(root);
	shca_runner_exit_wq();
	/* QPs and AHs are freed by RCU callbacks of ours. */
	rcu_barrier();
}

module_init(shca_init);
module_exit(shca_exit);

MODULE_DESCRIPTION("Software InfiniBand/RoCE host channel adapter");
MODULE_VERSION("0.1");
MODULE_LICENSE("Dual BSD/GPL");

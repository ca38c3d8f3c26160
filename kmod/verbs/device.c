// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices: how they come, are found and go.
 *
 * There is one road out: ib_core unregisters a device, whoever asked (ibctl,
 * rdma link, the netdev or its namespace gone, module exit), and calls
 * shca_device_dealloc() when nothing of it is left.  A device may be gone at
 * any time after ib_register_device() returned, so each user takes a reference
 * first.
 *
 * Locks, in this order: add_mutex (one device is added at a time; taken by
 * nobody else), RTNL, list_mutex (the list, dev->announced, settings).
 * Listeners are called under none of them, but maybe under RTNL.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>

#include "../compat/extack.h"
#include "../compat/ib_device.h"
#include "../link/link.h"
#include "../uapi/softhca-netlink.h"
#include "device.h"
#include "ops.h"

static DEFINE_MUTEX(add_mutex);
static DEFINE_MUTEX(list_mutex);
static LIST_HEAD(devices);	/* by index, ascending */

static BLOCKING_NOTIFIER_HEAD(listeners);
static struct device *parent;
/* Of the locks of all dev->ahs, which are taken with interrupts off */
static struct lock_class_key ahs_key;
static const struct shca_device_part *part;

/*
 * The netdev of the device that is being added, under RTNL: as long as ib_core
 * does not find the device, the notifier leaves its message here.
 */
static struct {
	struct net_device *ndev;
	bool gone;
} adding;

/**
 * shca_device_set_parent - the device that all devices are children of
 * @dev: the module's root device
 *
 * Context: module init.
 */
void shca_device_set_parent(struct device *dev)
{
	parent = dev;
}

/**
 * shca_device_set_part - what every device gets from elsewhere
 * @p: the part
 *
 * Context: module init.
 */
void shca_device_set_part(const struct shca_device_part *p)
{
	part = p;
}

/**
 * shca_device_notify_register - listen to changes of devices
 * @nb: called with enum shca_device_change and the struct shca_dev; may sleep,
 *	must not take RTNL
 *
 * Context: process.
 * Return: 0.
 */
int shca_device_notify_register(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&listeners, nb);
}

/**
 * shca_device_notify_unregister - the mirror; waits for calls under way
 * @nb: as registered
 *
 * Context: process.
 */
void shca_device_notify_unregister(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&listeners, nb);
}

static void tell(struct shca_dev *dev, enum shca_device_change change)
{
	blocking_notifier_call_chain(&listeners, change, dev);
}

/**
 * shca_check_name - may a node be called so?
 * @what: "device" or "switch"
 * @name: the name
 * @extack: why not; or NULL
 *
 * Context: any.
 * Return: 0, -EINVAL or -ENAMETOOLONG.
 */
int shca_check_name(const char *what, const char *name,
		    struct netlink_ext_ack *extack)
{
	const char *c;

	if (!*name) {
		shca_extack(extack, "a %s needs a name", what);
		return -EINVAL;
	}
	if (strlen(name) >= IB_DEVICE_NAME_MAX) {
		shca_extack(extack, "the name is longer than %d characters",
			    IB_DEVICE_NAME_MAX - 1);
		return -ENAMETOOLONG;
	}
	for (c = name; *c; c++) {
		if (*c == '/' || *c == '%' || *c <= ' ' || *c >= 0x7f) {
			shca_extack(extack,
				    "the name may consist of printable ASCII characters other than blank, / and %%");
			return -EINVAL;
		}
	}
	if (!strcmp(name, ".") || !strcmp(name, "..")) {
		shca_extack(extack, "%s cannot be a %s's name", name, what);
		return -EINVAL;
	}
	return 0;
}

static bool has_address(struct net_device *ndev)
{
	struct in_device *in = __in_dev_get_rtnl(ndev);
	struct inet6_dev *in6 = NULL;

#if IS_ENABLED(CONFIG_IPV6)
	in6 = __in6_dev_get(ndev);
#endif
	return (in && rtnl_dereference(in->ifa_list)) ||
	       (in6 && !list_empty(&in6->addr_list));
}

/* Can a device be put over it, now? */
static int check_netdev(struct net_device *ndev, struct netlink_ext_ack *extack)
{
	ASSERT_RTNL();
	if (ndev->reg_state != NETREG_REGISTERED) {
		shca_extack(extack, "%s is being removed", ndev->name);
		return -ENODEV;
	}
	if (ndev->flags & IFF_LOOPBACK) {
		shca_extack(extack,
			    "%s is the loopback interface; RoCE needs an Ethernet interface (one of type dummy or veth will do)",
			    ndev->name);
		return -EOPNOTSUPP;
	}
	if (ndev->type != ARPHRD_ETHER || ndev->addr_len != ETH_ALEN) {
		shca_extack(extack, "%s is not an Ethernet interface",
			    ndev->name);
		return -EOPNOTSUPP;
	}
	if (is_vlan_dev(ndev)) {
		shca_extack(extack,
			    "%s is a VLAN; use %s below it, whose devices serve its VLANs too",
			    ndev->name, vlan_dev_real_dev(ndev)->name);
		return -EOPNOTSUPP;
	}
	if (!is_valid_ether_addr(ndev->dev_addr)) {
		shca_extack(extack, "%s has no valid MAC address", ndev->name);
		return -EADDRNOTAVAIL;
	}
	if (!iboe_get_mtu(ndev->mtu)) {
		shca_extack(extack,
			    "%s has an MTU of %u, which leaves less than 256 bytes for a packet's payload",
			    ndev->name, ndev->mtu);
		return -EMSGSIZE;
	}
	if (!(ndev->flags & IFF_UP)) {
		shca_extack(extack,
			    "%s is down; bring it up first: ip link set %s up",
			    ndev->name, ndev->name);
		return -ENETDOWN;
	}
	if (!has_address(ndev)) {
		shca_extack(extack,
			    "%s has no IP address; give it one first: ip address add ADDRESS/LENGTH dev %s",
			    ndev->name, ndev->name);
		return -EADDRNOTAVAIL;
	}
	return 0;
}

static struct shca_dev *get_by_netdev(struct net_device *ndev)
{
	struct ib_device *ib;

	ib = ib_device_get_by_netdev(ndev, (enum rdma_driver_id)SHCA_DRIVER_ID);
	return ib ? to_shca(ib) : NULL;
}

/* A device that is not registered; over @ndev, or with a native port. */
static struct shca_dev *device_alloc(const struct shca_link_ops *link,
				     struct net_device *ndev, __be64 guid,
				     const char *desc)
{
	bool ib = link == &shca_ib_ops;
	struct shca_dev *dev = ib_alloc_device(shca_dev, ib);

	if (!dev)
		return NULL;
	INIT_LIST_HEAD(&dev->list);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1);
	/* Keys of a device of the same name that is gone name nothing either. */
	dev->mr_next = get_random_u32() >> 8;
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	lockdep_set_class(&dev->ahs.xa_lock, &ahs_key);
	spin_lock_init(&dev->node_lock);
	spin_lock_init(&dev->mcast_lock);
	hash_init(dev->mcast);
	dev->mcast_seed = get_random_u32();
	mutex_init(&dev->bound_mutex);
	INIT_LIST_HEAD(&dev->bound);
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	dev->window = SOFTHCA_WINDOW_DEFAULT;
	dev->burst = SOFTHCA_BURST_DEFAULT;
	dev->ndev = ndev;
	if (ndev)
		netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);

	dev->ib.node_type = RDMA_NODE_IB_CA;
	dev->ib.phys_port_cnt = 1;
	dev->ib.num_comp_vectors = SHCA_COMP_VECTORS;
	dev->ib.dev.parent = parent;
	dev->ib.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND);
	dev->ib.node_guid = guid;
	strscpy(dev->ib.node_desc, desc, sizeof(dev->ib.node_desc));
	ib_set_device_ops(&dev->ib, &shca_device_ops);
	ib_set_device_ops(&dev->ib, ib ? &shca_ib_device_ops :
					 &shca_roce_device_ops);

	dev->stats = alloc_percpu(struct shca_stats);
	if (!dev->stats || part->attach(dev, ib))
		goto dealloc;
	dev->attached = true;
	ib_set_device_ops(&dev->ib, part->ops);
	if (ib)
		ib_set_device_ops(&dev->ib, part->ib_ops);
	return dev;

dealloc:
	ib_dealloc_device(&dev->ib);
	return NULL;
}

/**
 * shca_device_dealloc - ib_device_ops.dealloc_driver: the end of the road
 * @ib: a device that is not registered any more, or never was
 *
 * Context: process, may sleep.
 */
void shca_device_dealloc(struct ib_device *ib)
{
	struct shca_dev *dev = to_shca(ib);
	bool announced;

	mutex_lock(&list_mutex);
	announced = dev->announced;
	if (announced)
		list_del(&dev->list);
	mutex_unlock(&list_mutex);
	if (announced)
		tell(dev, SHCA_DEVICE_DEL);

	if (dev->link)
		dev->link->close(dev);
	/* Packets that found the device are done with it after this. */
	synchronize_rcu();
	if (dev->attached)
		part->detach(dev);
	xa_destroy(&dev->mrs);
	xa_destroy(&dev->ahs);
	xa_destroy(&dev->counters);
	free_percpu(dev->stats);
	if (dev->ndev)
		netdev_put(dev->ndev, &dev->ndev_tracker);
}

static int open_link(struct shca_dev *dev, const struct shca_link_ops *link,
		     struct netlink_ext_ack *extack)
{
	const char *why = NULL;
	int ret;

	/* Packets may arrive as soon as the link is open. */
	dev->link = link;
	ret = link->open(dev, &why);
	if (ret) {
		dev->link = NULL;
		shca_extack(extack, "%s", why ?: "the link cannot be opened");
	}
	return ret;
}

static int register_device(struct shca_dev *dev, const char *name,
			   struct netlink_ext_ack *extack)
{
	int ret;

	shca_mark_name(&dev->ib);
	ret = ib_register_device(&dev->ib, name, NULL);
	if (ret == -ENFILE) {
		shca_extack(extack,
			    "the name is taken: there is an RDMA device %s already",
			    name);
		return -EEXIST;
	}
	if (ret)
		shca_extack(extack,
			    "the RDMA core could not register %s (error %d), see the kernel's log",
			    name, -ret);
	return ret;
}

/* Tell listeners of a new device, unless it is gone again. */
static void announce(struct shca_dev *dev)
{
	struct list_head *next = &devices;
	struct shca_dev *other;

	if (!ib_device_try_get(&dev->ib))
		return;
	mutex_lock(&list_mutex);
	list_for_each_entry(other, &devices, list) {
		if (other->ib.index > dev->ib.index) {
			next = &other->list;
			break;
		}
	}
	list_add_tail(&dev->list, next);
	dev->announced = true;
	mutex_unlock(&list_mutex);
	tell(dev, SHCA_DEVICE_NEW);
	ib_device_put(&dev->ib);
}

/* Make and register a device over the netdev that adding names. */
static int add(const char *name, struct net_device *ndev,
	       struct netlink_ext_ack *extack)
{
	struct shca_dev *dev = get_by_netdev(ndev);
	bool changed, gone;
	__be64 guid;
	int ret;

	lockdep_assert_held(&add_mutex);
	if (dev) {
		shca_extack(extack, "%s is in use by the device %s already",
			    ndev->name, dev->ib.name);
		ib_device_put(&dev->ib);
		return -EBUSY;
	}
	addrconf_addr_eui48((u8 *)&guid, ndev->dev_addr);
	dev = device_alloc(&shca_roce_ops, ndev, guid, "softhca");
	if (!dev) {
		shca_extack(extack, "there is not enough memory for a device");
		return -ENOMEM;
	}
	ret = open_link(dev, &shca_roce_ops, extack);
	if (ret)
		goto dealloc;
	ret = ib_device_set_netdev(&dev->ib, ndev, 1);
	if (ret)
		goto dealloc;
	rtnl_lock();
	shca_port_refresh(dev, &changed);
	rtnl_unlock();

	/* Once registered the device may go at any time, but not its memory. */
	get_device(&dev->ib.dev);
	ret = register_device(dev, name, extack);
	if (ret) {
		put_device(&dev->ib.dev);
		goto dealloc;
	}

	/* What the notifier could not tell a device that it did not find */
	rtnl_lock();
	gone = adding.gone;
	adding.ndev = NULL;
	if (!gone)
		shca_port_refresh(dev, &changed);
	rtnl_unlock();
	if (gone) {
		if (ib_device_try_get(&dev->ib))
			ib_unregister_device_and_put(&dev->ib);
		shca_extack(extack, "%s was removed meanwhile", ndev->name);
		ret = -ENODEV;
	} else {
		announce(dev);
	}
	put_device(&dev->ib.dev);
	return ret;

dealloc:
	ib_dealloc_device(&dev->ib);
	return ret;
}

/**
 * shca_device_add - add a device over a netdev
 * @name: its name
 * @ndev: the netdev; the caller holds a reference
 * @extack: why not; or NULL
 *
 * Context: process, may sleep; RTNL not held.
 * Return: 0 or a negative errno.
 */
int shca_device_add(const char *name, struct net_device *ndev,
		    struct netlink_ext_ack *extack)
{
	int ret = shca_check_name("device", name, extack);

	if (ret)
		return ret;
	mutex_lock(&add_mutex);
	rtnl_lock();
	ret = check_netdev(ndev, extack);
	if (!ret) {
		adding.ndev = ndev;
		adding.gone = false;
	}
	rtnl_unlock();
	if (!ret) {
		ret = add(name, ndev, extack);
		rtnl_lock();
		adding.ndev = NULL;
		rtnl_unlock();
	}
	mutex_unlock(&add_mutex);
	return ret;
}

/**
 * shca_device_guid_taken - whether a device with a native port has a GUID
 * @guid: of the node, in host order
 * @extack: whose it is; or NULL
 *
 * No two nodes may have one: SMs and IPoIB take it for the port's name.
 *
 * Context: process, may sleep.
 * Return: true if one has it.
 */
bool shca_device_guid_taken(u64 guid, struct netlink_ext_ack *extack)
{
	__be64 wanted = cpu_to_be64(guid);
	struct shca_dev *dev;
	bool taken = false;

	mutex_lock(&list_mutex);
	list_for_each_entry(dev, &devices, list) {
		if (!dev->node || dev->node->guid != wanted)
			continue;
		shca_extack(extack, "the GUID is that of %s already",
			    dev->ib.name);
		taken = true;
		break;
	}
	mutex_unlock(&list_mutex);
	return taken;
}

/**
 * shca_random_guid - a GUID for a node that was given none
 *
 * Context: any.
 * Return: one of those that anybody may use (the local bit of an EUI-64), in
 * host order: 12 "SHC", and 32 random bits.  Not 02: an I/O controller's GUID is
 * its service ID as well, and those that begin so are the CM's own (ib_srpt).
 */
u64 shca_random_guid(void)
{
	return 0x1253484300000000ull | get_random_u32();
}

static int add_ib(const char *name, u64 guid, struct netlink_ext_ack *extack)
{
	struct shca_dev *dev;
	int ret;

	lockdep_assert_held(&add_mutex);
	if (shca_device_guid_taken(guid, extack))
		return -EADDRINUSE;
	/* A subnet has many nodes, and its tools tell them by description. */
	dev = device_alloc(&shca_ib_ops, NULL, cpu_to_be64(guid), name);
	if (!dev) {
		shca_extack(extack, "there is not enough memory for a device");
		return -ENOMEM;
	}
	ret = open_link(dev, &shca_ib_ops, extack);
	if (ret)
		goto dealloc;
	get_device(&dev->ib.dev);
	ret = register_device(dev, name, extack);
	if (!ret)
		announce(dev);
	put_device(&dev->ib.dev);
	if (!ret)
		return 0;

dealloc:
	ib_dealloc_device(&dev->ib);
	return ret;
}

/**
 * shca_device_add_ib - add a device with a native InfiniBand port
 * @name: its name
 * @guid: of node and port, in host order; 0: a random one of our own
 * @extack: why not; or NULL
 *
 * That no switch has this GUID is for the caller to see.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno; -EADDRINUSE if another device has this GUID.
 */
int shca_device_add_ib(const char *name, u64 guid,
		       struct netlink_ext_ack *extack)
{
	int ret = shca_check_name("device", name, extack);

	if (ret)
		return ret;
	if (!guid)
		guid = shca_random_guid();
	mutex_lock(&add_mutex);
	ret = add_ib(name, guid, extack);
	mutex_unlock(&add_mutex);
	return ret;
}

/**
 * shca_device_del - delete a device
 * @name: its name
 * @extack: why not; or NULL
 *
 * Context: process; waits until the device is gone. RTNL not held.
 * Return: 0 or -ENODEV.
 */
int shca_device_del(const char *name, struct netlink_ext_ack *extack)
{
	struct shca_dev *dev = shca_device_find(name);

	if (!dev) {
		shca_extack(extack, "there is no softhca device %s", name);
		return -ENODEV;
	}
	ib_unregister_device_and_put(&dev->ib);
	return 0;
}

static int set(struct shca_dev *dev, u32 *setting, u32 value, u32 max,
	       const char *what, struct netlink_ext_ack *extack)
{
	bool changed;

	if (!value || value > max) {
		shca_extack(extack, "%s must be between 1 and %u", what, max);
		return -ERANGE;
	}
	mutex_lock(&list_mutex);
	changed = *setting != value;
	WRITE_ONCE(*setting, value);
	mutex_unlock(&list_mutex);
	if (changed)
		tell(dev, SHCA_DEVICE_SET);
	return 0;
}

/**
 * shca_device_set_window - packets that a QP may have in flight
 * @dev: the device; the caller holds a reference
 * @window: how many
 * @extack: why not; or NULL
 *
 * Context: process, may sleep.
 * Return: 0 or -ERANGE.
 */
int shca_device_set_window(struct shca_dev *dev, u32 window,
			   struct netlink_ext_ack *extack)
{
	return set(dev, &dev->window, window, SOFTHCA_WINDOW_MAX, "the window",
		   extack);
}

/**
 * shca_device_set_burst - packets that are handed to the link at a time
 * @dev: the device; the caller holds a reference
 * @burst: how many
 * @extack: why not; or NULL
 *
 * Context: process, may sleep.
 * Return: 0 or -ERANGE.
 */
int shca_device_set_burst(struct shca_dev *dev, u32 burst,
			  struct netlink_ext_ack *extack)
{
	BUILD_BUG_ON(SOFTHCA_BURST_MAX > SHCA_BURST_MAX);
	return set(dev, &dev->burst, burst, SOFTHCA_BURST_MAX, "the burst",
		   extack);
}

/**
 * shca_device_find - find a device by its name
 * @name: the name
 *
 * Context: process.
 * Return: the device with a reference for shca_device_put(), or NULL.
 */
struct shca_dev *shca_device_find(const char *name)
{
	struct shca_dev *dev, *found = NULL;

	mutex_lock(&list_mutex);
	list_for_each_entry(dev, &devices, list) {
		if (!strcmp(dev->ib.name, name) &&
		    ib_device_try_get(&dev->ib)) {
			found = dev;
			break;
		}
	}
	mutex_unlock(&list_mutex);
	return found;
}

/**
 * shca_device_find_from - walk over the devices
 * @index: of the RDMA subsystem: 0 at first, then one more than the last found
 *
 * Context: process.
 * Return: the device with the smallest index that is not smaller, with a
 * reference for shca_device_put(), or NULL.
 */
struct shca_dev *shca_device_find_from(u32 index)
{
	struct shca_dev *dev, *found = NULL;

	mutex_lock(&list_mutex);
	list_for_each_entry(dev, &devices, list) {
		if (dev->ib.index >= index && ib_device_try_get(&dev->ib)) {
			found = dev;
			break;
		}
	}
	mutex_unlock(&list_mutex);
	return found;
}

/**
 * shca_device_put - drop a reference
 * @dev: the device, as found
 *
 * Context: any.
 */
void shca_device_put(struct shca_dev *dev)
{
	ib_device_put(&dev->ib);
}

/**
 * shca_device_changed - tell listeners that a device is not what it was
 * @dev: the device
 *
 * Whoever was not told of the device yet is not told of its changes.
 *
 * Context: process, may sleep.
 */
void shca_device_changed(struct shca_dev *dev)
{
	bool announced;

	mutex_lock(&list_mutex);
	announced = dev->announced;
	mutex_unlock(&list_mutex);
	if (announced)
		tell(dev, SHCA_DEVICE_SET);
}

static void port_event(struct shca_dev *dev)
{
	struct ib_event ev = {
		.device = &dev->ib,
		.element.port_num = 1,
		.event = dev->port_active ? IB_EVENT_PORT_ACTIVE :
					    IB_EVENT_PORT_ERR,
	};

	if (!shca_core_tells_port_events())
		ib_dispatch_event(&ev);
}

/**
 * shca_device_netdev_changed - a netdev went up or down, or changed its MTU
 * @ndev: any netdev
 *
 * Context: process, under RTNL.
 */
void shca_device_netdev_changed(struct net_device *ndev)
{
	struct shca_dev *dev = get_by_netdev(ndev);
	bool changed, state_changed;

	ASSERT_RTNL();
	if (!dev)
		return;
	changed = shca_port_refresh(dev, &state_changed);
	if (state_changed)
		port_event(dev);
	if (changed)
		shca_device_changed(dev);
	ib_device_put(&dev->ib);
}

/**
 * shca_device_renamed - a device got another name
 * @ib: any device
 *
 * Context: process, under ib_core's locks of devices.
 */
void shca_device_renamed(struct ib_device *ib)
{
	if (ib->ops.driver_id == (enum rdma_driver_id)SHCA_DRIVER_ID)
		shca_device_changed(to_shca(ib));
}

/**
 * shca_device_netdev_gone - a netdev goes, or leaves its namespace
 * @ndev: any netdev
 *
 * Its device is unregistered by work, since that must not be under RTNL.
 *
 * Context: process, under RTNL.
 */
void shca_device_netdev_gone(struct net_device *ndev)
{
	struct shca_dev *dev = get_by_netdev(ndev);

	ASSERT_RTNL();
	if (adding.ndev == ndev)
		adding.gone = true;
	if (!dev)
		return;
	ib_unregister_device_queued(&dev->ib);
	ib_device_put(&dev->ib);
}

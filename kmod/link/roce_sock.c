// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Namespaces, sockets and the devices open in them.
 *
 * Each network namespace with a device has a UDP tunnel socket per family,
 * created with the first device and released with the last.  Kernel sockets
 * hold no reference to their namespace: when it goes away, roce_net_exit()
 * takes the sockets down and detaches what devices are left.
 *
 * roce_mutex guards struct shca_roce_net, dev->link_list and writes of
 * dev->net.  Readers of dev->net and of the list use RCU; whoever takes a
 * device off waits a grace period before the device or the namespace is freed.
 * Order: roce_mutex is taken with no lock held, and under it only what the
 * socket layer takes to create and release a socket.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <net/netns/generic.h>

#include "../base/device.h"
#include "../compat/udp_tunnel.h"
#include "roce.h"

/* How long a dying namespace waits for devices that are being removed */
#define ROCE_EXIT_WAIT	(10 * HZ)

static DEFINE_MUTEX(roce_mutex);
static unsigned int roce_net_id;

static int roce_socket(struct net *net, int family, struct socket **sock)
{
	struct shca_roce_net *rn = net_generic(net, roce_net_id);
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(SHCA_ROCE_PORT),
		.ipv6_v6only = 1,
		/* checksums of zero are sent and accepted, as RoCE has them */
	};
	struct udp_tunnel_sock_cfg cfg = {
		.sk_user_data = rn,
		.encap_type = 1,
		.encap_rcv = shca_roce_encap_rcv,
	};
	int ret;

	ret = udp_sock_create(net, &port, sock);
	if (ret) {
		*sock = NULL;
		return ret;
	}
	shca_udp_tunnel_setup(net, *sock, &cfg);
	return 0;
}

static void roce_sockets_release(struct shca_roce_net *rn)
{
	lockdep_assert_held(&roce_mutex);
	if (rn->sock6)
		shca_udp_tunnel_release(rn->sock6);
	rn->sock6 = NULL;
	if (rn->sock4)
		shca_udp_tunnel_release(rn->sock4);
	rn->sock4 = NULL;
}

static int roce_sockets_create(struct net *net, struct shca_roce_net *rn,
			       const char **why)
{
	int ret;

	lockdep_assert_held(&roce_mutex);
	ret = roce_socket(net, AF_INET, &rn->sock4);
	if (!ret) {
		ret = roce_socket(net, AF_INET6, &rn->sock6);
		/* IPv6 is not compiled in, or switched off at boot */
		if (ret == -EAFNOSUPPORT || ret == -EPFNOSUPPORT)
			ret = 0;
	}
	if (!ret)
		return 0;

	roce_sockets_release(rn);
	if (ret == -EADDRINUSE)
		*why = "UDP port 4791 is in use in this network namespace, maybe by rdma_rxe";
	else if (ret == -ENOMEM)
		*why = "there is no memory for the UDP sockets";
	else
		*why = "the UDP sockets for RoCEv2 could not be created";
	return ret;
}

/**
 * shca_roce_open - a device begins to use the link
 * @dev: with its netdev and counters; what namespace the netdev is in now
 *	is where the device works
 * @why: on refusal, a sentence without a full stop
 *
 * Packets may arrive before this returns.
 *
 * Context: process, may sleep. No lock of ours held.
 * Return: 0 or a negative errno.
 */
int shca_roce_open(struct shca_dev *dev, const char **why)
{
	struct shca_roce_net *rn;
	struct net *net;
	int ret = 0;

	/* The reference to the netdev keeps the memory of its namespace. */
	rcu_read_lock();
	net = maybe_get_net(dev_net(dev->ndev));
	rcu_read_unlock();
	if (!net) {
		*why = "the network namespace is going away";
		return -ENODEV;
	}
	rn = net_generic(net, roce_net_id);

	mutex_lock(&roce_mutex);
	if (list_empty(&rn->devices))
		ret = roce_sockets_create(net, rn, why);
	if (!ret) {
		rn->used = true;
		WRITE_ONCE(dev->net, net);
		list_add_tail_rcu(&dev->link_list, &rn->devices);
	}
	mutex_unlock(&roce_mutex);
	put_net(net);
	return ret;
}

static void roce_detach(struct shca_roce_net *rn, struct shca_dev *dev)
{
	lockdep_assert_held(&roce_mutex);
	list_del_rcu(&dev->link_list);
	WRITE_ONCE(dev->net, NULL);
	if (list_empty(&rn->devices)) {
		roce_sockets_release(rn);
		wake_up_all(&rn->idle);
	}
}

/**
 * shca_roce_close - a device stops using the link
 * @dev: after a successful open; it may have been detached meanwhile, because
 *	its namespace went away
 *
 * On return nothing on the receive or the transmit path uses the device.
 *
 * Context: process, may sleep. No lock of ours held.
 */
void shca_roce_close(struct shca_dev *dev)
{
	struct net *net;

	mutex_lock(&roce_mutex);
	net = dev->net;
	if (net)
		roce_detach(net_generic(net, roce_net_id), dev);
	mutex_unlock(&roce_mutex);
	synchronize_net();
}

static int __net_init roce_net_init(struct net *net)
{
	struct shca_roce_net *rn = net_generic(net, roce_net_id);

	INIT_LIST_HEAD(&rn->devices);
	init_waitqueue_head(&rn->idle);
	return 0;
}

/*
 * The namespace's netdevs are gone or were moved to the initial namespace, so
 * the removal of its devices has at least begun.  Waiting for its end keeps
 * routes that QPs have cached from outliving the namespace they belong to; a
 * device that hangs is detached, which stops its traffic.
 */
static void __net_exit roce_net_exit(struct net *net)
{
	struct shca_roce_net *rn = net_generic(net, roce_net_id);
	struct shca_dev *dev, *next;

	if (!rn->used)
		return;
	wait_event_timeout(rn->idle, list_empty(&rn->devices), ROCE_EXIT_WAIT);
	mutex_lock(&roce_mutex);
	list_for_each_entry_safe(dev, next, &rn->devices, link_list) {
		pr_warn("softhca: %s: its network namespace went away first\n",
			dev_name(&dev->ib.dev));
		roce_detach(rn, dev);
	}
	mutex_unlock(&roce_mutex);
	/* Senders that still saw dev->net */
	synchronize_net();
}

static struct pernet_operations roce_net_ops = {
	.init = roce_net_init,
	.exit = roce_net_exit,
	.id = &roce_net_id,
	.size = sizeof(struct shca_roce_net),
};

/**
 * shca_roce_sock_init - prepare all namespaces, present and future
 *
 * Context: process, from module init.
 * Return: 0 or a negative errno.
 */
int shca_roce_sock_init(void)
{
	return register_pernet_subsys(&roce_net_ops);
}

/**
 * shca_roce_sock_exit - the mirror; no device is open
 *
 * Context: process, from module exit.
 */
void shca_roce_sock_exit(void)
{
	unregister_pernet_subsys(&roce_net_ops);
}

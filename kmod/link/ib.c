// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Native InfiniBand: packets with an LRH on a cable.
 *
 * A device of this link has a node (what the subnet manager sees) and a plug,
 * both made by fabric/ before the link is opened.  Parts: ib_tx.c, ib_rx.c,
 * ib_mad.c (packets of agents that have no QP), cable.c, and for cables to other
 * hosts remote.c and remote_sock.c.
 */
#include <linux/rcupdate.h>

#include "../base/device.h"
#include "ib.h"
#include "remote.h"

static shca_tap_fn __rcu *tap;

/**
 * shca_ib_tap_set - say who is told of packets
 * @fn: called for each; NULL: nobody
 *
 * On return the one before is not running.
 *
 * Context: process, may sleep; the module's init and exit.
 */
void shca_ib_tap_set(shca_tap_fn *fn)
{
	rcu_assign_pointer(tap, fn);
	synchronize_rcu();
}

/**
 * shca_ib_tap - tell of a packet
 * @dev: see &typedef shca_tap_fn, as for the others
 * @skb: the packet
 * @sent: which way
 * @qpn: whose
 *
 * What a port sends to itself is told once, when it comes.
 *
 * Context: any but hard interrupts.
 */
void shca_ib_tap(struct shca_dev *dev, const struct sk_buff *skb, bool sent,
		 u32 qpn)
{
	shca_tap_fn *fn;

	rcu_read_lock();
	fn = rcu_dereference(tap);
	if (fn)
		fn(dev, skb, sent, qpn);
	rcu_read_unlock();
}

static int ib_open(struct shca_dev *dev, const char **why)
{
	return 0;
}

/* On return no packet uses the device. */
static void ib_close(struct shca_dev *dev)
{
	shca_plugs_close(dev->plug, 1, sizeof(*dev->plug));
}

const struct shca_link_ops shca_ib_ops = {
	.name		= "ib",
	.open		= ib_open,
	.close		= ib_close,
	.xmit		= shca_ib_xmit,
	.fill_grh	= shca_ib_fill_grh,
	.bad_qkey	= shca_ib_bad_qkey,
};

/**
 * shca_ib_init - make the link ready for devices
 * @receive: where packets for QPs go
 *
 * Context: process, from the module's init.
 * Return: 0 or a negative errno.
 */
int shca_ib_init(shca_receive_fn *receive)
{
	shca_ib_rx_init(receive);
	return shca_remote_sock_init();
}

/**
 * shca_ib_exit - the mirror; no device and no switch is left
 *
 * Context: process, from the module's exit.
 */
void shca_ib_exit(void)
{
	shca_remote_sock_exit();
}

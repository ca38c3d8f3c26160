// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCEv2: InfiniBand packets behind UDP, IPv4 or IPv6 (IBA annex A17).
 *
 * This file owns the life of the link as a whole, which is the module's.  Its
 * parts: roce_sock.c (namespaces, sockets, devices), roce_route.c, roce_tx.c,
 * roce_rx.c, roce_local.c.
 */
#include "roce.h"

const struct shca_link_ops shca_roce_ops = {
	.name		= "roce",
	.open		= shca_roce_open,
	.close		= shca_roce_close,
	.xmit		= shca_roce_xmit,
	.fill_grh	= shca_roce_fill_grh,
	.leads_back	= shca_roce_leads_back,
	.watched	= shca_roce_watched,
	.local_grh	= shca_roce_local_grh,
};

/**
 * shca_roce_init - make the link ready for devices
 * @receive: where packets for QPs go
 *
 * Context: process, from the module's init.
 * Return: 0 or a negative errno.
 */
int shca_roce_init(shca_receive_fn *receive)
{
	shca_roce_rx_init(receive);
	return shca_roce_sock_init();
}

/**
 * shca_roce_exit - the mirror; no device is left
 *
 * Context: process.
 */
void shca_roce_exit(void)
{
	shca_roce_sock_exit();
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * UDP tunnel sockets.  Release returns when no receive function of the socket
 * runs any more, on every kernel.
 */
#ifndef _SHCA_COMPAT_UDP_TUNNEL_H
#define _SHCA_COMPAT_UDP_TUNNEL_H

#include <linux/net.h>
#include <net/udp_tunnel.h>

#include "generated.h"

static inline void shca_udp_tunnel_setup(struct net *net, struct socket *sock,
					 struct udp_tunnel_sock_cfg *cfg)
{
#ifdef HAVE_UDP_TUNNEL_SK
	setup_udp_tunnel_sock(net, sock->sk, cfg);
#else
	setup_udp_tunnel_sock(net, sock, cfg);
#endif
}

static inline void shca_udp_tunnel_release(struct socket *sock)
{
#ifdef HAVE_UDP_TUNNEL_SK
	udp_tunnel_sock_release(sock->sk);
	synchronize_rcu();
#else
	udp_tunnel_sock_release(sock);
#endif
}

#endif /* _SHCA_COMPAT_UDP_TUNNEL_H */

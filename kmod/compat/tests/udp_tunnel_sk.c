// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 7.x: UDP tunnels are set up by struct sock, and release does not wait. */
#include <net/udp_tunnel.h>

void shca_probe(struct sock *sk)
{
	udp_tunnel_sock_release(sk);
}

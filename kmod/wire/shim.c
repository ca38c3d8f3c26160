// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What comes through a cable to another host, checked.  Pure code. */
#include "shim.h"

/**
 * shca_shim_ok - whether a datagram is one of a cable
 * @s: its first bytes: a whole shim
 * @len: bytes of the datagram, behind the UDP header
 *
 * What the packet says about itself, from the LRH on, is its port's to check.
 *
 * Context: any.
 * Return: false if it is to be dropped.
 */
bool shca_shim_ok(const struct shca_shim *s, size_t len)
{
	if (len < sizeof(*s) || s->version != SHCA_SHIM_VERSION)
		return false;
	switch (s->kind) {
	case SHCA_SHIM_PACKET:
		return !s->flags && s->hops && s->hops <= SHCA_HOPS_MAX &&
		       len >= sizeof(*s) + SHCA_IB_PACKET_MIN &&
		       len <= sizeof(*s) + SHCA_IB_PACKET_MAX;
	case SHCA_SHIM_HELLO:
		return !s->hops && len == sizeof(struct shca_hello) &&
		       !(s->flags & ~SHCA_HELLO_WANT);
	default:
		return false;
	}
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The invariant CRC of RoCEv2 (IBA annex A17.3.3): CRC-32 over what no router
 * changes.  Fields that may change count as all ones:
 *
 *   eight bytes of ones, in place of the LRH and the like of native InfiniBand
 *   IPv4: TOS, TTL, header checksum     IPv6: traffic class, flow label, hop limit
 *   UDP: checksum
 *   BTH: byte 4 (FECN, BECN, reserved)
 *
 * The headers must be those of the wire: lengths and IPv4 ID count.
 */
#ifndef _SHCA_ICRC_H
#define _SHCA_ICRC_H

#include "types.h"

/* CRC state after the eight bytes of ones, from a state of all ones */
#define SHCA_ICRC_SEED	0xdebb20e3u

#define SHCA_IPV4_LEN	20	/* without options; RoCEv2 has none */
#define SHCA_IPV6_LEN	40
#define SHCA_UDP_LEN	8

/**
 * typedef shca_crc32_fn - continue a CRC-32 (reflected, no inversion)
 * @crc: state
 * @p: bytes
 * @len: how many
 *
 * Return: the new state.
 */
typedef u32 shca_crc32_fn(u32 crc, const void *p, size_t len);

u32 shca_icrc_headers(shca_crc32_fn *crc32, bool ipv4, const void *ip,
		      const void *udp, const void *hdr, size_t hdr_len);

/**
 * shca_icrc_finish - what goes on the wire
 * @crc: state after the last byte of the pad
 *
 * Return: the four bytes, least significant first.
 */
static inline __le32 shca_icrc_finish(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* _SHCA_ICRC_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The headers' part of the ICRC.  Pure code: no state, no lock. */
#include "hdr.h"
#include "icrc.h"

/**
 * shca_icrc_headers - begin the ICRC of a packet
 * @crc32: continues a CRC
 * @ipv4: else IPv6
 * @ip: IP header, of SHCA_IPV4_LEN or SHCA_IPV6_LEN bytes
 * @udp: UDP header
 * @hdr: BTH and extension headers
 * @hdr_len: bytes of them, from that of a BTH to SHCA_HDR_MAX
 *
 * None of them is changed, and they need not be aligned or adjacent.  The
 * caller goes on with payload and pad and ends with shca_icrc_finish().
 *
 * Context: what @crc32 allows.
 * Return: the state so far.
 */
u32 shca_icrc_headers(shca_crc32_fn *crc32, bool ipv4, const void *ip,
		      const void *udp, const void *hdr, size_t hdr_len)
{
	u8 b[SHCA_IPV6_LEN + SHCA_UDP_LEN + SHCA_HDR_MAX];
	size_t n = ipv4 ? SHCA_IPV4_LEN : SHCA_IPV6_LEN;

	if (hdr_len > SHCA_HDR_MAX)
		hdr_len = SHCA_HDR_MAX;
	memcpy(b, ip, n);
	if (ipv4) {
		b[1] = 0xff;			/* TOS */
		b[8] = 0xff;			/* TTL */
		memset(b + 10, 0xff, 2);	/* checksum */
	} else {
		b[0] |= 0x0f;			/* traffic class, flow label */
		memset(b + 1, 0xff, 3);
		b[7] = 0xff;			/* hop limit */
	}
	memcpy(b + n, udp, SHCA_UDP_LEN);
	memset(b + n + 6, 0xff, 2);		/* checksum */
	n += SHCA_UDP_LEN;
	memcpy(b + n, hdr, hdr_len);
	b[n + 4] = 0xff;			/* FECN, BECN, reserved */
	return crc32(SHCA_ICRC_SEED, b, n + hdr_len);
}

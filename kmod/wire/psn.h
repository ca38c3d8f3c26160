/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packet sequence numbers: 24 bits, compared modulo 2^24 (IBA 9.7.2). */
#ifndef _SHCA_PSN_H
#define _SHCA_PSN_H

#include "types.h"

#define SHCA_PSN_MASK	0xffffffu

static inline u32 shca_psn_add(u32 psn, u32 n)
{
	return (psn + n) & SHCA_PSN_MASK;
}

/* a - b, in -2^23 .. 2^23 - 1: negative if a is older than b */
static inline s32 shca_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* _SHCA_PSN_H */

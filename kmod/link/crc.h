/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* CRC-32 at the speed the machine has, for the ICRCs of all links. */
#ifndef _SHCA_CRC_H
#define _SHCA_CRC_H

#include <linux/types.h>

struct sk_buff;

int shca_crc_init(void);
void shca_crc_exit(void);
u32 shca_crc32(u32 crc, const void *p, size_t len);
u32 shca_crc32_skb(u32 crc, struct sk_buff *skb, u32 offset, u32 len);

#endif /* _SHCA_CRC_H */

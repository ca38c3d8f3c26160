// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 6.14: crc32_le() itself uses what the CPU has. */
#include <linux/crc32.h>

u32 shca_probe(void)
{
	return crc32_optimizations() & CRC32_LE_OPTIMIZATION;
}

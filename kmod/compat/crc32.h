/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * SHCA_CRC32_SHASH: the fast CRC-32 is behind the crypto API.  Later kernels
 * have it in crc32_le(), which before is a table walk.
 */
#ifndef _SHCA_COMPAT_CRC32_H
#define _SHCA_COMPAT_CRC32_H

#include <linux/crc32.h>

#include "generated.h"

#ifndef HAVE_CRC32_LE_FAST
#define SHCA_CRC32_SHASH 1
#endif

#endif /* _SHCA_COMPAT_CRC32_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* types.h in user space: the kernel's names for what the C library has. */
#ifndef _SHCA_USER_H
#define _SHCA_USER_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef int32_t s32;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;
typedef uint32_t __le32;

#define __packed	__attribute__((packed))
#define __force

#define cpu_to_be16(x)	htobe16(x)
#define cpu_to_be32(x)	htobe32(x)
#define cpu_to_be64(x)	htobe64(x)
#define cpu_to_le32(x)	htole32(x)
#define be16_to_cpu(x)	be16toh(x)
#define be32_to_cpu(x)	be32toh(x)
#define be64_to_cpu(x)	be64toh(x)
#define le32_to_cpu(x)	le32toh(x)

#endif /* _SHCA_USER_H */

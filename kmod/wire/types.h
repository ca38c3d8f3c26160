/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The few kernel types that wire/ uses, so that it builds in user space too. */
#ifndef _SHCA_TYPES_H
#define _SHCA_TYPES_H

#ifdef __KERNEL__
#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#else
#include "user.h"
#endif

#endif /* _SHCA_TYPES_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Pinning memory of a process: 7.x renamed the function. */
#ifndef _SHCA_COMPAT_UMEM_H
#define _SHCA_COMPAT_UMEM_H

#include <rdma/ib_umem.h>

#include "generated.h"

static inline struct ib_umem *shca_umem_get(struct ib_device *ib, u64 start,
					    size_t length, int access)
{
#ifdef HAVE_IB_UMEM_GET_VA
	return ib_umem_get_va(ib, start, length, access);
#else
	return ib_umem_get(ib, start, length, access);
#endif
}

#endif /* _SHCA_COMPAT_UMEM_H */

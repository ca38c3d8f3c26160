// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains: only their identity counts, so there is nothing to do. */
#include "ops.h"

/**
 * shca_alloc_pd - ib_device_ops.alloc_pd
 * @pd: the protection domain
 * @udata: unused
 *
 * Context: process.
 * Return: 0.
 */
int shca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

/**
 * shca_dealloc_pd - ib_device_ops.dealloc_pd
 * @pd: the protection domain
 * @udata: unused
 *
 * Context: process.
 * Return: 0.
 */
int shca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

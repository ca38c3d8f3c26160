// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process' context.  It holds nothing: rings belong to their objects, and
 * mappings keep their own pages (mmap.c), so disassociating is no work.
 */
#include "ops.h"

/**
 * shca_alloc_ucontext - ib_device_ops.alloc_ucontext
 * @ctx: the context
 * @udata: answered with struct shca_alloc_ucontext_resp
 *
 * Context: process, may sleep.
 * Return: 0 or -EFAULT.
 */
int shca_alloc_ucontext(struct ib_ucontext *ctx, struct ib_udata *udata)
{
	struct shca_alloc_ucontext_resp resp = {
		.max_inline = SHCA_MAX_INLINE,
	};

	return shca_answer(udata, &resp, sizeof(resp));
}

/**
 * shca_dealloc_ucontext - ib_device_ops.dealloc_ucontext
 * @ctx: the context, whose objects were destroyed before
 *
 * Context: process.
 */
void shca_dealloc_ucontext(struct ib_ucontext *ctx)
{
}

/**
 * shca_disassociate_ucontext - ib_device_ops.disassociate_ucontext
 * @ctx: of a process that outlives the device
 *
 * That it exists lets ib_uverbs destroy the objects of a device that goes,
 * instead of waiting for the process.
 *
 * Context: process.
 */
void shca_disassociate_ucontext(struct ib_ucontext *ctx)
{
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: pinning, and the table of pages (MTT).  Keys, checks and
 * references are object/mr.c's.
 *
 * A region is allocated here and freed by dereg_mr: its key is taken away,
 * users of its memory are waited for, then the memory is unpinned.
 */
#include <linux/slab.h>

#include "../base/trace_mr.h"
#include "../compat/umem.h"
#include "../object/mr.h"
#include "../object/pd.h"
#include "ops.h"

/* Each page has an address of the kernel's. */
static_assert(!IS_ENABLED(CONFIG_HIGHMEM));

/* A region that is not aligned has a page more. */
static_assert(((SHCA_MAX_MR_BYTES >> PAGE_SHIFT) + 1) * sizeof(void *) <=
	      INT_MAX);

/* The peer's permission for atomics may be given; no atomic will use it. */
#define SHCA_ACCESS_SUPPORTED \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED | \
	 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

static struct shca_mr *mr_alloc(struct ib_pd *pd, int access)
{
	struct shca_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->pd = to_shca_pd(pd);
	mr->access = access;
	return mr;
}

/**
 * shca_get_dma_mr - ib_device_ops.get_dma_mr: all of memory, for the kernel
 * @pd: its protection domain
 * @access: IB_ACCESS_* flags
 *
 * Context: process, may sleep.
 * Return: the region or an ERR_PTR.
 */
struct ib_mr *shca_get_dma_mr(struct ib_pd *pd, int access)
{
	struct shca_mr *mr;
	int ret;

	if (access & ~SHCA_ACCESS_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	mr = mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->dma = true;
	ret = shca_mr_publish(to_shca(pd->device), mr);
	if (ret) {
		shca_mr_free(mr);
		return ERR_PTR(ret);
	}
	return &mr->ib;
}

/* The kernel's address of each page of the region. */
static int mr_fill_pages(struct shca_mr *mr)
{
	struct sg_page_iter it;
	unsigned long i = 0;

	mr->npages = ib_umem_num_pages(mr->umem);
	mr->page = kvmalloc_array(mr->npages, sizeof(*mr->page),
				  GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!mr->page)
		return -ENOMEM;
	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &it, 0) {
		if (i == mr->npages)
			return -EINVAL;
		mr->page[i++] = page_address(sg_page_iter_page(&it));
	}
	return i == mr->npages ? 0 : -EINVAL;
}

/**
 * shca_reg_user_mr - ib_device_ops.reg_user_mr
 * @pd: its protection domain
 * @start: first byte in the process
 * @length: bytes
 * @va: address by which work requests name the first byte
 * @access: IB_ACCESS_* flags
 * @udata: unused
 *
 * Context: process, may sleep.
 * Return: the region or an ERR_PTR: -EINVAL, -EOPNOTSUPP, -ENOMEM (also for
 * RLIMIT_MEMLOCK), -EFAULT, -EBUSY.
 */
struct ib_mr *shca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va,
			       int access, struct ib_udata *udata)
{
	struct shca_dev *dev = to_shca(pd->device);
	struct shca_mr *mr;
	u64 end;
	int ret;

	if (access & ~SHCA_ACCESS_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (access & IB_ZERO_BASED)
		va = 0;
	/* A region is not empty, and neither range of addresses wraps. */
	if (!length || length > SHCA_MAX_MR_BYTES || start > ULONG_MAX ||
	    check_add_overflow(start, length - 1, &end) ||
	    check_add_overflow(va, length - 1, &end))
		return ERR_PTR(-EINVAL);

	mr = mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = va;
	mr->length = length;
	mr->offset = offset_in_page(start);
	mr->umem = shca_umem_get(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		goto free_mr;
	}
	ret = mr_fill_pages(mr);
	if (ret)
		goto release_umem;
	mr->ib.iova = va;
	mr->ib.length = length;
	ret = shca_mr_publish(dev, mr);
	if (ret)
		goto release_umem;
	trace_mr_register(dev, mr->key, start, length, access, 0);
	return &mr->ib;

release_umem:
	ib_umem_release(mr->umem);
free_mr:
	shca_mr_free(mr);
	trace_mr_register(dev, 0, start, length, access, ret);
	return ERR_PTR(ret);
}

/**
 * shca_dereg_mr - ib_device_ops.dereg_mr
 * @ibmr: the region
 * @udata: unused
 *
 * Context: process; waits for turns of runners that use the memory.
 * Return: 0.
 */
int shca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct shca_mr *mr = to_shca_mr(ibmr);

	shca_mr_retire(to_shca(ibmr->device), mr);
	trace_mr_deregister(to_shca(ibmr->device), mr->key);
	ib_umem_release(mr->umem);
	shca_mr_free(mr);
	return 0;
}

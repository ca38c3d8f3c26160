// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: keys, checks and references.  Pinning and ib_core's side are
 * in verbs/mr.c.
 *
 * A key is index << 8 | tag.  The index finds the region in dev->mrs; the tag
 * is random.  Indices are given in turn, so that a key that its owner forgot to
 * forget names nothing until 2^24 more regions have come and gone, and then it
 * still has to have the tag.
 */
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <rdma/ib_umem.h>

#include "../base/device.h"
#include "mr.h"

#define SHCA_MR_INDEX_MAX	0xffffff	/* 24 bits of a key */

/**
 * shca_mr_publish - give a region its key and let it be found
 * @dev: its device
 * @mr: the region, otherwise complete
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM or -EBUSY (no index free).
 */
int shca_mr_publish(struct shca_dev *dev, struct shca_mr *mr)
{
	u32 index;
	int ret;

	refcount_set(&mr->users, 1);
	init_completion(&mr->gone);
	/* The slot is reserved empty: nobody finds the region without its key. */
	ret = xa_alloc_cyclic(&dev->mrs, &index, NULL,
			      XA_LIMIT(1, SHCA_MR_INDEX_MAX), &dev->mr_next,
			      GFP_KERNEL);
	if (ret < 0)
		return ret;
	mr->key = index << 8 | (get_random_u32() & 0xff);
	mr->ib.lkey = mr->key;
	mr->ib.rkey = mr->key;
	xa_store(&dev->mrs, index, mr, GFP_KERNEL);
	return 0;
}

/**
 * shca_mr_retire - take the key away and wait for those who use the memory
 * @dev: its device
 * @mr: a published region
 *
 * Users hold a reference for one turn of a runner at the most.
 *
 * Context: process, may sleep.
 */
void shca_mr_retire(struct shca_dev *dev, struct shca_mr *mr)
{
	xa_erase(&dev->mrs, mr->key >> 8);
	shca_mr_put(mr);
	wait_for_completion(&mr->gone);
}

/**
 * shca_mr_free - free a region that was retired or never published
 * @mr: the region; its umem is released by the caller
 *
 * Lookups that found it before it was unlinked may still read its reference
 * count, so the struct lives on for a grace period.
 *
 * Context: process.
 */
void shca_mr_free(struct shca_mr *mr)
{
	kvfree(mr->page);
	kfree_rcu(mr, rcu);
}

/**
 * shca_mr_get - find the region of a key
 * @dev: the device
 * @key: lkey or rkey, from anywhere
 *
 * Context: any but hard interrupts.
 * Return: the region with a reference for shca_mr_put(), or NULL.
 */
struct shca_mr *shca_mr_get(struct shca_dev *dev, u32 key)
{
	struct shca_mr *mr;

	rcu_read_lock();
	mr = xa_load(&dev->mrs, key >> 8);
	if (mr && (mr->key != key || !refcount_inc_not_zero(&mr->users)))
		mr = NULL;
	rcu_read_unlock();
	return mr;
}

/** shca_mr_put - drop a reference of shca_mr_get() */
void shca_mr_put(struct shca_mr *mr)
{
	if (refcount_dec_and_test(&mr->users))
		complete(&mr->gone);
}

/**
 * shca_mr_check - may this access be made?
 * @mr: the region
 * @pd: the QP's protection domain
 * @access: the IB_ACCESS_* flags it needs, all of them; 0 for a local read
 * @addr: first byte
 * @len: bytes; with 0 only the protection domain is checked, since nothing
 *	is accessed
 *
 * Context: any.
 * Return: 0, -EPERM (other protection domain, or a permission is missing) or
 * -ERANGE (outside the region).
 */
int shca_mr_check(const struct shca_mr *mr, const struct shca_pd *pd,
		  int access, u64 addr, u64 len)
{
	u64 end;

	if (mr->pd != pd || (mr->access & access) != access)
		return -EPERM;
	if (!len)
		return 0;
	if (check_add_overflow(addr, len - 1, &end))
		return -ERANGE;
	if (mr->dma)
		return virt_addr_valid(addr) && virt_addr_valid(end) ? 0 :
								       -ERANGE;
	/* No overflow: reg_user_mr refused a region that wraps. */
	if (addr < mr->iova || end > mr->iova + (mr->length - 1))
		return -ERANGE;
	return 0;
}

/* Where a byte lies in the address space that its region was registered in */
static u64 mr_home(const struct shca_mr *mr, u64 addr)
{
	return mr->umem ? mr->umem->address + (addr - mr->iova) : addr;
}

/**
 * shca_mr_below - does a range reach into another that begins above it?
 * @a: region of the one
 * @addr_a: its first byte
 * @b: region of the other
 * @addr_b: its first byte
 * @len: bytes of each; of a range that fails shca_mr_check() the answer means
 *	nothing
 *
 * Memory that is mapped twice is not recognized as the same.
 *
 * Context: any.
 */
bool shca_mr_below(const struct shca_mr *a, u64 addr_a,
		   const struct shca_mr *b, u64 addr_b, u64 len)
{
	u64 from = mr_home(a, addr_a), to = mr_home(b, addr_b);

	if ((a->umem ? a->umem->owning_mm : NULL) !=
	    (b->umem ? b->umem->owning_mm : NULL))
		return false;
	return from < to && to - from < len;
}

/**
 * shca_mr_refs - the memory behind a range
 * @mr: the region
 * @addr: first byte; the range passed shca_mr_check()
 * @len: bytes
 * @ref: filled in; no entry crosses a page, so each can be held by the
 *	reference count of its page
 * @max: entries of @ref
 *
 * Context: any.
 * Return: how many entries were filled; -ENOSPC if @max do not suffice.
 */
int shca_mr_refs(const struct shca_mr *mr, u64 addr, u32 len,
		 struct shca_ref *ref, int max)
{
	u64 pos = mr->dma ? addr : addr - mr->iova + mr->offset;
	int n;

	for (n = 0; len; n++) {
		u32 in_page = offset_in_page(pos);
		u32 part = min_t(u32, len, PAGE_SIZE - in_page);

		if (n == max)
			return -ENOSPC;
		ref[n].va = mr->dma ? (void *)(uintptr_t)pos :
				      mr->page[pos >> PAGE_SHIFT] + in_page;
		ref[n].len = part;
		pos += part;
		len -= part;
	}
	return n;
}

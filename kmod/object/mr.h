/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions: what a key means, and the references to memory behind it.
 *
 * Lookup: shca_mr_get() under RCU by key; the reference it takes is returned
 * by shca_mr_put() before the turn ends, never kept from turn to turn.
 * End: shca_mr_retire() unlinks the region and waits for those references, so
 * once dereg_mr returns neither side touches the memory any more but for page
 * references of skbs already handed to the network.
 */
#ifndef _SHCA_MR_H
#define _SHCA_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

struct shca_dev;
struct shca_pd;
struct ib_umem;

/**
 * struct shca_ref - a piece of memory without a gap, below the direct map
 * @va: kernel address
 * @len: bytes
 */
struct shca_ref {
	void *va;
	u32 len;
};

/**
 * struct shca_mr - a memory region
 * @ib: what ib_core knows
 * @users: references; the region's own is dropped by shca_mr_retire()
 * @gone: completed with the last reference
 * @rcu: frees the struct after lookups have ended
 * @pd: who may use it
 * @key: lkey and rkey alike: index << 8 | tag
 * @access: IB_ACCESS_* flags
 * @dma: all of memory, for the kernel (get_dma_mr): an address is a kernel
 *	address and @iova, @length and @page do not count
 * @iova: address by which work requests name the first byte
 * @length: bytes
 * @offset: of the first byte in the first page
 * @npages: entries of @page
 * @page: kernel address of each page of PAGE_SIZE (the MTT)
 * @umem: pinned memory of a process, or NULL
 */
struct shca_mr {
	struct ib_mr ib;
	refcount_t users;
	struct completion gone;
	struct rcu_head rcu;
	struct shca_pd *pd;
	u32 key;
	int access;
	bool dma;
	u64 iova;
	u64 length;
	u32 offset;
	unsigned long npages;
	void **page;
	struct ib_umem *umem;
};

static inline struct shca_mr *to_shca_mr(struct ib_mr *ib)
{
	return container_of(ib, struct shca_mr, ib);
}

int shca_mr_publish(struct shca_dev *dev, struct shca_mr *mr);
void shca_mr_retire(struct shca_dev *dev, struct shca_mr *mr);
void shca_mr_free(struct shca_mr *mr);

struct shca_mr *shca_mr_get(struct shca_dev *dev, u32 key);
void shca_mr_put(struct shca_mr *mr);
int shca_mr_check(const struct shca_mr *mr, const struct shca_pd *pd,
		  int access, u64 addr, u64 len);
bool shca_mr_below(const struct shca_mr *a, u64 addr_a,
		   const struct shca_mr *b, u64 addr_b, u64 len);
int shca_mr_refs(const struct shca_mr *mr, u64 addr, u32 len,
		 struct shca_ref *ref, int max);

#endif /* _SHCA_MR_H */

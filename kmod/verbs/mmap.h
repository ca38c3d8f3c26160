/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of rings: shared with a process, or the kernel's own. */
#ifndef _SHCA_MMAP_H
#define _SHCA_MMAP_H

#include <rdma/ib_verbs.h>

#include "../uapi/softhca-abi.h"

/**
 * struct shca_mmap - memory of a ring
 * @rdma: how ib_core finds it when the process maps it; unused without @user
 * @mem: the memory, zeroed at first
 * @pages: its pages
 * @size: its bytes, a multiple of pages
 * @user: a process may map it
 */
struct shca_mmap {
	struct rdma_user_mmap_entry rdma;
	void *mem;
	struct page **pages;
	size_t size;
	bool user;
};

struct shca_mmap *shca_mmap_alloc(struct ib_ucontext *ctx, size_t size);
void shca_mmap_release(struct shca_mmap *map);
void shca_mmap_fill(const struct shca_mmap *map, struct shca_mmap_info *info);

int shca_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma);
void shca_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* _SHCA_MMAP_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of rings.
 *
 * It belongs to the CQ or QP, which releases it when it is destroyed.  A
 * process' mapping holds references to the pages, not to us: it keeps working
 * (and no longer matters) after the object, the device and the module are gone.
 * So nothing here waits for munmap, and we have no vm_ops.  ib_uverbs installs its
 * own before it calls us; they keep track of what rdma_user_mmap_io() maps, and
 * leave ours alone.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "mmap.h"

static void free_pages_of(struct shca_mmap *map)
{
	unsigned int i, n = map->size >> PAGE_SHIFT;

	if (map->mem)
		vunmap(map->mem);
	for (i = 0; i < n && map->pages[i]; i++)
		__free_page(map->pages[i]);
	kvfree(map->pages);
}

/*
 * Pages of our own and not vmalloc_user(), which charges nobody: rings are as
 * large as a process asks for.
 */
static int alloc_pages_of(struct shca_mmap *map)
{
	unsigned int i, n = map->size >> PAGE_SHIFT;

	map->pages = kvcalloc(n, sizeof(*map->pages), GFP_KERNEL_ACCOUNT);
	if (!map->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		map->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!map->pages[i])
			goto free;
	}
	/* VM_USERMAP: remap_vmalloc_range() asks for it. */
	map->mem = vmap(map->pages, n, VM_MAP | VM_USERMAP, PAGE_KERNEL);
	if (map->mem)
		return 0;
free:
	free_pages_of(map);
	return -ENOMEM;
}

/**
 * shca_mmap_alloc - allocate memory for a ring
 * @ctx: of the process that will map it, or NULL for a kernel consumer
 * @size: bytes, rounded up to pages; charged to the caller's memory cgroup
 *
 * Context: process, may sleep.
 * Return: the memory, zeroed, or ERR_PTR(-ENOMEM).
 */
struct shca_mmap *shca_mmap_alloc(struct ib_ucontext *ctx, size_t size)
{
	struct shca_mmap *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return ERR_PTR(-ENOMEM);
	map->size = PAGE_ALIGN(size);
	map->user = ctx;
	if (alloc_pages_of(map))
		goto free_map;
	if (ctx && rdma_user_mmap_entry_insert(ctx, &map->rdma, map->size))
		goto free_pages;
	return map;

free_pages:
	free_pages_of(map);
free_map:
	kfree(map);
	return ERR_PTR(-ENOMEM);
}

/**
 * shca_mmap_release - the object is gone
 * @map: of shca_mmap_alloc(); a concurrent mmap() may hold it a little longer
 *
 * Context: process.
 */
void shca_mmap_release(struct shca_mmap *map)
{
	if (map->user)
		rdma_user_mmap_entry_remove(&map->rdma);
	else
		shca_mmap_free(&map->rdma);
}

/**
 * shca_mmap_fill - tell the process where its ring lies
 * @map: memory of a process' ring
 * @info: filled in
 *
 * Context: any.
 */
void shca_mmap_fill(const struct shca_mmap *map, struct shca_mmap_info *info)
{
	info->offset = rdma_user_mmap_get_offset(&map->rdma);
	info->size = map->size;
}

/**
 * shca_mmap - ib_device_ops.mmap
 * @ctx: of the process
 * @vma: what it maps; must be shared and fit a ring exactly
 *
 * Context: process, mmap lock held.
 * Return: 0, -EINVAL if no ring lies there, or an error of mapping it.
 */
int shca_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ctx, vma);
	struct shca_mmap *map;
	int ret;

	if (!entry)
		return -EINVAL;
	map = container_of(entry, struct shca_mmap, rdma);
	ret = remap_vmalloc_range(vma, map->mem, 0);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

/**
 * shca_mmap_free - ib_device_ops.mmap_free: the last reference was dropped
 * @entry: of a struct shca_mmap
 *
 * Context: process.
 */
void shca_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct shca_mmap *map = container_of(entry, struct shca_mmap, rdma);

	free_pages_of(map);
	kfree(map);
}

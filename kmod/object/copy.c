// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copying received payload into memory regions.
 *
 * Each call looks its keys up anew and checks permission, protection domain
 * and bounds, for every packet: a region may go at any time.
 */
#include <linux/sizes.h>

#include "../base/device.h"
#include "copy.h"
#include "mr.h"

#define SHCA_COPY_REFS	18	/* 64 KiB and a page more, at any offset */

static int copy_to_mr(const struct shca_mr *mr, u64 addr,
		      const struct shca_src *src, u32 skip, u32 len)
{
	struct shca_ref ref[SHCA_COPY_REFS];
	int n, i;

	while (len) {
		u32 part = min_t(u32, len, SZ_64K);

		n = shca_mr_refs(mr, addr, part, ref, ARRAY_SIZE(ref));
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (!src->skb)
				memcpy(ref[i].va, src->buf + skip, ref[i].len);
			else if (skb_copy_bits(src->skb, src->off + skip,
					       ref[i].va, ref[i].len))
				return -EFAULT;
			skip += ref[i].len;
		}
		addr += part;
		len -= part;
	}
	return 0;
}

static int copy_part(struct shca_dev *dev, const struct shca_pd *pd, u32 key,
		     int access, u64 addr, const struct shca_src *src,
		     u32 skip, u32 len)
{
	struct shca_mr *mr = shca_mr_get(dev, key);
	int ret;

	if (!mr)
		return -ENOENT;
	ret = shca_mr_check(mr, pd, access, addr, len);
	if (!ret)
		ret = copy_to_mr(mr, addr, src, skip, len);
	shca_mr_put(mr);
	if (!ret)
		shca_count_add(dev, rx_bytes_copied, len);
	return ret;
}

/**
 * shca_copy_to_key - copy to where a key and an address point
 * @dev: the device
 * @pd: the QP's
 * @key: lkey or rkey
 * @access: IB_ACCESS_* that the access needs
 * @addr: first byte
 * @src: what
 *
 * Context: the owner of a runner.
 * Return: 0, -ENOENT (no such key), -EPERM or -ERANGE; see shca_mr_check().
 */
int shca_copy_to_key(struct shca_dev *dev, const struct shca_pd *pd, u32 key,
		     int access, u64 addr, const struct shca_src *src)
{
	return copy_part(dev, pd, key, access, addr, src, 0, src->len);
}

/**
 * shca_copy_to_sges - copy into the buffers of a WQE
 * @dev: the device
 * @pd: the QP's
 * @sge: the buffers
 * @nsge: how many
 * @offset: bytes of them to skip
 * @src: what
 *
 * Context: the owner of a runner.
 * Return: 0, -ENOSPC (the buffers are too small), or as shca_copy_to_key().
 */
int shca_copy_to_sges(struct shca_dev *dev, const struct shca_pd *pd,
		      const struct shca_sge *sge, u32 nsge, u32 offset,
		      const struct shca_src *src)
{
	u32 done = 0;
	u32 i;
	int ret;

	for (i = 0; i < nsge && done < src->len; i++) {
		u32 part;

		if (offset >= sge[i].length) {
			offset -= sge[i].length;
			continue;
		}
		part = min(sge[i].length - offset, src->len - done);
		ret = copy_part(dev, pd, sge[i].lkey, IB_ACCESS_LOCAL_WRITE,
				sge[i].addr + offset, src, done, part);
		if (ret)
			return ret;
		done += part;
		offset = 0;
	}
	return done == src->len ? 0 : -ENOSPC;
}

/**
 * shca_sges_check - may the buffers of a WQE be used?
 * @dev: the device
 * @pd: the QP's
 * @sge: the buffers; an empty one needs no key
 * @nsge: how many
 * @access: IB_ACCESS_* needed; 0 for reading
 *
 * Context: any but hard interrupts.
 * Return: 0, -ENOENT, -EPERM or -ERANGE.
 */
int shca_sges_check(struct shca_dev *dev, const struct shca_pd *pd,
		    const struct shca_sge *sge, u32 nsge, int access)
{
	u32 i;

	for (i = 0; i < nsge; i++) {
		struct shca_mr *mr;
		int ret;

		if (!sge[i].length)
			continue;
		mr = shca_mr_get(dev, sge[i].lkey);
		if (!mr)
			return -ENOENT;
		ret = shca_mr_check(mr, pd, access, sge[i].addr,
				    sge[i].length);
		shca_mr_put(mr);
		if (ret)
			return ret;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: create, destroy, and the kernel's polling and arming.  A
 * process polls and arms its CQ in the ring itself.
 *
 * ib_core allocates and frees struct shca_cq; we own the ring behind it.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "../object/cq.h"
#include "mmap.h"
#include "ops.h"

static_assert(sizeof(struct shca_cq_hdr) == 192);
static_assert(sizeof(struct shca_cqe) == 64);

static int cq_answer(struct shca_cq *cq, struct ib_udata *udata)
{
	struct shca_create_cq_resp resp = {
		.entries = cq->entries,
	};

	shca_mmap_fill(cq->map, &resp.map);
	return shca_answer(udata, &resp, sizeof(resp));
}

/**
 * shca_create_cq - ib_device_ops.create_cq
 * @ibcq: the CQ
 * @attr: its size; no flags
 * @udata: of a process: answered with struct shca_create_cq_resp
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP (flags), -EINVAL (size), -ENOMEM (or as many as there
 * may be) or -EFAULT.
 */
int shca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct ib_udata *udata)
{
	struct ib_ucontext *ctx = udata ? shca_udata_context(udata) : NULL;
	struct shca_cq *cq = container_of(ibcq, struct shca_cq, ib);
	size_t size;
	int ret;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SHCA_MAX_CQE)
		return -EINVAL;
	if (udata &&
	    udata->outlen < shca_answer_min(shca_create_cq_resp, entries))
		return -EINVAL;

	cq->dev = to_shca(ibcq->device);
	if (!atomic_add_unless(&cq->dev->cqs, 1, SHCA_MAX_CQ))
		return -ENOMEM;
	cq->user = udata;
	cq->entries = roundup_pow_of_two(attr->cqe);
	size = sizeof(*cq->hdr) + (size_t)cq->entries * sizeof(*cq->cqe);
	cq->map = shca_mmap_alloc(ctx, size);
	if (IS_ERR(cq->map)) {
		ret = PTR_ERR(cq->map);
		goto uncount;
	}
	cq->hdr = cq->map->mem;
	cq->cqe = (struct shca_cqe *)(cq->hdr + 1);
	ibcq->cqe = cq->entries;
	shca_cq_init(cq);

	if (udata) {
		ret = cq_answer(cq, udata);
		if (ret)
			goto release_map;
		return 0;
	}
	cq->qp = kvcalloc(cq->entries, sizeof(*cq->qp), GFP_KERNEL);
	if (!cq->qp) {
		ret = -ENOMEM;
		goto release_map;
	}
	return 0;

release_map:
	shca_mmap_release(cq->map);
uncount:
	atomic_dec(&cq->dev->cqs);
	return ret;
}

/**
 * shca_pre_destroy_cq - ib_device_ops.pre_destroy_cq
 * @ibcq: a kernel CQ; no QP is left on it
 *
 * ib_core stops polling next, and a handler that ran after that would start it
 * again.
 *
 * Context: process; waits for its event handlers.
 * Return: 0.
 */
int shca_pre_destroy_cq(struct ib_cq *ibcq)
{
	shca_cq_quiesce(to_shca_cq(ibcq));
	return 0;
}

/**
 * shca_destroy_cq - ib_device_ops.destroy_cq
 * @ibcq: the CQ; no QP is left on it
 * @udata: unused
 *
 * Context: process; waits for its event handlers.
 * Return: 0.
 */
int shca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct shca_cq *cq = to_shca_cq(ibcq);

	shca_cq_quiesce(cq);
	shca_mmap_release(cq->map);
	kvfree(cq->qp);
	atomic_dec(&cq->dev->cqs);
	return 0;
}

/**
 * shca_poll_cq - ib_device_ops.poll_cq
 * @ibcq: a kernel CQ
 * @n: room in @wc
 * @wc: filled in
 *
 * Context: any.
 * Return: how many; 0 for a CQ of a process, which empties it itself.
 */
int shca_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct shca_cq *cq = to_shca_cq(ibcq);

	return cq->user ? 0 : shca_cq_poll(cq, n, wc);
}

/**
 * shca_req_notify_cq - ib_device_ops.req_notify_cq
 * @ibcq: a kernel CQ
 * @flags: see ib_req_notify_cq()
 *
 * Context: any.
 * Return: 0; 1 if completions were missed and the caller wants to know;
 * -EOPNOTSUPP for a CQ of a process, which arms it itself.
 */
int shca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct shca_cq *cq = to_shca_cq(ibcq);

	return cq->user ? -EOPNOTSUPP : shca_cq_arm(cq, flags);
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rings: the kernel's side of a SQ or RQ (uapi/softhca-abi.h).
 *
 * The same ring serves processes (who map it) and kernel consumers (whose
 * post_send and post_recv write the slots under the QP's post lock).  Nothing
 * in it is trusted: the kernel's consumer index is its own, the producer index
 * is read once and bounded, a slot is copied once.
 */
#ifndef _SHCA_RING_H
#define _SHCA_RING_H

#include <linux/types.h>
#include <asm/barrier.h>

#include "../uapi/softhca-abi.h"

/**
 * struct shca_ring - one work queue's ring
 * @hdr: shared indices and flags
 * @slots: first slot
 * @entries: slots, a power of two
 * @stride: bytes from slot to slot
 * @cons: the kernel's consumer index; belongs to the side's runner
 */
struct shca_ring {
	struct shca_ring_hdr *hdr;
	void *slots;
	u32 entries;
	u32 stride;
	u32 cons;
};

static inline void *shca_ring_slot(const struct shca_ring *r, u32 index)
{
	return r->slots + (size_t)(index & (r->entries - 1)) * r->stride;
}

/**
 * shca_ring_avail - slots filled from an index on
 * @r: the ring
 * @from: index of the kernel's
 *
 * Pairs with the producer's store-release.
 *
 * Return: how many, or -1 if the producer index is impossible: more slots
 * filled than there are, counted from the oldest one not completed.
 */
static inline int shca_ring_avail(const struct shca_ring *r, u32 from)
{
	/* Pairs with the producer's store-release: the index, then the slots. */
	u32 prod = smp_load_acquire(&r->hdr->prod);

	if (prod - r->cons > r->entries || prod - from > r->entries)
		return -1;
	return prod - from;
}

/** shca_ring_complete - give @n slots back to the producer */
static inline void shca_ring_complete(struct shca_ring *r, u32 n)
{
	r->cons += n;
	/* The slot was read before it is given back. */
	smp_store_release(&r->hdr->cons, r->cons);
}

/**
 * shca_ring_set_wakeup - ask for a doorbell; read the producer index after it
 * @r: the ring
 *
 * The full fence pairs with the producer's between its index and the flags:
 * either it sees the flag, or we see its index.
 */
static inline void shca_ring_set_wakeup(struct shca_ring *r)
{
	WRITE_ONCE(r->hdr->flags, SHCA_RING_NEED_WAKEUP);
	/* The flag before the producer index; see above. */
	smp_mb();
}

static inline void shca_ring_clear_wakeup(struct shca_ring *r)
{
	if (READ_ONCE(r->hdr->flags))
		WRITE_ONCE(r->hdr->flags, 0);
}

#endif /* _SHCA_RING_H */

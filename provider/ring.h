/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The rings that a process shares with the kernel: their memory order, and
 * nothing else.  docs/ABI.md tells who writes what.
 *
 * The words of a ring are plain integers in softhca-abi.h (the kernel compiles
 * it too); they are only touched through the atomic accesses below.
 */
#ifndef SHCA_RING_H
#define SHCA_RING_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "softhca-abi.h"

static inline uint32_t shca_load(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint32_t shca_load_acquire(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void shca_store_release(__u32 *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void shca_full_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline bool shca_is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/**
 * struct shca_wq - the process's end of an SQ or RQ
 * @lock: guards the next three; held by the builder API from start to end
 * @open: the QP is in a state in which WRs may be posted
 * @prod: next index to fill; never read back from the ring
 * @cons: the kernel's consumer index when it was last looked at
 * @hdr: the ring's head, shared
 * @slots: the first slot, shared
 * @entries: slots, a power of two (0 if the ring does not exist)
 * @stride: bytes from slot to slot
 * @max_sge: scatter/gather entries that a slot holds
 * @max_inline: bytes of inline data that a slot holds (SQ)
 */
struct shca_wq {
	pthread_spinlock_t lock;
	bool open;
	uint32_t prod;
	uint32_t cons;

	struct shca_ring_hdr *hdr;
	char *slots;
	uint32_t entries;
	uint32_t stride;
	uint32_t max_sge;
	uint32_t max_inline;
};

static inline void *shca_wq_slot(const struct shca_wq *wq, uint32_t index)
{
	return wq->slots + (size_t)(index & (wq->entries - 1)) * wq->stride;
}

/**
 * shca_wq_has_room - may the slot of index @prod be filled?
 * @wq: the queue, its lock held
 * @prod: an index at or after @wq->prod
 *
 * The kernel's cache line is read only when the queue looks full.  The acquire
 * pairs with the kernel's release of the slot: it has read what was in there.
 */
static inline bool shca_wq_has_room(struct shca_wq *wq, uint32_t prod)
{
	if (prod - wq->cons < wq->entries)
		return true;
	wq->cons = shca_load_acquire(&wq->hdr->cons);
	return prod - wq->cons < wq->entries;
}

/**
 * shca_wq_publish - hand all slots before index @prod to the kernel
 * @wq: the queue, its lock held
 * @prod: the new producer index
 *
 * The kernel sets NEED_WAKEUP, fences and reads the producer before it goes to
 * sleep; here the producer is stored, then the fence, then the flag is read.
 * One of the two sees the other's store.
 *
 * Return: true if the doorbell must be rung, after the lock is dropped.
 */
static inline bool shca_wq_publish(struct shca_wq *wq, uint32_t prod)
{
	wq->prod = prod;
	shca_store_release(&wq->hdr->prod, prod);
	shca_full_fence();
	return shca_load(&wq->hdr->flags) & SHCA_RING_NEED_WAKEUP;
}

/**
 * shca_cq_arm - ask for one event, without a system call
 * @hdr: head of the CQ's ring
 * @kind: SHCA_CQ_ARM_SOLICITED or SHCA_CQ_ARM_NEXT
 *
 * The process owns @hdr->arm (sequence and kind), the kernel @hdr->fired (the
 * sequence of its last event).  The CQ is armed while the two sequences differ.
 * The kernel's part, after each batch of CQEs: store prod (release); full
 * fence; load arm; if its sequence is not fired and the kind fits a CQE of the
 * batch: store that sequence to fired, and only then queue the event.
 *
 * Claim: let T be the time at which a call begins.  Once it has returned, any
 * CQE of the wanted kind is either seen by a poll begun afterwards, or there is
 * an event for the channel's reader that had not been read at T.  So "arm, poll
 * until empty, wait" never sleeps with a completion in the queue.
 *
 * 1. This call armed the CQ, or widened its kind (the swap stored).  Here:
 *    store arm - fence - load prod; there: store prod - fence - load arm.  With
 *    full fences at least one side sees the other's store: if the later poll
 *    does not see the CQE, the kernel saw the new arm, and fires.  Between our
 *    load and our swap the kernel may have fired the very sequence that is
 *    being widened; we had not seen it in fired, so by 3 nobody had read that
 *    event at T.
 * 2. The CQ was armed widely enough and nothing was stored.  arm was loaded
 *    before fired, and the sequence found in arm was not fired yet: the kernel
 *    will fire it for the CQE, or is just doing so; by 3 nobody had read that
 *    event at T.
 * 3. Whoever has read an event sees the fired that belongs to it, because the
 *    kernel stores fired first and queues the event second, and reading the
 *    channel orders the two.  (The other way round, a call after the event could
 *    take the used-up sequence for an armed one and arm nothing.)
 * 4. Two threads that arm at once: the swap fails for one, which looks again.
 *    fired only moves to the sequence in arm, so a swap that finds arm
 *    unchanged finds "armed or not" as it was judged, except for the firing
 *    treated under 1.  A stale arm could only reappear after 2^30 events.
 *
 * An event may come whose completion was polled already: a consumer has to
 * expect that of any CQ.
 */
static inline void shca_cq_arm(struct shca_cq_hdr *hdr, uint32_t kind)
{
	uint32_t seq_mask = UINT32_MAX >> SHCA_CQ_ARM_SEQ_SHIFT;
	uint32_t arm = shca_load_acquire(&hdr->arm);
	uint32_t fired, want;

	do {
		fired = shca_load_acquire(&hdr->fired);
		if (arm >> SHCA_CQ_ARM_SEQ_SHIFT == fired) {
			want = ((fired + 1) & seq_mask) << SHCA_CQ_ARM_SEQ_SHIFT;
			want |= kind;
		} else {
			if ((arm & SHCA_CQ_ARM_KIND_MASK) >= kind)
				break;
			want = (arm & ~SHCA_CQ_ARM_KIND_MASK) | kind;
		}
	} while (!__atomic_compare_exchange_n(&hdr->arm, &arm, want, false,
					      __ATOMIC_SEQ_CST,
					      __ATOMIC_ACQUIRE));
	shca_full_fence();
}

#endif /* SHCA_RING_H */

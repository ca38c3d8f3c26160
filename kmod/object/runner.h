/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A runner: the one thread of control that may touch one side of a QP.
 *
 * Each QP has two, the requester's and the responder's.  All protocol state
 * of a side belongs to whoever owns its runner, so that state needs no lock,
 * and none is held while payload is copied.  Anybody may kick: packets go
 * into the inbox first, then the runner is kicked; the kicker either becomes
 * the owner and runs turns, or leaves a mark that makes the present owner take
 * one turn more.  Delivery that would start within a delivery is thus queued.
 *
 * Ownership is a lock for lockdep (dep_map), so users can
 * lockdep_assert_held(runner).  Order: requester of a QP, then responder of
 * another or the same QP; the responder never takes a requester.
 */
#ifndef _SHCA_RUNNER_H
#define _SHCA_RUNNER_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

/**
 * enum shca_ctx - who kicks
 * @SHCA_CTX_PROCESS: a system call or work item; interrupts and BHs enabled
 * @SHCA_CTX_SOFTIRQ: packet delivery or a timer; one turn, the rest as work
 * @SHCA_CTX_DEFER: any context, even with interrupts off: all of it as work
 */
enum shca_ctx {
	SHCA_CTX_PROCESS,
	SHCA_CTX_SOFTIRQ,
	SHCA_CTX_DEFER,
};

/**
 * struct shca_budget - what is left of a turn
 * @packets: packets, sent or received; those inside super-skbs count
 * @bytes: payload bytes
 */
struct shca_budget {
	int packets;
	int bytes;
};

static inline bool shca_budget_left(const struct shca_budget *b)
{
	return b->packets > 0 && b->bytes > 0;
}

/**
 * struct shca_runner - owner's seat of one side of a QP
 * @state: SHCA_RUN_* bits
 * @inbox: packets for this side (own lock of the list; a leaf)
 * @work: runs the turns that no other context may or will
 * @turn: does work until none is left (returns false) or the budget is spent
 *	(returns true)
 * @dep_map: ownership, as a lock for lockdep
 */
struct shca_runner {
	atomic_t state;
	struct sk_buff_head inbox;
	struct work_struct work;
	bool (*turn)(struct shca_runner *r, struct shca_budget *b);
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

void shca_runner_init(struct shca_runner *r, const char *name,
		      struct lock_class_key *key,
		      bool (*turn)(struct shca_runner *, struct shca_budget *));
void shca_runner_kick(struct shca_runner *r, enum shca_ctx ctx);
bool shca_runner_deliver(struct shca_runner *r, struct sk_buff *skb);
bool shca_runner_closed(const struct shca_runner *r);
void shca_runner_own(struct shca_runner *r);
int shca_runner_try_own(struct shca_runner *r);
void shca_runner_disown(struct shca_runner *r);
void shca_runner_close(struct shca_runner *r);
void shca_runner_reopen(struct shca_runner *r);

int shca_runner_init_wq(void);
void shca_runner_exit_wq(void);
extern struct workqueue_struct *shca_wq;

#endif /* _SHCA_RUNNER_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runners: who runs a side of a QP.  See runner.h for the idea.
 *
 * The state word is the lock.  OWNED means somebody runs turns, or a work item
 * that will is queued.  KICKED makes the owner take one turn more.  CLOSED
 * refuses new owners; WAITER tells the owner to wake those in own() or
 * close().  An owner with more to do hands the seat to them: it stays OWNED, and
 * HANDED until one of them has it.  All changes are atomic read-modify-writes
 * with full order, so what a kicker wrote before the kick is seen by the turn
 * that answers it.
 */
#include <linux/sched.h>
#include <linux/wait_bit.h>

#include "../base/limits.h"
#include "runner.h"

#define SHCA_RUN_OWNED	BIT(0)
#define SHCA_RUN_KICKED	BIT(1)
#define SHCA_RUN_CLOSED	BIT(2)
#define SHCA_RUN_WAITER	BIT(3)
#define SHCA_RUN_HANDED	BIT(4)

/* Turns that one kick in process context takes before the rest goes to work */
#define SHCA_RUN_TURNS	16
/* How often one kick answers kicks of others before the rest goes to work */
#define SHCA_RUN_ROUNDS	4

struct workqueue_struct *shca_wq;

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static void runner_acquire(struct shca_runner *r, bool try)
{
	lock_acquire(&r->dep_map, 0, try, 0, 1, NULL, _RET_IP_);
}

static void runner_release(struct shca_runner *r)
{
	lock_release(&r->dep_map, _RET_IP_);
}
#else
static void runner_acquire(struct shca_runner *r, bool try) { }
static void runner_release(struct shca_runner *r) { }
#endif

/*
 * Leave the seat. Returns true if a kick came meanwhile: the caller stays.  But
 * whoever waits goes first, or kicks without end would keep them waiting; the
 * kick is answered when they leave.
 */
static bool runner_leave(struct shca_runner *r)
{
	int old = atomic_read(&r->state), new;

	do {
		if (!(old & SHCA_RUN_KICKED) || (old & SHCA_RUN_CLOSED))
			new = old & ~(SHCA_RUN_OWNED | SHCA_RUN_KICKED);
		else if (old & SHCA_RUN_WAITER)
			new = old | SHCA_RUN_HANDED;
		else
			new = old & ~SHCA_RUN_KICKED;
		new &= ~SHCA_RUN_WAITER;
	} while (!atomic_try_cmpxchg(&r->state, &old, new));

	if ((new & SHCA_RUN_OWNED) && !(new & SHCA_RUN_HANDED))
		return true;
	/*
	 * The waiter's side of a QP may be freed as soon as it has the seat:
	 * only the address of the state word is used from here on.
	 */
	if (old & SHCA_RUN_WAITER)
		wake_up_var(&r->state);
	return false;
}

/* Leave the seat with more to do: to whoever waits, else to the work item. */
static void runner_leave_more(struct shca_runner *r)
{
	atomic_or(SHCA_RUN_KICKED, &r->state);
	if (runner_leave(r))
		queue_work(shca_wq, &r->work);
}

/* Run turns as the owner; returns true if there is more to do. */
static bool runner_turns(struct shca_runner *r, int turns, bool may_sleep)
{
	bool more;

	runner_acquire(r, true);
	do {
		struct shca_budget b = {
			.packets = SHCA_TURN_PACKETS,
			.bytes = SHCA_TURN_BYTES,
		};

		if (shca_runner_closed(r)) {
			more = false;
			break;
		}
		atomic_andnot(SHCA_RUN_KICKED, &r->state);
		/* The mark is off before the turn looks for work. */
		smp_mb__after_atomic();
		more = r->turn(r, &b);
		if (may_sleep)
			cond_resched();
	} while (more && --turns > 0);
	runner_release(r);
	return more;
}

static void runner_work(struct work_struct *work)
{
	struct shca_runner *r = container_of(work, struct shca_runner, work);

	/* The work item was queued by an owner and owns the seat. */
	do {
		if (runner_turns(r, SHCA_RUN_TURNS, true)) {
			runner_leave_more(r);
			return;
		}
	} while (runner_leave(r));
}

/**
 * shca_runner_kick - make the runner take a turn
 * @r: the runner
 * @ctx: what the caller may do
 *
 * Returns at once if somebody else owns the runner (who will take the turn)
 * or if it is closed.
 *
 * Context: as @ctx says; no lock held but for SHCA_CTX_DEFER.
 */
void shca_runner_kick(struct shca_runner *r, enum shca_ctx ctx)
{
	int turns = ctx == SHCA_CTX_PROCESS ? SHCA_RUN_TURNS : 1;
	int rounds = SHCA_RUN_ROUNDS;
	int old = atomic_read(&r->state);

	do {
		if (old & SHCA_RUN_CLOSED)
			return;
	} while (!atomic_try_cmpxchg(&r->state, &old,
				     old | SHCA_RUN_OWNED | SHCA_RUN_KICKED));
	if (old & SHCA_RUN_OWNED)
		return;

	if (ctx == SHCA_CTX_DEFER) {
		queue_work(shca_wq, &r->work);
		return;
	}
	do {
		if (runner_turns(r, turns, ctx == SHCA_CTX_PROCESS))
			break;
		if (!runner_leave(r))
			return;
	} while (--rounds);
	runner_leave_more(r);
}

/**
 * shca_runner_deliver - put a packet into the inbox
 * @r: the runner
 * @skb: the packet; consumed when true is returned
 *
 * The caller kicks the runner afterwards.
 *
 * Context: any.
 * Return: false if the inbox is full or the runner closed.
 */
bool shca_runner_deliver(struct shca_runner *r, struct sk_buff *skb)
{
	if (shca_runner_closed(r) ||
	    skb_queue_len_lockless(&r->inbox) >= SHCA_INBOX_MAX)
		return false;
	skb_queue_tail(&r->inbox, skb);
	return true;
}

/** shca_runner_closed - whether close() was called; see there */
bool shca_runner_closed(const struct shca_runner *r)
{
	return atomic_read(&r->state) & SHCA_RUN_CLOSED;
}

static bool runner_wait_own(struct shca_runner *r)
{
	int old = atomic_read(&r->state), new;

	do {
		if (old & SHCA_RUN_HANDED)
			new = old & ~SHCA_RUN_HANDED;
		else if (old & SHCA_RUN_OWNED)
			new = old | SHCA_RUN_WAITER;
		else
			new = old | SHCA_RUN_OWNED;
	} while (!atomic_try_cmpxchg(&r->state, &old, new));
	return (old & SHCA_RUN_HANDED) || !(old & SHCA_RUN_OWNED);
}

/**
 * shca_runner_own - take the seat, to change what belongs to the owner
 * @r: the runner
 *
 * Waits for the present owner's turns (bounded: 16 turns of 64 KiB), whose
 * kicks are kept.  Works on a closed runner too.
 *
 * Context: process, may sleep. Not from within a turn.
 */
void shca_runner_own(struct shca_runner *r)
{
	might_sleep();
	wait_var_event(&r->state, runner_wait_own(r));
	runner_acquire(r, false);
}

/**
 * shca_runner_try_own - take the seat if it is free, to do the owner's work
 * @r: the runner
 *
 * Never waits, so it is allowed while another runner is owned.
 *
 * Context: process or softirq.
 * Return: 0; -ESHUTDOWN (closed); or -EBUSY: somebody else owns it and will
 * take one more turn, as if kicked.
 */
int shca_runner_try_own(struct shca_runner *r)
{
	int old = atomic_read(&r->state), new;

	do {
		if (old & SHCA_RUN_CLOSED)
			return -ESHUTDOWN;
		new = old & SHCA_RUN_OWNED ? old | SHCA_RUN_KICKED :
					     old | SHCA_RUN_OWNED;
	} while (!atomic_try_cmpxchg(&r->state, &old, new));
	if (old & SHCA_RUN_OWNED)
		return -EBUSY;
	runner_acquire(r, true);
	return 0;
}

/**
 * shca_runner_disown - leave the seat taken by own() or try_own()
 * @r: the runner
 *
 * Kicks that came meanwhile are answered by work.
 *
 * Context: process or softirq.
 */
void shca_runner_disown(struct shca_runner *r)
{
	runner_release(r);
	if (runner_leave(r))
		queue_work(shca_wq, &r->work);
}

/**
 * shca_runner_close - refuse new owners and wait for the present one
 * @r: the runner
 *
 * An owner sees CLOSED before its next turn, and so does work that is queued,
 * so this waits for one turn and at most one dispatch of the work queue, never
 * for a packet or a grace period.  After the return nobody runs a turn and no
 * work is queued, and packets in the inbox were freed; a late packet finds the
 * runner closed.
 *
 * The work is not cancelled: while cancel_work_sync() waits for a work item
 * that runs, queue_work() does nothing, so an owner that hands its seat over
 * to the work would leave it taken for ever.
 *
 * Context: process, may sleep; not from work of shca_wq.
 */
void shca_runner_close(struct shca_runner *r)
{
	might_sleep();
	atomic_or(SHCA_RUN_CLOSED, &r->state);
	shca_runner_own(r);
	runner_release(r);
	runner_leave(r);
	skb_queue_purge(&r->inbox);
}

/**
 * shca_runner_reopen - undo shca_runner_close(), for a QP that leaves RESET
 * @r: the runner
 *
 * Context: any; the caller excludes other calls of close and reopen.
 */
void shca_runner_reopen(struct shca_runner *r)
{
	/* A packet may have slipped in between close()'s mark and its purge. */
	skb_queue_purge(&r->inbox);
	atomic_andnot(SHCA_RUN_CLOSED, &r->state);
}

/**
 * shca_runner_init - prepare a runner; it is closed until reopened
 * @r: the runner
 * @name: its lock class for lockdep, a literal
 * @key: that class
 * @turn: see struct shca_runner
 */
void shca_runner_init(struct shca_runner *r, const char *name,
		      struct lock_class_key *key,
		      bool (*turn)(struct shca_runner *, struct shca_budget *))
{
	atomic_set(&r->state, SHCA_RUN_CLOSED);
	skb_queue_head_init(&r->inbox);
	INIT_WORK(&r->work, runner_work);
	r->turn = turn;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	lockdep_init_map(&r->dep_map, name, key, 0);
#endif
}

/** shca_runner_init_wq - the module's own work queue; from main.c */
int shca_runner_init_wq(void)
{
	shca_wq = alloc_workqueue("softhca", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return shca_wq ? 0 : -ENOMEM;
}

/** shca_runner_exit_wq - the mirror; waits for all work */
void shca_runner_exit_wq(void)
{
	destroy_workqueue(shca_wq);
}

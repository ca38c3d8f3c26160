// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The two protocols in which the process and the kernel may both fall asleep:
 * NEED_WAKEUP and arming.  A thread plays the kernel by the letter of
 * docs/ABI.md.  A lost wake-up shows as a wait that runs into its limit.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

enum { SENDS = 100000, COMPLETIONS = 100000, LIMIT_SECONDS = 20 };

static bool wait_for(sem_t *sem)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += LIMIT_SECONDS;
	return !sem_timedwait(sem, &limit);
}

/* A pause of random length, often none: it moves the two threads about. */
static void jitter(unsigned int *seed)
{
	unsigned int n;

	*seed = *seed * 1103515245 + 12345;
	n = *seed >> 16;
	if (n % 64 == 0)
		sched_yield();
	else if (n % 4 == 0)
		for (n = n / 4 % 256; n; n--)
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* -- NEED_WAKEUP ------------------------------------------------------------ */

static struct fake_qp fq;
static unsigned int doorbells;

/* The kernel's runner: serves the SQ; sleeps until the doorbell rings. */
static void *runner(void *arg)
{
	struct shca_ring_hdr *hdr = fq.qp.sq.hdr;
	struct pollfd pfd = { .fd = fq.doorbell, .events = POLLIN };
	const struct shca_send_wqe *wqe;
	uint32_t start = hdr->cons;
	uint32_t cons = start;
	unsigned int seed = 1;

	(void)arg;
	while (cons - start < SENDS) {
		while (cons != shca_load_acquire(&hdr->prod)) {
			wqe = shca_wq_slot(&fq.qp.sq, cons);
			CHECK(wqe->wr_id == cons - start);
			shca_store_release(&hdr->cons, ++cons);
			jitter(&seed);
		}
		__atomic_store_n(&hdr->flags, SHCA_RING_NEED_WAKEUP,
				 __ATOMIC_RELAXED);
		shca_full_fence();
		if (cons != shca_load_acquire(&hdr->prod) ||
		    cons - start == SENDS) {
			__atomic_store_n(&hdr->flags, 0, __ATOMIC_RELAXED);
			continue;
		}
		if (poll(&pfd, 1, LIMIT_SECONDS * 1000) != 1) {
			CHECK(!"the doorbell was lost");
			return NULL;
		}
		__atomic_store_n(&hdr->flags, 0, __ATOMIC_RELAXED);
		doorbells += fake_qp_doorbells(&fq);
	}
	return NULL;
}

static void need_wakeup(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	unsigned int seed = 2, idle = 0, i;
	pthread_t kernel;
	int ret;

	doorbells = 0;
	fake_qp_open(&fq, IBV_QPT_RC, UINT32_MAX - SENDS / 2);
	CHECK(!pthread_create(&kernel, NULL, runner, NULL));
	for (i = 0; i < SENDS; i++) {
		wr.wr_id = i;
		for (;;) {
			ret = shca_post_send(&fq.qp.vqp.qp, &wr, &bad);
			if (ret != ENOMEM || ++idle > 100000000)
				break;
			sched_yield();
		}
		if (ret)
			break;
		/*
		 * Mostly wait until the kernel has taken it and is about to
		 * sleep, then post the next into its face.
		 */
		for (idle = 0; i % 8 && idle < 100000000; idle++)
			if (shca_load_acquire(&fq.qp.sq.hdr->cons) ==
			    fq.qp.sq.hdr->prod)
				break;
		jitter(&seed);
	}
	CHECK(i == SENDS);
	pthread_join(kernel, NULL);
	CHECK(fq.qp.sq.hdr->cons == fq.qp.sq.hdr->prod);
	CHECK(doorbells > 0);
	fake_qp_close(&fq);
}

/* -- arming ------------------------------------------------------------------ */

static struct fake_cq fc;
static sem_t events;		/* the event channel */
static unsigned int raised, by_kind[2];
static bool stop;

/* A completion, and an event if the CQ is armed for it. */
static void complete(uint64_t wr_id, bool solicited)
{
	struct shca_cq_hdr *hdr = fc.cq.hdr;
	struct shca_cqe cqe = { .wr_id = wr_id, .rsvd = 0 };
	uint32_t arm, kind;

	fake_cq_push(&fc, &cqe);
	shca_full_fence();
	arm = shca_load_acquire(&hdr->arm);
	if (arm >> SHCA_CQ_ARM_SEQ_SHIFT == hdr->fired)
		return;
	kind = arm & SHCA_CQ_ARM_KIND_MASK;
	if (kind == SHCA_CQ_ARM_SOLICITED && !solicited)
		return;
	by_kind[kind == SHCA_CQ_ARM_NEXT]++;
	shca_store_release(&hdr->fired, arm >> SHCA_CQ_ARM_SEQ_SHIFT);
	raised++;
	sem_post(&events);
}

/*
 * Bursts of 1 to 4 completions, the last one solicited.  The next burst comes
 * when all are polled, thus just as the process arms, polls and goes to sleep;
 * now and then it comes late.
 */
static void *completer(void *arg)
{
	struct shca_cq_hdr *hdr = fc.cq.hdr;
	unsigned int seed = 3, i = 0, n;

	(void)arg;
	while (i < COMPLETIONS) {
		for (n = 1 + (seed >> 8) % 4; n && i < COMPLETIONS; n--, i++) {
			complete(i, n == 1 || i == COMPLETIONS - 1);
			jitter(&seed);
		}
		while (shca_load_acquire(&hdr->cons) != hdr->prod) {
			if (__atomic_load_n(&stop, __ATOMIC_RELAXED))
				return NULL;
			sched_yield();
		}
		if ((seed >> 20) % 64 == 0)
			usleep(50);
		else
			jitter(&seed);
	}
	return NULL;
}

/* Does what a program does: arm, poll until empty, wait for an event. */
static void arm_poll_wait(bool solicited)
{
	unsigned int seed = 4, waits = 0;
	uint64_t polled = 0;
	struct ibv_wc wc[3];
	pthread_t kernel;
	int n, i;

	raised = 0;
	memset(by_kind, 0, sizeof(by_kind));
	stop = false;
	sem_init(&events, 0, 0);
	fake_cq_open(&fc, UINT32_MAX - COMPLETIONS / 2);
	/* the sequence crosses 2^30, too */
	fc.cq.hdr->fired = (UINT32_MAX >> SHCA_CQ_ARM_SEQ_SHIFT) - 100;
	fc.cq.hdr->arm = fc.cq.hdr->fired << SHCA_CQ_ARM_SEQ_SHIFT;
	CHECK(!pthread_create(&kernel, NULL, completer, NULL));
	while (polled < COMPLETIONS) {
		/* at times both kinds, one after the other, in either order */
		jitter(&seed);
		if (solicited && (seed >> 20) % 3 == 0)
			shca_cq_req_notify(&fc.cq.vcq.cq, 0);
		shca_cq_req_notify(&fc.cq.vcq.cq, solicited);
		if (solicited && (seed >> 24) % 7 == 0)
			shca_cq_req_notify(&fc.cq.vcq.cq, 0);
		jitter(&seed);
		while ((n = shca_cq_poll(&fc.cq.vcq.cq, 3, wc)) > 0) {
			for (i = 0; i < n; i++)
				CHECK(wc[i].wr_id == polled++);
		}
		if (polled == COMPLETIONS)
			break;
		waits++;
		if (!wait_for(&events)) {
			CHECK(!"an event was lost");
			break;
		}
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(kernel, NULL);
	CHECK(polled == COMPLETIONS);
	CHECK(waits > 100 && raised >= waits);
	if (solicited)
		CHECK(by_kind[0] > 0);
	CHECK(by_kind[1] > 0);
	fake_cq_close(&fc);
	sem_destroy(&events);
}

static void arm_next(void)
{
	arm_poll_wait(false);
}

static void arm_solicited(void)
{
	arm_poll_wait(true);
}

/* -- the fences -------------------------------------------------------------- */

/*
 * The heart of both protocols: each side stores its word and loads the other's;
 * at least one has to see the other's store.  Both sides set out at the same
 * moment, a great many times.
 */
enum { ROUNDS = 300000 };

static uint32_t gate[2];
static uint32_t process_saw, kernel_saw;
static bool litmus_arm;

static void meet(unsigned int me, uint32_t round)
{
	unsigned int spins = 0;

	__atomic_store_n(&gate[me], round, __ATOMIC_RELEASE);
	while ((int32_t)(__atomic_load_n(&gate[!me], __ATOMIC_ACQUIRE) -
			 round) < 0)
		if (++spins % 4096 == 0)
			sched_yield();
}

static void *litmus_kernel(void *arg)
{
	struct shca_ring_hdr *sq = fq.qp.sq.hdr;
	struct shca_cq_hdr *cq = fc.cq.hdr;
	uint32_t round;

	(void)arg;
	for (round = 1; round <= ROUNDS; round++) {
		meet(1, 2 * round);
		if (litmus_arm) {
			shca_store_release(&cq->prod, round);
			shca_full_fence();
			kernel_saw = shca_load(&cq->arm) >>
				     SHCA_CQ_ARM_SEQ_SHIFT == round;
		} else {
			__atomic_store_n(&sq->flags, SHCA_RING_NEED_WAKEUP,
					 __ATOMIC_RELAXED);
			shca_full_fence();
			kernel_saw = shca_load(&sq->prod) == round;
		}
		meet(1, 2 * round + 1);
	}
	return NULL;
}

static void litmus(bool arm)
{
	struct shca_ring_hdr *sq;
	unsigned int missed = 0;
	struct shca_cq_hdr *cq;
	pthread_t kernel;
	uint32_t round;

	litmus_arm = arm;
	gate[0] = 0;
	gate[1] = 0;
	fake_qp_open(&fq, IBV_QPT_RC, 0);
	fake_cq_open(&fc, 0);
	sq = fq.qp.sq.hdr;
	cq = fc.cq.hdr;
	CHECK(!pthread_create(&kernel, NULL, litmus_kernel, NULL));
	for (round = 1; round <= ROUNDS; round++) {
		sq->flags = 0;
		cq->fired = round - 1;
		meet(0, 2 * round);
		if (arm) {
			shca_cq_arm(cq, SHCA_CQ_ARM_NEXT);
			process_saw = shca_load(&cq->prod) == round;
		} else {
			process_saw = shca_wq_publish(&fq.qp.sq, round);
		}
		meet(0, 2 * round + 1);
		if (!process_saw && !kernel_saw)
			missed++;
	}
	pthread_join(kernel, NULL);
	CHECK(missed == 0);
	fake_cq_close(&fc);
	fake_qp_close(&fq);
}

static void fence_publish(void)
{
	litmus(false);
}

static void fence_arm(void)
{
	litmus(true);
}

void test_race(void)
{
	run("race: publish and NEED_WAKEUP: one side sees the other",
	    fence_publish);
	run("race: arm and completion: one side sees the other", fence_arm);
	run("race: NEED_WAKEUP loses no doorbell", need_wakeup);
	run("race: arming loses no event", arm_next);
	run("race: arming both kinds loses no event", arm_solicited);
}

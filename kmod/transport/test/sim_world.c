// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What transport/ calls: runners, regions, QPs by number, events; and the clock.
 *
 * A runner that was kicked takes its turn when sim_turns() comes to it, in an order
 * that chance decides: so packets meet in the inboxes as they do in the kernel.
 */
#include "../../object/pd.h"
#include "sim.h"

enum {
	OWNED	= 1,
	KICKED	= 2,
	CLOSED	= 4,
};

struct sim sim;
unsigned long jiffies;

static struct shca_dev dev;
static struct shca_stats stats;
static struct shca_pd pd;
static u64 chance;
static bool watching;

/** sim_random - a number below @n, or 0 */
u32 sim_random(u32 n)
{
	/* xorshift64 */
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return n ? (u32)(chance >> 11) % n : 0;
}

/** sim_chance - true with probability @p; of 0 it takes no number */
bool sim_chance(double p)
{
	return p > 0 && sim_random(1 << 24) < p * (1 << 24);
}

/* --- regions: one of each end, over everything ------------------------------ */

struct shca_mr *shca_mr_get(struct shca_dev *dev, u32 key)
{
	struct sim_end *e = &sim.end[key - SIM_KEY];

	if (key - SIM_KEY > 1 || e->gone)
		return NULL;
	e->mr.users.refs++;
	return &e->mr;
}

void shca_mr_put(struct shca_mr *mr)
{
	mr->users.refs--;
}

int shca_mr_check(const struct shca_mr *mr, const struct shca_pd *pd,
		  int access, u64 addr, u64 len)
{
	return mr->pd == pd && (mr->access & access) == access ? 0 : -EPERM;
}

bool shca_mr_below(const struct shca_mr *a, u64 addr_a,
		   const struct shca_mr *b, u64 addr_b, u64 len)
{
	return addr_a < addr_b && addr_b - addr_a < len;
}

/* Addresses are those of the program. */
int shca_mr_refs(const struct shca_mr *mr, u64 addr, u32 len,
		 struct shca_ref *ref, int max)
{
	int n;

	for (n = 0; len; n++) {
		if (n == max)
			return -ENOSPC;
		ref[n].va = (void *)addr;
		ref[n].len = min_t(u32, len, PAGE_SIZE - offset_in_page(addr));
		addr += ref[n].len;
		len -= ref[n].len;
	}
	return n;
}

/* --- runners ------------------------------------------------------------------ */

void shca_runner_init(struct shca_runner *r, const char *name,
		      struct lock_class_key *key,
		      bool (*turn)(struct shca_runner *, struct shca_budget *))
{
	r->state.counter = CLOSED;
	r->turn = turn;
}

void shca_runner_kick(struct shca_runner *r, enum shca_ctx ctx)
{
	r->state.counter |= KICKED;
}

bool shca_runner_deliver(struct shca_runner *r, struct sk_buff *skb)
{
	if (r->state.counter & CLOSED || r->inbox.qlen >= SHCA_INBOX_MAX)
		return false;
	skb_queue_tail(&r->inbox, skb);
	return true;
}

int shca_runner_try_own(struct shca_runner *r)
{
	if (r->state.counter & CLOSED)
		return -ESHUTDOWN;
	if (r->state.counter & OWNED) {
		r->state.counter |= KICKED;
		return -EBUSY;
	}
	r->state.counter |= OWNED;
	return 0;
}

void shca_runner_disown(struct shca_runner *r)
{
	r->state.counter &= ~OWNED;
}

void shca_runner_close(struct shca_runner *r)
{
	struct sk_buff *skb;

	r->state.counter |= CLOSED;
	while ((skb = skb_dequeue(&r->inbox)))
		consume_skb(skb);
}

void shca_runner_reopen(struct shca_runner *r)
{
	r->state.counter &= ~CLOSED;
}

/* Take a turn if one is due. */
static bool turn(struct shca_qp *qp, struct shca_runner *r)
{
	struct shca_budget b = { SHCA_TURN_PACKETS, SHCA_TURN_BYTES };

	if ((r->state.counter & (KICKED | CLOSED)) != KICKED)
		return false;
	r->state.counter = OWNED;
	if (r->turn(r, &b))
		r->state.counter |= KICKED;
	r->state.counter &= ~OWNED;
	if (qp->sq.burst->n || qp->sq.burst->nmr || qp->rq.burst->n ||
	    qp->rq.burst->nmr)
		SIM_FAIL("QP %u leaves something in a burst", qp->qpn);
	return true;
}

/**
 * sim_turns - let the runners that were kicked take turns
 *
 * Not always till none is left: packets may come before that.
 */
void sim_turns(void)
{
	int rounds = 0, first, i;
	bool any;

	do {
		any = false;
		first = sim_random(4);
		for (i = first; i < first + 4; i++) {
			struct shca_qp *qp = sim.end[i % 4 / 2].qp;

			any |= turn(qp, i % 2 ? &qp->rq.run : &qp->sq.run);
			if (any && sim_chance(.1))
				return;
		}
		if (++rounds > 100000) {
			SIM_FAIL("turns without end");
			return;
		}
	} while (any);
}

/* --- queue pairs -------------------------------------------------------------- */

struct shca_qp *shca_qp_get(u32 qpn)
{
	int i;

	for (i = 0; i < 2; i++)
		if (sim.end[i].qp->qpn == qpn)
			return sim.end[i].qp;
	return NULL;
}

struct shca_qp *shca_qp_get_special(struct shca_dev *dev, u32 qpn)
{
	return NULL;
}

void shca_qp_put(struct shca_qp *qp)
{
}

void shca_qp_kick(struct shca_qp *qp, enum shca_ctx ctx)
{
	shca_runner_kick(&qp->sq.run, ctx);
	shca_runner_kick(&qp->rq.run, ctx);
}

void shca_qp_event(struct shca_qp *qp, int event)
{
}

void shca_qp_error(struct shca_qp *qp, u32 reason, u32 opcode, u32 psn)
{
	if (qp->state == IB_QPS_ERR)
		return;
	qp->state = IB_QPS_ERR;
	qp->why = (struct shca_why) { reason, opcode, psn };
	shca_qp_kick(qp, SHCA_CTX_DEFER);
}

void shca_qp_fatal(struct shca_qp *qp, u32 reason, u32 psn)
{
	shca_qp_error(qp, reason, 0xff, psn);
}

void shca_flow_clear(struct shca_flow *flow)
{
}

/* Datagrams: no QP here sends one. */
bool shca_datagram_send(struct shca_qp *qp, struct shca_budget *b)
{
	abort();
}

bool shca_datagram_admit(struct shca_qp *qp, const struct shca_request *req,
			 const struct sk_buff *skb)
{
	abort();
}

void shca_datagram_receive(struct shca_qp *qp, const struct shca_request *req,
			   struct sk_buff *skb)
{
	abort();
}

void shca_datagram_executed(struct shca_qp *qp, const struct shca_request *req,
			    struct shca_cqe *cqe, int err)
{
	abort();
}

/* --- a run -------------------------------------------------------------------- */

static bool leads_back(struct shca_dev *dev, const struct shca_av *av)
{
	return true;
}

/* Somebody captures now and then, so the local path is left and taken again. */
static bool watched(struct shca_dev *dev)
{
	return watching;
}

static void make_ring(struct shca_ring *r, u32 entries, u32 stride)
{
	r->entries = entries;
	r->stride = stride;
	r->hdr = calloc(1, sizeof(*r->hdr));
	r->slots = calloc(entries, stride);
}

static struct shca_qp *make_qp(int i, u32 mtu, u32 psn, u32 epsn)
{
	struct shca_qp *qp = aligned_alloc(64, (sizeof(*qp) + 63) & ~63ul);
	struct shca_sq *sq = &qp->sq;

	memset(qp, 0, sizeof(*qp));
	qp->dev = &dev;
	qp->pd = &pd;
	qp->qpn = 100 + i;
	qp->dest_qpn = 101 - i;
	qp->type = IB_QPT_RC;
	qp->mtu = mtu;
	qp->access = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
	qp->attr = (struct ib_qp_attr) {
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_dest_rd_atomic = SHCA_MAX_RD_ATOMIC,
	};
	shca_transport_attach(qp);
	make_ring(&sq->ring, SIM_SLOTS, sizeof(struct shca_send_wqe) + 128);
	make_ring(&qp->rq.ring, SIM_RECVS, sizeof(struct shca_recv_wqe) +
		  2 * sizeof(struct shca_sge));
	sq->swqe_stride = sizeof(struct shca_swqe) + 128;
	sq->swqe = calloc(SIM_SLOTS, sq->swqe_stride);
	sq->max_sge = 4;
	sq->max_inline = 128;
	sq->retries = sq->rnr_retries = 7;
	sq->timeout = 17;
	sq->rd_limit = 1 + sim_random(SHCA_MAX_RD_ATOMIC);
	sq->psn = sq->una = sq->max_psn = psn;
	sq->cq = &sim.end[i].cq;
	qp->rq.cq = &sim.end[i].recv_cq;
	qp->rq.max_sge = 2;
	qp->rq.epsn = epsn;
	qp->rq.min_rnr_timer = 1 + sim_random(12);
	qp->state = IB_QPS_RTS;
	shca_transport_open(qp);
	return qp;
}

/**
 * sim_start - begin a run: two connected QPs, a wire without fault
 * @seed: of all chance in it
 * @mtu: bytes of a packet; 0: one of the five
 *
 * The caller changes what it wants otherwise in sim, and ends with sim_stop().
 */
void sim_start(u64 seed, u32 mtu)
{
	static struct shca_link_ops link = {
		.xmit = sim_xmit,
		.watched = watched,
		.leads_back = leads_back,
	};
	u32 psn[2];
	int i;

	chance = seed * 0x9e3779b97f4a7c15ull + 1;
	for (i = 0; i < 10; i++)
		sim_random(0);
	sim.now = 1000 * SIM_US;
	jiffies = 1000;
	sim.seed = seed;
	sim.local = false;
	dev.port_active = false;
	sim.ops = 31;
	sim.max_len = 20000;
	sim.goal = 50;
	sim.recv_rate = 5;
	sim.wire = (struct sim_wire) {
		.delay = 100,
		.queue = 100000,
		.keep = -1,
	};
	memset(&stats, 0, sizeof(stats));
	dev.stats = &stats;
	dev.link = &link;
	dev.window = 128;
	dev.burst = 16;
	watching = false;
	/* near the end of the numbers, so that they wrap */
	psn[0] = (1 << 24) - 1 - sim_random(300);
	psn[1] = sim_random(1 << 24);
	mtu = mtu ?: 256u << sim_random(5);
	for (i = 0; i < 2; i++) {
		struct sim_end *e = &sim.end[i];

		e->qp = make_qp(i, mtu, psn[i], psn[!i]);
		e->mr = (struct shca_mr) {
			.pd = &pd,
			.key = SIM_KEY + i,
			.access = IB_ACCESS_LOCAL_WRITE |
				  IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_READ,
		};
		e->gone = false;
	}
	sim_app_start();
}

/** sim_stop - end the run; no reference to a region may be left */
void sim_stop(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct shca_qp *qp = sim.end[i].qp;

		if (sim.end[i].mr.users.refs)
			SIM_FAIL("%d references to a region are left",
				 sim.end[i].mr.users.refs);
		shca_runner_close(&qp->sq.run);
		shca_runner_close(&qp->rq.run);
		kvfree(qp->sq.burst);
		kvfree(qp->rq.burst);
		free(qp->sq.ring.hdr);
		free(qp->sq.ring.slots);
		free(qp->sq.swqe);
		free(qp->rq.ring.hdr);
		free(qp->rq.ring.slots);
		free(qp);
	}
	sim_wire_clear();
}

/**
 * sim_step - let time pass until something happens, or some time in which one
 * could post
 *
 * A timer fires, or a packet arrives.
 */
void sim_step(void)
{
	u64 next = sim_wire_next(), idle = sim.now + 50 + sim_random(200);
	struct timer_list *timer = NULL;
	int i;

	dev.port_active = sim.local;
	if (sim.local && sim_chance(.001))
		watching = !watching;
	for (i = 0; i < 2; i++) {
		struct timer_list *t = &sim.end[i].qp->sq.timer;

		if (t->pending && t->expires * SIM_US < next) {
			next = t->expires * SIM_US;
			timer = t;
		}
	}
	if (next > idle) {
		sim.now = idle;
		jiffies = sim.now / SIM_US;
		return;
	}
	if (next > sim.now)
		sim.now = next;
	jiffies = sim.now / SIM_US;
	if (timer) {
		timer->pending = false;
		shca_sq_timer_fn(timer);
	} else {
		sim_wire_deliver();
	}
}

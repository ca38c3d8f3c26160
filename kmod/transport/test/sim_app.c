// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who posts at both ends, and looks at what comes out: every byte, the order of
 * completions, and that each message ends once.
 */
#include "sim.h"

static u8 pattern(const struct sim_end *from, u32 seq, u32 i)
{
	return seq * 131 + i * 7 + i / 251 + (from == &sim.end[1]) * 57;
}

static bool right(const u8 *data, const struct sim_end *from, u32 seq, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (data[i] != pattern(from, seq, i))
			return false;
	return true;
}

static struct sim_end *peer_of(const struct sim_end *e)
{
	return &sim.end[e == &sim.end[0]];
}

/** sim_app_alloc - the memory of both ends */
void sim_app_alloc(void)
{
	struct sim_end *e;
	u32 i;

	for (e = sim.end; e < sim.end + 2; e++) {
		e->own = malloc(SIM_SLOTS * SIM_ROOM);
		e->target = malloc(SIM_SLOTS * SIM_ROOM);
		e->recv = malloc(SIM_RECVS * SIM_ROOM);
		e->source = malloc(SIM_MSG);
		for (i = 0; i < SIM_MSG; i++)
			e->source[i] = pattern(e, 1000000, i);
	}
}

/** sim_app_free - the mirror */
void sim_app_free(void)
{
	struct sim_end *e;

	for (e = sim.end; e < sim.end + 2; e++) {
		free(e->own);
		free(e->target);
		free(e->recv);
		free(e->source);
	}
}

/** sim_app_start - nothing is posted yet */
void sim_app_start(void)
{
	struct sim_end *e;

	for (e = sim.end; e < sim.end + 2; e++) {
		e->posted = e->done = 0;
		e->recv_posted = e->recv_done = 0;
		e->expected_put = e->expected_got = 0;
		e->status = IB_WC_SUCCESS;
	}
}

/* One buffer, or up to four that follow each other */
static void scatter(struct shca_send_wqe *w, const struct sim_end *e,
		    const u8 *buf, u32 len)
{
	u32 n = 1 + sim_random(4), i, part;

	w->num_sge = n;
	for (i = 0; i < n; i++) {
		part = i == n - 1 ? len : sim_random(len + 1);
		w->sge[i] = (struct shca_sge) {
			.addr = (uintptr_t)buf,
			.length = part,
			.lkey = e->mr.key,
		};
		buf += part;
		len -= part;
	}
}

static void bell(struct shca_ring *ring, struct shca_runner *run)
{
	ring->hdr->prod++;
	if (ring->hdr->flags & SHCA_RING_NEED_WAKEUP)
		shca_runner_kick(run, SHCA_CTX_PROCESS);
}

/**
 * sim_post - post a message
 * @e: by whom
 * @op: enum ib_wr_opcode
 * @len: bytes
 *
 * Return: false if the ring is full.
 */
bool sim_post(struct sim_end *e, u32 op, u32 len)
{
	struct shca_ring *ring = &e->qp->sq.ring;
	struct sim_end *p = peer_of(e);
	u32 slot = e->posted % SIM_SLOTS, i;
	struct sim_msg *m = &e->msg[slot];
	struct shca_send_wqe *w = shca_ring_slot(ring, ring->hdr->prod);
	bool write = op == IB_WR_RDMA_WRITE || op == IB_WR_RDMA_WRITE_WITH_IMM;
	bool read = op == IB_WR_RDMA_READ;

	/* Those that are not signalled end with one that is. */
	if (e->posted - e->done == SIM_SLOTS ||
	    ring->hdr->prod - ring->hdr->cons == SIM_SLOTS)
		return false;
	*m = (struct sim_msg) {
		.op = op,
		.len = len,
		.seq = e->posted,
		.signaled = sim_random(3) || e->posted + 1 == sim.goal,
		.own = e->own + slot * SIM_ROOM + sim_random(100),
		.peer = read ? p->source + sim_random(SIM_MSG - len) :
			       p->target + slot * SIM_ROOM + sim_random(100),
	};
	memset(w, 0, ring->stride);
	w->wr_id = m->seq;
	w->opcode = op;
	w->imm = m->seq;
	w->flags = (m->signaled ? IB_SEND_SIGNALED : 0) |
		   (sim_random(6) ? 0 : IB_SEND_FENCE);
	for (i = 0; i < len; i++)
		m->own[i] = read ? 0xee : pattern(e, m->seq, i);
	if (!read && len <= 100 && sim_random(2)) {
		w->flags |= IB_SEND_INLINE;
		w->inline_len = len;
		memcpy(w->inline_data, m->own, len);
	} else {
		scatter(w, e, m->own, len);
	}
	if (read || write) {
		w->rdma.remote_addr = (uintptr_t)m->peer;
		w->rdma.rkey = p->mr.key;
	}
	if (!read && op != IB_WR_RDMA_WRITE)
		p->expected[p->expected_put++ % SIM_SLOTS] =
			(struct sim_expected) {
				.seq = m->seq,
				.len = len,
				.imm = op != IB_WR_SEND,
				.write = write,
			};
	e->posted++;
	bell(ring, &e->qp->sq.run);
	return true;
}

/** sim_post_recv - post a receive; false if there is no room */
bool sim_post_recv(struct sim_end *e)
{
	struct shca_ring *ring = &e->qp->rq.ring;
	u32 slot = e->recv_posted % SIM_RECVS, first = sim_random(5000);
	struct shca_recv_wqe *w = shca_ring_slot(ring, ring->hdr->prod);
	u64 addr = (uintptr_t)e->recv + slot * SIM_ROOM;

	if (e->recv_posted - e->recv_done == SIM_RECVS)
		return false;
	w->wr_id = e->recv_posted++;
	w->num_sge = 2;
	w->sge[0] = (struct shca_sge) { addr, first, e->mr.key };
	w->sge[1] = (struct shca_sge) { addr + first, SIM_MSG - first,
					e->mr.key };
	bell(ring, &e->qp->rq.run);
	return true;
}

static void recv_done(struct sim_end *e, const struct shca_cqe *c)
{
	const struct sim_expected *x;

	if (c->wr_id != e->recv_done)
		SIM_FAIL("receive %u ends as %u", (u32)c->wr_id, e->recv_done);
	e->recv_done++;
	if (c->status)
		return;
	if (e->expected_got == e->expected_put) {
		SIM_FAIL("a message comes that nobody sent");
		return;
	}
	x = &e->expected[e->expected_got++ % SIM_SLOTS];
	if (c->opcode != (x->write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV) ||
	    c->byte_len != x->len || (x->imm && c->imm != x->seq))
		SIM_FAIL("message %u comes as another", x->seq);
	if (!x->write && !right(e->recv + c->wr_id % SIM_RECVS * SIM_ROOM,
				peer_of(e), x->seq, x->len))
		SIM_FAIL("message %u comes with wrong data", x->seq);
}

/* It was executed: its data is where it belongs. */
static void executed(const struct sim_end *e, const struct sim_msg *m)
{
	if (m->op == IB_WR_RDMA_READ && memcmp(m->own, m->peer, m->len))
		SIM_FAIL("READ %u brings wrong data", m->seq);
	if ((m->op == IB_WR_RDMA_WRITE || m->op == IB_WR_RDMA_WRITE_WITH_IMM) &&
	    !right(m->peer, e, m->seq, m->len))
		SIM_FAIL("WRITE %u writes wrong data", m->seq);
}

static void send_done(struct sim_end *e, const struct shca_cqe *c)
{
	const struct sim_msg *m;

	do {
		if (e->done == e->posted) {
			SIM_FAIL("message %u ends twice", (u32)c->wr_id);
			return;
		}
		m = &e->msg[e->done++ % SIM_SLOTS];
		if (m->seq != (u32)c->wr_id && m->signaled)
			SIM_FAIL("%u ends before %u", (u32)c->wr_id, m->seq);
		/* Those before one that fails are acknowledged, or fail. */
		if (!c->status)
			executed(e, m);
	} while (m->seq != (u32)c->wr_id);
	if (e->status && c->status != IB_WC_WR_FLUSH_ERR)
		SIM_FAIL("status %u after an error", c->status);
	if (!e->status)
		e->status = c->status;
}

bool shca_cq_post(struct shca_cq *cq, const struct shca_cqe *cqe,
		  struct ib_qp *qp, bool solicited)
{
	struct sim_end *e;

	for (e = sim.end; e < sim.end + 2; e++) {
		if (cq == &e->cq)
			send_done(e, cqe);
		else if (cq == &e->recv_cq)
			recv_done(e, cqe);
	}
	return true;
}

static u32 random_op(void)
{
	u32 op;

	do
		op = sim_random(5);
	while (!(sim.ops >> op & 1));
	return op;
}

static u32 random_len(void)
{
	switch (sim_random(10)) {
	case 0:
		return 0;
	case 1 ... 4:
		return sim_random(100);
	case 5 ... 7:
		return sim_random(min_t(u32, 5000, sim.max_len));
	default:
		return sim_random(sim.max_len);
	}
}

/** sim_app_step - perhaps post something, at each end that is not in error */
void sim_app_step(void)
{
	struct sim_end *e;
	u32 n;

	for (e = sim.end; e < sim.end + 2; e++) {
		if (e->qp->state != IB_QPS_RTS)
			continue;
		if (e->posted < sim.goal && !sim_random(20))
			for (n = 1 + sim_random(8); n && e->posted < sim.goal; n--)
				if (!sim_post(e, random_op(), random_len()))
					break;
		if (sim_random(20) < sim.recv_rate)
			sim_post_recv(e);
	}
}

/** sim_app_done - has each end posted all, or failed, and seen the end of it? */
bool sim_app_done(void)
{
	const struct sim_end *e;

	for (e = sim.end; e < sim.end + 2; e++) {
		const struct shca_ring_hdr *hdr = e->qp->sq.ring.hdr;

		if (e->qp->state == IB_QPS_RTS && e->posted < sim.goal)
			return false;
		if (hdr->cons != hdr->prod)
			return false;
	}
	return true;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The requester: turns send WQEs into packets (IBA 9.7.3).
 *
 * WQEs are sent in order.  sq->cur is the one being sent, sq->psn the next
 * PSN; going back (completer.c) sets both to an earlier point, from where the
 * same packets are built again.  A packet below sq->max_psn was sent before and
 * carries a private copy, so a buffer that its owner keeps rewriting costs a
 * round and never the QP (DESIGN: zero copy is optimistic).
 *
 * A message to a QP of the same device is executed at once instead (local.c).
 *
 * A READ is carried out as several READ requests of SHCA_READ_CHUNK responses at
 * the most, so that the window bounds what the peer sends as well.
 *
 * Context of all functions: the owner of the requester's runner.
 */
#include "internal.h"
#include "../base/trace_wqe.h"

/* A packet asks for an ACK at the latest when a quarter of the window is out */
static bool want_ack(struct shca_qp *qp, struct shca_swqe *s, bool last)
{
	struct shca_sq *sq = &qp->sq;
	u32 every = max_t(u32, 1, shca_sq_window(qp) / 4);

	if (sq->unacked_req + 1 >= every)
		return true;
	if (!last)
		return false;
	/*
	 * The last packet of a message whose completion somebody waits for, or
	 * behind which nothing follows (as far as is known) that would ask, or
	 * something that waits for it.
	 */
	if (sq->sig_all || (s->wqe.flags & IB_SEND_SIGNALED) ||
	    sq->cur + 1 == sq->fetched)
		return true;
	s = shca_swqe(sq, sq->cur + 1);
	return s->status || (s->wqe.flags & IB_SEND_FENCE);
}

/**
 * shca_request_opcode - BTH opcode of a packet of a SEND or WRITE
 * @w: the WQE
 * @first: the packet begins the message
 * @last: it ends it
 */
u8 shca_request_opcode(const struct shca_send_wqe *w, bool first, bool last)
{
	bool imm = w->opcode == IB_WR_SEND_WITH_IMM ||
		   w->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	bool write = w->opcode == IB_WR_RDMA_WRITE ||
		     w->opcode == IB_WR_RDMA_WRITE_WITH_IMM;

	if (first && last)
		return write ? (imm ? SHCA_OP_WRITE_ONLY_IMM :
				      SHCA_OP_WRITE_ONLY) :
			       (imm ? SHCA_OP_SEND_ONLY_IMM :
				      SHCA_OP_SEND_ONLY);
	if (first)
		return write ? SHCA_OP_WRITE_FIRST : SHCA_OP_SEND_FIRST;
	if (last)
		return write ? (imm ? SHCA_OP_WRITE_LAST_IMM :
				      SHCA_OP_WRITE_LAST) :
			       (imm ? SHCA_OP_SEND_LAST_IMM :
				      SHCA_OP_SEND_LAST);
	return write ? SHCA_OP_WRITE_MIDDLE : SHCA_OP_SEND_MIDDLE;
}

static void put_reth(struct shca_reth *reth, u64 va, u32 rkey, u32 len)
{
	reth->va = cpu_to_be64(va);
	reth->rkey = cpu_to_be32(rkey);
	reth->len = cpu_to_be32(len);
}

/*
 * Add the next packet of a SEND or WRITE. Returns 0; -EAGAIN if the burst must
 * be sent first; another errno if the memory may not be read.
 */
static int add_data(struct shca_qp *qp, struct shca_swqe *s)
{
	struct shca_sq *sq = &qp->sq;
	const struct shca_send_wqe *w = &s->wqe;
	u32 offset = s->sent * qp->mtu;
	u32 len = min(s->length - offset, qp->mtu);
	bool first = !s->sent, last = s->sent + 1 == s->packets;
	u8 opcode = shca_request_opcode(w, first, last);
	const struct shca_opcode *op = &shca_opcodes[opcode];
	bool ack = want_ack(qp, s, last);
	struct shca_tx_pkt *pkt;
	u8 *pos;
	int ret;

	pkt = shca_burst_pkt(sq->burst, op->hdr_len);
	pos = pkt->hdr + sizeof(struct shca_bth);
	if (op->flags & SHCA_OPF_RETH) {
		put_reth((struct shca_reth *)pos, w->rdma.remote_addr,
			 w->rdma.rkey, s->length);
		pos += sizeof(struct shca_reth);
	}
	if (op->flags & SHCA_OPF_IMM)
		memcpy(pos, &w->imm, sizeof(w->imm));
	shca_put_bth((struct shca_bth *)pkt->hdr, opcode,
		     last && (w->flags & IB_SEND_SOLICITED) ? SHCA_BTH_SE : 0,
		     shca_qp_pkey(qp), len, qp->dest_qpn, sq->psn, ack);
	pkt->pad = shca_pad(len);
	pkt->copy = shca_psn_diff(sq->psn, sq->max_psn) < 0;

	if (w->flags & IB_SEND_INLINE) {
		shca_burst_bytes(sq->burst, w->inline_data + offset, len);
	} else {
		ret = shca_burst_sges(sq->burst, qp, w->sge, w->num_sge, 0,
				      offset, len);
		if (ret)
			return ret;
	}
	sq->unacked_req = ack ? 0 : sq->unacked_req + 1;
	s->sent++;
	sq->psn = shca_psn_add(sq->psn, 1);
	return 0;
}

/*
 * Responses that the next READ request of a READ asks for. Requests end where
 * they ended the first time: one that is sent again must not reach past what the
 * peer has executed (IBA 9.7.5.1.6).
 */
static u32 read_chunk(const struct shca_swqe *s)
{
	return min_t(u32, s->packets - s->sent,
		     SHCA_READ_CHUNK - s->sent % SHCA_READ_CHUNK);
}

/* Add the next READ request of a READ. */
static void add_read(struct shca_qp *qp, struct shca_swqe *s)
{
	struct shca_sq *sq = &qp->sq;
	const struct shca_send_wqe *w = &s->wqe;
	u32 chunk = read_chunk(s);
	u32 offset = s->sent * qp->mtu;
	u32 len = min(s->length - offset, chunk * qp->mtu);
	const struct shca_opcode *op = &shca_opcodes[SHCA_OP_READ_REQUEST];
	struct shca_tx_pkt *pkt = shca_burst_pkt(sq->burst, op->hdr_len);

	shca_put_bth((struct shca_bth *)pkt->hdr, SHCA_OP_READ_REQUEST, 0,
		     shca_qp_pkey(qp), 0, qp->dest_qpn, sq->psn, true);
	put_reth((struct shca_reth *)(pkt->hdr + sizeof(struct shca_bth)),
		 w->rdma.remote_addr + offset, w->rdma.rkey, len);
	pkt->copy = true;
	s->sent += chunk;
	sq->psn = shca_psn_add(sq->psn, chunk);
	sq->rd_end[(sq->rd_head + sq->rd_out++) % SHCA_MAX_RD_ATOMIC] =
		shca_psn_add(sq->psn, -1);
	sq->unacked_req = 0;
}

/*
 * May the current WQE send its next packet now?
 *
 * Where only the window is in the way, an answer must be due that opens it.  If
 * none is, since nothing in flight has asked for one (want_ack() did not know that
 * a READ would need that much room, or the window was larger then), one packet
 * more goes than the window has room for: it is a READ request, or as many as the
 * window are unasked for, so want_ack() lets it ask.
 */
static bool window_open(struct shca_qp *qp, const struct shca_swqe *s)
{
	struct shca_sq *sq = &qp->sq;
	u32 out = shca_psn_diff(sq->psn, sq->una);
	u32 window = shca_sq_window(qp);
	u32 need = 1;

	if (!out)
		return true;
	if (!s->sent && (s->wqe.flags & IB_SEND_FENCE) && sq->rd_out)
		return false;
	if (s->wqe.opcode == IB_WR_RDMA_READ) {
		if (sq->rd_out >= sq->rd_limit)
			return false;
		need = read_chunk(s);
	}
	return out + need <= window || sq->unacked_req >= out;
}

/*
 * The current WQE can not be executed, or not to its end: wait until those before
 * it are done, then end it and the QP.
 *
 * Where that was found out late, the last packet before may not have asked for
 * the ACK that is waited for.  It is too late to ask: what is not acknowledged is
 * sent again, and want_ack() knows now what it leads to.
 *
 * Returns true if there is something to send again.
 */
static bool refuse(struct shca_qp *qp, struct shca_swqe *s)
{
	struct shca_sq *sq = &qp->sq;

	if (sq->ring.cons != sq->cur) {
		if (!sq->unacked_req)
			return false;
		shca_sq_rewind(qp, sq->una);
		return true;
	}
	shca_qp_error(qp, s->reason, 0xff, sq->psn);
	shca_sq_complete(qp, s, s->status);
	sq->cur++;
	return false;
}

/*
 * Send the burst. On a local loss, what was not handed over is taken back and
 * sent a little later, until the timer finds that nothing gets through (a filter
 * drops all, not a queue that is full); on a loss that will not mend by itself (no
 * route) the packets count as sent, so that the retry counter ends it.
 * Returns false if sending should pause.
 */
static bool flush_burst(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;
	struct shca_burst *b = sq->burst;
	u32 psn[SHCA_BURST_MAX], fresh[SHCA_BURST_MAX];
	unsigned int n = b->n, sent, i;
	bool full;
	int ret;

	if (!n)
		return true;
	for (i = 0; i < n; i++) {
		psn[i] = shca_bth_psn((struct shca_bth *)b->pkt[i].hdr);
		fresh[i] = b->pkt[i].payload;
		if (shca_psn_diff(psn[i], sq->max_psn) < 0) {
			fresh[i] = 0;
			sq->retransmits++;
			shca_count(qp->dev, tx_retransmits);
		}
	}
	ret = shca_burst_xmit(b, qp, &sq->flow, &sent);
	sq->tx_packets += sent;
	for (i = 0; i < sent; i++)
		sq->tx_bytes += fresh[i];
	full = ret == -ENOBUFS || ret == -ENOMEM;
	if (full && sent < n)
		shca_sq_rewind(qp, psn[sent]);
	if (shca_psn_diff(sq->psn, sq->max_psn) > 0)
		sq->max_psn = sq->psn;
	if (trace_send_wire_enabled())
		shca_sq_trace_wire(qp);
	if (full) {
		if (!sq->stuck) {
			sq->stuck = true;
			sq->stuck_since = jiffies;
		}
		sq->wait = true;
		shca_sq_arm(qp, 1);
		return false;
	}
	if (sq->timeout && !timer_pending(&sq->timer))
		shca_sq_arm_ack(qp);
	return true;
}

/* Send what may be sent. Returns true if the budget ended it. */
static bool send(struct shca_qp *qp, struct shca_budget *b)
{
	struct shca_sq *sq = &qp->sq;
	bool more = false;

	while (!sq->wait) {
		enum shca_local_result local;
		struct shca_swqe *s;
		int ret;

		if (!shca_budget_left(b)) {
			more = true;
			break;
		}
		/* One WQE ahead, so that want_ack() knows what follows. */
		if (sq->fetched == sq->cur || sq->fetched == sq->cur + 1) {
			ret = shca_sq_fetch(qp);
			if (ret < 0) {
				shca_qp_fatal(qp,
					      SOFTHCA_ERROR_REASON_RING_CORRUPT,
					      sq->psn);
				break;
			}
			if (sq->fetched == sq->cur)
				break;
		}
		s = shca_swqe(sq, sq->cur);
		if (s->status) {
			if (!flush_burst(qp) || !refuse(qp, s))
				break;
			continue;
		}
		local = shca_local_send(qp, s, b);
		if (local == SHCA_LOCAL_STOP)
			break;
		if (local == SHCA_LOCAL_MORE)
			continue;
		if (!window_open(qp, s))
			break;
		if (!shca_burst_room(sq->burst, READ_ONCE(qp->dev->burst))) {
			if (!flush_burst(qp))
				break;
			continue;
		}
		if (!s->sent)
			s->first_psn = sq->psn;
		if (s->wqe.opcode == IB_WR_RDMA_READ) {
			add_read(qp, s);
			ret = 0;
		} else {
			ret = add_data(qp, s);
		}
		if (ret == -EAGAIN) {
			if (!flush_burst(qp))
				break;
			continue;
		}
		if (ret) {
			/* The region went after the WQE was checked. */
			s->status = IB_WC_LOC_PROT_ERR;
			s->reason = SOFTHCA_ERROR_REASON_LOCAL_PROTECTION;
			continue;
		}
		b->packets--;
		b->bytes -= min(s->length, qp->mtu);
		if (s->sent == s->packets)
			sq->cur++;
	}
	flush_burst(qp);
	return more;
}

/*
 * Before the runner leaves: may it rely on being called again without a
 * doorbell?  Only if unacknowledged packets have a timer.  Otherwise set the
 * flag, and look once more for what was posted before it was seen.
 */
static bool sleep_or_stay(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;

	if (timer_pending(&sq->timer) && (sq->wait || sq->una != sq->psn))
		return false;
	shca_ring_set_wakeup(&sq->ring);
	/*
	 * A WQE fetched and not sent waits for the window, a fence or those
	 * before it: an ACK, or the timer, will call.
	 */
	if (sq->fetched != sq->cur || !shca_ring_avail(&sq->ring, sq->fetched))
		return false;
	shca_ring_clear_wakeup(&sq->ring);
	return true;
}

/* New WQEs without a doorbell: the poster was told that none is needed. */
static void trace_no_bell(const struct shca_qp *qp)
{
	const struct shca_sq *sq = &qp->sq;

	if (!READ_ONCE(sq->ring.hdr->flags) &&
	    shca_ring_avail(&sq->ring, sq->fetched) > 0)
		trace_doorbell(qp->dev, qp->qpn, SHCA_TRACE_NONE);
}

/**
 * shca_requester_turn - one turn of the requester's runner
 * @r: the runner
 * @b: what the turn may do
 *
 * Return: true if the budget ended it.
 */
bool shca_requester_turn(struct shca_runner *r, struct shca_budget *b)
{
	struct shca_qp *qp = container_of(r, struct shca_qp, sq.run);
	struct shca_sq *sq = &qp->sq;
	struct sk_buff *skb;

	lockdep_assert_held(r);
	while (shca_budget_left(b)) {
		skb = skb_dequeue(&r->inbox);
		if (!skb)
			break;
		b->packets--;
		b->bytes -= shca_rx(skb)->payload;
		shca_completer_receive(qp, skb);
	}
	if (!skb_queue_empty_lockless(&r->inbox))
		return true;

	switch (shca_qp_state(qp)) {
	case IB_QPS_ERR:
	case IB_QPS_SQE:
		return shca_sq_flush(qp, b);
	case IB_QPS_RTS:
		break;
	default:
		return false;
	}
	shca_completer_timer(qp);
	if (trace_doorbell_enabled())
		trace_no_bell(qp);
	shca_ring_clear_wakeup(&sq->ring);
	do {
		if (shca_qp_connected(qp) ? send(qp, b) :
					    shca_datagram_send(qp, b))
			return true;
		if (shca_qp_state(qp) != IB_QPS_RTS)
			return true;
	} while (sleep_or_stay(qp));
	return false;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The local path: messages between two QPs of one device.
 *
 * The requester takes the seat of the peer's responder and executes the message
 * itself: one copy from region to region, no packet, no ICRC.  The checks, the
 * verdict (NAK, RNR NAK) and the events are the responder's, the retries and
 * completions the completer's, and PSNs advance by what the packets would have
 * been, so a QP may take the other way with its next message.  It does when
 * the peer is not there, does not expect our PSN or is not our peer: then the
 * wire has the answer, or the silence, that is due.
 *
 * A long message is done in pieces of a turn's budget; between them both seats
 * are free, sq->local says how far it is, and rq->local what the responder has
 * admitted.  For the wire it has not begun: that may take it over, from its first
 * byte, when the port goes down under it.  A seat is never waited for: a
 * requester that finds it taken marks the responder (rq->parked) and is kicked
 * when its owner has no more to do.  A datagram takes the wire instead.
 *
 * Memory is looked up and checked anew for each piece, and held by the bursts of
 * both sides, which have no other use meanwhile.
 *
 * Context of all functions but shca_local_resume(): the owner of the requester's
 * runner.
 */
#include "internal.h"
#include "../base/trace_ack.h"
#include "../base/trace_packet.h"
#include "../base/trace_wqe.h"

/* A piece needs a reference for each page, and two more for each SGE. */
static_assert(SHCA_TURN_BYTES / PAGE_SIZE + 2 * SHCA_MAX_SGE <=
	      SHCA_BURST_REFS);

static void leave(struct shca_qp *peer)
{
	shca_runner_disown(&peer->rq.run);
	shca_qp_put(peer);
}

/* What @s is for the responder, as in shca_rq.local */
static u32 kind_of(const struct shca_swqe *s)
{
	switch (s->wqe.opcode) {
	case IB_WR_RDMA_READ:
		return SHCA_OPF_READ;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return SHCA_OPF_WRITE;
	default:
		return SHCA_OPF_SEND;
	}
}

/*
 * Are they each other's peer, by number and address, and does that one take
 * requests?  Both own GIDs, of the same device, are of the same netdev, so
 * link-local addresses agree too.  Without the seat it is a guess.
 */
static bool is_peer(const struct shca_qp *qp, const struct shca_qp *peer)
{
	if (peer->dev != qp->dev || !shca_qp_connected(peer) ||
	    !shca_responder_ready(peer))
		return false;
	/* Who is its peer was written before its state. */
	smp_rmb();
	return READ_ONCE(peer->dest_qpn) == qp->qpn && peer->mtu == qp->mtu &&
	       peer->av.ifindex == qp->av.ifindex &&
	       !memcmp(&peer->av.sgid, &qp->av.dgid, sizeof(qp->av.dgid)) &&
	       !memcmp(&peer->av.dgid, &qp->av.sgid, sizeof(qp->av.sgid));
}

/* Take the seat of the peer's responder, or be kicked when it is free. */
static int take_seat(struct shca_qp *qp, struct shca_qp *peer)
{
	int ret = shca_runner_try_own(&peer->rq.run);

	if (ret == -EBUSY) {
		set_bit(0, &peer->rq.parked);
		/* The mark first: the turn that we ask for must see it. */
		smp_mb__after_atomic();
		ret = shca_runner_try_own(&peer->rq.run);
	}
	/*
	 * A peer that has become another's would kick that one.  From now on it
	 * can not without being closed first, and then it kicks us.
	 */
	if (ret == -EBUSY && !is_peer(qp, peer))
		ret = -ENOENT;
	return ret;
}

/*
 * May a message begin here?  While somebody captures, he is to see it; one that
 * is under way goes on.
 */
static bool local_wanted(const struct shca_qp *qp)
{
	struct shca_dev *dev = qp->dev;

	return dev->link->leads_back && READ_ONCE(dev->port_active) &&
	       (qp->sq.local.active || !dev->link->watched(dev));
}

/*
 * The QP at the other end, if it is of this device and takes requests, with a
 * reference and the seat of its responder.  Otherwise ERR_PTR(-EBUSY): we will
 * be kicked; or of another errno: the wire has to be asked.
 */
static struct shca_qp *take_peer(struct shca_qp *qp)
{
	struct shca_qp *peer;
	int ret = -ENOENT;

	if (!local_wanted(qp))
		return ERR_PTR(-ENETDOWN);
	peer = shca_qp_get(qp->dest_qpn);
	if (!peer)
		return ERR_PTR(-ENOENT);
	if (!is_peer(qp, peer))
		goto put;
	ret = take_seat(qp, peer);
	if (ret)
		goto put;
	if (is_peer(qp, peer))
		return peer;
	ret = -ENOENT;
	shca_runner_disown(&peer->rq.run);
put:
	shca_qp_put(peer);
	return ERR_PTR(ret);
}

/* The message as one request */
static void describe(const struct shca_qp *qp, const struct shca_swqe *s,
		     struct shca_request *req)
{
	const struct shca_send_wqe *w = &s->wqe;
	bool read = w->opcode == IB_WR_RDMA_READ;
	u8 opcode = read ? SHCA_OP_READ_REQUEST :
			   shca_request_opcode(w, true, true);

	*req = (struct shca_request) {
		.opcode = opcode,
		.flags = shca_opcodes[opcode].flags,
		.psn = qp->sq.psn,
		.packets = s->packets,
		.payload = read ? 0 : s->length,
		.solicited = w->flags & IB_SEND_SOLICITED,
		.imm = w->imm,
		.va = w->rdma.remote_addr,
		.rkey = w->rdma.rkey,
		.len = s->length,
	};
}

/*
 * Copy what the last packet of @from refers to, to where that of @to does: the
 * same number of bytes. Within each step memmove() knows what overlaps; @down
 * orders the steps.
 */
static void move(const struct shca_burst *to, const struct shca_burst *from,
		 bool down)
{
	const struct shca_tx_pkt *tp = &to->pkt[to->n - 1];
	const struct shca_tx_pkt *fp = &from->pkt[from->n - 1];
	const struct shca_ref *t = &to->ref[tp->ref];
	const struct shca_ref *f = &from->ref[fp->ref];
	u32 left = tp->payload, t_done = 0, f_done = 0, n;

	if (down) {
		t += tp->nref - 1;
		f += fp->nref - 1;
	}
	while (left) {
		n = min(t->len - t_done, f->len - f_done);
		t_done += n;
		f_done += n;
		if (down)
			memmove(t->va + t->len - t_done,
				f->va + f->len - f_done, n);
		else
			memmove(t->va + t_done - n, f->va + f_done - n, n);
		left -= n;
		if (t_done == t->len) {
			t += down ? -1 : 1;
			t_done = 0;
		}
		if (f_done == f->len) {
			f += down ? -1 : 1;
			f_done = 0;
		}
	}
}

/* The requester's memory of a piece, into its burst */
static int own_memory(struct shca_qp *qp, const struct shca_swqe *s, u32 at,
		      u32 len)
{
	const struct shca_send_wqe *w = &s->wqe;
	bool read = w->opcode == IB_WR_RDMA_READ;

	shca_burst_pkt(qp->sq.burst, 0);
	if (w->flags & IB_SEND_INLINE) {
		shca_burst_bytes(qp->sq.burst, w->inline_data + at, len);
		return 0;
	}
	return shca_burst_sges(qp->sq.burst, qp, w->sge, w->num_sge,
			       read ? IB_ACCESS_LOCAL_WRITE : 0, at, len);
}

/* The receive WQE's memory, into the responder's burst */
static int recv_memory(struct shca_qp *peer, u32 at, u32 len)
{
	struct shca_rq *rq = &peer->rq;
	int ret;

	shca_burst_pkt(rq->burst, 0);
	ret = shca_burst_sges(rq->burst, peer, rq->rwqe.sge,
			      rq->rwqe.wqe.num_sge, IB_ACCESS_LOCAL_WRITE, at,
			      len);
	if (ret)
		return ret;
	return rq->burst->pkt[0].payload == len ? 0 : -ENOSPC;
}

/* The responder's memory of a piece, into its burst */
static int peer_memory(struct shca_qp *peer, const struct shca_request *req,
		       u32 at, u32 len)
{
	if (req->flags & SHCA_OPF_SEND)
		return recv_memory(peer, at, len);
	shca_burst_pkt(peer->rq.burst, 0);
	return shca_burst_key(peer->rq.burst, peer, req->rkey,
			      req->flags & SHCA_OPF_READ ?
			      IB_ACCESS_REMOTE_READ : IB_ACCESS_REMOTE_WRITE,
			      req->va + at, len);
}

/*
 * Does the message overlap itself so that it has to be copied downwards: the
 * target begins within the source?  Known where each end is one buffer.
 */
static bool overlaps_up(struct shca_qp *qp, struct shca_qp *peer,
			const struct shca_swqe *s,
			const struct shca_request *req)
{
	const struct shca_send_wqe *w = &s->wqe;
	u64 own = w->sge[0].addr, far = req->va;
	u32 key = req->rkey;
	struct shca_mr *a, *b;
	bool up;

	if (!s->length || (w->flags & IB_SEND_INLINE) || w->num_sge != 1)
		return false;
	if (req->flags & SHCA_OPF_SEND) {
		if (peer->rq.rwqe.wqe.num_sge != 1)
			return false;
		far = peer->rq.rwqe.sge[0].addr;
		key = peer->rq.rwqe.sge[0].lkey;
	}
	a = shca_mr_get(qp->dev, w->sge[0].lkey);
	b = shca_mr_get(qp->dev, key);
	up = a && b && (req->flags & SHCA_OPF_READ ?
			shca_mr_below(b, far, a, own, s->length) :
			shca_mr_below(a, own, b, far, s->length));
	if (a)
		shca_mr_put(a);
	if (b)
		shca_mr_put(b);
	return up;
}

/* All is copied: both sides go on. */
static void finish(struct shca_qp *qp, struct shca_qp *peer,
		   struct shca_swqe *s, const struct shca_request *req)
{
	struct shca_sq *sq = &qp->sq;

	sq->local.active = false;
	shca_count_add(qp->dev, local_packets, s->packets);
	shca_responder_executed(peer, req);
	if (req->flags & SHCA_OPF_READ) {
		peer->rq.tx_bytes += s->length;
		sq->rx_bytes += s->length;
	} else {
		sq->tx_bytes += s->length;
	}
	s->first_psn = sq->psn;
	s->sent = s->packets;
	trace_burst(qp->dev, qp->qpn, sq->psn, req->opcode, s->packets, 0, 0,
		    s->length, SHCA_TRACE_LOCAL, 0);
	trace_send_wire(qp->dev, qp->qpn, sq->cur, sq->psn, s->length,
			s->packets);
	sq->wire = sq->cur + 1;
	sq->psn = shca_psn_add(sq->psn, s->packets);
	if (shca_psn_diff(sq->psn, sq->max_psn) > 0)
		sq->max_psn = sq->psn;
	shca_completer_acked(qp, sq->psn);
}

/* Copy the next piece. Returns false if that ended the message. */
static bool copy_piece(struct shca_qp *qp, struct shca_qp *peer,
		       const struct shca_swqe *s, struct shca_request *req,
		       struct shca_budget *b)
{
	struct shca_local *l = &qp->sq.local;
	u32 left = s->length - l->moved;
	u32 len = min_t(u32, left, b->bytes);
	u32 at = l->down ? left - len : l->moved;
	int own, far = 0;

	own = own_memory(qp, s, at, len);
	if (!own)
		far = peer_memory(peer, req, at, len);
	if (!own && !far) {
		if (req->flags & SHCA_OPF_READ)
			move(qp->sq.burst, peer->rq.burst, l->down);
		else
			move(peer->rq.burst, qp->sq.burst, l->down);
	}
	shca_burst_drop(qp->sq.burst);
	shca_burst_drop(peer->rq.burst);
	if (own) {
		/* The region went after the WQE was checked. */
		shca_sq_fail(qp, IB_WC_LOC_PROT_ERR,
			     SOFTHCA_ERROR_REASON_LOCAL_PROTECTION,
			     req->opcode, req->psn);
		return false;
	}
	if (far) {
		shca_responder_failed(peer, req, far);
		return false;
	}
	l->moved += len;
	b->bytes -= len;
	shca_count_add(qp->dev, local_bytes_copied, len);
	return true;
}

/* Go on with the message. Returns false if the requester has to stop. */
static bool execute(struct shca_qp *qp, struct shca_qp *peer,
		    struct shca_swqe *s, struct shca_budget *b)
{
	struct shca_local *l = &qp->sq.local;
	struct shca_request req;
	bool ok = true;

	describe(qp, s, &req);
	if (!l->active) {
		ok = shca_responder_admit(peer, &req);
		if (ok) {
			l->active = true;
			l->moved = 0;
			l->down = overlaps_up(qp, peer, s, &req);
			peer->rq.local = kind_of(s);
		}
	}
	b->packets--;
	if (ok && s->length)
		ok = copy_piece(qp, peer, s, &req, b);
	if (ok) {
		if (l->moved == s->length)
			finish(qp, peer, s, &req);
		return true;
	}
	l->active = false;
	/*
	 * No verdict: the peer has just gone to the error state by itself (its
	 * RQ is corrupt).  Nobody will kick, so look at it once more, and take
	 * the wire for the silence that is due.
	 */
	if (!req.answered)
		return true;
	trace_ack_send(peer->dev, peer->qpn, req.answer_psn, req.syndrome,
		       peer->rq.msn);
	shca_completer_answer(qp, req.answer_psn, req.syndrome);
	return false;
}

/**
 * shca_local_send - execute a message, or a piece of it, on the local path
 * @qp: a connected QP
 * @s: the WQE at sq->cur, which can be executed
 * @b: budget of the turn
 *
 * Return: see enum shca_local_result.
 */
enum shca_local_result shca_local_send(struct shca_qp *qp, struct shca_swqe *s,
				       struct shca_budget *b)
{
	struct shca_sq *sq = &qp->sq;
	enum shca_local_result ret = SHCA_LOCAL_NONE;
	struct shca_qp *peer;

	lockdep_assert_held(&sq->run);
	/*
	 * What is on the wire comes first.  It is waited for only if its last
	 * packet asks for an ACK.
	 */
	if (s->sent || (sq->una != sq->psn && sq->unacked_req))
		return SHCA_LOCAL_NONE;
	peer = take_peer(qp);
	if (peer == ERR_PTR(-EBUSY))
		return SHCA_LOCAL_STOP;
	if (IS_ERR(peer)) {
		sq->local.active = false;
		return SHCA_LOCAL_NONE;
	}
	if (sq->una != sq->psn) {
		ret = SHCA_LOCAL_STOP;
	} else if (peer->rq.epsn != sq->psn || peer->rq.kind ||
		   (sq->local.active && peer->rq.local != kind_of(s))) {
		sq->local.active = false;
	} else {
		WRITE_ONCE(peer->last_heard, jiffies);
		WRITE_ONCE(qp->last_heard, jiffies);
		ret = execute(qp, peer, s, b) &&
		      shca_qp_state(qp) == IB_QPS_RTS ? SHCA_LOCAL_MORE :
							SHCA_LOCAL_STOP;
	}
	leave(peer);
	return ret;
}

/**
 * shca_local_resume - kick the requester that waits for this responder
 * @qp: the QP whose responder has no more to do, or is closed
 *
 * It may find the seat taken still; then it asks for one turn more.
 *
 * Context: the owner of the responder's runner, or with it closed.
 */
void shca_local_resume(struct shca_qp *qp)
{
	struct shca_qp *peer;

	if (!test_and_clear_bit(0, &qp->rq.parked))
		return;
	peer = shca_qp_get(qp->dest_qpn);
	if (!peer)
		return;
	shca_runner_kick(&peer->sq.run, SHCA_CTX_DEFER);
	shca_qp_put(peer);
}

/* The QP that a datagram is for, with the seat of its responder, or NULL */
static struct shca_qp *take_receiver(struct shca_qp *qp, u32 qpn)
{
	struct shca_dev *dev = qp->dev;
	struct shca_qp *peer;

	if (!local_wanted(qp) ||
	    !dev->link->leads_back(dev, &qp->sq.flow.av))
		return NULL;
	peer = qpn <= 1 ? shca_qp_get_special(dev, qpn) : shca_qp_get(qpn);
	if (!peer)
		return NULL;
	if (peer->dev != dev || shca_qp_connected(peer) ||
	    shca_runner_try_own(&peer->rq.run))
		goto put;
	/* It does not overtake what came by the wire. */
	if (shca_responder_ready(peer) &&
	    skb_queue_empty_lockless(&peer->rq.run.inbox))
		return peer;
	shca_runner_disown(&peer->rq.run);
put:
	shca_qp_put(peer);
	return NULL;
}

/**
 * shca_local_datagram - hand a datagram to a QP of the same device
 * @qp: a datagram QP, with one packet in its burst and its flow set
 * @qpn: for whom
 * @req: what the packet's headers say
 *
 * Return: true if it was received, or dropped as the receiver would drop it,
 * and the burst is empty; false if it has to take the wire.
 */
bool shca_local_datagram(struct shca_qp *qp, u32 qpn,
			 const struct shca_request *req)
{
	struct shca_burst *from = qp->sq.burst;
	const struct shca_tx_pkt *pkt = &from->pkt[0];
	u32 len = pkt->hdr_len + pkt->payload + pkt->pad + SHCA_ICRC_SIZE;
	struct shca_cqe cqe = { .port_num = 1, .vlan_id = SHCA_CQE_NO_VLAN };
	u8 grh[SHCA_GRH_LEN];
	struct shca_qp *peer;
	int ret;

	lockdep_assert_held(&qp->sq.run);
	peer = take_receiver(qp, qpn);
	if (!peer)
		return false;
	WRITE_ONCE(peer->last_heard, jiffies);
	shca_count(qp->dev, local_packets);
	if (!shca_datagram_admit(peer, req, NULL))
		goto out;
	ret = recv_memory(peer, SHCA_GRH_LEN, req->payload);
	if (!ret) {
		move(peer->rq.burst, from, false);
		shca_count_add(qp->dev, local_bytes_copied, req->payload);
		trace_burst(qp->dev, qp->qpn, req->psn, req->opcode, 1, 0, 0,
			    req->payload, SHCA_TRACE_LOCAL, 0);
		shca_burst_drop(peer->rq.burst);
		ret = recv_memory(peer, 0, SHCA_GRH_LEN);
	}
	if (!ret) {
		qp->dev->link->local_grh(&qp->sq.flow, len, grh, &cqe);
		shca_burst_pkt(from, 0);
		shca_burst_bytes(from, grh, SHCA_GRH_LEN);
		move(peer->rq.burst, from, false);
	}
	shca_burst_drop(peer->rq.burst);
	shca_datagram_executed(peer, req, &cqe, ret);
out:
	shca_burst_drop(from);
	leave(peer);
	return true;
}

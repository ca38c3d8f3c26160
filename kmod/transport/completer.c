// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer: what acknowledges, READ responses and the timer do to the
 * requester (IBA 9.7.5, 9.9.2).
 *
 * sq->una is the oldest PSN not acknowledged.  An ACK of PSN p acknowledges all
 * up to p, but never across a READ whose responses are missing: that is a
 * gap, and like a sequence NAK it sends the requester back (go-back-N).
 *
 * Context of all functions but the timer's: the owner of the requester's runner.
 */
#include "internal.h"
#include "../base/trace_ack.h"
#include "../object/copy.h"

/* RNR NAK timer codes in units of 10 us (IBA table 45) */
static const u32 rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

/* The peer's answer makes no sense. */
static void bad_response(struct shca_qp *qp, u32 psn, u8 opcode)
{
	shca_drop(qp->dev, SHCA_STAT_rx_bad_response, qp->qpn, psn, opcode);
}

/** shca_sq_timer_fn - the QP's timer: tell the runner; softirq */
void shca_sq_timer_fn(struct timer_list *t)
{
	struct shca_sq *sq = container_of(t, struct shca_sq, timer);

	set_bit(0, &sq->timer_fired);
	shca_runner_kick(&sq->run, SHCA_CTX_SOFTIRQ);
}

/** shca_sq_arm - let the timer fire @delay jiffies from now */
void shca_sq_arm(struct shca_qp *qp, unsigned long delay)
{
	struct shca_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->run);
	sq->deadline = jiffies + delay;
	mod_timer(&sq->timer, sq->deadline);
}

/*
 * The wait doubles with each timeout in a row, up to four times the timeout
 * (IBA 9.9.2 allows that much), because a peer that is slow is not helped by
 * being asked faster.
 */
static unsigned long ack_wait(const struct shca_sq *sq)
{
	return sq->timeout << min_t(u8, sq->backoff, 2);
}

/**
 * shca_sq_arm_ack - wait for an ACK from now on
 * @qp: the QP
 */
void shca_sq_arm_ack(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;

	if (sq->timeout)
		shca_sq_arm(qp, ack_wait(sq));
}

/**
 * shca_sq_fail - end the QP by its oldest WQE
 * @qp: the QP
 * @status: that the WQE completes with; those behind it are flushed
 * @reason: SOFTHCA_ERROR_REASON_*
 * @opcode: as of shca_qp_error()
 * @psn: the same
 */
void shca_sq_fail(struct shca_qp *qp, u32 status, u32 reason, u32 opcode,
		  u32 psn)
{
	struct shca_sq *sq = &qp->sq;
	struct shca_swqe *s;

	shca_qp_error(qp, reason, opcode, psn);
	if (sq->ring.cons == sq->fetched)
		return;
	s = shca_swqe(sq, sq->ring.cons);
	s->status = status;
	s->failed = true;
}

/**
 * shca_sq_rewind - send again from a PSN on
 * @qp: the QP
 * @psn: a PSN from una to psn
 */
void shca_sq_rewind(struct shca_qp *qp, u32 psn)
{
	struct shca_sq *sq = &qp->sq;
	u32 i;

	lockdep_assert_held(&sq->run);
	trace_go_back(qp->dev, qp->qpn, psn, sq->psn);
	for (i = sq->ring.cons; i != sq->fetched; i++) {
		struct shca_swqe *s = shca_swqe(sq, i);
		u32 at = shca_psn_diff(psn, s->first_psn);

		/* Past cur nothing is sent, and first_psn not set. */
		if (i == sq->cur && !s->sent)
			break;
		if (at < s->packets) {
			sq->cur = i;
			s->sent = at;
			break;
		}
		if (i == sq->cur)
			break;
	}
	if (sq->cur != sq->fetched)
		for (i = sq->cur + 1; i != sq->fetched; i++)
			shca_swqe(sq, i)->sent = 0;
	while (sq->rd_out &&
	       shca_psn_diff(sq->rd_end[(sq->rd_head + sq->rd_out - 1) %
					SHCA_MAX_RD_ATOMIC], psn) >= 0)
		sq->rd_out--;
	sq->psn = psn;
	/* Which of those before asked for an ACK is forgotten: none, perhaps. */
	sq->unacked_req = shca_psn_diff(psn, sq->una);
}

/* Go back to una. */
static void go_back(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;

	shca_sq_rewind(qp, sq->una);
	if (!sq->wait)
		shca_sq_arm_ack(qp);
}

/* Complete the WQEs that are acknowledged in full. */
static void retire(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;

	while (sq->ring.cons != sq->fetched) {
		struct shca_swqe *s = shca_swqe(sq, sq->ring.cons);
		u32 end = shca_psn_add(s->first_psn, s->packets);

		/* A WQE that was gone back to may be acknowledged unsent. */
		if (sq->ring.cons == sq->cur && s->sent < s->packets)
			break;
		if (shca_psn_diff(sq->una, end) < 0)
			break;
		if (sq->cur == sq->ring.cons)
			sq->cur++;
		shca_sq_complete(qp, s, IB_WC_SUCCESS);
	}
}

/**
 * shca_completer_acked - all before a PSN is acknowledged
 * @qp: the QP
 * @una: the PSN, not past any that was sent
 */
void shca_completer_acked(struct shca_qp *qp, u32 una)
{
	struct shca_sq *sq = &qp->sq;

	if (shca_psn_diff(una, sq->una) <= 0)
		return;
	sq->cwnd = min_t(u32, sq->cwnd + shca_psn_diff(una, sq->una),
			 SHCA_WINDOW_LIMIT);
	sq->backoff = 0;
	sq->una = una;
	sq->retries = qp->attr.retry_cnt;
	sq->rnr_retries = qp->attr.rnr_retry;
	sq->gap_seen = false;
	sq->stuck = false;
	while (sq->rd_out &&
	       shca_psn_diff(sq->rd_end[sq->rd_head], una) < 0) {
		sq->rd_head = (sq->rd_head + 1) % SHCA_MAX_RD_ATOMIC;
		sq->rd_out--;
	}
	/* It may overtake a requester that went back: skip what is done. */
	while (shca_psn_diff(una, sq->psn) > 0) {
		struct shca_swqe *s = shca_swqe(sq, sq->cur);
		u32 left = s->packets - s->sent;
		u32 ahead = shca_psn_diff(una, sq->psn);
		u32 step = min(left, ahead);

		if (sq->cur == sq->fetched)
			break;	/* can not be: una <= max_psn */
		if (!s->sent)
			s->first_psn = sq->psn;
		s->sent += step;
		sq->psn = shca_psn_add(sq->psn, step);
		if (s->sent == s->packets)
			sq->cur++;
	}
	retire(qp);
	if (sq->una == sq->psn) {
		if (!sq->wait)
			timer_delete(&sq->timer);
	} else if (!sq->wait) {
		/* The timer itself is armed anew when it fires too early. */
		sq->deadline = jiffies + sq->timeout;
	}
}

/*
 * PSN of the oldest WQE's first packet; there is one. Where those behind it begin
 * follows from their lengths, whether they were gone back to or not: first_psn
 * of a WQE from cur on says nothing until it is sent again.
 */
static u32 oldest_psn(const struct shca_sq *sq)
{
	const struct shca_swqe *s = shca_swqe(sq, sq->ring.cons);

	return sq->ring.cons == sq->cur && !s->sent ? sq->psn : s->first_psn;
}

/*
 * The next response that is missing of the first READ that begins at @upto or
 * before: false if there is none, so that all up to @upto may count as
 * acknowledged.
 *
 * Everything below max_psn was sent once, and @upto is, so the peer may have
 * executed a READ up to there even if the requester went back before it and has
 * not asked for it again: cur and sent tell what was sent since, not what an
 * answer can speak of.  Hence all WQEs are looked at, by PSN.  A READ whose last
 * response came is completed at once (retire()), so of one that is found
 * something is missing: what lies at una, or all of it.
 */
static bool read_missing(struct shca_qp *qp, u32 upto, u32 *psn)
{
	struct shca_sq *sq = &qp->sq;
	u32 i, at;

	if (sq->ring.cons == sq->fetched)
		return false;
	at = oldest_psn(sq);
	for (i = sq->ring.cons; i != sq->fetched; i++) {
		struct shca_swqe *s = shca_swqe(sq, i);

		if (shca_psn_diff(at, upto) > 0)
			break;
		if (s->wqe.opcode == IB_WR_RDMA_READ) {
			*psn = shca_psn_diff(sq->una, at) > 0 ? sq->una : at;
			return true;
		}
		at = shca_psn_add(at, s->packets);
	}
	return false;
}

/*
 * Something after @psn arrived, or a sequence NAK of @psn: send again from there.
 * Reordering answers once with many of these, so one in two jiffies counts; of
 * those that are for the same PSN again, one in twice the time: what was sent
 * again may wait in a slow link's queue, and sent a third time it waits longer.
 *
 * None uses up a retry by itself: those are for a peer that is not heard.  But the
 * timer runs on through all but the first for a PSN, so a packet that never gets
 * through (it is larger than the path takes) ends the QP though the peer is heard.
 */
static void gap(struct shca_qp *qp, u32 psn)
{
	struct shca_sq *sq = &qp->sq;

	shca_count(qp->dev, rx_out_of_sequence);
	shca_completer_acked(qp, psn);
	if (sq->gap_seen && sq->gap_psn == psn) {
		if (time_before(jiffies, sq->gap_time + sq->gap_wait))
			return;
		sq->gap_wait = min_t(unsigned long, 2 * sq->gap_wait, HZ);
		shca_sq_rewind(qp, sq->una);
	} else {
		sq->gap_wait = 2;
		go_back(qp);
	}
	sq->gap_seen = true;
	sq->gap_psn = psn;
	sq->gap_time = jiffies;
}

/* The peer has all before @psn. Returns false if READ responses are missing. */
static bool acked_before(struct shca_qp *qp, u32 psn)
{
	u32 missing;

	if (psn != qp->sq.una &&
	    read_missing(qp, shca_psn_add(psn, -1), &missing)) {
		gap(qp, missing);
		return false;
	}
	shca_completer_acked(qp, psn);
	return true;
}

static void receive_rnr(struct shca_qp *qp, u32 psn, u8 code)
{
	struct shca_sq *sq = &qp->sq;
	unsigned long us = rnr_10us[code] * 10ul;

	shca_count(qp->dev, rx_rnr_naks);
	if (sq->wait && psn == sq->psn)
		return;	/* a duplicate */
	if (!acked_before(qp, psn))
		return;
	if (qp->attr.rnr_retry != 7) {
		if (!sq->rnr_retries) {
			shca_count(qp->dev, rnr_retry_exceeded);
			shca_sq_fail(qp, IB_WC_RNR_RETRY_EXC_ERR,
				     SOFTHCA_ERROR_REASON_RNR_RETRY_EXCEEDED,
				     SHCA_OP_ACK, psn);
			return;
		}
		sq->rnr_retries--;
	}
	sq->rnr_naks++;
	sq->stuck = false;	/* it was heard */
	trace_rnr_wait(qp->dev, qp->qpn, psn, us, sq->rnr_retries);
	shca_sq_rewind(qp, psn);
	sq->wait = true;
	/* One jiffy more: the present one has begun already. */
	shca_sq_arm(qp, usecs_to_jiffies(us) + 1);
}

static void receive_nak(struct shca_qp *qp, u32 psn, u8 code)
{
	static const struct {
		u32 status;
		u32 reason;
	} fatal[] = {
		[SHCA_NAK_INVALID] = {
			IB_WC_REM_INV_REQ_ERR,
			SOFTHCA_ERROR_REASON_REMOTE_INVALID_REQUEST },
		[SHCA_NAK_ACCESS] = {
			IB_WC_REM_ACCESS_ERR,
			SOFTHCA_ERROR_REASON_REMOTE_ACCESS },
		[SHCA_NAK_OPERATION] = {
			IB_WC_REM_OP_ERR,
			SOFTHCA_ERROR_REASON_REMOTE_OPERATION },
	};

	shca_count(qp->dev, rx_naks);
	if (!acked_before(qp, psn))
		return;
	if (code == SHCA_NAK_SEQUENCE) {
		gap(qp, psn);
		return;
	}
	if (code >= ARRAY_SIZE(fatal) || !fatal[code].status) {
		bad_response(qp, psn, SHCA_OP_ACK);
		return;
	}
	shca_sq_fail(qp, fatal[code].status, fatal[code].reason, SHCA_OP_ACK, psn);
}

/**
 * shca_completer_answer - what the responder says to a request
 * @qp: the QP
 * @psn: of the request
 * @syndrome: of the AETH
 */
void shca_completer_answer(struct shca_qp *qp, u32 psn, u8 syndrome)
{
	u8 value = syndrome & SHCA_AETH_VALUE_MASK;

	trace_ack_receive(qp->dev, qp->qpn, psn, syndrome);
	switch (syndrome & SHCA_AETH_KIND_MASK) {
	case SHCA_AETH_ACK:
		shca_count(qp->dev, rx_acks);
		acked_before(qp, shca_psn_add(psn, 1));
		return;
	case SHCA_AETH_RNR:
		qp->sq.last_nak = syndrome;
		receive_rnr(qp, psn, value);
		return;
	case SHCA_AETH_NAK:
		qp->sq.last_nak = syndrome;
		receive_nak(qp, psn, value);
		return;
	default:
		bad_response(qp, psn, SHCA_OP_ACK);
	}
}

/* The READ that @psn is a PSN of, and that of its first response, or NULL */
static struct shca_swqe *read_at(struct shca_qp *qp, u32 psn, u32 *first)
{
	struct shca_sq *sq = &qp->sq;
	u32 i;

	if (sq->ring.cons == sq->fetched)
		return NULL;
	*first = oldest_psn(sq);
	for (i = sq->ring.cons; i != sq->fetched; i++) {
		struct shca_swqe *s = shca_swqe(sq, i);

		if (shca_psn_diff(psn, *first) < 0)
			break;
		if ((u32)shca_psn_diff(psn, *first) < s->packets)
			return s->wqe.opcode == IB_WR_RDMA_READ ? s : NULL;
		*first = shca_psn_add(*first, s->packets);
	}
	return NULL;
}

static void receive_read_response(struct shca_qp *qp, struct sk_buff *skb)
{
	const struct shca_rx *rx = shca_rx(skb);
	struct shca_sq *sq = &qp->sq;
	struct shca_src src = {
		.skb = skb,
		.off = rx->hdr_len,
		.len = rx->payload,
	};
	struct shca_swqe *s;
	u32 first, offset, missing;
	int ret;

	s = read_at(qp, rx->psn, &first);
	if (!s) {
		bad_response(qp, rx->psn, rx->opcode);
		return;
	}
	/* A response acknowledges the requests before its READ. */
	if (read_missing(qp, rx->psn, &missing) && missing != rx->psn) {
		gap(qp, missing);
		return;
	}
	shca_completer_acked(qp, rx->psn);

	offset = shca_psn_diff(rx->psn, first) * qp->mtu;
	if (rx->payload != min(s->length - offset, qp->mtu)) {
		bad_response(qp, rx->psn, rx->opcode);
		shca_sq_fail(qp, IB_WC_BAD_RESP_ERR,
			     SOFTHCA_ERROR_REASON_BAD_RESPONSE, rx->opcode,
			     rx->psn);
		return;
	}
	ret = shca_copy_to_sges(qp->dev, qp->pd, s->wqe.sge, s->wqe.num_sge,
				offset, &src);
	if (ret) {
		shca_sq_fail(qp, IB_WC_LOC_PROT_ERR,
			     SOFTHCA_ERROR_REASON_LOCAL_PROTECTION, rx->opcode,
			     rx->psn);
		return;
	}
	sq->rx_bytes += rx->payload;
	shca_completer_acked(qp, shca_psn_add(rx->psn, 1));
}

/**
 * shca_completer_receive - take one packet off the requester's inbox
 * @qp: the QP
 * @skb: an acknowledge or a READ response; consumed
 */
void shca_completer_receive(struct shca_qp *qp, struct sk_buff *skb)
{
	const struct shca_rx *rx = shca_rx(skb);
	struct shca_sq *sq = &qp->sq;
	const struct shca_aeth *aeth;

	sq->rx_packets++;
	if (shca_qp_state(qp) != IB_QPS_RTS) {
		shca_drop_rx(qp, rx_drop_state, skb);
		goto out;
	}
	/* Only what was sent can be answered; the rest is late or forged. */
	if (shca_psn_diff(rx->psn, sq->una) < 0) {
		shca_count(qp->dev, rx_duplicates);
		goto out;
	}
	if (shca_psn_diff(rx->psn, sq->max_psn) >= 0) {
		bad_response(qp, rx->psn, rx->opcode);
		goto out;
	}
	if (shca_opcodes[rx->opcode].flags & SHCA_OPF_READ) {
		receive_read_response(qp, skb);
	} else if (rx->opcode == SHCA_OP_ACK) {
		aeth = (void *)skb->data + sizeof(struct shca_bth);
		shca_completer_answer(qp, rx->psn, shca_aeth_syndrome(aeth));
	} else {
		bad_response(qp, rx->psn, rx->opcode);
	}
out:
	consume_skb(skb);
}

/*
 * Has nothing got through for as long as an ACK is waited for, since packets were
 * lost on this side?  Then a retry is due, though there may be no packet out that
 * an ACK could be missing of.
 */
static bool stuck_too_long(const struct shca_sq *sq)
{
	return sq->timeout && sq->stuck &&
	       !time_before(jiffies, sq->stuck_since + ack_wait(sq));
}

/**
 * shca_completer_timer - answer the timer, if it fired
 * @qp: a QP in RTS
 */
void shca_completer_timer(struct shca_qp *qp)
{
	struct shca_sq *sq = &qp->sq;

	if (!test_and_clear_bit(0, &sq->timer_fired))
		return;
	if (time_before(jiffies, sq->deadline)) {
		if (sq->wait || sq->una != sq->psn)
			mod_timer(&sq->timer, sq->deadline);
		return;
	}
	if (sq->wait) {
		sq->wait = false;
		if (!stuck_too_long(sq)) {
			if (sq->una != sq->psn)
				shca_sq_arm_ack(qp);
			return;
		}
	} else if (sq->una == sq->psn || !sq->timeout) {
		return;
	}
	sq->stuck = false;
	shca_count(qp->dev, ack_timeouts);
	sq->timeouts++;
	trace_ack_timeout(qp->dev, qp->qpn, sq->una, sq->retries);
	if (!sq->retries) {
		shca_count(qp->dev, retry_exceeded);
		shca_sq_fail(qp, IB_WC_RETRY_EXC_ERR,
			     SOFTHCA_ERROR_REASON_RETRY_EXCEEDED, 0xff,
			     sq->una);
		return;
	}
	sq->retries--;
	sq->backoff++;
	/*
	 * One packet tells whether the peer is there.  More would only delay the
	 * ACKs of those that wait in its queue.
	 */
	sq->cwnd = 1;
	go_back(qp);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The transport's doors: a QP is attached when it is created, opened when it
 * leaves RESET, closed when it returns there, detached when it is destroyed;
 * packets come in through shca_transport_receive().
 */
#include <linux/slab.h>

#include "internal.h"

static struct lock_class_key requester_key, responder_key;

/**
 * shca_transport_attach - prepare a new QP
 * @qp: not published
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int shca_transport_attach(struct shca_qp *qp)
{
	qp->sq.burst = shca_burst_alloc();
	qp->rq.burst = shca_burst_alloc();
	if (!qp->sq.burst || !qp->rq.burst) {
		kvfree(qp->sq.burst);
		kvfree(qp->rq.burst);
		return -ENOMEM;
	}
	timer_setup(&qp->sq.timer, shca_sq_timer_fn, 0);
	shca_runner_init(&qp->sq.run, "shca_requester", &requester_key,
			 shca_requester_turn);
	shca_runner_init(&qp->rq.run, "shca_responder", &responder_key,
			 shca_responder_turn);
	return 0;
}

/**
 * shca_transport_open - let packets and WQEs of a QP be worked on
 * @qp: in RESET, with its rings and indices at their start
 *
 * Context: process, under qp->mod.
 */
void shca_transport_open(struct shca_qp *qp)
{
	qp->sq.cwnd = SHCA_WINDOW_LIMIT;
	qp->sq.backoff = 0;
	/* Until a runner says otherwise, a post must ring the doorbell. */
	shca_ring_set_wakeup(&qp->sq.ring);
	shca_ring_clear_wakeup(&qp->rq.ring);
	shca_runner_reopen(&qp->sq.run);
	shca_runner_reopen(&qp->rq.run);
}

/**
 * shca_transport_flush_sq - complete what is posted before an SQ works again
 * @qp: a datagram QP whose SQ is in error (SQE)
 *
 * The requester may have got no further than a turn with that.  What is posted
 * meanwhile may or may not be flushed, so this ends.
 *
 * Context: process, under qp->mod, with the requester's seat, may sleep.
 */
void shca_transport_flush_sq(struct shca_qp *qp)
{
	int posted = qp->sq.ring.entries;
	bool more;

	lockdep_assert_held(&qp->sq.run);
	do {
		struct shca_budget b = {
			.packets = SHCA_TURN_PACKETS,
			.bytes = SHCA_TURN_BYTES,
		};

		more = shca_sq_flush(qp, &b);
		posted -= SHCA_TURN_PACKETS;
		cond_resched();
	} while (more && posted > 0);
}

/**
 * shca_transport_close - stop all work on a QP
 * @qp: the QP
 *
 * After the return no runner, timer or event of the QP runs, and none will
 * until it is opened again.  Waits for a turn at the most.
 *
 * Context: process, under qp->mod, may sleep.
 */
void shca_transport_close(struct shca_qp *qp)
{
	shca_runner_close(&qp->sq.run);
	shca_runner_close(&qp->rq.run);
	/* Only an owner of the runner arms it. A late one finds it closed. */
	timer_delete_sync(&qp->sq.timer);
	qp->sq.timer_fired = 0;
	cancel_work_sync(&qp->event_work);
	qp->events = 0;
	/* Who waits for this responder finds it closed. */
	shca_local_resume(qp);
	shca_flow_clear(&qp->sq.flow);
	shca_flow_clear(&qp->rq.flow);
}

/**
 * shca_transport_detach - the mirror of attach, for destroy
 * @qp: unpublished
 *
 * Context: process, under qp->mod, may sleep.
 */
void shca_transport_detach(struct shca_qp *qp)
{
	shca_transport_close(qp);
	kvfree(qp->sq.burst);
	kvfree(qp->rq.burst);
	qp->sq.burst = NULL;
	qp->rq.burst = NULL;
}

/**
 * shca_transport_receive - a packet for a QP; see shca_receive_fn
 * @qp: the QP
 * @skb: the packet
 */
void shca_transport_receive(struct shca_qp *qp, struct sk_buff *skb)
{
	const struct shca_rx *rx = shca_rx(skb);
	const struct shca_opcode *op = &shca_opcodes[rx->opcode];
	u8 service = rx->opcode & SHCA_OP_SERVICE_MASK;
	struct shca_runner *run;

	trace_packet(qp->dev, qp->qpn, rx->psn, rx->opcode, rx->payload);
	if (service != (shca_qp_connected(qp) ? SHCA_OP_RC : SHCA_OP_UD)) {
		shca_drop_rx(qp, rx_drop_opcode, skb);
		kfree_skb(skb);
		return;
	}
	WRITE_ONCE(qp->last_heard, jiffies);
	run = op->flags & SHCA_OPF_RESPONSE ? &qp->sq.run : &qp->rq.run;
	if (!shca_runner_deliver(run, skb)) {
		shca_drop_rx(qp, rx_drop_inbox, skb);
		kfree_skb(skb);
		return;
	}
	shca_runner_kick(run, SHCA_CTX_SOFTIRQ);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: executes the peer's requests (IBA 9.7.4, 9.9.3).
 *
 * Each request is checked for its PSN, its place in the message, its length and
 * its right to memory, then its payload is copied once, to where it belongs.
 * Nothing is written before all of a packet was checked.
 *
 * Context of all functions: the owner of the responder's runner.
 */
#include "internal.h"
#include "../object/copy.h"
#include "../object/pd.h"

/* Send an acknowledge of @psn. */
static void send_aeth(struct shca_qp *qp, u8 syndrome, u32 psn)
{
	struct shca_rq *rq = &qp->rq;
	struct shca_tx_pkt *pkt;
	struct shca_aeth *aeth;
	unsigned int sent;

	pkt = shca_burst_pkt(rq->burst, shca_opcodes[SHCA_OP_ACK].hdr_len);
	shca_put_bth((struct shca_bth *)pkt->hdr, SHCA_OP_ACK, 0, 0,
		     qp->dest_qpn, psn, false);
	aeth = (struct shca_aeth *)(pkt->hdr + sizeof(struct shca_bth));
	aeth->word = shca_aeth_word(syndrome, rq->msn);
	pkt->copy = true;
	shca_burst_xmit(rq->burst, qp, &rq->flow, &sent);
	rq->tx_packets += sent;
}

static void send_ack(struct shca_qp *qp)
{
	struct shca_rq *rq = &qp->rq;

	rq->ack_due = false;
	shca_count(qp->dev, tx_acks);
	send_aeth(qp, SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS,
		  shca_psn_add(rq->epsn, -1));
}

static void send_nak(struct shca_qp *qp, u8 code, u32 psn)
{
	qp->rq.ack_due = false;	/* a NAK acknowledges all before it */
	shca_count(qp->dev, tx_naks);
	send_aeth(qp, SHCA_AETH_NAK | code, psn);
}

/* The peer did what it must not: answer, and stop. */
static void refuse(struct shca_qp *qp, u8 code, u32 psn, u8 opcode)
{
	bool access = code == SHCA_NAK_ACCESS;

	send_nak(qp, code, psn);
	shca_qp_error(qp, access ? SOFTHCA_ERROR_REASON_PEER_ACCESS :
				   SOFTHCA_ERROR_REASON_INVALID_PACKET,
		      opcode, psn);
	shca_qp_event(qp, access ? SHCA_EV_ACCESS_ERR : SHCA_EV_REQ_ERR);
}

/* No receive WQE is posted: the requester tries again later. */
static void send_rnr(struct shca_qp *qp)
{
	struct shca_rq *rq = &qp->rq;

	shca_count(qp->dev, tx_rnr_naks);
	rq->ack_due = false;
	rq->nak_sent = true;
	/* What follows is behind the one refused: no sequence NAK for it. */
	rq->nak_psn = rq->epsn;
	send_aeth(qp, SHCA_AETH_RNR | rq->min_rnr_timer, rq->epsn);
}

/* Is the operation enabled on this QP (IBA 9.7.4.1.3)? */
static bool enabled(const struct shca_qp *qp, u32 flags)
{
	if (flags & SHCA_OPF_READ)
		return qp->access & IB_ACCESS_REMOTE_READ;
	if (flags & SHCA_OPF_WRITE)
		return qp->access & IB_ACCESS_REMOTE_WRITE;
	return true;
}

/* Does the packet fit the message under way, and its length its place? */
static bool in_place(const struct shca_qp *qp, const struct shca_rx *rx,
		     u32 flags)
{
	const struct shca_rq *rq = &qp->rq;

	if (flags & SHCA_OPF_READ)
		return !rq->kind && !rx->payload;
	if (!(flags & (SHCA_OPF_SEND | SHCA_OPF_WRITE)) ||
	    (flags & SHCA_OPF_INV))
		return false;
	if (flags & SHCA_OPF_BEGINS ? rq->kind : !(rq->kind & flags))
		return false;
	if (flags & (SHCA_OPF_FIRST | SHCA_OPF_MIDDLE))
		return rx->payload == qp->mtu;
	return rx->payload <= qp->mtu;
}

static const struct shca_reth *rx_reth(const struct sk_buff *skb)
{
	return (const void *)skb->data + sizeof(struct shca_bth);
}

/* ImmDt is the last header, wherever it is. */
static u32 rx_imm(const struct sk_buff *skb)
{
	u32 imm;

	memcpy(&imm, skb->data + shca_rx((struct sk_buff *)skb)->hdr_len -
	       sizeof(imm), sizeof(imm));
	return imm;
}

/* May the peer do this with the memory its RETH names? */
static int check_reth(struct shca_qp *qp, const struct shca_reth *reth,
		      int access)
{
	u32 len = be32_to_cpu(reth->len);
	struct shca_mr *mr;
	int ret;

	if (len > SHCA_MAX_MSG)
		return -EPERM;
	if (!len)
		return 0;	/* no key is looked at (IBA C9-88) */
	mr = shca_mr_get(qp->dev, be32_to_cpu(reth->rkey));
	if (!mr)
		return -ENOENT;
	ret = shca_mr_check(mr, qp->pd, access, be64_to_cpu(reth->va), len);
	shca_mr_put(mr);
	return ret;
}

static void finish_recv(struct shca_qp *qp, struct sk_buff *skb, u32 flags)
{
	struct shca_cqe cqe = {
		.opcode = flags & SHCA_OPF_WRITE ? IB_WC_RECV_RDMA_WITH_IMM :
						   IB_WC_RECV,
		.byte_len = qp->rq.offset,
		.src_qp = qp->dest_qpn,
		.port_num = 1,
		.vlan_id = SHCA_CQE_NO_VLAN,
	};

	if (flags & SHCA_OPF_IMM) {
		cqe.imm = rx_imm(skb);
		cqe.wc_flags = SHCA_CQE_WITH_IMM;
	}
	shca_rq_complete(qp, &cqe, shca_rx_bth(skb)->flags & SHCA_BTH_SE);
}

/* A receive WQE can not take the message: tell both sides. */
static void fail_recv(struct shca_qp *qp, const struct shca_rx *rx, int err)
{
	bool length = err == -ENOSPC;
	struct shca_cqe cqe = {
		.status = length ? IB_WC_LOC_LEN_ERR : IB_WC_LOC_PROT_ERR,
		.opcode = IB_WC_RECV,
		.port_num = 1,
		.vlan_id = SHCA_CQE_NO_VLAN,
	};

	send_nak(qp, length ? SHCA_NAK_INVALID : SHCA_NAK_OPERATION, rx->psn);
	shca_qp_error(qp, length ? SOFTHCA_ERROR_REASON_LOCAL_LENGTH :
				   SOFTHCA_ERROR_REASON_LOCAL_PROTECTION,
		      rx->opcode, rx->psn);
	shca_rq_complete(qp, &cqe, false);
}

/* Returns true if the packet was executed. */
static bool receive_send(struct shca_qp *qp, struct sk_buff *skb, u32 flags)
{
	const struct shca_rx *rx = shca_rx(skb);
	struct shca_rq *rq = &qp->rq;
	struct shca_src src = {
		.skb = skb,
		.off = rx->hdr_len,
		.len = rx->payload,
	};
	int ret;

	if (flags & SHCA_OPF_BEGINS) {
		ret = shca_rq_fetch(qp);
		if (!ret)
			send_rnr(qp);
		if (ret <= 0)
			return false;
		rq->offset = 0;
	}
	ret = shca_copy_to_sges(qp->dev, qp->pd, rq->rwqe.sge,
				rq->rwqe.wqe.num_sge, rq->offset, &src);
	if (ret) {
		fail_recv(qp, rx, ret);
		return false;
	}
	rq->offset += rx->payload;
	if (flags & SHCA_OPF_ENDS)
		finish_recv(qp, skb, flags);
	return true;
}

static bool receive_write(struct shca_qp *qp, struct sk_buff *skb, u32 flags)
{
	const struct shca_rx *rx = shca_rx(skb);
	const struct shca_reth *reth = rx_reth(skb);
	struct shca_rq *rq = &qp->rq;
	struct shca_src src = {
		.skb = skb,
		.off = rx->hdr_len,
		.len = rx->payload,
	};
	u64 va = rq->write_va;
	u32 left = rq->write_left, key = rq->write_rkey;
	int ret;

	if (flags & SHCA_OPF_BEGINS) {
		if (check_reth(qp, reth, IB_ACCESS_REMOTE_WRITE)) {
			refuse(qp, SHCA_NAK_ACCESS, rx->psn, rx->opcode);
			return false;
		}
		va = be64_to_cpu(reth->va);
		left = be32_to_cpu(reth->len);
		key = be32_to_cpu(reth->rkey);
	}
	if (rx->payload > left ||
	    (flags & SHCA_OPF_ENDS && rx->payload != left)) {
		refuse(qp, SHCA_NAK_INVALID, rx->psn, rx->opcode);
		return false;
	}
	/* Before anything is written: immediate data takes a receive WQE. */
	if (flags & SHCA_OPF_IMM) {
		ret = shca_rq_fetch(qp);
		if (!ret)
			send_rnr(qp);
		if (ret <= 0)
			return false;
	}
	if (rx->payload) {
		ret = shca_copy_to_key(qp->dev, qp->pd, key,
				       IB_ACCESS_REMOTE_WRITE, va, &src);
		if (ret) {
			refuse(qp, SHCA_NAK_ACCESS, rx->psn, rx->opcode);
			return false;
		}
	}
	if (flags & SHCA_OPF_BEGINS)
		rq->offset = 0;
	rq->offset += rx->payload;
	rq->write_va = va + rx->payload;
	rq->write_left = left - rx->payload;
	rq->write_rkey = key;
	if (flags & SHCA_OPF_IMM)
		finish_recv(qp, skb, flags);
	return true;
}

/* Responses that a READ of @len bytes takes */
static u32 read_packets(const struct shca_qp *qp, u32 len)
{
	return max_t(u32, 1, DIV_ROUND_UP(len, qp->mtu));
}

static void receive_read(struct shca_qp *qp, struct sk_buff *skb, bool again)
{
	const struct shca_rx *rx = shca_rx(skb);
	const struct shca_reth *reth = rx_reth(skb);
	struct shca_rq *rq = &qp->rq;
	u32 len = be32_to_cpu(reth->len);
	u32 packets = read_packets(qp, len);

	if (check_reth(qp, reth, IB_ACCESS_REMOTE_READ)) {
		refuse(qp, SHCA_NAK_ACCESS, rx->psn, rx->opcode);
		return;
	}
	if (again) {
		/* The responses must be of PSNs that were used before. */
		if (packets > (u32)shca_psn_diff(rq->epsn, rx->psn))
			return;
	} else {
		rq->msn++;
		rq->epsn = shca_psn_add(rq->epsn, packets);
		rq->nak_sent = false;
	}
	rq->ack_due = false;	/* the responses acknowledge all before */
	shca_reader_start(qp, rx->psn, be64_to_cpu(reth->va),
			  be32_to_cpu(reth->rkey), len, again);
}

/* A request that was executed: answer again what was answered. */
static void receive_again(struct shca_qp *qp, struct sk_buff *skb, u32 flags)
{
	shca_count(qp->dev, rx_duplicates);
	if (flags & SHCA_OPF_READ) {
		if (enabled(qp, flags))
			receive_read(qp, skb, true);
	} else if (shca_bth_ack_req(shca_rx_bth(skb)) || (flags & SHCA_OPF_ENDS)) {
		qp->rq.ack_due = true;
	}
}

/* A request came before its time: those between were lost, or come late. */
static void receive_early(struct shca_qp *qp, const struct shca_rx *rx)
{
	struct shca_rq *rq = &qp->rq;
	bool nak = !rq->nak_sent || shca_psn_diff(rx->psn, rq->nak_psn) <= 0;

	shca_count(qp->dev, rx_out_of_sequence);
	rq->nak_psn = rx->psn;
	if (!nak)
		return;
	rq->nak_sent = true;
	send_nak(qp, SHCA_NAK_SEQUENCE, rq->epsn);
}

static void receive_request(struct shca_qp *qp, struct sk_buff *skb)
{
	const struct shca_rx *rx = shca_rx(skb);
	u32 flags = shca_opcodes[rx->opcode].flags;
	struct shca_rq *rq = &qp->rq;
	s32 ahead = shca_psn_diff(rx->psn, rq->epsn);
	bool done;

	if (ahead > 0) {
		receive_early(qp, rx);
		return;
	}
	if (ahead < 0) {
		receive_again(qp, skb, flags);
		return;
	}
	if (!enabled(qp, flags) || !in_place(qp, rx, flags)) {
		refuse(qp, SHCA_NAK_INVALID, rx->psn, rx->opcode);
		return;
	}
	if (flags & SHCA_OPF_READ) {
		receive_read(qp, skb, false);
		return;
	}
	if (flags & SHCA_OPF_SEND)
		done = receive_send(qp, skb, flags);
	else
		done = receive_write(qp, skb, flags);
	if (!done)
		return;
	rq->nak_sent = false;
	rq->epsn = shca_psn_add(rq->epsn, 1);
	rq->rx_bytes += rx->payload;
	rq->kind = flags & SHCA_OPF_ENDS ? 0 :
		   flags & (SHCA_OPF_SEND | SHCA_OPF_WRITE);
	if (flags & SHCA_OPF_ENDS)
		rq->msn++;
	if (shca_bth_ack_req(shca_rx_bth(skb)))
		rq->ack_due = true;
}

static void receive_one(struct shca_qp *qp, struct sk_buff *skb)
{
	qp->rq.rx_packets++;
	if (!shca_qp_connected(qp)) {
		shca_datagram_receive(qp, skb);
		return;
	}
	/* The first request of a peer that is ahead of us (IBA 12.9.7) */
	if (shca_qp_state(qp) == IB_QPS_RTR && !qp->rq.comm_est) {
		qp->rq.comm_est = true;
		shca_qp_event(qp, SHCA_EV_COMM_EST);
	}
	receive_request(qp, skb);
	consume_skb(skb);
}

static bool may_receive(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS ||
	       state == IB_QPS_SQD || state == IB_QPS_SQE;
}

/**
 * shca_responder_turn - one turn of the responder's runner
 * @r: the runner
 * @b: what the turn may do
 *
 * Return: true if the budget ended it.
 */
bool shca_responder_turn(struct shca_runner *r, struct shca_budget *b)
{
	struct shca_qp *qp = container_of(r, struct shca_qp, rq.run);
	struct shca_rq *rq = &qp->rq;
	struct sk_buff *skb;

	lockdep_assert_held(r);
	while (may_receive(shca_qp_state(qp))) {
		if (!shca_budget_left(b))
			return true;
		if (rq->read.active) {
			if (shca_reader_send(qp, b)) {
				rq->read.active = false;
				refuse(qp, SHCA_NAK_ACCESS, rq->read.psn,
				       SHCA_OP_READ_REQUEST);
			}
			continue;
		}
		skb = skb_dequeue(&r->inbox);
		if (!skb) {
			if (rq->ack_due)
				send_ack(qp);
			return false;
		}
		b->packets--;
		b->bytes -= shca_rx(skb)->payload;
		receive_one(qp, skb);
	}
	while ((skb = skb_dequeue(&r->inbox))) {
		shca_count(qp->dev, rx_drop_state);
		kfree_skb(skb);
	}
	if (shca_qp_state(qp) == IB_QPS_ERR) {
		rq->read.active = false;
		return shca_rq_flush(qp, b);
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder: executes the peer's requests (IBA 9.7.4, 9.9.3).
 *
 * Each request is checked for its PSN, its place in the message, its length and
 * its right to memory, then its payload is copied once, to where it belongs.
 * Nothing is written before all of a packet was checked.
 *
 * A request is a packet, or a whole message of a requester on the same device
 * (local.c).  Both are admitted, executed and refused here; what the requester
 * is to hear is left in struct shca_request, to be sent or handed over.
 *
 * Context of all functions: the owner of the responder's runner.
 */
#include "internal.h"
#include "../base/trace_ack.h"
#include "../object/copy.h"
#include "../object/pd.h"

/* Send an acknowledge of @psn. */
static void send_aeth(struct shca_qp *qp, u8 syndrome, u32 psn)
{
	struct shca_rq *rq = &qp->rq;
	struct shca_tx_pkt *pkt;
	struct shca_aeth *aeth;
	unsigned int sent;

	trace_ack_send(qp->dev, qp->qpn, psn, syndrome, rq->msn);
	pkt = shca_burst_pkt(rq->burst, shca_opcodes[SHCA_OP_ACK].hdr_len);
	shca_put_bth((struct shca_bth *)pkt->hdr, SHCA_OP_ACK, 0,
		     shca_qp_pkey(qp), 0, qp->dest_qpn, psn, false);
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

/* The verdict on a request that was not executed: for its sender */
static void answer(struct shca_qp *qp, struct shca_request *req, u8 syndrome,
		   u32 psn)
{
	/* It acknowledges all before it, which may be less than was executed. */
	if (psn == qp->rq.epsn)
		qp->rq.ack_due = false;
	req->answered = true;
	req->syndrome = syndrome;
	req->answer_psn = psn;
}

static void answer_nak(struct shca_qp *qp, struct shca_request *req, u8 code,
		       u32 psn)
{
	shca_count(qp->dev, tx_naks);
	answer(qp, req, SHCA_AETH_NAK | code, psn);
}

/* The peer did what it must not: answer, and stop. */
static void refuse(struct shca_qp *qp, struct shca_request *req, u8 code)
{
	bool access = code == SHCA_NAK_ACCESS;

	answer_nak(qp, req, code, req->psn);
	shca_qp_error(qp, access ? SOFTHCA_ERROR_REASON_PEER_ACCESS :
				   SOFTHCA_ERROR_REASON_INVALID_PACKET,
		      req->opcode, req->psn);
	shca_qp_event(qp, access ? SHCA_EV_ACCESS_ERR : SHCA_EV_REQ_ERR);
}

/*
 * Is the operation enabled on this QP (IBA 9.7.4.1.3)?  READs are not, if no
 * resources were given to them; more than that are executed as they come.
 */
static bool enabled(const struct shca_qp *qp, u32 flags)
{
	if (flags & SHCA_OPF_READ)
		return qp->access & IB_ACCESS_REMOTE_READ &&
		       qp->attr.max_dest_rd_atomic;
	if (flags & SHCA_OPF_WRITE)
		return qp->access & IB_ACCESS_REMOTE_WRITE;
	return true;
}

/* Does the request fit the message under way, and its length its place? */
static bool in_place(const struct shca_qp *qp, const struct shca_request *req)
{
	const struct shca_rq *rq = &qp->rq;
	u32 flags = req->flags;

	if (flags & SHCA_OPF_READ)
		return !rq->kind && !req->payload;
	if (!(flags & (SHCA_OPF_SEND | SHCA_OPF_WRITE)) ||
	    (flags & SHCA_OPF_INV))
		return false;
	if (flags & SHCA_OPF_BEGINS ? rq->kind : !(rq->kind & flags))
		return false;
	if (flags & (SHCA_OPF_FIRST | SHCA_OPF_MIDDLE))
		return req->payload == qp->mtu;
	return req->payload <= req->packets * qp->mtu;
}

/* May the peer do this with the memory its RETH names? */
static int check_reth(struct shca_qp *qp, const struct shca_request *req,
		      int access)
{
	struct shca_mr *mr;
	int ret;

	if (req->len > SHCA_MAX_MSG)
		return -EPERM;
	if (!req->len)
		return 0;	/* no key is looked at (IBA C9-88) */
	mr = shca_mr_get(qp->dev, req->rkey);
	if (!mr)
		return -ENOENT;
	ret = shca_mr_check(mr, qp->pd, access, req->va, req->len);
	shca_mr_put(mr);
	return ret;
}

/* Have a receive WQE. If none is posted the requester tries again later. */
static bool need_recv(struct shca_qp *qp, struct shca_request *req)
{
	struct shca_rq *rq = &qp->rq;
	int ret = shca_rq_fetch(qp);

	if (!ret) {
		shca_count(qp->dev, tx_rnr_naks);
		rq->nak_sent = true;
		/* What follows is behind it: no sequence NAK for that. */
		rq->nak_psn = rq->epsn;
		answer(qp, req, SHCA_AETH_RNR | rq->min_rnr_timer, rq->epsn);
	}
	return ret > 0;
}

static bool admit_read(struct shca_qp *qp, struct shca_request *req)
{
	if (!check_reth(qp, req, IB_ACCESS_REMOTE_READ))
		return true;
	refuse(qp, req, SHCA_NAK_ACCESS);
	return false;
}

static bool admit_write(struct shca_qp *qp, struct shca_request *req)
{
	struct shca_rq *rq = &qp->rq;

	if (req->flags & SHCA_OPF_BEGINS) {
		if (check_reth(qp, req, IB_ACCESS_REMOTE_WRITE)) {
			refuse(qp, req, SHCA_NAK_ACCESS);
			return false;
		}
		rq->offset = 0;
		rq->write_va = req->va;
		rq->write_left = req->len;
		rq->write_rkey = req->rkey;
	}
	if (req->payload > rq->write_left ||
	    (req->flags & SHCA_OPF_ENDS && req->payload != rq->write_left)) {
		refuse(qp, req, SHCA_NAK_INVALID);
		return false;
	}
	/* Before anything is written: immediate data takes a receive WQE. */
	return !(req->flags & SHCA_OPF_IMM) || need_recv(qp, req);
}

/**
 * shca_responder_admit - all that is checked before a request is executed
 * @qp: the QP
 * @req: the request whose turn it is: its PSN is the one expected
 *
 * Return: true if it may be executed; false with or without a verdict in @req.
 */
bool shca_responder_admit(struct shca_qp *qp, struct shca_request *req)
{
	struct shca_rq *rq = &qp->rq;

	lockdep_assert_held(&rq->run);
	/* The first request of a peer that is ahead of us (IBA 12.9.7) */
	if (shca_qp_state(qp) == IB_QPS_RTR && !rq->comm_est) {
		rq->comm_est = true;
		shca_qp_event(qp, SHCA_EV_COMM_EST);
	}
	if (!enabled(qp, req->flags) || !in_place(qp, req)) {
		refuse(qp, req, SHCA_NAK_INVALID);
		return false;
	}
	if (req->flags & SHCA_OPF_READ)
		return admit_read(qp, req);
	if (req->flags & SHCA_OPF_WRITE)
		return admit_write(qp, req);
	if (!(req->flags & SHCA_OPF_BEGINS))
		return true;
	rq->offset = 0;
	return need_recv(qp, req);
}

static void finish_recv(struct shca_qp *qp, const struct shca_request *req)
{
	struct shca_cqe cqe = {
		.opcode = req->flags & SHCA_OPF_WRITE ?
			  IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
		.byte_len = qp->rq.offset,
		.src_qp = qp->dest_qpn,
		.port_num = 1,
		.vlan_id = SHCA_CQE_NO_VLAN,
	};

	if (req->flags & SHCA_OPF_IMM) {
		cqe.imm = req->imm;
		cqe.wc_flags = SHCA_CQE_WITH_IMM;
	}
	shca_rq_complete(qp, &cqe, req->solicited);
}

/**
 * shca_responder_executed - a request was executed: what is next
 * @qp: the QP
 * @req: admitted, its payload where it belongs
 */
void shca_responder_executed(struct shca_qp *qp, const struct shca_request *req)
{
	struct shca_rq *rq = &qp->rq;
	u32 flags = req->flags;

	lockdep_assert_held(&rq->run);
	rq->nak_sent = false;
	rq->epsn = shca_psn_add(rq->epsn, req->packets);
	rq->rx_bytes += req->payload;
	rq->offset += req->payload;
	if (flags & SHCA_OPF_WRITE) {
		rq->write_va += req->payload;
		rq->write_left -= req->payload;
	}
	rq->kind = flags & SHCA_OPF_ENDS ? 0 :
		   flags & (SHCA_OPF_SEND | SHCA_OPF_WRITE);
	rq->local = 0;
	if (req->ack_req)
		rq->ack_due = true;
	if (!(flags & SHCA_OPF_ENDS))
		return;
	rq->msn++;
	if (flags & (SHCA_OPF_SEND | SHCA_OPF_IMM))
		finish_recv(qp, req);
}

/* A receive WQE can not take the message: tell both sides. */
static void fail_recv(struct shca_qp *qp, struct shca_request *req, int err)
{
	bool length = err == -ENOSPC;
	struct shca_cqe cqe = {
		.status = length ? IB_WC_LOC_LEN_ERR : IB_WC_LOC_PROT_ERR,
		.opcode = IB_WC_RECV,
		.port_num = 1,
		.vlan_id = SHCA_CQE_NO_VLAN,
	};

	answer_nak(qp, req, length ? SHCA_NAK_INVALID : SHCA_NAK_OPERATION,
		   req->psn);
	shca_qp_error(qp, length ? SOFTHCA_ERROR_REASON_LOCAL_LENGTH :
				   SOFTHCA_ERROR_REASON_LOCAL_PROTECTION,
		      req->opcode, req->psn);
	shca_rq_complete(qp, &cqe, false);
}

/**
 * shca_responder_failed - the memory of an admitted request can not be used
 * @qp: the QP
 * @req: gets the verdict
 * @err: -ENOSPC (the receive WQE is too small), or as shca_mr_check()
 */
void shca_responder_failed(struct shca_qp *qp, struct shca_request *req,
			   int err)
{
	lockdep_assert_held(&qp->rq.run);
	if (req->flags & SHCA_OPF_SEND)
		fail_recv(qp, req, err);
	else
		refuse(qp, req, SHCA_NAK_ACCESS);
}

/* Copy the payload of a packet to where it belongs; as shca_copy_to_sges(). */
static int place(struct shca_qp *qp, const struct shca_request *req,
		 const struct sk_buff *skb)
{
	struct shca_rq *rq = &qp->rq;
	struct shca_src src = {
		.skb = skb,
		.off = shca_opcodes[req->opcode].hdr_len,
		.len = req->payload,
	};

	if (!src.len)
		return 0;
	if (req->flags & SHCA_OPF_WRITE)
		return shca_copy_to_key(qp->dev, qp->pd, rq->write_rkey,
					IB_ACCESS_REMOTE_WRITE, rq->write_va,
					&src);
	return shca_copy_to_sges(qp->dev, qp->pd, rq->rwqe.sge,
				 rq->rwqe.wqe.num_sge, rq->offset, &src);
}

static void start_read(struct shca_qp *qp, const struct shca_request *req,
		       bool again)
{
	/* The responses acknowledge all before the READ, but nothing after it. */
	if (!again)
		qp->rq.ack_due = false;
	shca_reader_start(qp, req->psn, req->va, req->rkey, req->len, again);
}

/*
 * A READ request that was executed, and is executed again.  Its region may have
 * gone since, by right if the peer has all it asked for and this one is late.  So
 * that is for the peer to judge: it is told, and our QP goes on.
 */
static void read_again(struct shca_qp *qp, struct shca_request *req)
{
	u32 before = shca_psn_diff(qp->rq.epsn, req->psn);

	/* The responses must be of PSNs that were used before. */
	if (!enabled(qp, req->flags) || req->packets > before)
		return;
	if (check_reth(qp, req, IB_ACCESS_REMOTE_READ))
		answer_nak(qp, req, SHCA_NAK_ACCESS, req->psn);
	else
		start_read(qp, req, true);
}

/* A request that was executed: answer again what was answered. */
static void receive_again(struct shca_qp *qp, struct shca_request *req)
{
	shca_count(qp->dev, rx_duplicates);
	if (req->flags & SHCA_OPF_READ)
		read_again(qp, req);
	else if (req->ack_req || (req->flags & SHCA_OPF_ENDS))
		qp->rq.ack_due = true;
}

/* A request came before its time: those between were lost, or come late. */
static void receive_early(struct shca_qp *qp, struct shca_request *req)
{
	struct shca_rq *rq = &qp->rq;
	bool nak = !rq->nak_sent || shca_psn_diff(req->psn, rq->nak_psn) <= 0;

	shca_count(qp->dev, rx_out_of_sequence);
	rq->nak_psn = req->psn;
	if (!nak)
		return;
	rq->nak_sent = true;
	answer_nak(qp, req, SHCA_NAK_SEQUENCE, rq->epsn);
}

static void receive_request(struct shca_qp *qp, struct shca_request *req,
			    const struct sk_buff *skb)
{
	s32 ahead = shca_psn_diff(req->psn, qp->rq.epsn);
	int ret;

	if (ahead > 0) {
		receive_early(qp, req);
		return;
	}
	if (ahead < 0) {
		receive_again(qp, req);
		return;
	}
	if (!shca_responder_admit(qp, req))
		return;
	ret = place(qp, req, skb);
	if (ret) {
		shca_responder_failed(qp, req, ret);
		return;
	}
	shca_responder_executed(qp, req);
	if (req->flags & SHCA_OPF_READ)
		start_read(qp, req, false);
}

/* Read the headers, which are linear and which the opcode says are there. */
static void parse(const struct shca_qp *qp, struct sk_buff *skb,
		  struct shca_request *req)
{
	const struct shca_rx *rx = shca_rx(skb);
	const struct shca_opcode *op = &shca_opcodes[rx->opcode];
	const struct shca_bth *bth = shca_rx_bth(skb);
	const struct shca_reth *reth = (const void *)(bth + 1);
	const struct shca_deth *deth = (const void *)(bth + 1);

	*req = (struct shca_request) {
		.opcode = rx->opcode,
		.flags = op->flags,
		.psn = rx->psn,
		.packets = 1,
		.payload = rx->payload,
		.solicited = bth->flags & SHCA_BTH_SE,
		.ack_req = shca_bth_ack_req(bth),
	};
	if (op->flags & SHCA_OPF_DETH) {
		req->qkey = be32_to_cpu(deth->qkey);
		req->src_qpn = be32_to_cpu(deth->src_qpn) & SHCA_BTH_LOW24;
	}
	if (op->flags & SHCA_OPF_RETH) {
		req->va = be64_to_cpu(reth->va);
		req->rkey = be32_to_cpu(reth->rkey);
		req->len = be32_to_cpu(reth->len);
	}
	if (op->flags & SHCA_OPF_READ)
		req->packets = max_t(u32, 1, DIV_ROUND_UP(req->len, qp->mtu));
	/* ImmDt is the last header, wherever it is. */
	if (op->flags & SHCA_OPF_IMM)
		memcpy(&req->imm, skb->data + op->hdr_len - sizeof(req->imm),
		       sizeof(req->imm));
}

static void receive_one(struct shca_qp *qp, struct sk_buff *skb)
{
	struct shca_request req;

	qp->rq.rx_packets++;
	parse(qp, skb, &req);
	if (shca_qp_connected(qp)) {
		receive_request(qp, &req, skb);
		if (req.answered)
			send_aeth(qp, req.syndrome, req.answer_psn);
	} else {
		shca_datagram_receive(qp, &req, skb);
	}
	consume_skb(skb);
}

/* The memory of a READ went while it was being answered; see read_again(). */
static void stop_read(struct shca_qp *qp)
{
	struct shca_request req = {
		.opcode = SHCA_OP_READ_REQUEST,
		.psn = qp->rq.read.psn,
	};

	qp->rq.read.active = false;
	if (qp->rq.read.copy)
		answer_nak(qp, &req, SHCA_NAK_ACCESS, req.psn);
	else
		refuse(qp, &req, SHCA_NAK_ACCESS);
	send_aeth(qp, req.syndrome, req.answer_psn);
}

/**
 * shca_responder_ready - whether a QP takes requests now
 * @qp: the QP
 *
 * Context: any.
 */
bool shca_responder_ready(const struct shca_qp *qp)
{
	enum ib_qp_state state = shca_qp_state(qp);

	return state == IB_QPS_RTR || state == IB_QPS_RTS ||
	       state == IB_QPS_SQE;
}

/* One turn; returns true if the budget ended it. */
static bool work(struct shca_qp *qp, struct shca_budget *b)
{
	struct shca_rq *rq = &qp->rq;
	struct sk_buff *skb;

	while (shca_responder_ready(qp)) {
		if (!shca_budget_left(b))
			return true;
		if (rq->read.active) {
			if (shca_reader_send(qp, b))
				stop_read(qp);
			continue;
		}
		skb = skb_dequeue(&rq->run.inbox);
		if (!skb) {
			if (rq->ack_due)
				send_ack(qp);
			return false;
		}
		b->packets--;
		b->bytes -= shca_rx(skb)->payload;
		receive_one(qp, skb);
	}
	while ((skb = skb_dequeue(&rq->run.inbox))) {
		shca_drop_rx(qp, rx_drop_state, skb);
		kfree_skb(skb);
	}
	if (shca_qp_state(qp) == IB_QPS_ERR) {
		rq->read.active = false;
		return shca_rq_flush(qp, b);
	}
	return false;
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
	bool more;

	lockdep_assert_held(r);
	more = work(qp, b);
	if (!more)
		shca_local_resume(qp);
	return more;
}

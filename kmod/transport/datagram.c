// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: UD QPs, the SMI and the GSI QP, both ways (IBA 9.8.3).
 *
 * A datagram is one packet, copied and complete as soon as it is handed to the
 * link, or to a QP of the same device (local.c); what becomes of it nobody
 * learns.
 *
 * Context: sending belongs to the requester's runner, receiving to the
 * responder's.
 */
#include <rdma/ib_mad.h>

#include "internal.h"
#include "../base/trace_qp.h"
#include "../base/trace_wqe.h"
#include "../object/copy.h"
#include "../object/pd.h"

static void fail(struct shca_qp *qp, struct shca_swqe *s)
{
	int old = IB_QPS_RTS;

	/*
	 * A WQE in error stops the SQ of a datagram QP and leaves its RQ alone
	 * (SQE, IBA 10.3.1); the consumer may bring it back to RTS.
	 */
	if (try_cmpxchg(&qp->state, &old, IB_QPS_SQE)) {
		shca_qp_keep_why(qp, s->reason, 0xff, qp->sq.psn);
		trace_qp_state(qp->dev, qp->qpn, IB_QPS_RTS, IB_QPS_SQE,
			       s->reason, SHCA_TRACE_NO_OPCODE, qp->sq.psn);
	}
	shca_sq_complete(qp, s, s->status);
}

/*
 * Index of the P_Key that a datagram carries. QP0 is above partitions and takes
 * the default one; of QP1 each WQE says.
 */
static u32 pkey_index(const struct shca_qp *qp, const struct shca_swqe *s)
{
	return qp->type == IB_QPT_GSI ? s->wqe.ud.pkey_index : qp->pkey_index;
}

/* What the datagram is, whichever way it goes */
static void describe(const struct shca_qp *qp, const struct shca_swqe *s,
		     struct shca_request *req)
{
	const struct shca_send_wqe *w = &s->wqe;
	u8 opcode = SHCA_OP_UD | (w->opcode == IB_WR_SEND_WITH_IMM ?
				  SHCA_OP_SEND_ONLY_IMM : SHCA_OP_SEND_ONLY);

	*req = (struct shca_request) {
		.opcode = opcode,
		.flags = shca_opcodes[opcode].flags,
		.psn = qp->sq.psn,
		.packets = 1,
		.payload = s->length,
		.solicited = w->flags & IB_SEND_SOLICITED,
		.imm = w->imm,
		.qkey = w->ud.remote_qkey & IB_QP_SET_QKEY ?
			qp->qkey : w->ud.remote_qkey,
		.src_qpn = qp->qpn,
	};
}

static void put_headers(struct shca_qp *qp, const struct shca_swqe *s,
			const struct shca_request *req)
{
	u16 pkey = qp->type == IB_QPT_SMI ? SHCA_PKEY_FULL :
		   shca_dev_pkey(qp->dev, pkey_index(qp, s));
	struct shca_tx_pkt *pkt;
	struct shca_deth *deth;

	pkt = shca_burst_pkt(qp->sq.burst, shca_opcodes[req->opcode].hdr_len);
	shca_put_bth((struct shca_bth *)pkt->hdr, req->opcode,
		     req->solicited ? SHCA_BTH_SE : 0, pkey, s->length,
		     s->wqe.ud.remote_qpn & SHCA_BTH_LOW24, req->psn, false);
	deth = (struct shca_deth *)(pkt->hdr + sizeof(struct shca_bth));
	deth->qkey = cpu_to_be32(req->qkey);
	deth->src_qpn = cpu_to_be32(req->src_qpn);
	if (req->flags & SHCA_OPF_IMM)
		memcpy(deth + 1, &req->imm, sizeof(req->imm));
	pkt->pad = shca_pad(s->length);
}

static int put_payload(struct shca_qp *qp, const struct shca_swqe *s)
{
	const struct shca_send_wqe *w = &s->wqe;
	struct shca_burst *b = qp->sq.burst;
	int ret;

	if (w->flags & IB_SEND_INLINE) {
		shca_burst_bytes(b, w->inline_data, s->length);
		return 0;
	}
	ret = shca_burst_sges(b, qp, w->sge, w->num_sge, 0, 0, s->length);
	if (!ret)
		b->pkt[b->n - 1].copy = true;
	return ret;
}

static void send_one(struct shca_qp *qp, struct shca_swqe *s)
{
	struct shca_sq *sq = &qp->sq;
	struct shca_request req;
	struct shca_av av;
	unsigned int sent;

	if (!s->status &&
	    (pkey_index(qp, s) >= shca_dev_pkeys(qp->dev) ||
	     shca_ah_lookup(qp->dev, s->wqe.ud.ah, qp->pd, &av))) {
		s->status = IB_WC_LOC_QP_OP_ERR;
		s->reason = SOFTHCA_ERROR_REASON_LOCAL_QP_OP;
	}
	if (!s->status) {
		describe(qp, s, &req);
		put_headers(qp, s, &req);
		if (put_payload(qp, s)) {
			s->status = IB_WC_LOC_PROT_ERR;
			s->reason = SOFTHCA_ERROR_REASON_LOCAL_PROTECTION;
		}
	}
	if (s->status) {
		fail(qp, s);
		return;
	}
	if (!av.flow_label)
		av.sport = rdma_get_udp_sport(0, qp->qpn,
					      s->wqe.ud.remote_qpn);
	if (memcmp(&sq->flow.av, &av, sizeof(av)))
		shca_flow_set(&sq->flow, &av);
	if (shca_local_datagram(qp, s->wqe.ud.remote_qpn & SHCA_BTH_LOW24,
				&req)) {
		sq->tx_bytes += s->length;
	} else {
		/* A loss on the way out is a loss like any other. */
		shca_burst_xmit(sq->burst, qp, &sq->flow, &sent);
		sq->tx_packets += sent;
		sq->tx_bytes += sent ? s->length : 0;
	}
	s->first_psn = sq->psn;
	sq->psn = shca_psn_add(sq->psn, 1);
	sq->una = sq->psn;
	if (trace_send_wire_enabled())
		shca_sq_trace_wire(qp);
	shca_sq_complete(qp, s, IB_WC_SUCCESS);
}

/**
 * shca_datagram_send - send what is posted
 * @qp: a datagram QP in RTS
 * @b: budget of the turn
 *
 * Return: true if the budget ended it.
 */
bool shca_datagram_send(struct shca_qp *qp, struct shca_budget *b)
{
	struct shca_sq *sq = &qp->sq;

	lockdep_assert_held(&sq->run);
	while (shca_qp_state(qp) == IB_QPS_RTS) {
		struct shca_swqe *s;
		int ret;

		if (!shca_budget_left(b))
			return true;
		ret = shca_sq_fetch(qp);
		if (ret < 0)
			shca_qp_fatal(qp, SOFTHCA_ERROR_REASON_RING_CORRUPT,
				      sq->psn);
		if (ret <= 0)
			return false;
		s = shca_swqe(sq, sq->cur++);
		b->packets--;
		b->bytes -= s->length;
		send_one(qp, s);
	}
	return false;
}

static void drop(struct shca_qp *qp, const struct shca_request *req,
		 enum shca_stat why)
{
	shca_drop(qp->dev, why, qp->qpn, req->psn, req->opcode);
}

/**
 * shca_datagram_admit - may a datagram be received?
 * @qp: a datagram QP
 * @req: the datagram
 * @skb: its packet, or NULL on the local path
 *
 * Context: the owner of the responder's runner.
 * Return: true with a receive WQE that has room for it, or false: it was
 * dropped and counted.
 */
bool shca_datagram_admit(struct shca_qp *qp, const struct shca_request *req,
			 const struct sk_buff *skb)
{
	const struct shca_link_ops *link = qp->dev->link;
	u32 qkey = qp->type == IB_QPT_GSI ? IB_QP1_QKEY : qp->qkey;
	struct shca_rq *rq = &qp->rq;
	u64 room = 0;
	u32 i;

	lockdep_assert_held(&rq->run);
	/* QP0 is guarded by its VL. */
	if (req->qkey != qkey && qp->type != IB_QPT_SMI) {
		drop(qp, req, SHCA_STAT_rx_drop_qkey);
		if (skb && link->bad_qkey)
			link->bad_qkey(qp->dev, skb);
		return false;
	}
	if (shca_rq_fetch(qp) <= 0) {
		drop(qp, req, SHCA_STAT_rx_drop_no_rwqe);
		return false;
	}
	for (i = 0; i < rq->rwqe.wqe.num_sge; i++)
		room += rq->rwqe.sge[i].length;
	if (room < SHCA_GRH_LEN + req->payload) {
		/* The WQE stays for a datagram that fits. */
		drop(qp, req, SHCA_STAT_rx_drop_length);
		return false;
	}
	return true;
}

/**
 * shca_datagram_executed - complete the receive of a datagram
 * @qp: a datagram QP
 * @req: admitted
 * @cqe: its path fields are filled in
 * @err: 0, or why its memory can not be used
 *
 * Context: the owner of the responder's runner.
 */
void shca_datagram_executed(struct shca_qp *qp, const struct shca_request *req,
			    struct shca_cqe *cqe, int err)
{
	cqe->opcode = IB_WC_RECV;
	if (err) {
		shca_qp_error(qp, SOFTHCA_ERROR_REASON_LOCAL_PROTECTION,
			      req->opcode, req->psn);
		cqe->status = IB_WC_LOC_PROT_ERR;
	} else {
		qp->rq.rx_bytes += req->payload;
		cqe->byte_len = SHCA_GRH_LEN + req->payload;
		cqe->src_qp = req->src_qpn;
		if (req->flags & SHCA_OPF_IMM) {
			cqe->imm = req->imm;
			cqe->wc_flags |= SHCA_CQE_WITH_IMM;
		}
	}
	shca_rq_complete(qp, cqe, req->solicited);
}

/**
 * shca_datagram_receive - take a datagram off the responder's inbox
 * @qp: a datagram QP
 * @req: its headers
 * @skb: the packet
 */
void shca_datagram_receive(struct shca_qp *qp, const struct shca_request *req,
			   struct sk_buff *skb)
{
	struct shca_rq *rq = &qp->rq;
	struct shca_cqe cqe = { .port_num = 1, .vlan_id = SHCA_CQE_NO_VLAN };
	u8 grh[SHCA_GRH_LEN];
	struct shca_src src = { .buf = grh, .len = sizeof(grh) };
	int ret;

	if (!shca_datagram_admit(qp, req, skb))
		return;
	qp->dev->link->fill_grh(qp->dev, skb, grh, &cqe);
	ret = shca_copy_to_sges(qp->dev, qp->pd, rq->rwqe.sge,
				rq->rwqe.wqe.num_sge, 0, &src);
	if (!ret) {
		src.buf = NULL;
		src.skb = skb;
		src.off = shca_rx(skb)->hdr_len;
		src.len = req->payload;
		ret = shca_copy_to_sges(qp->dev, qp->pd, rq->rwqe.sge,
					rq->rwqe.wqe.num_sge, sizeof(grh),
					&src);
	}
	shca_datagram_executed(qp, req, &cqe, ret);
}

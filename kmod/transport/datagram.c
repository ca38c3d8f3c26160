// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: UD QPs and the GSI QP, both ways (IBA 9.8.3).
 *
 * A datagram is one packet, copied and complete as soon as it is handed to the
 * link; what becomes of it nobody learns.
 *
 * Context: sending belongs to the requester's runner, receiving to the
 * responder's.
 */
#include <rdma/ib_mad.h>

#include "internal.h"
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
		qp->why.opcode = 0xff;
		qp->why.psn = qp->sq.psn;
		/* Who sees the reason sees what goes with it. */
		smp_store_release(&qp->why.reason, s->reason);
		shca_count(qp->dev, qp_errors);
	}
	shca_sq_complete(qp, s, s->status);
}

static void put_headers(struct shca_qp *qp, const struct shca_swqe *s)
{
	const struct shca_send_wqe *w = &s->wqe;
	u8 opcode = SHCA_OP_UD | (w->opcode == IB_WR_SEND_WITH_IMM ?
				  SHCA_OP_SEND_ONLY_IMM : SHCA_OP_SEND_ONLY);
	u32 qkey = w->ud.remote_qkey & IB_QP_SET_QKEY ? qp->qkey :
							 w->ud.remote_qkey;
	struct shca_tx_pkt *pkt;
	struct shca_deth *deth;

	pkt = shca_burst_pkt(qp->sq.burst, shca_opcodes[opcode].hdr_len);
	shca_put_bth((struct shca_bth *)pkt->hdr, opcode,
		     w->flags & IB_SEND_SOLICITED ? SHCA_BTH_SE : 0, s->length,
		     w->ud.remote_qpn & SHCA_BTH_LOW24, qp->sq.psn, false);
	deth = (struct shca_deth *)(pkt->hdr + sizeof(struct shca_bth));
	deth->qkey = cpu_to_be32(qkey);
	deth->src_qpn = cpu_to_be32(qp->qpn);
	if (w->opcode == IB_WR_SEND_WITH_IMM)
		memcpy(deth + 1, &w->imm, sizeof(w->imm));
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
	ret = shca_burst_sges(b, qp, w->sge, w->num_sge, 0, s->length);
	if (!ret)
		b->pkt[b->n - 1].copy = true;
	return ret;
}

static void send_one(struct shca_qp *qp, struct shca_swqe *s)
{
	struct shca_sq *sq = &qp->sq;
	struct shca_av av;
	unsigned int sent;

	if (!s->status &&
	    shca_ah_lookup(qp->dev, s->wqe.ud.ah, qp->pd, &av)) {
		s->status = IB_WC_LOC_QP_OP_ERR;
		s->reason = SOFTHCA_ERROR_REASON_LOCAL_QP_OP;
	}
	if (!s->status) {
		put_headers(qp, s);
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
	/* A loss on the way out is a loss like any other. */
	shca_burst_xmit(sq->burst, qp, &sq->flow, &sent);
	sq->psn = shca_psn_add(sq->psn, 1);
	sq->una = sq->psn;
	sq->tx_packets += sent;
	sq->tx_bytes += sent ? s->length : 0;
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
		if (ret < 0) {
			shca_qp_error(qp, SOFTHCA_ERROR_REASON_RING_CORRUPT,
				      0xff, sq->psn);
			shca_qp_event(qp, SHCA_EV_FATAL);
		}
		if (ret <= 0)
			return false;
		s = shca_swqe(sq, sq->cur++);
		b->packets--;
		b->bytes -= s->length;
		send_one(qp, s);
	}
	return false;
}

static bool qkey_ok(const struct shca_qp *qp, const struct shca_deth *deth)
{
	u32 want = qp->type == IB_QPT_GSI ? IB_QP1_QKEY : qp->qkey;

	return be32_to_cpu(deth->qkey) == want;
}

/**
 * shca_datagram_receive - take one packet off the responder's inbox
 * @qp: a datagram QP
 * @skb: a datagram; consumed
 */
void shca_datagram_receive(struct shca_qp *qp, struct sk_buff *skb)
{
	const struct shca_rx *rx = shca_rx(skb);
	const struct shca_bth *bth = shca_rx_bth(skb);
	const struct shca_deth *deth = (const void *)(bth + 1);
	bool imm = shca_opcodes[rx->opcode].flags & SHCA_OPF_IMM;
	struct shca_rq *rq = &qp->rq;
	struct shca_cqe cqe = {
		.opcode = IB_WC_RECV,
		.port_num = 1,
		.vlan_id = SHCA_CQE_NO_VLAN,
	};
	u8 grh[40];
	struct shca_src src = { .buf = grh, .len = sizeof(grh) };
	u64 room = 0;
	u32 i;
	int ret;

	lockdep_assert_held(&rq->run);
	if (!qkey_ok(qp, deth)) {
		shca_count(qp->dev, rx_drop_qkey);
		goto out;
	}
	if (shca_rq_fetch(qp) <= 0) {
		shca_count(qp->dev, rx_drop_no_rwqe);
		goto out;
	}
	for (i = 0; i < rq->rwqe.wqe.num_sge; i++)
		room += rq->rwqe.sge[i].length;
	if (room < sizeof(grh) + rx->payload) {
		/* The WQE stays for a datagram that fits. */
		shca_count(qp->dev, rx_drop_length);
		goto out;
	}
	qp->dev->link->fill_grh(qp->dev, skb, grh, &cqe);
	ret = shca_copy_to_sges(qp->dev, qp->pd, rq->rwqe.sge,
				rq->rwqe.wqe.num_sge, 0, &src);
	if (!ret) {
		src.buf = NULL;
		src.skb = skb;
		src.off = rx->hdr_len;
		src.len = rx->payload;
		ret = shca_copy_to_sges(qp->dev, qp->pd, rq->rwqe.sge,
					rq->rwqe.wqe.num_sge, sizeof(grh),
					&src);
	}
	if (ret) {
		shca_qp_error(qp, SOFTHCA_ERROR_REASON_LOCAL_PROTECTION,
			      rx->opcode, rx->psn);
		cqe.status = IB_WC_LOC_PROT_ERR;
	} else {
		rq->rx_bytes += rx->payload;
		cqe.byte_len = sizeof(grh) + rx->payload;
		cqe.src_qp = be32_to_cpu(deth->src_qpn) & SHCA_BTH_LOW24;
		if (imm) {
			memcpy(&cqe.imm, deth + 1, sizeof(cqe.imm));
			cqe.wc_flags |= SHCA_CQE_WITH_IMM;
		}
	}
	shca_rq_complete(qp, &cqe, bth->flags & SHCA_BTH_SE);
out:
	consume_skb(skb);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's answers to READ requests (IBA 9.7.5.1.9).
 *
 * A READ is answered before anything that came after it; its state is in
 * rq->read, so that it can go on in the next turn.  A request that comes again
 * is executed again from its own RETH, checked again, and its responses carry
 * private copies.
 *
 * Context of all functions: the owner of the responder's runner.
 */
#include "internal.h"

/**
 * shca_reader_start - a READ request was accepted
 * @qp: the QP
 * @psn: of the request, and of the first response
 * @va: of the RETH
 * @rkey: of the RETH
 * @len: of the RETH
 * @copy: it came before
 */
void shca_reader_start(struct shca_qp *qp, u32 psn, u64 va, u32 rkey, u32 len,
		       bool copy)
{
	qp->rq.read = (struct shca_read) {
		.active = true,
		.first = true,
		.copy = copy,
		.rkey = rkey,
		.left = len,
		.psn = psn,
		.va = va,
	};
}

/* Add the next response. Returns 0, or as shca_burst_key(). */
static int add_response(struct shca_qp *qp)
{
	struct shca_rq *rq = &qp->rq;
	struct shca_read *rd = &rq->read;
	u32 len = min(rd->left, qp->mtu);
	bool last = len == rd->left;
	const struct shca_opcode *op;
	struct shca_tx_pkt *pkt;
	struct shca_aeth *aeth;
	u8 opcode;
	int ret;

	if (rd->first)
		opcode = last ? SHCA_OP_READ_RESP_ONLY :
				SHCA_OP_READ_RESP_FIRST;
	else
		opcode = last ? SHCA_OP_READ_RESP_LAST :
				SHCA_OP_READ_RESP_MIDDLE;
	op = &shca_opcodes[opcode];
	pkt = shca_burst_pkt(rq->burst, op->hdr_len);
	shca_put_bth((struct shca_bth *)pkt->hdr, opcode, 0, shca_qp_pkey(qp),
		     len, qp->dest_qpn, rd->psn, false);
	if (op->flags & SHCA_OPF_AETH) {
		aeth = (struct shca_aeth *)(pkt->hdr + sizeof(struct shca_bth));
		aeth->word = shca_aeth_word(SHCA_AETH_ACK |
					    SHCA_AETH_NO_CREDITS, rq->msn);
	}
	pkt->pad = shca_pad(len);
	pkt->copy = rd->copy;
	ret = shca_burst_key(rq->burst, qp, rd->rkey, IB_ACCESS_REMOTE_READ,
			     rd->va, len);
	if (ret)
		return ret;
	rd->first = false;
	rd->va += len;
	rd->left -= len;
	rd->psn = shca_psn_add(rd->psn, 1);
	rd->active = !last;
	return 0;
}

/**
 * shca_reader_send - send responses of the READ under way
 * @qp: the QP, with rq.read.active
 * @b: budget of the turn
 *
 * A response lost on the way out is for the requester to ask for again.
 *
 * Return: 0, or a negative errno if the memory may not be read any more; the
 * caller answers with a NAK of rq.read.psn.
 */
int shca_reader_send(struct shca_qp *qp, struct shca_budget *b)
{
	struct shca_rq *rq = &qp->rq;
	u32 limit = READ_ONCE(qp->dev->burst);
	unsigned int sent;
	int ret = 0;
	u32 left;

	lockdep_assert_held(&rq->run);
	while (rq->read.active && shca_budget_left(b) &&
	       shca_burst_room(rq->burst, limit)) {
		left = rq->read.left;
		ret = add_response(qp);
		if (ret)
			break;
		b->packets--;
		b->bytes -= left - rq->read.left;
		rq->tx_bytes += left - rq->read.left;
	}
	shca_burst_xmit(rq->burst, qp, &rq->flow, &sent);
	rq->tx_packets += sent;
	return ret;
}

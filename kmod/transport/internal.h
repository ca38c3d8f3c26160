/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of transport/ share among each other. */
#ifndef _SHCA_TRANSPORT_INTERNAL_H
#define _SHCA_TRANSPORT_INTERNAL_H

#include "../base/device.h"
#include "../base/drop.h"
#include "../object/cq.h"
#include "../object/qp.h"
#include "../wire/hdr.h"
#include "../wire/opcode.h"
#include "../wire/psn.h"
#include "burst.h"
#include "transport.h"

/* Fill in a BTH; the pad count follows from the payload. */
static inline void shca_put_bth(struct shca_bth *bth, u8 opcode, u8 flags,
				u16 pkey, u32 payload, u32 qpn, u32 psn,
				bool ack_req)
{
	bth->opcode = opcode;
	bth->flags = flags | SHCA_BTH_MIG |
		     shca_pad(payload) << SHCA_BTH_PAD_SHIFT;
	bth->pkey = cpu_to_be16(pkey);
	bth->qpn = cpu_to_be32(qpn);
	bth->psn = cpu_to_be32(psn | (ack_req ? SHCA_BTH_ACK : 0));
}

/* Note that a received packet is dropped; the caller frees it. */
#define shca_drop_rx(qp, why, skb) \
	shca_drop((qp)->dev, SHCA_STAT_##why, (qp)->qpn, shca_rx(skb)->psn, \
		  shca_rx(skb)->opcode)

/* What the packets of a connected QP carry, as the table is now */
static inline u16 shca_qp_pkey(const struct shca_qp *qp)
{
	return shca_dev_pkey(qp->dev, qp->pkey_index);
}

/* Packets that may be in flight now */
static inline u32 shca_sq_window(const struct shca_qp *qp)
{
	return min(READ_ONCE(qp->dev->window), qp->sq.cwnd);
}

/**
 * struct shca_request - a request, as the responder sees it
 * @opcode: of the BTH; a message of the local path is an ONLY
 * @solicited: the receiver's event is asked for
 * @ack_req: an acknowledge is
 * @flags: SHCA_OPF_* of the opcode
 * @psn: of its first packet
 * @packets: PSNs it takes: 1 off the wire but for a READ
 * @payload: bytes: of a packet, or of a whole message
 * @imm: immediate data, with SHCA_OPF_IMM
 * @len: of the RETH, with SHCA_OPF_RETH, as the next two
 * @rkey: of it
 * @va: of it
 * @qkey: of the DETH, with SHCA_OPF_DETH, as the next one
 * @src_qpn: of it
 * @answered: there is a verdict that is no acknowledge: NAK or RNR NAK
 * @syndrome: of the AETH that says so
 * @answer_psn: PSN it goes with
 */
struct shca_request {
	u8 opcode;
	bool solicited;
	bool ack_req;
	bool answered;
	u8 syndrome;
	u32 flags;
	u32 psn;
	u32 packets;
	u32 payload;
	u32 imm;
	u32 len;
	u32 rkey;
	u64 va;
	u32 qkey;
	u32 src_qpn;
	u32 answer_psn;
};

/* requester.c */
u8 shca_request_opcode(const struct shca_send_wqe *w, bool first, bool last);
bool shca_requester_turn(struct shca_runner *r, struct shca_budget *b);

/* wqe.c */
int shca_sq_fetch(struct shca_qp *qp);
void shca_sq_trace_wire(struct shca_qp *qp);
void shca_sq_complete(struct shca_qp *qp, const struct shca_swqe *s,
		      u32 status);
bool shca_sq_flush(struct shca_qp *qp, struct shca_budget *b);

/* completer.c */
void shca_completer_receive(struct shca_qp *qp, struct sk_buff *skb);
void shca_completer_timer(struct shca_qp *qp);
void shca_completer_acked(struct shca_qp *qp, u32 una);
void shca_completer_answer(struct shca_qp *qp, u32 psn, u8 syndrome);
void shca_sq_fail(struct shca_qp *qp, u32 status, u32 reason, u32 opcode,
		  u32 psn);
void shca_sq_rewind(struct shca_qp *qp, u32 psn);
void shca_sq_arm(struct shca_qp *qp, unsigned long delay);
void shca_sq_arm_ack(struct shca_qp *qp);
void shca_sq_timer_fn(struct timer_list *t);

/* datagram.c */
bool shca_datagram_send(struct shca_qp *qp, struct shca_budget *b);
bool shca_datagram_admit(struct shca_qp *qp, const struct shca_request *req,
			 const struct sk_buff *skb);
void shca_datagram_executed(struct shca_qp *qp, const struct shca_request *req,
			    struct shca_cqe *cqe, int err);
void shca_datagram_receive(struct shca_qp *qp, const struct shca_request *req,
			   struct sk_buff *skb);

/* responder.c */
bool shca_responder_ready(const struct shca_qp *qp);
bool shca_responder_admit(struct shca_qp *qp, struct shca_request *req);
void shca_responder_executed(struct shca_qp *qp,
			     const struct shca_request *req);
void shca_responder_failed(struct shca_qp *qp, struct shca_request *req,
			   int err);
bool shca_responder_turn(struct shca_runner *r, struct shca_budget *b);

/* rwqe.c */
int shca_rq_fetch(struct shca_qp *qp);
void shca_rq_complete(struct shca_qp *qp, struct shca_cqe *cqe,
		      bool solicited);
bool shca_rq_flush(struct shca_qp *qp, struct shca_budget *b);

/* reader.c */
void shca_reader_start(struct shca_qp *qp, u32 psn, u64 va, u32 rkey, u32 len,
		       bool copy);
int shca_reader_send(struct shca_qp *qp, struct shca_budget *b);

/* local.c */
/**
 * enum shca_local_result - what became of a WQE on the local path
 * @SHCA_LOCAL_NONE: nothing: it goes by the link
 * @SHCA_LOCAL_MORE: some or all of it was executed: go on
 * @SHCA_LOCAL_STOP: nothing can be sent now; whoever changes that will kick
 */
enum shca_local_result {
	SHCA_LOCAL_NONE,
	SHCA_LOCAL_MORE,
	SHCA_LOCAL_STOP,
};

enum shca_local_result shca_local_send(struct shca_qp *qp, struct shca_swqe *s,
				       struct shca_budget *b);
bool shca_local_datagram(struct shca_qp *qp, u32 qpn,
			 const struct shca_request *req);
void shca_local_resume(struct shca_qp *qp);

#endif /* _SHCA_TRANSPORT_INTERNAL_H */

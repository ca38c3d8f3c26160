/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the files of transport/ share among each other. */
#ifndef _SHCA_TRANSPORT_INTERNAL_H
#define _SHCA_TRANSPORT_INTERNAL_H

#include "../base/device.h"
#include "../object/cq.h"
#include "../object/qp.h"
#include "../wire/hdr.h"
#include "../wire/opcode.h"
#include "../wire/psn.h"
#include "burst.h"
#include "transport.h"

/* Fill in a BTH; the pad count follows from the payload. */
static inline void shca_put_bth(struct shca_bth *bth, u8 opcode, u8 flags,
				u32 payload, u32 qpn, u32 psn, bool ack_req)
{
	bth->opcode = opcode;
	bth->flags = flags | SHCA_BTH_MIG |
		     shca_pad(payload) << SHCA_BTH_PAD_SHIFT;
	bth->pkey = cpu_to_be16(0xffff);
	bth->qpn = cpu_to_be32(qpn);
	bth->psn = cpu_to_be32(psn | (ack_req ? SHCA_BTH_ACK : 0));
}

/* Packets that may be in flight now */
static inline u32 shca_sq_window(const struct shca_qp *qp)
{
	return min(READ_ONCE(qp->dev->window), qp->sq.cwnd);
}

/* requester.c */
bool shca_requester_turn(struct shca_runner *r, struct shca_budget *b);

/* wqe.c */
int shca_sq_fetch(struct shca_qp *qp);
void shca_sq_complete(struct shca_qp *qp, const struct shca_swqe *s,
		      u32 status);
bool shca_sq_flush(struct shca_qp *qp, struct shca_budget *b);

/* completer.c */
void shca_completer_receive(struct shca_qp *qp, struct sk_buff *skb);
void shca_completer_timer(struct shca_qp *qp);
void shca_completer_retire(struct shca_qp *qp);
void shca_sq_rewind(struct shca_qp *qp, u32 psn);
void shca_sq_arm(struct shca_qp *qp, unsigned long delay);
void shca_sq_arm_ack(struct shca_qp *qp);
void shca_sq_timer_fn(struct timer_list *t);

/* datagram.c */
bool shca_datagram_send(struct shca_qp *qp, struct shca_budget *b);
void shca_datagram_receive(struct shca_qp *qp, struct sk_buff *skb);

/* responder.c */
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

#endif /* _SHCA_TRANSPORT_INTERNAL_H */

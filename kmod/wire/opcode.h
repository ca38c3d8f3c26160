/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * BTH opcodes (IBA 9.2.1, table 38): one table that says what each means, so
 * that packet code asks the table and switches over few kinds.
 */
#ifndef _SHCA_OPCODE_H
#define _SHCA_OPCODE_H

#include "types.h"

/* The upper three bits of an opcode: the transport service */
#define SHCA_OP_RC	0x00
#define SHCA_OP_UC	0x20
#define SHCA_OP_UD	0x60
#define SHCA_OP_SERVICE_MASK	0xe0

/* The lower five bits */
#define SHCA_OP_SEND_FIRST		0x00
#define SHCA_OP_SEND_MIDDLE		0x01
#define SHCA_OP_SEND_LAST		0x02
#define SHCA_OP_SEND_LAST_IMM		0x03
#define SHCA_OP_SEND_ONLY		0x04
#define SHCA_OP_SEND_ONLY_IMM		0x05
#define SHCA_OP_WRITE_FIRST		0x06
#define SHCA_OP_WRITE_MIDDLE		0x07
#define SHCA_OP_WRITE_LAST		0x08
#define SHCA_OP_WRITE_LAST_IMM		0x09
#define SHCA_OP_WRITE_ONLY		0x0a
#define SHCA_OP_WRITE_ONLY_IMM		0x0b
#define SHCA_OP_READ_REQUEST		0x0c
#define SHCA_OP_READ_RESP_FIRST		0x0d
#define SHCA_OP_READ_RESP_MIDDLE	0x0e
#define SHCA_OP_READ_RESP_LAST		0x0f
#define SHCA_OP_READ_RESP_ONLY		0x10
#define SHCA_OP_ACK			0x11
#define SHCA_OP_ATOMIC_ACK		0x12
#define SHCA_OP_CMP_SWAP		0x13
#define SHCA_OP_FETCH_ADD		0x14
#define SHCA_OP_SEND_LAST_INV		0x16
#define SHCA_OP_SEND_ONLY_INV		0x17

/* What an opcode is and carries */
#define SHCA_OPF_KNOWN		0x0001
#define SHCA_OPF_REQUEST	0x0002	/* for the responder */
#define SHCA_OPF_RESPONSE	0x0004	/* for the requester */
#define SHCA_OPF_FIRST		0x0008	/* begins a message of several packets */
#define SHCA_OPF_MIDDLE		0x0010
#define SHCA_OPF_LAST		0x0020	/* ends one of several packets */
#define SHCA_OPF_ONLY		0x0040	/* begins and ends */
#define SHCA_OPF_SEND		0x0080
#define SHCA_OPF_WRITE		0x0100
#define SHCA_OPF_READ		0x0200	/* request or response */
#define SHCA_OPF_ATOMIC		0x0400	/* request or response */
#define SHCA_OPF_RETH		0x0800
#define SHCA_OPF_AETH		0x1000
#define SHCA_OPF_DETH		0x2000
#define SHCA_OPF_IMM		0x4000
#define SHCA_OPF_INV		0x8000	/* IETH */
#define SHCA_OPF_PAYLOAD	0x10000	/* may carry one */

#define SHCA_OPF_BEGINS		(SHCA_OPF_FIRST | SHCA_OPF_ONLY)
#define SHCA_OPF_ENDS		(SHCA_OPF_LAST | SHCA_OPF_ONLY)

/**
 * struct shca_opcode - what an opcode means
 * @flags: SHCA_OPF_*; 0 for an opcode that no transport of ours knows
 * @hdr_len: bytes of BTH and extension headers
 * @name: as the specification calls it, for traces and reasons
 *
 * Extension headers follow the BTH in this order, each if its flag is set:
 * DETH, RETH (or AtomicETH), AETH (then AtomicAckETH), ImmDt or IETH.
 *
 * Requests of one packet (READ, atomics) count as ONLY; acknowledges have no
 * place in a message and none of FIRST, MIDDLE, LAST and ONLY.
 */
struct shca_opcode {
	u32 flags;
	u8 hdr_len;
	const char *name;
};

extern const struct shca_opcode shca_opcodes[256];

#endif /* _SHCA_OPCODE_H */

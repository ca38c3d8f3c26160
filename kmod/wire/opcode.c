// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of BTH opcodes.  Constant data, no lock, no lifetime.
 *
 * hdr_len is derived from the flags here, so that the two cannot disagree; the
 * user-space test states both once more, independently.
 */
#include "opcode.h"
#include "hdr.h"

#define K	SHCA_OPF_KNOWN
#define REQ	(K | SHCA_OPF_REQUEST)
#define RESP	(K | SHCA_OPF_RESPONSE)
#define FIRST	SHCA_OPF_FIRST
#define MIDDLE	SHCA_OPF_MIDDLE
#define LAST	SHCA_OPF_LAST
#define ONLY	SHCA_OPF_ONLY
#define SEND	(REQ | SHCA_OPF_SEND | SHCA_OPF_PAYLOAD)
#define WRITE	(REQ | SHCA_OPF_WRITE | SHCA_OPF_PAYLOAD)
#define RDRESP	(RESP | SHCA_OPF_READ | SHCA_OPF_PAYLOAD)
#define ATOMIC	(REQ | SHCA_OPF_ATOMIC | ONLY)
#define RETH	SHCA_OPF_RETH
#define AETH	SHCA_OPF_AETH
#define DETH	SHCA_OPF_DETH
#define IMM	SHCA_OPF_IMM
#define INV	SHCA_OPF_INV

/* AtomicETH and AtomicAckETH have no flag of their own */
#define ATOMIC_LEN(f) \
	(!((f) & SHCA_OPF_ATOMIC) ? 0 : \
	 (f) & SHCA_OPF_REQUEST ? sizeof(struct shca_atomic_eth) : \
				  sizeof(struct shca_atomic_ack_eth))
#define HDR_LEN(f) \
	(sizeof(struct shca_bth) + \
	 ((f) & SHCA_OPF_DETH ? sizeof(struct shca_deth) : 0) + \
	 ((f) & SHCA_OPF_RETH ? sizeof(struct shca_reth) : 0) + \
	 ((f) & SHCA_OPF_AETH ? sizeof(struct shca_aeth) : 0) + \
	 ((f) & (SHCA_OPF_IMM | SHCA_OPF_INV) ? sizeof(__be32) : 0) + \
	 ATOMIC_LEN(f))

#define OP(service, op, f) \
	[SHCA_OP_##service | SHCA_OP_##op] = { \
		.flags = (f), \
		.hdr_len = HDR_LEN(f), \
		.name = #service " " #op, \
	}

/* RC and UC share these */
#define CONNECTED(service) \
	OP(service, SEND_FIRST,		SEND | FIRST), \
	OP(service, SEND_MIDDLE,	SEND | MIDDLE), \
	OP(service, SEND_LAST,		SEND | LAST), \
	OP(service, SEND_LAST_IMM,	SEND | LAST | IMM), \
	OP(service, SEND_ONLY,		SEND | ONLY), \
	OP(service, SEND_ONLY_IMM,	SEND | ONLY | IMM), \
	OP(service, WRITE_FIRST,	WRITE | FIRST | RETH), \
	OP(service, WRITE_MIDDLE,	WRITE | MIDDLE), \
	OP(service, WRITE_LAST,		WRITE | LAST), \
	OP(service, WRITE_LAST_IMM,	WRITE | LAST | IMM), \
	OP(service, WRITE_ONLY,		WRITE | ONLY | RETH), \
	OP(service, WRITE_ONLY_IMM,	WRITE | ONLY | RETH | IMM)

const struct shca_opcode shca_opcodes[256] = {
	CONNECTED(RC),
	OP(RC, READ_REQUEST,		REQ | SHCA_OPF_READ | ONLY | RETH),
	OP(RC, READ_RESP_FIRST,		RDRESP | FIRST | AETH),
	OP(RC, READ_RESP_MIDDLE,	RDRESP | MIDDLE),
	OP(RC, READ_RESP_LAST,		RDRESP | LAST | AETH),
	OP(RC, READ_RESP_ONLY,		RDRESP | ONLY | AETH),
	OP(RC, ACK,			RESP | AETH),
	OP(RC, ATOMIC_ACK,		RESP | SHCA_OPF_ATOMIC | AETH),
	OP(RC, CMP_SWAP,		ATOMIC),
	OP(RC, FETCH_ADD,		ATOMIC),
	OP(RC, SEND_LAST_INV,		SEND | LAST | INV),
	OP(RC, SEND_ONLY_INV,		SEND | ONLY | INV),

	CONNECTED(UC),

	OP(UD, SEND_ONLY,		SEND | ONLY | DETH),
	OP(UD, SEND_ONLY_IMM,		SEND | ONLY | DETH | IMM),
};

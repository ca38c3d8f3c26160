/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the headers of tracepoints share: the device's name, and tables that
 * turn numbers into the field's words.
 *
 * The tables are made of literal numbers, because they become text: programs
 * read them in an event's `format` and know no enum of the kernel's.  trace.c
 * checks that each number is what its name stands for.
 */
#ifndef _SHCA_TRACE_NAMES_H
#define _SHCA_TRACE_NAMES_H

#include <linux/string.h>

#include "../wire/hdr.h"
#include "../wire/opcode.h"
#include "device.h"

/*
 * Bytes of a device's name in an event, NUL included. Fixed, so that a field
 * lies at the same place in every event; a longer name is cut.
 */
#define SHCA_TRACE_NAME		16

/* A name may be changed while it is read, so it is ended here for sure. */
static inline void shca_trace_name(char *to, const struct shca_dev *dev)
{
	memcpy(to, dev->ib.name, SHCA_TRACE_NAME);
	to[SHCA_TRACE_NAME - 1] = '\0';
}

/* How a burst left */
#define SHCA_TRACE_WIRE		0
#define SHCA_TRACE_LOCAL	1

/* How the requester learnt of new send WQEs */
#define SHCA_TRACE_SYSCALL	0
#define SHCA_TRACE_KERNEL	1
#define SHCA_TRACE_NONE		2

/* No packet: what is no BTH opcode */
#define SHCA_TRACE_NO_OPCODE	0xff

#define shca_trace_word(name, number, word) { number, word },
#define shca_trace_show(value, table) \
	__print_symbolic(value, table(shca_trace_word) { -1, "?" })

/* enum ib_qp_state */
#define SHCA_TRACE_STATES(x)			\
	x(RESET, 0, "RESET")			\
	x(INIT, 1, "INIT")			\
	x(RTR, 2, "RTR")			\
	x(RTS, 3, "RTS")			\
	x(SQD, 4, "SQD")			\
	x(SQE, 5, "SQE")			\
	x(ERR, 6, "ERR")

/* enum ib_qp_type */
#define SHCA_TRACE_TYPES(x)			\
	x(SMI, 0, "SMI")			\
	x(GSI, 1, "GSI")			\
	x(RC, 2, "RC")				\
	x(UC, 3, "UC")				\
	x(UD, 4, "UD")

/* enum ib_wr_opcode */
#define SHCA_TRACE_WRS(x)			\
	x(RDMA_WRITE, 0, "RDMA_WRITE")		\
	x(RDMA_WRITE_WITH_IMM, 1, "RDMA_WRITE_WITH_IMM") \
	x(SEND, 2, "SEND")			\
	x(SEND_WITH_IMM, 3, "SEND_WITH_IMM")	\
	x(RDMA_READ, 4, "RDMA_READ")		\
	x(ATOMIC_CMP_AND_SWP, 5, "ATOMIC_CMP_AND_SWP") \
	x(ATOMIC_FETCH_AND_ADD, 6, "ATOMIC_FETCH_AND_ADD") \
	x(LOCAL_INV, 7, "LOCAL_INV")		\
	x(BIND_MW, 8, "BIND_MW")		\
	x(SEND_WITH_INV, 9, "SEND_WITH_INV")	\
	x(REG_MR, 32, "REG_MR")

/* enum ib_wc_opcode */
#define SHCA_TRACE_WCS(x)			\
	x(SEND, 0, "SEND")			\
	x(RDMA_WRITE, 1, "RDMA_WRITE")		\
	x(RDMA_READ, 2, "RDMA_READ")		\
	x(COMP_SWAP, 3, "COMP_SWAP")		\
	x(FETCH_ADD, 4, "FETCH_ADD")		\
	x(BIND_MW, 5, "BIND_MW")		\
	x(LOCAL_INV, 6, "LOCAL_INV")		\
	x(RECV, 128, "RECV")			\
	x(RECV_RDMA_WITH_IMM, 129, "RECV_RDMA_WITH_IMM")

/* enum ib_wc_status */
#define SHCA_TRACE_STATUSES(x)			\
	x(SUCCESS, 0, "SUCCESS") \
	x(LOC_LEN_ERR, 1, "LOC_LEN_ERR") \
	x(LOC_QP_OP_ERR, 2, "LOC_QP_OP_ERR") \
	x(LOC_EEC_OP_ERR, 3, "LOC_EEC_OP_ERR") \
	x(LOC_PROT_ERR, 4, "LOC_PROT_ERR") \
	x(WR_FLUSH_ERR, 5, "WR_FLUSH_ERR") \
	x(MW_BIND_ERR, 6, "MW_BIND_ERR") \
	x(BAD_RESP_ERR, 7, "BAD_RESP_ERR") \
	x(LOC_ACCESS_ERR, 8, "LOC_ACCESS_ERR") \
	x(REM_INV_REQ_ERR, 9, "REM_INV_REQ_ERR") \
	x(REM_ACCESS_ERR, 10, "REM_ACCESS_ERR") \
	x(REM_OP_ERR, 11, "REM_OP_ERR") \
	x(RETRY_EXC_ERR, 12, "RETRY_EXC_ERR") \
	x(RNR_RETRY_EXC_ERR, 13, "RNR_RETRY_EXC_ERR") \
	x(LOC_RDD_VIOL_ERR, 14, "LOC_RDD_VIOL_ERR") \
	x(REM_INV_RD_REQ_ERR, 15, "REM_INV_RD_REQ_ERR") \
	x(REM_ABORT_ERR, 16, "REM_ABORT_ERR") \
	x(INV_EECN_ERR, 17, "INV_EECN_ERR") \
	x(INV_EEC_STATE_ERR, 18, "INV_EEC_STATE_ERR") \
	x(FATAL_ERR, 19, "FATAL_ERR") \
	x(RESP_TIMEOUT_ERR, 20, "RESP_TIMEOUT_ERR") \
	x(GENERAL_ERR, 21, "GENERAL_ERR")

/* SOFTHCA_ERROR_REASON_*, in the words of docs/netlink/softhca.yaml */
#define SHCA_TRACE_REASONS(x)			\
	x(NONE, 0, "none")			\
	x(RETRY_EXCEEDED, 1, "retry-exceeded")	\
	x(RNR_RETRY_EXCEEDED, 2, "rnr-retry-exceeded") \
	x(REMOTE_INVALID_REQUEST, 3, "remote-invalid-request") \
	x(REMOTE_ACCESS, 4, "remote-access")	\
	x(REMOTE_OPERATION, 5, "remote-operation") \
	x(LOCAL_PROTECTION, 6, "local-protection") \
	x(LOCAL_LENGTH, 7, "local-length")	\
	x(LOCAL_QP_OP, 8, "local-qp-op")	\
	x(CQ_OVERRUN, 9, "cq-overrun")		\
	x(INVALID_PACKET, 10, "invalid-packet")	\
	x(RING_CORRUPT, 11, "ring-corrupt")	\
	x(MOVED_BY_USER, 12, "moved-by-user")	\
	x(DEVICE_REMOVED, 13, "device-removed")	\
	x(PEER_ACCESS, 14, "peer-access")	\
	x(BAD_RESPONSE, 15, "bad-response")	\
	x(MW_BIND, 16, "mw-bind")		\
	x(NO_MEMORY, 17, "no-memory")

/* The lower five bits of a BTH opcode; the upper three are RC, UC or UD. */
#define SHCA_TRACE_BTH(x)			\
	x(SEND_FIRST, 0x00, "SEND_FIRST")	\
	x(SEND_MIDDLE, 0x01, "SEND_MIDDLE")	\
	x(SEND_LAST, 0x02, "SEND_LAST")		\
	x(SEND_LAST_IMM, 0x03, "SEND_LAST_IMM")	\
	x(SEND_ONLY, 0x04, "SEND_ONLY")		\
	x(SEND_ONLY_IMM, 0x05, "SEND_ONLY_IMM")	\
	x(WRITE_FIRST, 0x06, "WRITE_FIRST")	\
	x(WRITE_MIDDLE, 0x07, "WRITE_MIDDLE")	\
	x(WRITE_LAST, 0x08, "WRITE_LAST")	\
	x(WRITE_LAST_IMM, 0x09, "WRITE_LAST_IMM") \
	x(WRITE_ONLY, 0x0a, "WRITE_ONLY")	\
	x(WRITE_ONLY_IMM, 0x0b, "WRITE_ONLY_IMM") \
	x(READ_REQUEST, 0x0c, "READ_REQUEST")	\
	x(READ_RESP_FIRST, 0x0d, "READ_RESP_FIRST") \
	x(READ_RESP_MIDDLE, 0x0e, "READ_RESP_MIDDLE") \
	x(READ_RESP_LAST, 0x0f, "READ_RESP_LAST") \
	x(READ_RESP_ONLY, 0x10, "READ_RESP_ONLY") \
	x(ACK, 0x11, "ACK")			\
	x(ATOMIC_ACK, 0x12, "ATOMIC_ACK")	\
	x(CMP_SWAP, 0x13, "CMP_SWAP")		\
	x(FETCH_ADD, 0x14, "FETCH_ADD")		\
	x(SEND_LAST_INV, 0x16, "SEND_LAST_INV")	\
	x(SEND_ONLY_INV, 0x17, "SEND_ONLY_INV")

#define shca_trace_show_bth(opcode) \
	shca_trace_show((opcode) & 0x1f, SHCA_TRACE_BTH)

/* AETH syndromes: the upper three bits are the kind, the others its value. */
#define shca_trace_show_syndrome(s) \
	__print_symbolic((s) & 0xe0, \
		{ 0x00, "ACK" }, { 0x20, "RNR NAK" }, { 0x60, "NAK" })

#endif /* _SHCA_TRACE_NAMES_H */

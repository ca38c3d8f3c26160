// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The tracepoints, softhca:*.  Each topic has a header; this file makes their
 * code, and checks that the words in them belong to the numbers.
 */
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#include "../uapi/softhca-netlink.h"
#include "../wire/hdr.h"
#include "../wire/opcode.h"

#define CREATE_TRACE_POINTS
#include "trace_ack.h"
#include "trace_cq.h"
#include "trace_mr.h"
#include "trace_packet.h"
#include "trace_qp.h"
#include "trace_wqe.h"

/* How many words of a table belong to another number */
#define x(name, number, word) + ((int)IB_QPS_##name != (number))
static_assert(!(0 SHCA_TRACE_STATES(x)));
#undef x
#define x(name, number, word) + ((int)IB_QPT_##name != (number))
static_assert(!(0 SHCA_TRACE_TYPES(x)));
#undef x
#define x(name, number, word) + ((int)IB_WR_##name != (number))
static_assert(!(0 SHCA_TRACE_WRS(x)));
#undef x
#define x(name, number, word) + ((int)IB_WC_##name != (number))
static_assert(!(0 SHCA_TRACE_WCS(x)));
static_assert(!(0 SHCA_TRACE_STATUSES(x)));
#undef x
#define x(name, number, word) + (SHCA_OP_##name != (number))
static_assert(!(0 SHCA_TRACE_BTH(x)));
#undef x
#define x(name, number, word) + (SOFTHCA_ERROR_REASON_##name != (number))
static_assert(!(0 SHCA_TRACE_REASONS(x)));
#undef x
/* Every reason has a word. */
#define x(name, number, word) + 1
static_assert(SOFTHCA_ERROR_REASON_MAX + 1 == 0 SHCA_TRACE_REASONS(x));
#undef x
static_assert(SHCA_AETH_ACK == 0x00 && SHCA_AETH_RNR == 0x20 &&
	      SHCA_AETH_NAK == 0x60 && SHCA_AETH_KIND_MASK == 0xe0);
static_assert(SHCA_TRACE_WIRE == 0 && SHCA_TRACE_LOCAL == 1);
static_assert(SHCA_TRACE_SYSCALL == 0 && SHCA_TRACE_KERNEL == 1 &&
	      SHCA_TRACE_NONE == 2);

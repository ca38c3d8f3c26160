/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints: completions. docs/TRACING.md has the table. */
#undef TRACE_SYSTEM
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM softhca
#define TRACE_SYSTEM_VAR softhca_cq

#if !defined(_SHCA_TRACE_CQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SHCA_TRACE_CQ_H

#include <linux/tracepoint.h>

#include "trace_names.h"

/*
 * A send WQE ends: acknowledged (status SUCCESS) or not. If it was signalled or
 * failed, its cqe follows.
 */
TRACE_EVENT(send_done,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 index, u64 wr_id,
		 u32 opcode, u32 status, u32 length, bool cqe),
	TP_ARGS(dev, qpn, index, wr_id, opcode, status, length, cqe),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, index)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, status)
		__field(u32, length)
		__field(u32, cqe)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->index = index;
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->status = status;
		__entry->length = length;
		__entry->cqe = cqe;
	),
	TP_printk("dev=%s qpn=%u index=%u wr_id=0x%llx opcode=%s status=%s length=%u cqe=%u",
		  __entry->dev, __entry->qpn, __entry->index, __entry->wr_id,
		  shca_trace_show(__entry->opcode, SHCA_TRACE_WRS),
		  shca_trace_show(__entry->status, SHCA_TRACE_STATUSES),
		  __entry->length,
		  __entry->cqe)
);

/* A CQE is in its slot, and the poller is about to see it. */
TRACE_EVENT(cqe,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 cq, u64 wr_id,
		 u32 opcode, u32 status, u32 length, u32 reason, u32 index),
	TP_ARGS(dev, qpn, cq, wr_id, opcode, status, length, reason, index),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, cq)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, status)
		__field(u32, length)
		__field(u32, reason)
		__field(u32, index)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->cq = cq;
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->status = status;
		__entry->length = length;
		__entry->reason = reason;
		__entry->index = index;
	),
	TP_printk("dev=%s qpn=%u cq=%u wr_id=0x%llx opcode=%s status=%s length=%u reason=%s index=%u",
		  __entry->dev, __entry->qpn, __entry->cq, __entry->wr_id,
		  shca_trace_show(__entry->opcode, SHCA_TRACE_WCS),
		  shca_trace_show(__entry->status, SHCA_TRACE_STATUSES),
		  __entry->length,
		  shca_trace_show(__entry->reason, SHCA_TRACE_REASONS),
		  __entry->index)
);

#endif /* _SHCA_TRACE_CQ_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_cq
#include <trace/define_trace.h>

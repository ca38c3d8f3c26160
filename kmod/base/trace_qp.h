/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints: the lives of queue pairs. docs/TRACING.md has the table. */
#undef TRACE_SYSTEM
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM softhca
#define TRACE_SYSTEM_VAR softhca_qp

#if !defined(_SHCA_TRACE_QP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SHCA_TRACE_QP_H

#include <linux/tracepoint.h>

#include "trace_names.h"

/* A QP was created. */
TRACE_EVENT(qp_create,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 type, u32 pid,
		 const char *comm),
	TP_ARGS(dev, qpn, type, pid, comm),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, type)
		__field(u32, pid)
		__array(char, comm, TASK_COMM_LEN)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->type = type;
		__entry->pid = pid;
		memcpy(__entry->comm, comm, TASK_COMM_LEN);
	),
	TP_printk("dev=%s qpn=%u type=%s pid=%u comm=%s", __entry->dev,
		  __entry->qpn, shca_trace_show(__entry->type, SHCA_TRACE_TYPES),
		  __entry->pid, __entry->comm)
);

/* A QP is told its peer, on the way to RTR. */
TRACE_EVENT(qp_connect,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 dest_qpn, u32 mtu,
		 const u8 *sgid, const u8 *dgid),
	TP_ARGS(dev, qpn, dest_qpn, mtu, sgid, dgid),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, dest_qpn)
		__field(u32, mtu)
		__array(u8, sgid, 16)
		__array(u8, dgid, 16)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->dest_qpn = dest_qpn;
		__entry->mtu = mtu;
		memcpy(__entry->sgid, sgid, 16);
		memcpy(__entry->dgid, dgid, 16);
	),
	TP_printk("dev=%s qpn=%u dest_qpn=%u mtu=%u sgid=%pI6c dgid=%pI6c",
		  __entry->dev, __entry->qpn, __entry->dest_qpn, __entry->mtu,
		  __entry->sgid, __entry->dgid)
);

/* A QP is gone. */
TRACE_EVENT(qp_destroy,
	TP_PROTO(const struct shca_dev *dev, u32 qpn),
	TP_ARGS(dev, qpn),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
	),
	TP_printk("dev=%s qpn=%u", __entry->dev, __entry->qpn)
);

/*
 * A QP's state changes. On the way to ERR or SQE the reason says why, and
 * opcode (0xff: none) and PSN where.
 */
TRACE_EVENT(qp_state,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 from, u32 to,
		 u32 reason, u32 opcode, u32 psn),
	TP_ARGS(dev, qpn, from, to, reason, opcode, psn),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, from)
		__field(u32, to)
		__field(u32, reason)
		__field(u32, opcode)
		__field(u32, psn)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
		__entry->reason = reason;
		__entry->opcode = opcode;
		__entry->psn = psn;
	),
	TP_printk("dev=%s qpn=%u from=%s to=%s reason=%s opcode=0x%02x psn=%u",
		  __entry->dev, __entry->qpn,
		  shca_trace_show(__entry->from, SHCA_TRACE_STATES),
		  shca_trace_show(__entry->to, SHCA_TRACE_STATES),
		  shca_trace_show(__entry->reason, SHCA_TRACE_REASONS),
		  __entry->opcode, __entry->psn)
);

#endif /* _SHCA_TRACE_QP_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_qp
#include <trace/define_trace.h>

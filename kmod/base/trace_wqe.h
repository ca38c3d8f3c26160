/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints: work requests, from the doorbell to the wire. docs/TRACING.md has the table. */
#undef TRACE_SYSTEM
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM softhca
#define TRACE_SYSTEM_VAR softhca_wqe

#if !defined(_SHCA_TRACE_WQE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SHCA_TRACE_WQE_H

#include <linux/tracepoint.h>

#include "trace_names.h"

/*
 * The requester learns that there are new send WQEs: by a system call, by a
 * kernel consumer's post, or because it was awake and looked (none).
 */
TRACE_EVENT(doorbell,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 how),
	TP_ARGS(dev, qpn, how),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, how)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->how = how;
	),
	TP_printk("dev=%s qpn=%u how=%s", __entry->dev, __entry->qpn,
		  __print_symbolic(__entry->how, { 0, "system call" },
				   { 1, "kernel" }, { 2, "none" }))
);

/*
 * A send WQE was copied out of the ring and checked.  addr is where its first
 * buffer begins, as the poster says it; 0 with inline data.
 */
TRACE_EVENT(send_fetch,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 index,
		 u64 wr_id, u32 opcode, u32 flags, u32 length, u32 packets,
		 u64 addr, u32 num_sge),
	TP_ARGS(dev, qpn, index, wr_id, opcode, flags, length, packets, addr,
		num_sge),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, index)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, flags)
		__field(u32, length)
		__field(u32, packets)
		__field(u64, addr)
		__field(u32, num_sge)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->index = index;
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->flags = flags;
		__entry->length = length;
		__entry->packets = packets;
		__entry->addr = addr;
		__entry->num_sge = num_sge;
	),
	TP_printk("dev=%s qpn=%u index=%u wr_id=0x%llx opcode=%s flags=0x%x length=%u packets=%u addr=0x%llx num_sge=%u",
		  __entry->dev, __entry->qpn, __entry->index, __entry->wr_id,
		  shca_trace_show(__entry->opcode, SHCA_TRACE_WRS),
		  __entry->flags, __entry->length, __entry->packets,
		  __entry->addr, __entry->num_sge)
);

/* All packets of a send WQE were handed to the link, for the first time. */
TRACE_EVENT(send_wire,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 index, u32 psn,
		 u32 length, u32 packets),
	TP_ARGS(dev, qpn, index, psn, length, packets),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, index)
		__field(u32, psn)
		__field(u32, length)
		__field(u32, packets)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->index = index;
		__entry->psn = psn;
		__entry->length = length;
		__entry->packets = packets;
	),
	TP_printk("dev=%s qpn=%u index=%u psn=%u length=%u packets=%u",
		  __entry->dev, __entry->qpn, __entry->index, __entry->psn,
		  __entry->length, __entry->packets)
);

/* A receive WQE was copied out of the ring. */
TRACE_EVENT(recv_fetch,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 index, u64 wr_id,
		 u32 num_sge),
	TP_ARGS(dev, qpn, index, wr_id, num_sge),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, index)
		__field(u64, wr_id)
		__field(u32, num_sge)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->index = index;
		__entry->wr_id = wr_id;
		__entry->num_sge = num_sge;
	),
	TP_printk("dev=%s qpn=%u index=%u wr_id=0x%llx num_sge=%u",
		  __entry->dev, __entry->qpn, __entry->index, __entry->wr_id,
		  __entry->num_sge)
);

/*
 * A receive WQE ends; its cqe follows.  psn is that of the last packet of the
 * message, of a connected queue pair.
 */
TRACE_EVENT(recv_done,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 index, u64 wr_id,
		 u32 status, u32 length, u32 psn),
	TP_ARGS(dev, qpn, index, wr_id, status, length, psn),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, index)
		__field(u64, wr_id)
		__field(u32, status)
		__field(u32, length)
		__field(u32, psn)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->index = index;
		__entry->wr_id = wr_id;
		__entry->status = status;
		__entry->length = length;
		__entry->psn = psn;
	),
	TP_printk("dev=%s qpn=%u index=%u wr_id=0x%llx status=%s length=%u psn=%u",
		  __entry->dev, __entry->qpn, __entry->index, __entry->wr_id,
		  shca_trace_show(__entry->status, SHCA_TRACE_STATUSES),
		  __entry->length, __entry->psn)
);

#endif /* _SHCA_TRACE_WQE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_wqe
#include <trace/define_trace.h>

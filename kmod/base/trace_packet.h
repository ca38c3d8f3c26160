/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints: packets, sent, received and dropped. docs/TRACING.md has the table. */
#undef TRACE_SYSTEM
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM softhca
#define TRACE_SYSTEM_VAR softhca_packet

#if !defined(_SHCA_TRACE_PACKET_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SHCA_TRACE_PACKET_H

#include <linux/tracepoint.h>

#include "trace_names.h"

/* A burst was handed to the link, or to the local path. */
TRACE_EVENT(burst,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 opcode,
		 u32 packets, u32 again, u32 referenced, u32 copied, u32 path,
		 int error),
	TP_ARGS(dev, qpn, psn, opcode, packets, again, referenced, copied,
		path, error),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, opcode)
		__field(u32, packets)
		__field(u32, again)
		__field(u32, referenced)
		__field(u32, copied)
		__field(u32, path)
		__field(s32, error)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->opcode = opcode;
		__entry->packets = packets;
		__entry->again = again;
		__entry->referenced = referenced;
		__entry->copied = copied;
		__entry->path = path;
		__entry->error = error;
	),
	TP_printk("dev=%s qpn=%u psn=%u opcode=%s packets=%u again=%u referenced=%u copied=%u path=%s error=%d",
		  __entry->dev, __entry->qpn, __entry->psn,
		  shca_trace_show_bth(__entry->opcode), __entry->packets,
		  __entry->again, __entry->referenced, __entry->copied,
		  __print_symbolic(__entry->path, { 0, "wire" },
				   { 1, "local" }),
		  __entry->error)
);

/* A packet passed the link's checks and is for this QP. */
TRACE_EVENT(packet,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 opcode,
		 u32 payload),
	TP_ARGS(dev, qpn, psn, opcode, payload),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, opcode)
		__field(u32, payload)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->opcode = opcode;
		__entry->payload = payload;
	),
	TP_printk("dev=%s qpn=%u psn=%u opcode=%s payload=%u",
		  __entry->dev, __entry->qpn, __entry->psn,
		  shca_trace_show_bth(__entry->opcode), __entry->payload)
);

#define shca_trace_drop_enum(name) TRACE_DEFINE_ENUM(SHCA_STAT_##name);
SHCA_DROPS(shca_trace_drop_enum)
#undef shca_trace_drop_enum

#ifndef shca_trace_drop_word
#define shca_trace_drop_word(name) { SHCA_STAT_##name, #name },
#endif

/*
 * A packet is dropped. QPN and PSN are what the packet says, 0 if it was not
 * read so far; then the opcode is 0xff. The reason is the counter's name.
 */
TRACE_EVENT(drop,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 opcode,
		 u32 reason),
	TP_ARGS(dev, qpn, psn, opcode, reason),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, opcode)
		__field(u32, reason)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->opcode = opcode;
		__entry->reason = reason;
	),
	TP_printk("dev=%s qpn=%u psn=%u opcode=0x%02x reason=%s",
		  __entry->dev, __entry->qpn, __entry->psn, __entry->opcode,
		  __print_symbolic(__entry->reason,
				   SHCA_DROPS(shca_trace_drop_word)
				   { -1, "?" }))
);

#endif /* _SHCA_TRACE_PACKET_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_packet
#include <trace/define_trace.h>

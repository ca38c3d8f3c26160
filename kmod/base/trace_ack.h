/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints: acknowledges, and what follows when they do not come.
 * docs/TRACING.md has the table.
 */
#undef TRACE_SYSTEM
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM softhca
#define TRACE_SYSTEM_VAR softhca_ack

#if !defined(_SHCA_TRACE_ACK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SHCA_TRACE_ACK_H

#include <linux/tracepoint.h>

#include "trace_names.h"

/* The responder answers: ACK, RNR NAK or NAK. */
TRACE_EVENT(ack_send,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 syndrome,
		 u32 msn),
	TP_ARGS(dev, qpn, psn, syndrome, msn),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, syndrome)
		__field(u32, msn)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->syndrome = syndrome;
		__entry->msn = msn;
	),
	TP_printk("dev=%s qpn=%u psn=%u %s syndrome=0x%02x msn=%u",
		  __entry->dev, __entry->qpn, __entry->psn,
		  shca_trace_show_syndrome(__entry->syndrome),
		  __entry->syndrome, __entry->msn)
);

/* The requester reads an answer. */
TRACE_EVENT(ack_receive,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 syndrome),
	TP_ARGS(dev, qpn, psn, syndrome),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, syndrome)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->syndrome = syndrome;
	),
	TP_printk("dev=%s qpn=%u psn=%u %s syndrome=0x%02x",
		  __entry->dev, __entry->qpn, __entry->psn,
		  shca_trace_show_syndrome(__entry->syndrome),
		  __entry->syndrome)
);

/* No answer came in time. The retries are those left before this one. */
TRACE_EVENT(ack_timeout,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 retries),
	TP_ARGS(dev, qpn, psn, retries),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, retries)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->retries = retries;
	),
	TP_printk("dev=%s qpn=%u psn=%u retries=%u", __entry->dev,
		  __entry->qpn, __entry->psn, __entry->retries)
);

/* The peer has no receive buffer and asked to wait. */
TRACE_EVENT(rnr_wait,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 wait_us,
		 u32 retries),
	TP_ARGS(dev, qpn, psn, wait_us, retries),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, wait_us)
		__field(u32, retries)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->wait_us = wait_us;
		__entry->retries = retries;
	),
	TP_printk("dev=%s qpn=%u psn=%u wait_us=%u retries=%u", __entry->dev,
		  __entry->qpn, __entry->psn, __entry->wait_us,
		  __entry->retries)
);

/* The requester goes back and sends again, from PSN @psn instead of @from on. */
TRACE_EVENT(go_back,
	TP_PROTO(const struct shca_dev *dev, u32 qpn, u32 psn, u32 from),
	TP_ARGS(dev, qpn, psn, from),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, from)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->from = from;
	),
	TP_printk("dev=%s qpn=%u psn=%u from=%u", __entry->dev, __entry->qpn,
		  __entry->psn, __entry->from)
);

#endif /* _SHCA_TRACE_ACK_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_ack
#include <trace/define_trace.h>

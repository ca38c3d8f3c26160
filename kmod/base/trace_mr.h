/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tracepoints: memory regions. They belong to no QP. docs/TRACING.md has the table. */
#undef TRACE_SYSTEM
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM softhca
#define TRACE_SYSTEM_VAR softhca_mr

#if !defined(_SHCA_TRACE_MR_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SHCA_TRACE_MR_H

#include <linux/tracepoint.h>

#include "trace_names.h"

/*
 * A process registers memory: @addr is the first byte's address in the process.
 * The key is 0 if it failed, with @error.
 */
TRACE_EVENT(mr_register,
	TP_PROTO(const struct shca_dev *dev, u32 key, u64 addr, u64 length,
		 u32 access, int error),
	TP_ARGS(dev, key, addr, length, access, error),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, key)
		__field(u32, access)
		__field(u64, addr)
		__field(u64, length)
		__field(s32, error)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->key = key;
		__entry->access = access;
		__entry->addr = addr;
		__entry->length = length;
		__entry->error = error;
	),
	TP_printk("dev=%s key=0x%x access=0x%x addr=0x%llx length=%llu error=%d",
		  __entry->dev, __entry->key, __entry->access, __entry->addr,
		  __entry->length, __entry->error)
);

/* A region ends. Nobody uses its memory any more. */
TRACE_EVENT(mr_deregister,
	TP_PROTO(const struct shca_dev *dev, u32 key),
	TP_ARGS(dev, key),
	TP_STRUCT__entry(
		__array(char, dev, SHCA_TRACE_NAME)
		__field(u32, key)
	),
	TP_fast_assign(
		shca_trace_name(__entry->dev, dev);
		__entry->key = key;
	),
	TP_printk("dev=%s key=0x%x", __entry->dev, __entry->key)
);

#endif /* _SHCA_TRACE_MR_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace_mr
#include <trace/define_trace.h>

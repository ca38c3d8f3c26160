// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Performance agent: Get and Set of ClassPortInfo, PortCounters and
 * PortCountersExtended (IBA 16.1.3).  Pure code on what it is given; the caller
 * owns the baseline and its lock.
 *
 * Both sets of counters show the same events and share one baseline: clearing
 * a counter in one clears it in the other.
 */
#include "pma_mad.h"

static u64 since(const struct shca_pma_values *now,
		 const struct shca_pma_values *base, enum shca_pma_counter i)
{
	return now->v[i] - base->v[i];
}

static __be32 saturated32(u64 v)
{
	return cpu_to_be32(v > 0xffffffffu ? 0xffffffffu : (u32)v);
}

static __be16 saturated16(u64 v)
{
	return cpu_to_be16(v > 0xffff ? 0xffff : (u16)v);
}

static void clear(const struct shca_pma_values *now,
		  struct shca_pma_values *base, u16 select,
		  const u16 bit[SHCA_PMA_COUNTERS])
{
	int i;

	for (i = 0; i < SHCA_PMA_COUNTERS; i++)
		if (select & bit[i])
			base->v[i] = now->v[i];
}

static u16 class_port_info(u8 *data)
{
	struct shca_class_port_info info = {
		.base_version = 1,
		.class_version = 1,
		.capability_mask = cpu_to_be16(SHCA_PMA_CAP_EXT_WIDTH),
		.cap_mask2_resp_time = cpu_to_be32(18),	/* about a second */
	};

	memcpy(data, &info, sizeof(info));
	return 0;
}

static u16 port_counters(u8 *data, bool set, u8 port,
			 const struct shca_pma_values *now,
			 struct shca_pma_values *base)
{
	static const u16 bit[SHCA_PMA_COUNTERS] = {
		[SHCA_PMA_XMIT_DATA]		= SHCA_PMA_SEL_XMIT_DATA,
		[SHCA_PMA_RCV_DATA]		= SHCA_PMA_SEL_RCV_DATA,
		[SHCA_PMA_XMIT_PACKETS]		= SHCA_PMA_SEL_XMIT_PACKETS,
		[SHCA_PMA_RCV_PACKETS]		= SHCA_PMA_SEL_RCV_PACKETS,
		[SHCA_PMA_RCV_ERRORS]		= SHCA_PMA_SEL_RCV_ERRORS,
		[SHCA_PMA_XMIT_DISCARDS]	= SHCA_PMA_SEL_XMIT_DISCARDS,
	};
	struct shca_pma_counters c;

	memcpy(&c, data, sizeof(c));
	if (c.port_select != port)
		return SHCA_MAD_STATUS_BAD_VALUE;
	if (set)
		clear(now, base, be16_to_cpu(c.counter_select), bit);

	c = (struct shca_pma_counters) {
		.port_select = port,
		.counter_select = c.counter_select,
		.rcv_errors = saturated16(since(now, base,
						SHCA_PMA_RCV_ERRORS)),
		.xmit_discards = saturated16(since(now, base,
						   SHCA_PMA_XMIT_DISCARDS)),
		.xmit_data = saturated32(since(now, base, SHCA_PMA_XMIT_DATA)),
		.rcv_data = saturated32(since(now, base, SHCA_PMA_RCV_DATA)),
		.xmit_packets = saturated32(since(now, base,
						  SHCA_PMA_XMIT_PACKETS)),
		.rcv_packets = saturated32(since(now, base,
						 SHCA_PMA_RCV_PACKETS)),
	};
	memcpy(data, &c, sizeof(c));
	return 0;
}

static u16 port_counters_ext(u8 *data, bool set, u8 port,
			     const struct shca_pma_values *now,
			     struct shca_pma_values *base)
{
	/* All packets are unicast, and counted once. */
	static const u16 bit[SHCA_PMA_COUNTERS] = {
		[SHCA_PMA_XMIT_DATA]	= SHCA_PMA_SELX_XMIT_DATA,
		[SHCA_PMA_RCV_DATA]	= SHCA_PMA_SELX_RCV_DATA,
		[SHCA_PMA_XMIT_PACKETS]	= SHCA_PMA_SELX_XMIT_PACKETS |
					  SHCA_PMA_SELX_UNI_XMIT_PACKETS,
		[SHCA_PMA_RCV_PACKETS]	= SHCA_PMA_SELX_RCV_PACKETS |
					  SHCA_PMA_SELX_UNI_RCV_PACKETS,
	};
	struct shca_pma_counters_ext c;
	__be64 xmit, rcv;

	memcpy(&c, data, sizeof(c));
	if (c.port_select != port)
		return SHCA_MAD_STATUS_BAD_VALUE;
	if (set)
		clear(now, base, be16_to_cpu(c.counter_select), bit);

	xmit = cpu_to_be64(since(now, base, SHCA_PMA_XMIT_PACKETS));
	rcv = cpu_to_be64(since(now, base, SHCA_PMA_RCV_PACKETS));
	c = (struct shca_pma_counters_ext) {
		.port_select = port,
		.counter_select = c.counter_select,
		.xmit_data = cpu_to_be64(since(now, base, SHCA_PMA_XMIT_DATA)),
		.rcv_data = cpu_to_be64(since(now, base, SHCA_PMA_RCV_DATA)),
		.xmit_packets = xmit,
		.rcv_packets = rcv,
		.unicast_xmit_packets = xmit,
		.unicast_rcv_packets = rcv,
	};
	memcpy(data, &c, sizeof(c));
	return 0;
}

static u16 attribute(struct shca_pma_mad *out, bool set, u8 port,
		     const struct shca_pma_values *now,
		     struct shca_pma_values *base)
{
	if (out->hdr.base_version != 1 || out->hdr.class_version != 1)
		return SHCA_MAD_STATUS_BAD_VERSION;

	switch (be16_to_cpu(out->hdr.attr_id)) {
	case SHCA_PMA_CLASS_PORT_INFO:
		return set ? SHCA_MAD_STATUS_BAD_ATTR :
			     class_port_info(out->data);
	case SHCA_PMA_PORT_COUNTERS:
		return port_counters(out->data, set, port, now, base);
	case SHCA_PMA_PORT_COUNTERS_EXT:
		return port_counters_ext(out->data, set, port, now, base);
	default:
		return SHCA_MAD_STATUS_BAD_ATTR;
	}
}

/**
 * shca_pma_mad - answer a MAD
 * @in: the MAD, from anywhere
 * @out: the reply; may not be @in
 * @port: number of the port it was received on
 * @now: counters of the port
 * @base: what they were when cleared; changed by Set
 *
 * Context: any; the caller guards @base.
 * Return: SHCA_PMA_REPLY with @out complete, _CONSUMED, or _NOT_OURS for
 * responses, traps, and other classes.
 */
enum shca_pma_result shca_pma_mad(const struct shca_pma_mad *in,
				  struct shca_pma_mad *out, u8 port,
				  const struct shca_pma_values *now,
				  struct shca_pma_values *base)
{
	u8 method = in->hdr.method;
	u16 status;

	if (in->hdr.mgmt_class != SHCA_MAD_CLASS_PERF)
		return SHCA_PMA_NOT_OURS;
	if (method == SHCA_MAD_TRAP_REPRESS)
		return SHCA_PMA_CONSUMED;
	if (method != SHCA_MAD_GET && method != SHCA_MAD_SET)
		return SHCA_PMA_NOT_OURS;

	*out = *in;
	status = attribute(out, method == SHCA_MAD_SET, port, now, base);
	out->hdr.method = SHCA_MAD_GET_RESP;
	out->hdr.status = cpu_to_be16(status);
	return SHCA_PMA_REPLY;
}

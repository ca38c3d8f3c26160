// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Performance agent: Get and Set of ClassPortInfo, PortCounters and
 * PortCountersExtended (IBA 16.1.3).  Pure code on what it is given; the caller
 * owns the baseline and its lock.
 *
 * Both sets of counters show the same events and share one baseline: clearing
 * a counter in one clears it in the other.  Packets are counted as unicast or
 * multicast, and all of them are the sum.
 */
#include "pma_mad.h"

static __be32 saturated32(u64 v)
{
	return cpu_to_be32(v > 0xffffffffu ? 0xffffffffu : (u32)v);
}

static __be16 saturated16(u64 v)
{
	return cpu_to_be16(v > 0xffff ? 0xffff : (u16)v);
}

static u8 saturated8(u64 v)
{
	return v > 0xff ? 0xff : v;
}

/*
 * What a counter has grown by.  One that is a difference of others, which count
 * one after the other, may be smaller for a while than when it was cleared.
 */
static u64 grown(u64 now, u64 base)
{
	return (s64)(now - base) < 0 ? 0 : now - base;
}

/*
 * The counters of the ports that PortSelect names, since they were cleared,
 * after those that @select has a bit of are cleared.
 */
static bool read_ports(const struct shca_pma_ports *ports, u8 port, u16 select,
		       const u16 bit[SHCA_PMA_COUNTERS],
		       struct shca_pma_values *sum)
{
	bool all = port == SHCA_PMA_ALL_PORTS && ports->sums;
	int p, i;

	if (!all && (port < ports->first ||
		     port - ports->first >= ports->count))
		return false;
	memset(sum, 0, sizeof(*sum));
	for (p = 0; p < ports->count; p++) {
		if (!all && p != port - ports->first)
			continue;
		for (i = 0; i < SHCA_PMA_COUNTERS; i++) {
			if (select & bit[i])
				ports->base[p].v[i] = ports->now[p].v[i];
			sum->v[i] += grown(ports->now[p].v[i],
					   ports->base[p].v[i]);
		}
	}
	return true;
}

static u16 class_port_info(u8 *data, const struct shca_pma_ports *ports)
{
	u16 cap = SHCA_PMA_CAP_EXT_WIDTH |
		  (ports->sums ? SHCA_PMA_CAP_ALL_PORTS : 0);
	struct shca_class_port_info info = {
		.base_version = 1,
		.class_version = 1,
		.capability_mask = cpu_to_be16(cap),
		.cap_mask2_resp_time = cpu_to_be32(18),	/* about a second */
	};

	memcpy(data, &info, sizeof(info));
	return 0;
}

static u16 port_counters(u8 *data, bool set, const struct shca_pma_ports *ports)
{
	static const u16 bit[SHCA_PMA_COUNTERS] = {
		[SHCA_PMA_XMIT_DATA]		= SHCA_PMA_SEL_XMIT_DATA,
		[SHCA_PMA_RCV_DATA]		= SHCA_PMA_SEL_RCV_DATA,
		[SHCA_PMA_UNI_XMIT]		= SHCA_PMA_SEL_XMIT_PACKETS,
		[SHCA_PMA_MULTI_XMIT]		= SHCA_PMA_SEL_XMIT_PACKETS,
		[SHCA_PMA_UNI_RCV]		= SHCA_PMA_SEL_RCV_PACKETS,
		[SHCA_PMA_MULTI_RCV]		= SHCA_PMA_SEL_RCV_PACKETS,
		[SHCA_PMA_RCV_ERRORS]		= SHCA_PMA_SEL_RCV_ERRORS,
		[SHCA_PMA_RELAY_ERRORS]		= SHCA_PMA_SEL_RELAY_ERRORS,
		[SHCA_PMA_XMIT_DISCARDS]	= SHCA_PMA_SEL_XMIT_DISCARDS,
		[SHCA_PMA_VL15_DROPPED]		= SHCA_PMA_SEL_VL15_DROPPED,
		[SHCA_PMA_LINK_DOWNED]		= SHCA_PMA_SEL_LINK_DOWNED,
	};
	struct shca_pma_counters c;
	struct shca_pma_values sum;
	u16 select;

	memcpy(&c, data, sizeof(c));
	select = set ? be16_to_cpu(c.counter_select) : 0;
	if (!read_ports(ports, c.port_select, select, bit, &sum))
		return SHCA_MAD_STATUS_BAD_VALUE;

	c = (struct shca_pma_counters) {
		.port_select = c.port_select,
		.counter_select = c.counter_select,
		.link_downed = saturated8(sum.v[SHCA_PMA_LINK_DOWNED]),
		.rcv_errors = saturated16(sum.v[SHCA_PMA_RCV_ERRORS]),
		.rcv_switch_relay_errors =
			saturated16(sum.v[SHCA_PMA_RELAY_ERRORS]),
		.xmit_discards = saturated16(sum.v[SHCA_PMA_XMIT_DISCARDS]),
		.vl15_dropped = saturated16(sum.v[SHCA_PMA_VL15_DROPPED]),
		.xmit_data = saturated32(sum.v[SHCA_PMA_XMIT_DATA]),
		.rcv_data = saturated32(sum.v[SHCA_PMA_RCV_DATA]),
		.xmit_packets = saturated32(sum.v[SHCA_PMA_UNI_XMIT] +
					    sum.v[SHCA_PMA_MULTI_XMIT]),
		.rcv_packets = saturated32(sum.v[SHCA_PMA_UNI_RCV] +
					   sum.v[SHCA_PMA_MULTI_RCV]),
	};
	memcpy(data, &c, sizeof(c));
	return 0;
}

static u16 port_counters_ext(u8 *data, bool set,
			     const struct shca_pma_ports *ports)
{
	static const u16 bit[SHCA_PMA_COUNTERS] = {
		[SHCA_PMA_XMIT_DATA]	= SHCA_PMA_SELX_XMIT_DATA,
		[SHCA_PMA_RCV_DATA]	= SHCA_PMA_SELX_RCV_DATA,
		[SHCA_PMA_UNI_XMIT]	= SHCA_PMA_SELX_XMIT_PACKETS |
					  SHCA_PMA_SELX_UNI_XMIT_PACKETS,
		[SHCA_PMA_UNI_RCV]	= SHCA_PMA_SELX_RCV_PACKETS |
					  SHCA_PMA_SELX_UNI_RCV_PACKETS,
		[SHCA_PMA_MULTI_XMIT]	= SHCA_PMA_SELX_XMIT_PACKETS |
					  SHCA_PMA_SELX_MULTI_XMIT_PACKETS,
		[SHCA_PMA_MULTI_RCV]	= SHCA_PMA_SELX_RCV_PACKETS |
					  SHCA_PMA_SELX_MULTI_RCV_PACKETS,
	};
	struct shca_pma_counters_ext c;
	struct shca_pma_values sum;
	u64 uni_xmit, uni_rcv, multi_xmit, multi_rcv;
	u16 select;

	memcpy(&c, data, sizeof(c));
	select = set ? be16_to_cpu(c.counter_select) : 0;
	if (!read_ports(ports, c.port_select, select, bit, &sum))
		return SHCA_MAD_STATUS_BAD_VALUE;

	uni_xmit = sum.v[SHCA_PMA_UNI_XMIT];
	uni_rcv = sum.v[SHCA_PMA_UNI_RCV];
	multi_xmit = sum.v[SHCA_PMA_MULTI_XMIT];
	multi_rcv = sum.v[SHCA_PMA_MULTI_RCV];
	c = (struct shca_pma_counters_ext) {
		.port_select = c.port_select,
		.counter_select = c.counter_select,
		.xmit_data = cpu_to_be64(sum.v[SHCA_PMA_XMIT_DATA]),
		.rcv_data = cpu_to_be64(sum.v[SHCA_PMA_RCV_DATA]),
		.xmit_packets = cpu_to_be64(uni_xmit + multi_xmit),
		.rcv_packets = cpu_to_be64(uni_rcv + multi_rcv),
		.unicast_xmit_packets = cpu_to_be64(uni_xmit),
		.unicast_rcv_packets = cpu_to_be64(uni_rcv),
		.multicast_xmit_packets = cpu_to_be64(multi_xmit),
		.multicast_rcv_packets = cpu_to_be64(multi_rcv),
	};
	memcpy(data, &c, sizeof(c));
	return 0;
}

static u16 attribute(struct shca_pma_mad *out, bool set,
		     const struct shca_pma_ports *ports)
{
	if (out->hdr.base_version != 1 || out->hdr.class_version != 1)
		return SHCA_MAD_STATUS_BAD_VERSION;

	switch (be16_to_cpu(out->hdr.attr_id)) {
	case SHCA_PMA_CLASS_PORT_INFO:
		return set ? SHCA_MAD_STATUS_BAD_ATTR :
			     class_port_info(out->data, ports);
	case SHCA_PMA_PORT_COUNTERS:
		return port_counters(out->data, set, ports);
	case SHCA_PMA_PORT_COUNTERS_EXT:
		return port_counters_ext(out->data, set, ports);
	default:
		return SHCA_MAD_STATUS_BAD_ATTR;
	}
}

/**
 * shca_pma_mad - answer a MAD
 * @in: the MAD, from anywhere
 * @out: the reply; may not be @in
 * @ports: the counters it may ask for
 *
 * Context: any; the caller guards the baseline.
 * Return: SHCA_MAD_REPLY with @out complete, _CONSUMED, or _NOT_OURS for
 * responses, traps, and other classes.
 */
enum shca_mad_result shca_pma_mad(const struct shca_pma_mad *in,
				  struct shca_pma_mad *out,
				  const struct shca_pma_ports *ports)
{
	u8 method = in->hdr.method;
	u16 status;

	if (in->hdr.mgmt_class != SHCA_MAD_CLASS_PERF)
		return SHCA_MAD_NOT_OURS;
	if (method == SHCA_MAD_TRAP_REPRESS)
		return SHCA_MAD_CONSUMED;
	if (method != SHCA_MAD_GET && method != SHCA_MAD_SET)
		return SHCA_MAD_NOT_OURS;

	*out = *in;
	status = attribute(out, method == SHCA_MAD_SET, ports);
	out->hdr.method = SHCA_MAD_GET_RESP;
	out->hdr.status = cpu_to_be16(status);
	return SHCA_MAD_REPLY;
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Management datagrams (IBA 13.4.3) and the attributes of the performance
 * management class (16.1.3): layouts, plain fields in network byte order.
 */
#ifndef _SHCA_MAD_H
#define _SHCA_MAD_H

#include "types.h"

#define SHCA_MAD_SIZE			256

#define SHCA_MAD_CLASS_PERF		0x04

#define SHCA_MAD_GET			0x01
#define SHCA_MAD_SET			0x02
#define SHCA_MAD_TRAP_REPRESS		0x07
#define SHCA_MAD_GET_RESP		0x81

/* What became of a MAD that an agent was given */
enum shca_mad_result {
	SHCA_MAD_NOT_OURS,
	SHCA_MAD_CONSUMED,	/* no reply */
	SHCA_MAD_REPLY,
};

#define SHCA_MAD_STATUS_BAD_VERSION	0x0004
#define SHCA_MAD_STATUS_BAD_METHOD	0x0008
#define SHCA_MAD_STATUS_BAD_ATTR	0x000c	/* method and attribute */
#define SHCA_MAD_STATUS_BAD_VALUE	0x001c

struct shca_mad_hdr {
	u8 base_version;
	u8 mgmt_class;
	u8 class_version;
	u8 method;
	__be16 status;
	__be16 class_specific;
	__be64 tid;
	__be16 attr_id;
	__be16 rsvd;
	__be32 attr_mod;
} __packed;

/** struct shca_pma_mad - of the class PERF */
struct shca_pma_mad {
	struct shca_mad_hdr hdr;
	u8 rsvd[40];
	u8 data[192];
} __packed;

#define SHCA_PMA_CLASS_PORT_INFO	0x0001
#define SHCA_PMA_PORT_COUNTERS		0x0012
#define SHCA_PMA_PORT_COUNTERS_EXT	0x001d

/* CapabilityMask: PortSelect 255 means the sum of all ports */
#define SHCA_PMA_CAP_ALL_PORTS		0x0100
/* PortCountersExtended is there, with unicast and multicast */
#define SHCA_PMA_CAP_EXT_WIDTH		0x0200
#define SHCA_PMA_ALL_PORTS		0xff

/** struct shca_class_port_info - 13.4.8.1 */
struct shca_class_port_info {
	u8 base_version;
	u8 class_version;
	__be16 capability_mask;
	__be32 cap_mask2_resp_time;	/* CapabilityMask2 (27), RespTimeValue (5) */
	u8 redirect_gid[16];
	__be32 redirect_tc_sl_fl;
	__be16 redirect_lid;
	__be16 redirect_pkey;
	__be32 redirect_qp;
	__be32 redirect_qkey;
	u8 trap_gid[16];
	__be32 trap_tc_sl_fl;
	__be16 trap_lid;
	__be16 trap_pkey;
	__be32 trap_hl_qp;
	__be32 trap_qkey;
} __packed;

/** struct shca_pma_counters - PortCounters, 16.1.3.5 */
struct shca_pma_counters {
	u8 rsvd;
	u8 port_select;
	__be16 counter_select;
	__be16 symbol_errors;
	u8 link_recoveries;
	u8 link_downed;
	__be16 rcv_errors;
	__be16 rcv_remote_phys_errors;
	__be16 rcv_switch_relay_errors;
	__be16 xmit_discards;
	u8 xmit_constraint_errors;
	u8 rcv_constraint_errors;
	u8 counter_select2;
	u8 integrity_overrun;		/* LocalLinkIntegrity, BufferOverrun */
	__be16 rsvd2;
	__be16 vl15_dropped;
	__be32 xmit_data;		/* in units of four bytes */
	__be32 rcv_data;
	__be32 xmit_packets;
	__be32 rcv_packets;
	__be32 xmit_wait;
} __packed;

/* CounterSelect of PortCounters: those that ever count here */
#define SHCA_PMA_SEL_LINK_DOWNED	0x0004
#define SHCA_PMA_SEL_RCV_ERRORS		0x0008
#define SHCA_PMA_SEL_RELAY_ERRORS	0x0020
#define SHCA_PMA_SEL_XMIT_DISCARDS	0x0040
#define SHCA_PMA_SEL_VL15_DROPPED	0x0800
#define SHCA_PMA_SEL_XMIT_DATA		0x1000
#define SHCA_PMA_SEL_RCV_DATA		0x2000
#define SHCA_PMA_SEL_XMIT_PACKETS	0x4000
#define SHCA_PMA_SEL_RCV_PACKETS	0x8000

/** struct shca_pma_counters_ext - PortCountersExtended, 16.1.4.11 */
struct shca_pma_counters_ext {
	u8 rsvd;
	u8 port_select;
	__be16 counter_select;
	__be32 counter_select2;
	__be64 xmit_data;		/* in units of four bytes */
	__be64 rcv_data;
	__be64 xmit_packets;
	__be64 rcv_packets;
	__be64 unicast_xmit_packets;
	__be64 unicast_rcv_packets;
	__be64 multicast_xmit_packets;
	__be64 multicast_rcv_packets;
} __packed;

/* CounterSelect of PortCountersExtended */
#define SHCA_PMA_SELX_XMIT_DATA		0x0001
#define SHCA_PMA_SELX_RCV_DATA		0x0002
#define SHCA_PMA_SELX_XMIT_PACKETS	0x0004
#define SHCA_PMA_SELX_RCV_PACKETS	0x0008
#define SHCA_PMA_SELX_UNI_XMIT_PACKETS	0x0010
#define SHCA_PMA_SELX_UNI_RCV_PACKETS	0x0020
#define SHCA_PMA_SELX_MULTI_XMIT_PACKETS	0x0040
#define SHCA_PMA_SELX_MULTI_RCV_PACKETS	0x0080

static_assert(sizeof(struct shca_mad_hdr) == 24);
static_assert(sizeof(struct shca_pma_mad) == SHCA_MAD_SIZE);
static_assert(offsetof(struct shca_pma_mad, data) == 64);
static_assert(sizeof(struct shca_class_port_info) == 72);
static_assert(sizeof(struct shca_pma_counters) == 44);
static_assert(offsetof(struct shca_pma_counters, xmit_data) == 24);
static_assert(sizeof(struct shca_pma_counters_ext) == 72);

#endif /* _SHCA_MAD_H */

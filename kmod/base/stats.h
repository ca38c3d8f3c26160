/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of a device: per CPU, monotonic, 64 bits.  The table is the single
 * list; sysfs hw_counters, netlink and the PMA read it by the same index.
 * Bytes of tx_bytes and rx_bytes run from the BTH to the ICRC; on a native
 * InfiniBand port from the LRH.
 */
#ifndef _SHCA_STATS_H
#define _SHCA_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

/* Packets that come to nothing; the reasons of the tracepoint softhca:drop */
#define SHCA_DROPS(x)				\
	x(tx_local_drops)			\
	x(tx_no_route)				\
	x(rx_bad_response)			\
	x(rx_drop_malformed)			\
	x(rx_drop_icrc)				\
	x(rx_drop_qpn)				\
	x(rx_drop_address)			\
	x(rx_drop_pkey)				\
	x(rx_drop_qkey)				\
	x(rx_drop_opcode)			\
	x(rx_drop_state)			\
	x(rx_drop_inbox)			\
	x(rx_drop_no_rwqe)			\
	x(rx_drop_length)			\
	x(rx_drop_vl15)

/*
 * Those that a queue pair counts too, in the same meaning, but that a multicast
 * packet is received once by the device and once by each QP of the group.  They
 * come first, since ib_core reads counters of QPs by the index of the port's
 * (verbs/counter.c).
 */
#define SHCA_QP_STATS(x)			\
	x(tx_packets)				\
	x(rx_packets)				\
	x(tx_bytes_referenced)			\
	x(tx_bytes_copied)			\
	x(tx_retransmits)			\
	x(rx_rnr_naks)				\
	x(ack_timeouts)

#define SHCA_STATS(x)				\
	SHCA_QP_STATS(x)			\
	x(tx_bytes)				\
	x(rx_bytes)				\
	x(rx_bytes_copied)			\
	x(local_bytes_copied)			\
	x(local_packets)			\
	x(tx_acks)				\
	x(tx_naks)				\
	x(tx_rnr_naks)				\
	x(rx_acks)				\
	x(rx_naks)				\
	x(rx_duplicates)			\
	x(rx_out_of_sequence)			\
	x(retry_exceeded)			\
	x(rnr_retry_exceeded)			\
	x(doorbells)				\
	x(cq_events)				\
	x(cq_overruns)				\
	x(qp_errors)				\
	x(tx_multicast_packets)			\
	x(rx_multicast_packets)			\
	x(link_downed)				\
	SHCA_DROPS(x)

enum shca_stat {
#define x(name) SHCA_STAT_##name,
	SHCA_STATS(x)
#undef x
	SHCA_STAT_COUNT,
};

enum {
#define x(name) + 1
	SHCA_QP_STAT_COUNT = 0 SHCA_QP_STATS(x),
#undef x
};

struct shca_stats {
	u64 v[SHCA_STAT_COUNT];
};

extern const char *const shca_stat_names[SHCA_STAT_COUNT];

u64 shca_stats_sum(const struct shca_stats __percpu *stats, enum shca_stat i);

#endif /* _SHCA_STATS_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of a queue pair, both sides together.
 */
#ifndef _SHCA_QP_STATS_H
#define _SHCA_QP_STATS_H

#include <linux/types.h>

struct shca_qp;

/**
 * struct shca_qp_stats - what a queue pair has done since it was created
 * @tx_bytes: payload sent, without repeats
 * @rx_bytes: payload accepted
 * @tx_packets: packets sent, with repeats
 * @rx_packets: packets received
 * @tx_messages: send WQEs that ended well
 * @rx_messages: receive WQEs that did
 * @tx_bytes_referenced: payload handed to the link by reference
 * @tx_bytes_copied: payload handed to it as a copy
 * @tx_retransmits: packets sent again
 * @rx_rnr_naks: times the peer was not ready
 * @ack_timeouts: times an answer did not come
 */
struct shca_qp_stats {
	u64 tx_bytes;
	u64 rx_bytes;
	u64 tx_packets;
	u64 rx_packets;
	u64 tx_messages;
	u64 rx_messages;
	u64 tx_bytes_referenced;
	u64 tx_bytes_copied;
	u64 tx_retransmits;
	u64 rx_rnr_naks;
	u64 ack_timeouts;
};

void shca_qp_stats(const struct shca_qp *qp, struct shca_qp_stats *s);

#endif /* _SHCA_QP_STATS_H */

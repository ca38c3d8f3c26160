// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters of a queue pair; each side's runner counts its own. */
#include "qp.h"
#include "qp_stats.h"

/**
 * shca_qp_stats - read the counters of a queue pair
 * @qp: the QP
 * @s: filled in
 *
 * The runners go on meanwhile: each value is right, but they need not be of the
 * same moment.
 *
 * Context: any.
 */
void shca_qp_stats(const struct shca_qp *qp, struct shca_qp_stats *s)
{
	const struct shca_sq *sq = &qp->sq;
	const struct shca_rq *rq = &qp->rq;

	s->tx_bytes = READ_ONCE(sq->tx_bytes) + READ_ONCE(rq->tx_bytes);
	s->rx_bytes = READ_ONCE(sq->rx_bytes) + READ_ONCE(rq->rx_bytes);
	s->tx_packets = READ_ONCE(sq->tx_packets) + READ_ONCE(rq->tx_packets);
	s->rx_packets = READ_ONCE(sq->rx_packets) + READ_ONCE(rq->rx_packets);
	s->tx_messages = READ_ONCE(sq->messages);
	s->rx_messages = READ_ONCE(rq->messages);
	s->tx_bytes_referenced = READ_ONCE(sq->tx_referenced) +
				 READ_ONCE(rq->tx_referenced);
	s->tx_bytes_copied = READ_ONCE(sq->tx_copied) +
			     READ_ONCE(rq->tx_copied);
	s->tx_retransmits = READ_ONCE(sq->retransmits);
	s->rx_rnr_naks = READ_ONCE(sq->rnr_naks);
	s->ack_timeouts = READ_ONCE(sq->timeouts);
}

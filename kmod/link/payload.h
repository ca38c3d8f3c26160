/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The payload of a packet to be sent: by reference or copied. */
#ifndef _SHCA_PAYLOAD_H
#define _SHCA_PAYLOAD_H

#include "link.h"

bool shca_payload_may_refer(const struct shca_tx_pkt *pkt,
			    const struct shca_ref *ref);
int shca_payload_put(struct sk_buff *skb, u32 crc,
		     const struct shca_tx_pkt *pkt, const struct shca_ref *ref,
		     bool refer);

#endif /* _SHCA_PAYLOAD_H */

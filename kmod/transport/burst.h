/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Putting a burst together: headers, and references to checked memory. */
#ifndef _SHCA_BURST_H
#define _SHCA_BURST_H

#include "../link/link.h"

struct shca_qp;
struct shca_sge;

struct shca_burst *shca_burst_alloc(void);
struct shca_tx_pkt *shca_burst_pkt(struct shca_burst *b, u8 hdr_len);
bool shca_burst_room(const struct shca_burst *b, u32 limit);
int shca_burst_sges(struct shca_burst *b, struct shca_qp *qp,
		    const struct shca_sge *sge, u32 nsge, int access,
		    u32 offset, u32 len);
int shca_burst_key(struct shca_burst *b, struct shca_qp *qp, u32 key,
		   int access, u64 addr, u32 len);
void shca_burst_bytes(struct shca_burst *b, const void *data, u32 len);
int shca_burst_xmit(struct shca_burst *b, struct shca_qp *qp,
		    struct shca_flow *flow, unsigned int *sent);
void shca_burst_drop(struct shca_burst *b);

#endif /* _SHCA_BURST_H */

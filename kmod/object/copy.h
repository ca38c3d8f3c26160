/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Copying received payload to where it belongs: the one copy of a receive. */
#ifndef _SHCA_COPY_H
#define _SHCA_COPY_H

#include <linux/skbuff.h>

#include "../uapi/softhca-abi.h"

struct shca_dev;
struct shca_pd;

/**
 * struct shca_src - what is copied
 * @skb: a packet, or NULL
 * @off: where in it the data begins
 * @buf: the data, if @skb is NULL
 * @len: bytes
 */
struct shca_src {
	const struct sk_buff *skb;
	int off;
	const void *buf;
	u32 len;
};

int shca_copy_to_key(struct shca_dev *dev, const struct shca_pd *pd, u32 key,
		     int access, u64 addr, const struct shca_src *src);
int shca_copy_to_sges(struct shca_dev *dev, const struct shca_pd *pd,
		      const struct shca_sge *sge, u32 nsge, u32 offset,
		      const struct shca_src *src);
int shca_sges_check(struct shca_dev *dev, const struct shca_pd *pd,
		    const struct shca_sge *sge, u32 nsge, int access);

#endif /* _SHCA_COPY_H */

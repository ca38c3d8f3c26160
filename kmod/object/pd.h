/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A protection domain: only its identity counts. */
#ifndef _SHCA_PD_H
#define _SHCA_PD_H

#include <rdma/ib_verbs.h>

struct shca_pd {
	struct ib_pd ib;
};

static inline struct shca_pd *to_shca_pd(struct ib_pd *ib)
{
	return container_of(ib, struct shca_pd, ib);
}

#endif /* _SHCA_PD_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Why the kernel has refused something, as far as the caller can know. */
#ifndef SHCA_WHY_H
#define SHCA_WHY_H

#include <infiniband/verbs.h>

/* Known to pkg/trace, which has a sentence for each. */
enum shca_why {
	SHCA_WHY_UNKNOWN,
	SHCA_WHY_NO_GRH,
	SHCA_WHY_GID_INDEX,
	SHCA_WHY_MTU,
	SHCA_WHY_UNREACHABLE,
	SHCA_WHY_STATE,
	SHCA_WHY_READS,
};

enum shca_why shca_why_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
			      int mask, int err);

#endif /* SHCA_WHY_H */

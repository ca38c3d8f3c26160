/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Records that found the ring buffer full; package trace reports them. */
#ifndef SOFTHCA_BPF_LOST_H
#define SOFTHCA_BPF_LOST_H

#include "count.h"

COUNTER(lost);

static __always_inline void count_lost(void)
{
	count(&lost);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters, a cell for each CPU; package trace adds them up. */
#ifndef SOFTHCA_BPF_COUNT_H
#define SOFTHCA_BPF_COUNT_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#define COUNTER(name)					\
struct {						\
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);	\
	__uint(max_entries, 1);				\
	__type(key, __u32);				\
	__type(value, __u64);				\
} name SEC(".maps")

static __always_inline void count(void *counter)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(counter, &zero);

	if (n)
		*n += 1;
}

#endif

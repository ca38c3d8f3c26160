/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Records that found the ring buffer full; package trace reports them. */
#ifndef SOFTHCA_BPF_LOST_H
#define SOFTHCA_BPF_LOST_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static __always_inline void count_lost(void)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&lost, &zero);

	if (n)
		*n += 1;
}

#endif

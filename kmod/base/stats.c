// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names and sums of a device's counters. */
#include "stats.h"

const char *const shca_stat_names[SHCA_STAT_COUNT] = {
#define x(name) #name,
	SHCA_STATS(x)
#undef x
};

/**
 * shca_stats_sum - value of one counter over all CPUs
 * @stats: the device's counters
 * @i: which
 *
 * A counter may advance while it is summed; each increment is seen once.
 *
 * Context: any.
 * Return: the sum.
 */
u64 shca_stats_sum(const struct shca_stats __percpu *stats, enum shca_stat i)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->v[i]);
	return sum;
}

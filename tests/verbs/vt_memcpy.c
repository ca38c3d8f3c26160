// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_memcpy: the bench's yardstick.  One line a size: BYTES MIB-PER-SECOND.
 * Under -icount a second is 1e9 instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

int main(void)
{
	static const size_t sizes[] = { 64, 4096, 65536, 1 << 20 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t size = sizes[i], total = 0;
		char *a = aligned_alloc(4096, MAX(size, 4096));
		char *b = aligned_alloc(4096, MAX(size, 4096));
		uint64_t start, took;

		require(a && b, "no memory");
		memset(a, 1, size);
		memset(b, 2, size);
		start = vt_now_us();
		do {
			for (size_t n = 0; n < 1 << 20; n += size) {
				memcpy(b, a, size);
				__asm__ volatile("" : : "r"(b) : "memory");
			}
			total += 1 << 20;
			took = vt_now_us() - start;
		} while (took < 50000);
		printf("%zu %.1f\n", size, total / 1.048576 / took);
		free(a);
		free(b);
	}
	return 0;
}

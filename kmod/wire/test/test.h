/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counts checks.  A program of tests ends with: return test_end(); */
#ifndef _SHCA_TEST_H
#define _SHCA_TEST_H

#include <stdbool.h>
#include <stdio.h>

/* One of each in a program, however many of its files check something */
__attribute__((weak)) int test_passed, test_failed;

#define CHECK(cond, fmt, ...) do {					\
	if (cond) {							\
		test_passed++;						\
	} else {							\
		test_failed++;						\
		printf("%s:%d: %s: " fmt "\n", __FILE__, __LINE__,	\
		       #cond, ##__VA_ARGS__);				\
	}								\
} while (0)

static inline int test_end(void)
{
	printf("%d passed, %d failed\n", test_passed, test_failed);
	return test_failed ? 1 : 0;
}

#endif /* _SHCA_TEST_H */

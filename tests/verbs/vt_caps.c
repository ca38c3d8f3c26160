// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_caps: what a device says of itself, and what it accepts, is what it does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define MS	5000

/* ---- keys ------------------------------------------------------------ */

#define KEYS	1000	/* more than fit the 8 bits that are left to chance */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The key of a region that is gone is not that of one of the next. */
static void keys(struct vt_dev *dev)
{
	static uint32_t key[KEYS];
	static uint8_t byte;

	for (int i = 0; i < KEYS; i++) {
		struct ibv_mr *mr = ibv_reg_mr(dev->pd, &byte, 1, 0);

		vt_step("region %d", i);
		require(mr, "reg_mr: %m");
		key[i] = mr->rkey;
		require(!ibv_dereg_mr(mr), "dereg_mr");
	}
	qsort(key, KEYS, sizeof(key[0]), by_value);
	for (int i = 1; i < KEYS; i++)
		require(key[i] != key[i - 1], "two regions had key 0x%x",
			key[i]);
	printf("keys: %d regions, none with the key of another: ok\n", KEYS);
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct vt_dev *da, *db;

	vt_pair_parse(&pair, argc, argv, NULL);
	vt_pair_open(&pair, &da, &db);
	keys(da);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_caps: ok\n");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma dev set NAME name OTHER: ib_core renames, listeners are told.  ib_core
 * tells its clients only, so we are one, of our own devices among others.
 */
#include <rdma/ib_verbs.h>

#include "../verbs/device.h"
#include "ctl.h"

static void renamed(struct ib_device *ib, void *client_data)
{
	shca_device_renamed(ib);
}

static struct ib_client client = {
	.name = "softhca",
	.rename = renamed,
};

/**
 * shca_rename_init - begin to listen
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int shca_rename_init(void)
{
	return ib_register_client(&client);
}

/**
 * shca_rename_exit - the mirror; waits for calls under way
 *
 * Context: module exit.
 */
void shca_rename_exit(void)
{
	ib_unregister_client(&client);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* 6.18: a flow holds a DSCP, no longer a TOS byte. */
#include <net/flow.h>
#include <net/inet_dscp.h>

void shca_probe(struct flowi4 *fl4)
{
	fl4->flowi4_dscp = inet_dsfield_to_dscp(0);
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Notices: what a node tells the subnet manager of its own accord, as SMPs
 * ready to be sent (IBA 13.4.9, 14.2.5.1).  Pure code.
 */
#ifndef _SHCA_NOTICE_H
#define _SHCA_NOTICE_H

#include "../base/node.h"

/* What has changed */
#define SHCA_NOTICE_LINK	0x01	/* a link of a switch came or went */
#define SHCA_NOTICE_CAP		0x02	/* capabilities of a port */
#define SHCA_NOTICE_DESC	0x04	/* NodeDescription */

void shca_notice_change(struct shca_node *n, u8 port, u8 what);
bool shca_notice_take_change(struct shca_node *n, u8 port, u64 now, u32 *tid,
			     struct shca_smp *smp, u64 *wait);
bool shca_notice_bad_m_key(struct shca_node *n, u8 port, u64 now, u32 *tid,
			   const struct shca_smp *bad, struct shca_smp *smp);
bool shca_notice_bad_key(struct shca_node *n, u8 port, u64 now, u32 *tid,
			 const struct shca_key_violation *v,
			 struct shca_smp *smp);

#endif /* _SHCA_NOTICE_H */

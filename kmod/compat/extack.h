/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * shca_extack(extack, fmt, ...): a refusal with names and numbers in it.
 *
 * struct netlink_ext_ack has room for a pointer only before 6.2, and for 80
 * bytes of text since, too few for a sentence that says what to do.
 */
#ifndef _SHCA_COMPAT_EXTACK_H
#define _SHCA_COMPAT_EXTACK_H

#include <linux/netlink.h>

__printf(2, 3)
void shca_extack(struct netlink_ext_ack *extack, const char *fmt, ...);

#endif /* _SHCA_COMPAT_EXTACK_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * shca_extack(extack, fmt, ...): a refusal with names and numbers in it.
 *
 * Before 6.2 struct netlink_ext_ack has room for a pointer only, so the text
 * goes to one of a few buffers that are used in turn: it must last until the
 * reply is written, soon after the operation returned.
 */
#ifndef _SHCA_COMPAT_EXTACK_H
#define _SHCA_COMPAT_EXTACK_H

#include <linux/netlink.h>

#include "generated.h"

#ifdef HAVE_NL_SET_ERR_MSG_FMT
#define shca_extack(extack, fmt, ...) \
	NL_SET_ERR_MSG_FMT(extack, fmt, ##__VA_ARGS__)
#else
__printf(2, 3)
void shca_extack(struct netlink_ext_ack *extack, const char *fmt, ...);
#endif

#endif /* _SHCA_COMPAT_EXTACK_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A device's name that was chosen by the administrator: udev keeps it. */
#ifndef _SHCA_COMPAT_IB_DEVICE_H
#define _SHCA_COMPAT_IB_DEVICE_H

#include <rdma/ib_verbs.h>

#include "generated.h"

static inline void shca_mark_name(struct ib_device *ib)
{
#ifdef HAVE_IB_MARK_NAME
	ib_mark_name_assigned_by_user(ib);
#endif
}

#endif /* _SHCA_COMPAT_IB_DEVICE_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What newer cores do with a device by themselves. */
#ifndef _SHCA_COMPAT_IB_DEVICE_H
#define _SHCA_COMPAT_IB_DEVICE_H

#include <rdma/ib_verbs.h>

#include "generated.h"

/* udev keeps a name that was chosen by the administrator. */
static inline void shca_mark_name(struct ib_device *ib)
{
#ifdef HAVE_IB_MARK_NAME
	ib_mark_name_assigned_by_user(ib);
#endif
}

/* Does the core report what happens to the netdev of a port? */
static inline bool shca_core_tells_port_events(void)
{
#ifdef HAVE_CORE_PORT_EVENTS
	return true;
#else
	return false;
#endif
}

#endif /* _SHCA_COMPAT_IB_DEVICE_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Dropping a packet: whoever does it says why, once for counter and trace. */
#ifndef _SHCA_DROP_H
#define _SHCA_DROP_H

#include "device.h"
#include "trace_packet.h"

/**
 * shca_drop - note that a packet comes to nothing
 * @dev: the device it is counted on
 * @why: one of SHCA_DROPS
 * @qpn: destination QP, 0 if it is not known
 * @psn: of the packet, 0 if it is not known
 * @opcode: of its BTH, SHCA_TRACE_NO_OPCODE if it is not known
 *
 * Context: any.
 */
static inline void shca_drop(struct shca_dev *dev, enum shca_stat why, u32 qpn,
			     u32 psn, u32 opcode)
{
	this_cpu_inc(dev->stats->v[why]);
	trace_drop(dev, qpn, psn, opcode, why);
}

#endif /* _SHCA_DROP_H */

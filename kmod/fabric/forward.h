/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Where a switch sends a packet: by its LID (IBA 18.2.4), or along the path
 * that a directed-route SMP carries (14.2.2).  Pure code, built in user space
 * too.
 */
#ifndef _SHCA_FORWARD_H
#define _SHCA_FORWARD_H

#include "../base/node.h"

/* What is done with a packet */
enum shca_fwd_verdict {
	SHCA_FWD_OUT,		/* it leaves by one port or several */
	SHCA_FWD_LOCAL,		/* it is for the switch itself */
	SHCA_FWD_DIRECTED,	/* ask shca_forward_directed() */
	SHCA_FWD_BY_LID,	/* directed: the path ends, a LID is given */
	SHCA_FWD_DROP,
};

/* Why a packet is dropped; each has a counter */
enum shca_fwd_why {
	SHCA_FWD_NO_ROUTE,	/* no such LID or port, or back where it came from */
	SHCA_FWD_STATE,		/* a port is not in the state for data */
	SHCA_FWD_VL15,		/* management that breaks the rules */
	SHCA_FWD_VL,		/* its SL has no VL at the way out */
	SHCA_FWD_ERROR,		/* for the switch itself, which finds no MAD in it */
};

/**
 * struct shca_fwd - the answer
 * @verdict: what to do
 * @why: with SHCA_FWD_DROP
 * @ports: with SHCA_FWD_OUT: bit n is external port n; with SHCA_FWD_DROP: the one
 *	that it would have left by, if that is why
 * @lid: with SHCA_FWD_BY_LID: the destination
 */
struct shca_fwd {
	enum shca_fwd_verdict verdict;
	enum shca_fwd_why why;
	u64 ports;
	u16 lid;
};

struct shca_fwd shca_forward(const struct shca_node *n, u8 in,
			     const struct shca_lrh *l);
struct shca_fwd shca_forward_directed(const struct shca_node *n, u8 in,
				      bool by_lid, struct shca_smp *smp);

#endif /* _SHCA_FORWARD_H */

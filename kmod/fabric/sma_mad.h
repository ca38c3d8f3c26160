/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The subnet management agent proper: what a SMP does to a node.  Pure code,
 * built in user space too; the caller guards the node.
 */
#ifndef _SHCA_SMA_MAD_H
#define _SHCA_SMA_MAD_H

#include "../base/node.h"

/* What a Set changed, for the caller to act on */
#define SHCA_SMA_LID		0x0001	/* LID or LMC */
#define SHCA_SMA_SM		0x0002	/* the SM's LID or SL */
#define SHCA_SMA_PREFIX		0x0004	/* the subnet's, hence the GID */
#define SHCA_SMA_PKEY		0x0008
#define SHCA_SMA_REREGISTER	0x0010	/* the SM wants to hear of all joins */
#define SHCA_SMA_STATE		0x0020	/* the port's, to what it is now */
#define SHCA_SMA_MTU		0x0040
#define SHCA_SMA_TIMEOUT	0x0080	/* SubnetTimeOut, for which traps wait */
/* What it asks the caller to do once the reply is out */
#define SHCA_SMA_BOUNCE		0x0100	/* take the link down and up */
#define SHCA_SMA_DISABLE	0x0200
#define SHCA_SMA_ENABLE		0x0400
/* The M_Key was wrong: nobody gets a reply, the SM a trap */
#define SHCA_SMA_BAD_M_KEY	0x0800

/**
 * struct shca_sma_call - a SMP and what becomes of it
 * @in: the SMP, from anywhere; hop pointer and paths are not looked at
 * @out: the reply; may not be @in
 * @port: it came in on; 0: from within a switch
 * @trusted: it is not from the subnet, so needs no M_Key
 * @now: seconds since anything, for the M_Key's lease
 * @changed: SHCA_SMA_*, set
 * @changed_port: whose
 * @was: the state that this port was in, with SHCA_SMA_STATE
 */
struct shca_sma_call {
	const struct shca_smp *in;
	struct shca_smp *out;
	u8 port;
	bool trusted;
	u64 now;
	u32 changed;
	u8 changed_port;
	u8 was;
};

enum shca_mad_result shca_sma_mad(struct shca_node *n,
				  struct shca_sma_call *c);

/* sma_port.c and sma_switch.c, for sma_mad.c; they return a MAD status */
u16 shca_sma_port_info(struct shca_node *n, struct shca_sma_call *c, bool set,
		       bool m_key_ok);
u16 shca_sma_switch_info(struct shca_node *n, u8 *data, u32 mod, bool set);
u16 shca_sma_linear_ft(struct shca_node *n, u8 *data, u32 mod, bool set);
u16 shca_sma_mcast_ft(struct shca_node *n, u8 *data, u32 mod, bool set);

#endif /* _SHCA_SMA_MAD_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a cable to another host puts between the UDP header and a packet's LRH.
 *
 * A hello, which has no packet, says whether there is a port at this end of the
 * cable, and whom it has heard at the other.  Both kinds begin with the version, and have
 * the cable's number at the same place in every version.
 */
#ifndef _SHCA_SHIM_H
#define _SHCA_SHIM_H

#include "lrh.h"
#include "types.h"

#define SHCA_SHIM_UDP_PORT	47911	/* unless told otherwise */
#define SHCA_SHIM_VERSION	1

/* LRH has no hop count; this ends routing loops (IBA allows 63 hops) */
#define SHCA_HOPS_MAX		64

enum {
	SHCA_SHIM_PACKET,	/* a packet follows, from LRH to ICRC */
	SHCA_SHIM_HELLO,	/* see struct shca_hello */
};

#define SHCA_HELLO_WANT		0x01	/* our port wants a link */

/**
 * struct shca_shim - the shim
 * @version: SHCA_SHIM_VERSION
 * @kind: SHCA_SHIM_*
 * @hops: of a packet: cables it has passed, this one included; else 0
 * @flags: of a hello: SHCA_HELLO_*; else 0
 * @id: number of the cable, the same at both ends
 */
struct shca_shim {
	u8 version;
	u8 kind;
	u8 hops;
	u8 flags;
	__be32 id;
} __packed;

/**
 * struct shca_hello - a hello
 * @shim: the shim
 * @session: a random number, not 0, another one whenever the sender's end of the
 *	link went down for a reason of its own
 * @heard: session of the last hello from the other end; 0 if there was none
 *	lately
 *
 * An end takes its link down when the other's session changes, and has none
 * until its own session was heard.  So no end comes up again before the other
 * one was down, which a subnet manager would not get over: it is told of links
 * by one end alone, if at all.
 */
struct shca_hello {
	struct shca_shim shim;
	__be32 session;
	__be32 heard;
} __packed;

static_assert(sizeof(struct shca_shim) == 8);
static_assert(sizeof(struct shca_hello) == 16);

bool shca_shim_ok(const struct shca_shim *s, size_t len);

#endif /* _SHCA_SHIM_H */

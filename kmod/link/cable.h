/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Cables of an InfiniBand fabric, and the sockets they plug into.
 *
 * A plug is the socket of one port, an adapter's or a switch's.  A cable joins
 * two of this host, or one with another host (remote.c).  A packet is a skb with
 * its data at the LRH.  Handing one to a cable only queues it, at the far plug
 * or in front of a UDP socket, whose work takes it from there: so no call goes
 * from port to port, however long the way.
 */
#ifndef _SHCA_CABLE_H
#define _SHCA_CABLE_H

#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/workqueue.h>

#include "../base/node.h"
#include "../wire/shim.h"

struct net;
struct shca_cable;
struct shca_plug;

/**
 * struct shca_plug_ops - a port, as its plug sees it
 * @receive: take a packet; consumed. The frame's control block
 *	(shca_frame()) is valid. BHs are off, under RCU. Returns to how many it
 *	was handed
 * @link: the link came, went or was disabled; process context, under
 *	shca_cable_mutex
 * @violation: an adapter's: a packet for it has a key that it does not take; BHs
 *	off or process context
 * @name: write the name of the node; under shca_cable_mutex, so that the node is
 *	there
 */
struct shca_plug_ops {
	u32 (*receive)(struct shca_plug *plug, struct sk_buff *skb);
	void (*link)(struct shca_plug *plug, enum shca_node_link link);
	void (*violation)(struct shca_plug *plug,
			  const struct shca_key_violation *v);
	void (*name)(struct shca_plug *plug, char *name, size_t size);
};

/**
 * struct shca_plug - where a cable goes in
 * @ops: its port
 * @port: number of the port
 * @cable: what is plugged in; written under shca_cable_mutex, read under RCU
 * @enabled: the port wants a link; under shca_cable_mutex
 * @closed: its node is going; written under shca_cable_mutex, and a grace period
 *	later nothing is queued
 * @queue: packets for the port (own lock of the list; a leaf)
 * @work: hands them to the port, one at a time
 * @todo: SHCA_PLUG_* to do later
 * @later: does them
 */
struct shca_plug {
	const struct shca_plug_ops *ops;
	u8 port;
	struct shca_cable __rcu *cable;
	bool enabled;
	bool closed;
	struct sk_buff_head queue;
	struct work_struct work;
	unsigned long todo;
	struct delayed_work later;
};

/* What shca_plug_later() does, once an answer has had the time to leave */
enum {
	SHCA_PLUG_BOUNCE,
	SHCA_PLUG_DISABLE,
	SHCA_PLUG_ENABLE,
};

/**
 * struct shca_frame - a packet on its way, in skb->cb
 * @hops: cables it has passed
 * @looped: it comes from the port itself
 */
struct shca_frame {
	u8 hops;
	bool looped;
};

static inline struct shca_frame *shca_frame(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct shca_frame) > sizeof(skb->cb));
	return (struct shca_frame *)skb->cb;
}

/* Room in front of the LRH, for the shim of a cable to another host */
#define SHCA_FRAME_HEADROOM	sizeof(struct shca_shim)

void shca_plug_init(struct shca_plug *plug, const struct shca_plug_ops *ops,
		    u8 port);
void shca_plugs_close(struct shca_plug *first, int n, size_t stride);
int shca_plug_send(struct shca_plug *plug, struct sk_buff *skb);
int shca_plug_loop(struct shca_plug *plug, struct sk_buff *skb);
void shca_plug_later(struct shca_plug *plug, int what);

/**
 * struct shca_cable_end - one end of a cable, for those who list them
 * @node: name of the node
 * @port: number of its port
 */
struct shca_cable_end {
	char node[64];
	u8 port;
};

/**
 * struct shca_far - where the other end of a cable to another host is
 * @addr: IPv4 or IPv6 address and UDP port of that host; the port is ours too
 * @id: number of the cable, the same at both ends
 */
struct shca_far {
	struct sockaddr_storage addr;
	u32 id;
};

/* What is known of the port at the other host */
enum shca_peer_state {
	SHCA_PEER_SILENT,	/* nothing was heard lately */
	SHCA_PEER_DISABLED,	/* it wants no link */
	SHCA_PEER_DEAF,		/* it does not hear us */
	SHCA_PEER_READY,
};

/**
 * struct shca_far_info - the other end of a cable to another host
 * @far: where it is
 * @peer: its state
 * @strangers: datagrams at the UDP port that were of no cable
 * @malformed: datagrams of the peer that were refused
 * @rx_lost: packets of the peer that came without a link, or too fast
 * @tx_lost: packets that did not leave
 */
struct shca_far_info {
	struct shca_far far;
	enum shca_peer_state peer;
	u64 strangers;
	u64 malformed;
	u64 rx_lost;
	u64 tx_lost;
};

/**
 * struct shca_cable_info - a cable, for those who list them
 * @end: its ends; [1] means nothing if @remote
 * @up: there is a link
 * @remote: it goes to another host
 * @far: to where
 */
struct shca_cable_info {
	struct shca_cable_end end[2];
	bool up;
	bool remote;
	struct shca_far_info far;
};

/* What happened to a cable */
enum shca_cable_change {
	SHCA_CABLE_NEW,
	SHCA_CABLE_SET,		/* the link came or went */
	SHCA_CABLE_DEL,
};

/**
 * typedef shca_cable_listen_fn - is told of cables that come, change and go
 * @change: what happened
 * @info: the cable
 *
 * Context: process, may sleep; under shca_cable_mutex.
 */
typedef void shca_cable_listen_fn(enum shca_cable_change change,
				  const struct shca_cable_info *info);

void shca_cable_listen(shca_cable_listen_fn *listen);
int shca_cable_add(struct shca_plug *a, struct shca_plug *b, const char **why);
int shca_cable_add_remote(struct shca_plug *plug, struct net *net,
			  const struct shca_far *far, const char **why);
int shca_cable_del(struct shca_plug *plug);
bool shca_cable_next(u32 *id, struct shca_cable_info *info);

#endif /* _SHCA_CABLE_H */

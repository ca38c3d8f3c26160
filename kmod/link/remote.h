/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Cables to other hosts: what cable.c, remote.c (the other end of one cable) and
 * remote_sock.c (the UDP sockets of all) say to each other.
 */
#ifndef _SHCA_REMOTE_H
#define _SHCA_REMOTE_H

#include <linux/mutex.h>

#include "cable.h"

struct shca_remote_sock;

/**
 * struct shca_remote - the other end of a cable to another host
 * @list: in the list of its socket
 * @sock: the socket
 * @cable: the cable
 * @far: where it is
 * @want: our port wants a link; written under shca_cable_mutex
 * @session: of our hellos; see struct shca_hello
 * @heard: when anything came from the peer, in jiffies
 * @flags: its last hello: SHCA_HELLO_*, or SHCA_NOT_HEARD before there was one, ...
 * @peer_session: ... its session ...
 * @peer_heard: ... and what it has heard; written last, read first
 * @hello: says hello, and looks at what the peer says
 * @hello_ran: jiffies of its last run, which ...
 * @hears: ... found that the peer is heard, ...
 * @ready: ... told the cable that its port is there, ...
 * @hello_session: ... and said our session
 * @hello_peer: ... to this session of the peer's
 * @tx: packets that are to leave (own lock of the list; a leaf)
 * @tx_work: sends them
 * @malformed: see struct shca_far_info, like the next two
 * @rx_lost: packets
 * @tx_lost: packets
 */
struct shca_remote {
	struct list_head list;
	struct shca_remote_sock *sock;
	struct shca_cable *cable;
	struct shca_far far;
	bool want;
	u32 session;
	unsigned long heard;
	u8 flags;
	u32 peer_session;
	u32 peer_heard;
	struct delayed_work hello;
	unsigned long hello_ran;
	bool hears;
	bool ready;
	u32 hello_session;
	u32 hello_peer;
	struct sk_buff_head tx;
	struct work_struct tx_work;
	atomic64_t malformed;
	atomic64_t rx_lost;
	atomic64_t tx_lost;
};

#define SHCA_NOT_HEARD	0xff

/**
 * struct shca_remote_sock - a UDP socket that cables share
 * @list: in its namespace's list; under shca_cable_mutex
 * @net: the namespace
 * @family: AF_INET or AF_INET6
 * @port: UDP port
 * @users: ends that were not freed yet; under shca_cable_mutex
 * @sock: the socket
 * @remotes: ends that use it; written under shca_cable_mutex, read under RCU
 * @strangers: see struct shca_far_info
 */
struct shca_remote_sock {
	struct list_head list;
	struct net *net;
	u16 family;
	__be16 port;
	unsigned int users;
	struct socket *sock;
	struct list_head remotes;
	atomic64_t strangers;
};

/* cable.c */
extern struct mutex shca_cable_mutex;
int shca_cable_queue(struct sk_buff_head *queue, struct sk_buff *skb);
int shca_cable_receive(struct shca_cable *c, struct sk_buff *skb);
void shca_cable_peer(struct shca_cable *c, u32 session, bool bounced,
		     bool ready);
void shca_cables_pull_net(const struct net *net);

/* remote.c */
struct shca_remote *shca_remote_new(struct shca_cable *cable, struct net *net,
				    const struct shca_far *far,
				    const char **why);
void shca_remote_pull(struct shca_remote *r);
void shca_remote_end(struct shca_remote *r);
bool shca_remote_want(struct shca_remote *r, bool want);
void shca_remote_bounce(struct shca_remote *r);
u32 shca_remote_session(const struct shca_remote *r);
int shca_remote_send(struct shca_remote *r, struct sk_buff *skb);
void shca_remote_receive(struct shca_remote *r, struct sk_buff *skb,
			 const struct shca_shim *s);
const struct net *shca_remote_net(const struct shca_remote *r);
void shca_remote_info(const struct shca_remote *r, struct shca_far_info *info);

/* remote_sock.c */
struct shca_remote_sock *shca_remote_sock_get(struct net *net,
					      const struct shca_far *far,
					      const char **why);
void shca_remote_sock_put(struct shca_remote_sock *s);
int shca_remote_sock_init(void);
void shca_remote_sock_exit(void);

#endif /* _SHCA_REMOTE_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RoCEv2: what the files of this link share.  See link.h for the outside. */
#ifndef _SHCA_LINK_ROCE_H
#define _SHCA_LINK_ROCE_H

#include <linux/list.h>
#include <linux/wait.h>
#include <net/net_namespace.h>

#include "crc.h"
#include "link.h"

struct dst_entry;
struct iphdr;
struct ipv6hdr;
struct sock;
struct socket;

#define SHCA_ROCE_PORT	4791

/**
 * struct shca_roce_net - the link in one network namespace
 * @devices: devices open here; changed under the link's mutex, walked under
 *	RCU
 * @sock4: UDP socket for IPv4, there while @devices is not empty; under the
 *	link's mutex
 * @sock6: the same for IPv6, or NULL if this system has none
 * @used: there was a device once; under the link's mutex
 * @idle: woken when @devices becomes empty
 */
struct shca_roce_net {
	struct list_head devices;
	struct socket *sock4;
	struct socket *sock6;
	bool used;
	wait_queue_head_t idle;
};

/* roce_sock.c */
int shca_roce_sock_init(void);
void shca_roce_sock_exit(void);
int shca_roce_open(struct shca_dev *dev, const char **why);
void shca_roce_close(struct shca_dev *dev);

/* roce_route.c */
struct dst_entry *shca_roce_route(struct net *net, struct shca_flow *flow);

/* roce_tx.c */
void shca_roce_ipv4(struct iphdr *ip, struct shca_flow *flow, u32 udp_len);
void shca_roce_ipv6(struct ipv6hdr *ip, const struct shca_av *av, u32 udp_len);
int shca_roce_xmit(struct shca_dev *dev, struct shca_flow *flow,
		   struct shca_burst *b, unsigned int *sent);

/* roce_rx.c */
void shca_roce_rx_init(shca_receive_fn *receive);
int shca_roce_encap_rcv(struct sock *sk, struct sk_buff *skb);
void shca_roce_fill_grh(struct shca_dev *dev, struct sk_buff *skb,
			u8 grh[SHCA_GRH_LEN], struct shca_cqe *cqe);
bool shca_roce_has_gid(struct shca_dev *dev, const union ib_gid *gid,
		       struct net_device *ndev);

/* roce_local.c */
bool shca_roce_leads_back(struct shca_dev *dev, const struct shca_av *av);
bool shca_roce_watched(struct shca_dev *dev);
void shca_roce_local_grh(struct shca_flow *flow, u32 len,
			 u8 grh[SHCA_GRH_LEN], struct shca_cqe *cqe);

#endif /* _SHCA_LINK_ROCE_H */

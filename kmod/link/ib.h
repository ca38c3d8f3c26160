/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The native InfiniBand link: packets with an LRH, on a cable.  What its files
 * share, and what fabric/ uses of it.
 */
#ifndef _SHCA_LINK_IB_H
#define _SHCA_LINK_IB_H

#include "cable.h"
#include "link.h"

/* ib_tx.c */
int shca_ib_xmit(struct shca_dev *dev, struct shca_flow *flow,
		 struct shca_burst *b, unsigned int *sent);

/**
 * typedef shca_tap_fn - told of every packet at the port of a device
 * @dev: the device
 * @skb: the packet, data at the LRH; neither kept nor changed
 * @sent: the device sends it; else it has come
 * @qpn: QP that sends it; of what has come, 0
 *
 * Context: any but hard interrupts, under RCU.
 */
typedef void shca_tap_fn(struct shca_dev *dev, const struct sk_buff *skb,
			 bool sent, u32 qpn);

/* ib.c */
void shca_ib_tap_set(shca_tap_fn *fn);
void shca_ib_tap(struct shca_dev *dev, const struct sk_buff *skb, bool sent,
		 u32 qpn);

/* ib_rx.c */
void shca_ib_rx_init(shca_receive_fn *receive);
u32 shca_ib_receive(struct shca_dev *dev, struct sk_buff *skb);
void shca_ib_bad_qkey(struct shca_dev *dev, const struct sk_buff *skb);
void shca_ib_fill_grh(struct shca_dev *dev, struct sk_buff *skb, u8 grh[40],
		      struct shca_cqe *cqe);

/**
 * struct shca_mad_path - how a MAD is carried
 * @mgmt: on VL 15, from QP0 to QP0; else on VL 0 and with a Q_Key
 * @sl: service level
 * @slid: source
 * @dlid: destination
 * @pkey: P_Key
 * @qkey: Q_Key of one that came; what is sent has QP1's
 * @src_qpn: QP that it is from
 * @dst_qpn: QP that it is for
 */
struct shca_mad_path {
	bool mgmt;
	u8 sl;
	u16 slid;
	u16 dlid;
	u16 pkey;
	u32 qkey;
	u32 src_qpn;
	u32 dst_qpn;
};

/* ib_mad.c */
struct sk_buff *shca_mad_frame(const struct shca_mad_path *path,
			       const void *mad);
const void *shca_mad_of_frame(struct sk_buff *skb, struct shca_mad_path *path);

#endif /* _SHCA_LINK_IB_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a link is: the way a burst of packets reaches the peer.
 *
 * The transport builds a burst, up to SHCA_BURST_MAX consecutive packets of
 * one QP, as headers and references to memory, and hands it to the link, which
 * decides how to carry it.  Receiving is the mirror: the link checks what is
 * its own (addresses, ICRC), finds the QP and hands the packets to the
 * transport through one function pointer.
 */
#ifndef _SHCA_LINK_H
#define _SHCA_LINK_H

#include <linux/skbuff.h>

#include "../base/limits.h"
#include "../object/av.h"
#include "../object/mr.h"
#include "../wire/hdr.h"

struct shca_cqe;
struct shca_dev;
struct shca_mr;
struct shca_qp;

#define SHCA_GRH_LEN	40	/* bytes in front of a datagram's payload */

/**
 * struct shca_tx_pkt - a packet to send
 * @hdr: BTH (with its pad count) and extension headers, ready for the wire
 * @hdr_len: bytes of them
 * @pad: zero bytes after the payload
 * @copy: carry a private copy of the payload, whatever its size: the packet is
 *	sent for the second time, or its memory may change before it is sent
 * @ref: index of the first reference in the burst
 * @nref: how many
 * @payload: bytes of payload, which the references add up to
 */
struct shca_tx_pkt {
	u8 hdr[SHCA_HDR_MAX];
	u8 hdr_len;
	u8 pad;
	bool copy;
	u8 ref;
	u8 nref;
	u32 payload;
};

/**
 * struct shca_burst - consecutive packets of one QP
 * @n: packets
 * @nref: references
 * @nmr: regions
 * @qpn: number of that QP, for who asks where a loss was
 * @referenced: set by xmit: payload bytes handed over as references
 * @copied: set by xmit: payload bytes handed over as copies
 * @pkt: the packets
 * @ref: memory of their payloads, none crosses a page; a link that takes page
 *	references itself does so before xmit returns
 * @mr: regions those lie in, held by the transport until xmit has returned
 */
struct shca_burst {
	u16 n;
	u16 nref;
	u16 nmr;
	u32 qpn;
	u32 referenced;
	u32 copied;
	struct shca_tx_pkt pkt[SHCA_BURST_MAX];
	struct shca_ref ref[SHCA_BURST_REFS];
	struct shca_mr *mr[SHCA_BURST_MRS];
};

/**
 * struct shca_rx - a received packet, in skb->cb
 * @opcode: of the BTH; known (shca_opcodes[].flags != 0)
 * @hdr_len: bytes of BTH and extension headers; they are linear at skb->data
 * @payload: bytes of payload, which begins at skb->data + hdr_len; pad and
 *	ICRC are trimmed
 * @psn: of the BTH
 * @wire_len: bytes of the packet, as the counters count them
 * @vlan_id: of the link's own: SHCA_CQE_NO_VLAN, or the VLAN it came in
 * @smac: of the link's own: there is an Ethernet header
 *
 * The network and link headers stay where skb_network_header() and
 * skb_mac_header() point to.  skb->dev and the route are gone, because the
 * packet may wait in an inbox longer than they last.
 */
struct shca_rx {
	u8 opcode;
	u8 hdr_len;
	bool smac;
	u16 vlan_id;
	u32 payload;
	u32 psn;
	u32 wire_len;
};

static inline struct shca_rx *shca_rx(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct shca_rx) > sizeof(skb->cb));
	return (struct shca_rx *)skb->cb;
}

static inline const struct shca_bth *shca_rx_bth(const struct sk_buff *skb)
{
	return (const struct shca_bth *)skb->data;
}

/**
 * struct shca_link_ops - a kind of link
 * @name: "roce" or "ib"
 * @open: a device begins to use the link (sockets); extack-style reason in
 *	@why on refusal, a sentence without a full stop
 * @close: the mirror; may be called when the namespace is already gone
 * @xmit: send a burst. @flow caches the route and belongs to the caller's
 *	runner. Returns 0, or a negative errno if packets were lost on this side
 *	(-ENOBUFS: queue full, -ENOMEM, -EHOSTUNREACH: no route, -EMSGSIZE:
 *	larger than the path's MTU, or what a firewall says); @sent then says
 *	how many of them, from the first on, were handed over: the link stops at
 *	the first loss. A loss is the transport's to recover.
 * @fill_grh: for a datagram: the SHCA_GRH_LEN bytes that precede the payload,
 *	and the path fields of its CQE (wc_flags, slid, sl, network_hdr_type,
 *	smac, vlan_id, dlid_path_bits, pkey_index, port_num)
 * @bad_qkey: a datagram that was received has a wrong Q_Key; NULL if nobody
 *	wants to know
 * @leads_back: whether the destination of an AV is an address of the device
 *	itself; NULL if GIDs do not tell, then there is no local path
 * @watched: whether somebody captures the packets of the device, so that there
 *	have to be some
 * @local_grh: as @fill_grh, for a datagram that becomes no packet: what it
 *	would have had, @len bytes from BTH to ICRC
 */
struct shca_link_ops {
	const char *name;
	int (*open)(struct shca_dev *dev, const char **why);
	void (*close)(struct shca_dev *dev);
	int (*xmit)(struct shca_dev *dev, struct shca_flow *flow,
		    struct shca_burst *b, unsigned int *sent);
	void (*fill_grh)(struct shca_dev *dev, struct sk_buff *skb,
			 u8 grh[SHCA_GRH_LEN], struct shca_cqe *cqe);
	void (*bad_qkey)(struct shca_dev *dev, const struct sk_buff *skb);
	bool (*leads_back)(struct shca_dev *dev, const struct shca_av *av);
	bool (*watched)(struct shca_dev *dev);
	void (*local_grh)(struct shca_flow *flow, u32 len,
			  u8 grh[SHCA_GRH_LEN], struct shca_cqe *cqe);
};

extern const struct shca_link_ops shca_roce_ops;
extern const struct shca_link_ops shca_ib_ops;

/**
 * typedef shca_receive_fn - the transport's entry
 * @qp: addressed QP; the caller holds a reference
 * @skb: the packet, shca_rx() filled in; consumed
 *
 * Context: softirq, under RCU.
 */
typedef void shca_receive_fn(struct shca_qp *qp, struct sk_buff *skb);

int shca_roce_init(shca_receive_fn *receive);
void shca_roce_exit(void);

int shca_ib_init(shca_receive_fn *receive);
void shca_ib_exit(void);

#endif /* _SHCA_LINK_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transmit: a burst becomes one skb per packet.
 *
 * Owns an skb from its allocation to ip_local_out(), nothing else: the flow is
 * the caller's, references to pages belong to the skb.  No lock.
 *
 * A large payload is carried as page fragments that point into the region, a
 * small one, or one the transport wants copied, in the linear part.  UDP
 * checksums are zero, so nobody but the ICRC reads the payload before it is on
 * the wire, and the ICRC is computed over exactly what is sent.
 */
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>

#include "../base/device.h"
#include "../base/drop.h"
#include "../wire/icrc.h"
#include "payload.h"
#include "roce.h"

/* Packets of a burst, to be counted at its end */
struct tx_count {
	u32 packets;
	u32 bytes;
	u32 referenced;
	u32 copied;
};

/**
 * shca_roce_ipv4 - the IPv4 header of a packet, but for its checksum
 * @ip: filled in
 * @flow: where to; counts its packets
 * @udp_len: bytes from the UDP header on
 */
void shca_roce_ipv4(struct iphdr *ip, struct shca_flow *flow, u32 udp_len)
{
	const struct shca_av *av = &flow->av;

	ip->version = 4;
	ip->ihl = 5;
	ip->tos = av->tclass;
	ip->tot_len = htons(sizeof(*ip) + udp_len);
	ip->id = htons(flow->ip_id++);
	ip->frag_off = htons(IP_DF);
	ip->ttl = av->hop_limit;
	ip->protocol = IPPROTO_UDP;
	ip->check = 0;
	memcpy(&ip->saddr, av->sgid.raw + 12, 4);
	memcpy(&ip->daddr, av->dgid.raw + 12, 4);
}

/**
 * shca_roce_ipv6 - the IPv6 header of a packet
 * @ip: filled in
 * @av: where to
 * @udp_len: bytes from the UDP header on
 */
void shca_roce_ipv6(struct ipv6hdr *ip, const struct shca_av *av, u32 udp_len)
{
	ip6_flow_hdr(ip, av->tclass, htonl(av->flow_label));
	ip->payload_len = htons(udp_len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = av->hop_limit;
	memcpy(&ip->saddr, av->sgid.raw, sizeof(ip->saddr));
	memcpy(&ip->daddr, av->dgid.raw, sizeof(ip->daddr));
}

/* Put IP, UDP, BTH and extension headers; returns the ICRC's state. */
static u32 put_headers(struct sk_buff *skb, struct shca_flow *flow,
		       const struct shca_tx_pkt *pkt, u32 udp_len)
{
	struct udphdr *udp;
	u8 *hdr;

	skb_reset_network_header(skb);
	if (flow->av.ipv4) {
		/* ip_local_out() adds the checksum. */
		shca_roce_ipv4(skb_put(skb, SHCA_IPV4_LEN), flow, udp_len);
		skb->protocol = htons(ETH_P_IP);
	} else {
		shca_roce_ipv6(skb_put(skb, SHCA_IPV6_LEN), &flow->av, udp_len);
		skb->protocol = htons(ETH_P_IPV6);
	}

	skb_set_transport_header(skb, skb->len);
	udp = skb_put(skb, sizeof(*udp));
	udp->source = htons(flow->av.sport);
	udp->dest = htons(SHCA_ROCE_PORT);
	udp->len = htons(udp_len);
	udp->check = 0;

	hdr = skb_put_data(skb, pkt->hdr, pkt->hdr_len);
	return shca_icrc_headers(shca_crc32, flow->av.ipv4,
				 skb_network_header(skb), udp, hdr,
				 pkt->hdr_len);
}

static int xmit_one(struct net *net, struct dst_entry *dst,
		    struct shca_flow *flow, const struct shca_tx_pkt *pkt,
		    const struct shca_ref *ref, struct tx_count *count)
{
	u32 ip_len = flow->av.ipv4 ? SHCA_IPV4_LEN : SHCA_IPV6_LEN;
	u32 room = LL_RESERVED_SPACE(dst->dev) + dst->header_len;
	u32 body = pkt->payload + pkt->pad + SHCA_ICRC_SIZE;
	u32 udp_len = SHCA_UDP_LEN + pkt->hdr_len + body;
	bool refer = shca_payload_may_refer(pkt, ref);
	struct sk_buff *skb;
	u32 size, crc;
	int ret;

	if (ip_len + udp_len > dst_mtu(dst))
		return -EMSGSIZE;
	size = room + ip_len + SHCA_UDP_LEN + pkt->hdr_len +
	       (refer ? 0 : body) + dst->dev->needed_tailroom;
	skb = alloc_skb(size, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, room);
	crc = put_headers(skb, flow, pkt, udp_len);
	ret = shca_payload_put(skb, crc, pkt, ref, refer);
	if (ret) {
		kfree_skb(skb);
		return ret;
	}
	skb->priority = rt_tos2priority(flow->av.tclass);

	/* The flow holds the route at least as long as this RCU section. */
	skb_dst_set_noref(skb, dst);
	ret = flow->av.ipv4 ? ip_local_out(net, NULL, skb) :
			      ip6_local_out(net, NULL, skb);
	if (ret > 0)
		ret = net_xmit_errno(ret);
	if (ret)
		return ret;
	count->packets++;
	count->bytes += udp_len - SHCA_UDP_LEN;
	if (refer)
		count->referenced += pkt->payload;
	else
		count->copied += pkt->payload;
	return 0;
}

/* The burst, from packet @i on, does not leave. */
static void xmit_drop(struct shca_dev *dev, const struct shca_burst *b, int i,
		      enum shca_stat why)
{
	const struct shca_bth *bth = (const struct shca_bth *)b->pkt[i].hdr;

	shca_drop(dev, why, b->qpn, shca_bth_psn(bth), bth->opcode);
}

/**
 * shca_roce_xmit - send a burst
 * @dev: the device
 * @flow: where to; owned by the caller's runner
 * @b: the packets
 * @sent: set to how many were handed to the network, from the first on
 *
 * Stops at the first packet that is lost on this side, and counts it.  The
 * bytes referenced and copied are those of packets handed over.
 *
 * Context: process or softirq.
 * Return: 0, or a negative errno: see struct shca_link_ops.
 */
int shca_roce_xmit(struct shca_dev *dev, struct shca_flow *flow,
		   struct shca_burst *b, unsigned int *sent)
{
	struct tx_count count = { };
	struct dst_entry *dst;
	struct net *net;
	int ret = 0, i;

	*sent = 0;
	local_bh_disable();
	rcu_read_lock();
	net = READ_ONCE(dev->net);
	dst = net ? shca_roce_route(net, flow) : ERR_PTR(-ENODEV);
	if (IS_ERR(dst)) {
		xmit_drop(dev, b, 0, SHCA_STAT_tx_no_route);
		ret = -EHOSTUNREACH;
		goto out;
	}
	for (i = 0; i < b->n && !ret; i++)
		ret = xmit_one(net, dst, flow, &b->pkt[i],
			       &b->ref[b->pkt[i].ref], &count);
	if (ret)
		xmit_drop(dev, b, count.packets, SHCA_STAT_tx_local_drops);
	b->referenced = count.referenced;
	b->copied = count.copied;
	*sent = count.packets;
	shca_count_add(dev, tx_packets, count.packets);
	shca_count_add(dev, tx_bytes, count.bytes);
	shca_count_add(dev, tx_bytes_referenced, count.referenced);
	shca_count_add(dev, tx_bytes_copied, count.copied);
out:
	rcu_read_unlock();
	local_bh_enable();
	return ret;
}

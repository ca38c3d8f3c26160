// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive: from the UDP socket to the QP.
 *
 * Owns a packet from encap_rcv() until it is dropped or handed to the
 * transport.  Everything runs under one RCU section, in which QPs, devices and
 * GID tables that were found stay; shca_roce_close() waits for such sections.
 * No lock.
 *
 * Nothing in a packet is believed.  Checks go from cheap to dear, so a packet
 * for nobody costs no CRC, and each drop is counted under the name of the check
 * that failed.  Where no device is known yet, it is counted on the device over
 * the netdev the packet came in by, or else on the first of the namespace.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/rculist.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <rdma/ib_cache.h>

#include "../base/device.h"
#include "../base/drop.h"
#include "../object/qp.h"
#include "../uapi/softhca-abi.h"
#include "../wire/icrc.h"
#include "../wire/opcode.h"
#include "roce.h"

#define ROCE_PKEY		0x7fff	/* of the one entry, without membership */
#define ROCE_PKEY_MASK		0x7fff
#define ROCE_GSI_QPN		1

/**
 * struct roce_packet - what the headers say, checked for shape only
 * @ipv4: else IPv6
 * @hdr_len: bytes of BTH and extension headers
 * @pad: bytes after the payload
 * @len: bytes from BTH to ICRC
 * @payload: bytes
 * @qpn: destination QP
 * @psn: number
 * @opcode: of the BTH
 * @pkey: of the BTH
 * @saddr: source address as a GID
 * @daddr: destination address as a GID
 */
struct roce_packet {
	bool ipv4;
	u8 opcode;
	u8 hdr_len;
	u8 pad;
	u16 pkey;
	u32 len;
	u32 payload;
	u32 qpn;
	u32 psn;
	union ib_gid saddr;
	union ib_gid daddr;
};

static shca_receive_fn *roce_receive;

/**
 * shca_roce_rx_init - say where packets go
 * @receive: the transport's entry
 *
 * Context: from module init, before there is a socket.
 */
void shca_roce_rx_init(shca_receive_fn *receive)
{
	roce_receive = receive;
}

/* The addresses as GIDs; the IP header is linear. */
static void roce_addresses(const struct sk_buff *skb, struct roce_packet *p)
{
	if (p->ipv4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr,
				       (struct in6_addr *)&p->saddr);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr,
				       (struct in6_addr *)&p->daddr);
	} else {
		memcpy(&p->saddr, &ipv6_hdr(skb)->saddr, sizeof(p->saddr));
		memcpy(&p->daddr, &ipv6_hdr(skb)->daddr, sizeof(p->daddr));
	}
}

/*
 * Read and check the headers; skb->data is at the UDP header and stays there.
 * On success BTH and extension headers are linear.
 *
 * Returns the counter of the check that failed, or SHCA_STAT_COUNT.
 */
static enum shca_stat roce_parse(struct sk_buff *skb, struct roce_packet *p)
{
	const struct shca_opcode *op;
	const struct shca_bth *bth;
	u32 ip_len, body;

	/* What is not read is not known. */
	p->qpn = 0;
	p->psn = 0;
	p->opcode = SHCA_TRACE_NO_OPCODE;

	/* The stack segments in front of us. */
	if (skb_is_gso(skb))
		return SHCA_STAT_rx_drop_malformed;

	p->ipv4 = skb->protocol == htons(ETH_P_IP);
	if (!p->ipv4 && skb->protocol != htons(ETH_P_IPV6))
		return SHCA_STAT_rx_drop_malformed;
	/* Options and extension headers have no place in RoCEv2. */
	ip_len = p->ipv4 ? SHCA_IPV4_LEN : SHCA_IPV6_LEN;
	if (skb_network_header(skb) + ip_len != skb->data)
		return SHCA_STAT_rx_drop_malformed;

	if (!pskb_may_pull(skb, SHCA_UDP_LEN + sizeof(*bth)) ||
	    ntohs(((struct udphdr *)skb->data)->len) != skb->len)
		return SHCA_STAT_rx_drop_malformed;
	bth = (struct shca_bth *)(skb->data + SHCA_UDP_LEN);
	if (bth->flags & SHCA_BTH_TVER_MASK)
		return SHCA_STAT_rx_drop_malformed;
	p->opcode = bth->opcode;
	p->pad = shca_bth_pad(bth);
	p->pkey = be16_to_cpu(bth->pkey);
	p->qpn = shca_bth_qpn(bth);
	p->psn = shca_bth_psn(bth);
	op = &shca_opcodes[p->opcode];
	if (!op->flags)
		return SHCA_STAT_rx_drop_opcode;
	p->hdr_len = op->hdr_len;

	p->len = skb->len - SHCA_UDP_LEN;
	if (p->len < p->hdr_len + SHCA_ICRC_SIZE)
		return SHCA_STAT_rx_drop_malformed;
	body = p->len - p->hdr_len - SHCA_ICRC_SIZE;
	if (body & 3 || p->pad > body)
		return SHCA_STAT_rx_drop_malformed;
	p->payload = body - p->pad;
	if (body && !(op->flags & SHCA_OPF_PAYLOAD))
		return SHCA_STAT_rx_drop_malformed;
	if (!pskb_may_pull(skb, SHCA_UDP_LEN + p->hdr_len))
		return SHCA_STAT_rx_drop_malformed;

	roce_addresses(skb, p);
	return SHCA_STAT_COUNT;
}

/* The netdevs by which a packet with link-local addresses came in */
struct roce_scope {
	int n;
	struct net_device *ndev[3];
};

static bool roce_link_local(const union ib_gid *gid)
{
	return ipv6_addr_type((const struct in6_addr *)gid) &
	       IPV6_ADDR_LINKLOCAL;
}

/* Reads what IPv6 left in skb->cb, so it is for packets not parsed further. */
static void roce_scope_of(struct net *net, const struct sk_buff *skb,
			  struct roce_scope *s)
{
	struct net_device *in, *master;

	s->n = 0;
	in = dev_get_by_index_rcu(net, inet6_iif(skb));
	if (!in)
		return;
	s->ndev[s->n++] = in;
	if (is_vlan_dev(in))
		s->ndev[s->n++] = vlan_dev_real_dev(in);
	master = netdev_master_upper_dev_get_rcu(in);
	if (master)
		s->ndev[s->n++] = master;
}

/**
 * shca_roce_has_gid - is it a GID of the device?
 * @dev: the device, registered
 * @gid: the GID
 * @ndev: the netdev it must belong to, or NULL
 *
 * Context: any.
 */
bool shca_roce_has_gid(struct shca_dev *dev, const union ib_gid *gid,
		       struct net_device *ndev)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_port(&dev->ib, gid, IB_GID_TYPE_ROCE_UDP_ENCAP,
				     1, ndev);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* Is the packet's destination an address of the device?  Of one registered. */
static bool roce_is_ours(struct shca_dev *dev, struct net *net,
			 const struct sk_buff *skb, const struct roce_packet *p)
{
	struct roce_scope s;
	int i;

	if (!roce_link_local(&p->daddr))
		return shca_roce_has_gid(dev, &p->daddr, NULL);
	roce_scope_of(net, skb, &s);
	for (i = 0; i < s.n; i++)
		if (shca_roce_has_gid(dev, &p->daddr, s.ndev[i]))
			return true;
	return false;
}

/*
 * Is the packet from the peer of a connected QP, to its own address?  The AV is
 * written before the QP is in RTR, and again only on the way through RESET; a
 * packet that meets such a change is dropped or not, and does no harm.
 */
static bool roce_from_peer(const struct shca_qp *qp, struct net *net,
			   const struct sk_buff *skb,
			   const struct roce_packet *p)
{
	struct roce_scope s;
	int i;

	if (memcmp(&p->saddr, &qp->av.dgid, sizeof(p->saddr)) ||
	    memcmp(&p->daddr, &qp->av.sgid, sizeof(p->daddr)))
		return false;
	if (!qp->av.ifindex || !roce_link_local(&p->daddr))
		return true;
	roce_scope_of(net, skb, &s);
	for (i = 0; i < s.n; i++)
		if (s.ndev[i]->ifindex == qp->av.ifindex)
			return true;
	return false;
}

/* QP1 goes by destination address: many devices have one. */
static struct shca_qp *roce_find_gsi(struct shca_roce_net *rn, struct net *net,
				     const struct sk_buff *skb,
				     const struct roce_packet *p)
{
	struct shca_dev *dev;
	struct shca_qp *qp;

	list_for_each_entry_rcu(dev, &rn->devices, link_list) {
		/* With a GSI QP a device is registered and has a GID table. */
		qp = shca_qp_get_special(dev, ROCE_GSI_QPN);
		if (!qp)
			continue;
		if (roce_is_ours(dev, net, skb, p))
			return qp;
		shca_qp_put(qp);
	}
	return NULL;
}

static u8 roce_service(const struct shca_qp *qp)
{
	switch (qp->type) {
	case IB_QPT_RC:
		return SHCA_OP_RC;
	case IB_QPT_UC:
		return SHCA_OP_UC;
	default:
		return SHCA_OP_UD;
	}
}

/* Returns the counter of the check that failed, or SHCA_STAT_COUNT. */
static enum shca_stat roce_check(const struct shca_qp *qp, struct net *net,
				 const struct sk_buff *skb,
				 const struct roce_packet *p)
{
	enum ib_qp_state state = shca_qp_state(qp);

	/* Numbers are unique in the module, so this one may live elsewhere. */
	if (READ_ONCE(qp->dev->net) != net)
		return SHCA_STAT_rx_drop_address;
	/* Before RTR the address vector means nothing. */
	if (state == IB_QPS_RESET || state == IB_QPS_INIT)
		return SHCA_STAT_rx_drop_state;
	if ((p->opcode & SHCA_OP_SERVICE_MASK) != roce_service(qp))
		return SHCA_STAT_rx_drop_opcode;
	if (shca_qp_connected(qp)) {
		if (!roce_from_peer(qp, net, skb, p))
			return SHCA_STAT_rx_drop_address;
	} else if (qp->type != IB_QPT_GSI) {
		if (!roce_is_ours(qp->dev, net, skb, p))
			return SHCA_STAT_rx_drop_address;
	}
	if (qp->type != IB_QPT_GSI && (p->pkey & ROCE_PKEY_MASK) != ROCE_PKEY)
		return SHCA_STAT_rx_drop_pkey;
	return SHCA_STAT_COUNT;
}

static bool roce_icrc_ok(struct sk_buff *skb, const struct roce_packet *p)
{
	u32 at = SHCA_UDP_LEN + p->hdr_len;
	__le32 icrc;
	u32 crc;

	crc = shca_icrc_headers(shca_crc32, p->ipv4, skb_network_header(skb),
				skb->data, skb->data + SHCA_UDP_LEN,
				p->hdr_len);
	crc = shca_crc32_skb(crc, skb, at, p->payload + p->pad);
	if (skb_copy_bits(skb, at + p->payload + p->pad, &icrc, sizeof(icrc)))
		return false;
	return icrc == shca_icrc_finish(crc);
}

/* What the packet must keep after the netdev is out of reach */
static void roce_note_path(const struct sk_buff *skb, struct shca_rx *rx)
{
	struct net_device *ndev = skb->dev;
	u16 vid = 0;

	rx->smac = skb_mac_header_was_set(skb) &&
		   ndev->type == ARPHRD_ETHER &&
		   skb_network_header(skb) - skb_mac_header(skb) >= ETH_HLEN;
	if (skb_vlan_tag_present(skb))
		vid = skb_vlan_tag_get_id(skb);
	else if (is_vlan_dev(ndev))
		vid = vlan_dev_vlan_id(ndev);
	/* VLAN 0 is a priority tag. */
	rx->vlan_id = vid ?: SHCA_CQE_NO_VLAN;
}

/* Make the packet what the transport expects; see struct shca_rx. */
static bool roce_prepare(struct sk_buff *skb, const struct roce_packet *p)
{
	struct shca_rx *rx;

	__skb_pull(skb, SHCA_UDP_LEN);
	if (pskb_trim(skb, p->hdr_len + p->payload))
		return false;
	skb->ip_summed = CHECKSUM_NONE;
	skb_dst_drop(skb);

	rx = shca_rx(skb);
	memset(rx, 0, sizeof(*rx));
	rx->opcode = p->opcode;
	rx->hdr_len = p->hdr_len;
	rx->payload = p->payload;
	rx->psn = p->psn;
	rx->wire_len = p->len;
	roce_note_path(skb, rx);
	skb->dev = NULL;
	return true;
}

/* The device to count on while none is known */
static struct shca_dev *roce_any_dev(struct shca_roce_net *rn,
				     const struct sk_buff *skb)
{
	struct shca_dev *dev;

	list_for_each_entry_rcu(dev, &rn->devices, link_list)
		if (dev->ndev == skb->dev)
			return dev;
	return list_first_or_null_rcu(&rn->devices, struct shca_dev, link_list);
}

static void roce_drop(struct shca_dev *dev, enum shca_stat why,
		      struct sk_buff *skb, const struct roce_packet *p)
{
	if (dev)
		shca_drop(dev, why, p->qpn, p->psn, p->opcode);
	kfree_skb(skb);
}

static void roce_rx(struct shca_roce_net *rn, struct net *net,
		    struct sk_buff *skb)
{
	struct roce_packet p;
	enum shca_stat why;
	struct shca_qp *qp;

	why = roce_parse(skb, &p);
	if (why != SHCA_STAT_COUNT) {
		roce_drop(roce_any_dev(rn, skb), why, skb, &p);
		return;
	}
	/* QPN 0xffffff is multicast, which no QP can have joined yet. */
	qp = p.qpn == ROCE_GSI_QPN ? roce_find_gsi(rn, net, skb, &p) :
				     shca_qp_get(p.qpn);
	if (!qp) {
		roce_drop(roce_any_dev(rn, skb), SHCA_STAT_rx_drop_qpn, skb,
			  &p);
		return;
	}

	why = roce_check(qp, net, skb, &p);
	if (why == SHCA_STAT_COUNT && !roce_icrc_ok(skb, &p))
		why = SHCA_STAT_rx_drop_icrc;
	if (why == SHCA_STAT_COUNT && !roce_prepare(skb, &p))
		why = SHCA_STAT_rx_drop_inbox;
	if (why != SHCA_STAT_COUNT) {
		roce_drop(qp->dev, why, skb, &p);
	} else {
		shca_count(qp->dev, rx_packets);
		shca_count_add(qp->dev, rx_bytes, p.len);
		roce_receive(qp, skb);
	}
	shca_qp_put(qp);
}

/**
 * shca_roce_encap_rcv - a datagram for our UDP port
 * @sk: the tunnel socket
 * @skb: the datagram, skb->data at the UDP header; consumed
 *
 * Context: softirq.
 * Return: 0.
 */
int shca_roce_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct shca_roce_net *rn;

	rcu_read_lock();
	rn = rcu_dereference_sk_user_data(sk);
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (skb && rn)
		roce_rx(rn, sock_net(sk), skb);
	else
		kfree_skb(skb);
	rcu_read_unlock();
	return 0;
}

/**
 * shca_roce_fill_grh - describe the path a datagram came by
 * @dev: the device
 * @skb: as handed to the transport
 * @grh: an IPv6 header, or 20 bytes of zero and an IPv4 header
 * @cqe: its path fields are filled in; wc_flags are added to
 *
 * Context: any.
 */
void shca_roce_fill_grh(struct shca_dev *dev, struct sk_buff *skb,
			u8 grh[SHCA_GRH_LEN], struct shca_cqe *cqe)
{
	const struct shca_rx *rx = shca_rx(skb);

	if (skb->protocol == htons(ETH_P_IP)) {
		memset(grh, 0, SHCA_GRH_LEN - SHCA_IPV4_LEN);
		memcpy(grh + SHCA_GRH_LEN - SHCA_IPV4_LEN, skb_network_header(skb),
		       SHCA_IPV4_LEN);
		cqe->network_hdr_type = RDMA_NETWORK_IPV4;
	} else {
		memcpy(grh, skb_network_header(skb), SHCA_IPV6_LEN);
		cqe->network_hdr_type = RDMA_NETWORK_IPV6;
	}
	cqe->wc_flags |= SHCA_CQE_GRH;
	if (rx->smac) {
		cqe->wc_flags |= SHCA_CQE_WITH_SMAC;
		ether_addr_copy(cqe->smac, eth_hdr(skb)->h_source);
	}
	cqe->vlan_id = rx->vlan_id;
	cqe->slid = 0;
	cqe->sl = 0;
	cqe->dlid_path_bits = 0;
	cqe->pkey_index = 0;
	cqe->port_num = 1;
}

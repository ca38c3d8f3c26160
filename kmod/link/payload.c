// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The payload of a packet to be sent, whatever the link: page fragments that
 * point into the region, or a copy in the linear part, followed by pad and
 * ICRC.  The ICRC is computed over exactly what is sent.
 *
 * Owns nothing: references to pages belong to the skb.  No lock.
 */
#include <linux/mm.h>
#include <linux/skbuff.h>

#include "../wire/icrc.h"
#include "crc.h"
#include "payload.h"

static bool page_ref_ok(const struct shca_ref *ref)
{
	return !is_vmalloc_addr(ref->va) && virt_addr_valid(ref->va) &&
	       offset_in_page(ref->va) + ref->len <= PAGE_SIZE &&
	       sendpage_ok(virt_to_page(ref->va));
}

/**
 * shca_payload_may_refer - may a payload be carried by reference?
 * @pkt: the packet
 * @ref: its references
 *
 * One fragment is left for the ICRC.
 *
 * Context: any.
 */
bool shca_payload_may_refer(const struct shca_tx_pkt *pkt,
			    const struct shca_ref *ref)
{
	int i;

	if (pkt->copy || pkt->payload < SHCA_REF_MIN ||
	    pkt->nref > MAX_SKB_FRAGS - 1)
		return false;
	for (i = 0; i < pkt->nref; i++)
		if (!page_ref_ok(&ref[i]))
			return false;
	return true;
}

static void put_icrc(u8 *at, u32 crc)
{
	__le32 icrc = shca_icrc_finish(crc);

	memcpy(at, &icrc, sizeof(icrc));
}

static int put_copy(struct sk_buff *skb, u32 crc,
		    const struct shca_tx_pkt *pkt, const struct shca_ref *ref)
{
	u8 *p = skb_put(skb, pkt->payload + pkt->pad + SHCA_ICRC_SIZE);
	u32 left = pkt->payload, n;
	u8 *at = p;
	int i;

	for (i = 0; i < pkt->nref; i++) {
		n = min(ref[i].len, left);
		memcpy(at, ref[i].va, n);
		at += n;
		left -= n;
	}
	if (left)
		return -EINVAL;
	memset(at, 0, pkt->pad);
	crc = shca_crc32(crc, p, pkt->payload + pkt->pad);
	put_icrc(at + pkt->pad, crc);
	return 0;
}

static void add_frag(struct sk_buff *skb, struct page *page, u32 offset,
		     u32 len, u32 truesize)
{
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, offset, len);
	skb->len += len;
	skb->data_len += len;
	skb->truesize += truesize;
}

static int put_refs(struct sk_buff *skb, u32 crc,
		    const struct shca_tx_pkt *pkt, const struct shca_ref *ref)
{
	u32 tail = pkt->pad + SHCA_ICRC_SIZE;
	struct page *page;
	u32 sum = 0;
	u8 *t;
	int i;

	/* The owner may go on writing to these pages. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	for (i = 0; i < pkt->nref; i++) {
		page = virt_to_page(ref[i].va);
		get_page(page);
		add_frag(skb, page, offset_in_page(ref[i].va), ref[i].len,
			 ref[i].len);
		crc = shca_crc32(crc, ref[i].va, ref[i].len);
		sum += ref[i].len;
	}
	if (sum != pkt->payload)
		return -EINVAL;

	t = netdev_alloc_frag(tail);
	if (!t)
		return -ENOMEM;
	memset(t, 0, pkt->pad);
	crc = shca_crc32(crc, t, pkt->pad);
	put_icrc(t + pkt->pad, crc);
	page = virt_to_head_page(t);
	add_frag(skb, page, t - (u8 *)page_address(page), tail,
		 SKB_DATA_ALIGN(tail));
	return 0;
}

/**
 * shca_payload_put - put payload, pad and ICRC behind the headers
 * @skb: the packet, with the headers; has room for all this if it is copied
 * @crc: state of the ICRC after the headers
 * @pkt: the packet
 * @ref: its references
 * @refer: carry references; shca_payload_may_refer() said yes
 *
 * Context: process or softirq.
 * Return: 0, -EINVAL (the references do not add up) or -ENOMEM; then the skb is
 * good for nothing.
 */
int shca_payload_put(struct sk_buff *skb, u32 crc,
		     const struct shca_tx_pkt *pkt, const struct shca_ref *ref,
		     bool refer)
{
	return refer ? put_refs(skb, crc, pkt, ref) :
		       put_copy(skb, crc, pkt, ref);
}

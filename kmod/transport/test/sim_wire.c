// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The wire: a link whose bursts become packets that arrive later, twice, in
 * another order or never.
 */
#include "sim.h"

static struct sk_buff_head flight;	/* by the time at which they arrive */
static struct sk_buff *kept;		/* see sim_wire.keep */
static u64 idle_at[2];			/* towards each end: sends the next */
static u32 queued[2];

/* The packet as it arrives; what the link would have parsed is in skb->cb. */
static struct sk_buff *make(const struct shca_burst *b,
			    const struct shca_tx_pkt *pkt)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));
	const struct shca_bth *bth = (const struct shca_bth *)pkt->hdr;
	struct shca_rx *rx = shca_rx(skb);
	u32 at = pkt->hdr_len;
	int i;

	skb->len = pkt->hdr_len + pkt->payload;
	skb->data = malloc(skb->len);
	memcpy(skb->data, pkt->hdr, pkt->hdr_len);
	for (i = pkt->ref; i < pkt->ref + pkt->nref; i++) {
		/* malloc()'s end is checked by ASan: no more than the payload */
		memcpy(skb->data + at, b->ref[i].va, b->ref[i].len);
		at += b->ref[i].len;
	}
	if (at != skb->len)
		SIM_FAIL("references of %u bytes in a packet of %u", at, skb->len);
	rx->opcode = bth->opcode;
	rx->hdr_len = pkt->hdr_len;
	rx->payload = pkt->payload;
	rx->psn = shca_bth_psn(bth);
	return skb;
}

static struct sk_buff *copy(const struct sk_buff *skb)
{
	struct sk_buff *new = malloc(sizeof(*new));

	*new = *skb;
	new->data = malloc(skb->len);
	memcpy(new->data, skb->data, skb->len);
	return new;
}

/* Packets mostly arrive in the order they were sent: look from the end. */
static void fly(struct sk_buff *skb, u64 at)
{
	struct sk_buff *before = flight.last;

	skb->at = at;
	queued[skb->to]++;
	while (before && before->at > at)
		before = before->prev;
	if (before == flight.last) {
		skb_queue_tail(&flight, skb);
		return;
	}
	skb->prev = before;
	skb->next = before ? before->next : flight.first;
	skb->next->prev = skb;
	if (before)
		before->next = skb;
	else
		flight.first = skb;
	flight.qlen++;
}

static void send(struct sk_buff *skb)
{
	const struct sim_wire *w = &sim.wire;
	u64 leaves = sim.now;

	if (shca_rx(skb)->opcode == w->keep) {
		if (kept)
			consume_skb(kept);
		kept = copy(skb);
	}
	if (w->rate) {
		if (idle_at[skb->to] > leaves)
			leaves = idle_at[skb->to];
		leaves += (u64)skb->len * 1000 / w->rate;
		idle_at[skb->to] = leaves;
	}
	if (sim_chance(w->loss) ||
	    (w->too_large && shca_rx(skb)->payload >= w->too_large)) {
		consume_skb(skb);
		return;
	}
	if (sim_chance(w->dup))
		fly(copy(skb), leaves + w->delay + sim_random(3000));
	fly(skb, leaves + w->delay +
	    (sim_chance(w->reorder) ? sim_random(3000) : 0));
}

/** sim_xmit - shca_link_ops.xmit */
int sim_xmit(struct shca_dev *dev, struct shca_flow *flow,
	     struct shca_burst *b, unsigned int *sent)
{
	const struct sim_wire *w = &sim.wire;
	int to = b->qpn == sim.end[0].qp->qpn;
	struct sk_buff *skb;

	for (*sent = 0; *sent < b->n; (*sent)++) {
		if (w->drop_all || queued[to] >= w->queue ||
		    sim_chance(w->local_loss))
			return -ENOBUFS;
		skb = make(b, &b->pkt[*sent]);
		skb->to = to;
		send(skb);
	}
	return 0;
}

/** sim_wire_next - when the next packet arrives, in us; never: ~0 */
u64 sim_wire_next(void)
{
	return flight.first ? flight.first->at : ~0ull;
}

/** sim_wire_deliver - let it arrive; there is one */
void sim_wire_deliver(void)
{
	struct sk_buff *skb = skb_dequeue(&flight);

	queued[skb->to]--;
	shca_transport_receive(sim.end[skb->to].qp, skb);
}

/** sim_wire_deliver_kept - let the packet that was kept arrive, very late */
void sim_wire_deliver_kept(void)
{
	struct sk_buff *skb = kept;

	CHECK(kept, "no packet was kept");
	kept = NULL;
	if (skb)
		shca_transport_receive(sim.end[skb->to].qp, skb);
}

/** sim_wire_clear - forget what is under way */
void sim_wire_clear(void)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&flight)))
		consume_skb(skb);
	if (kept)
		consume_skb(kept);
	kept = NULL;
	memset(idle_at, 0, sizeof(idle_at));
	memset(queued, 0, sizeof(queued));
}

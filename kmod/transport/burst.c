// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bursts.
 *
 * A burst belongs to one side of a QP and is empty between turns.  While
 * packets are added it holds a reference to each region they lie in, dropped
 * once the link has taken what it needs.  Each payload function adds to the
 * packet that was begun last; if it fails, that packet is taken back.
 */
#include <linux/slab.h>

#include "../base/device.h"
#include "../base/trace_packet.h"
#include "../object/qp.h"
#include "../wire/psn.h"
#include "burst.h"

/** shca_burst_alloc - an empty burst, for kvfree(), or NULL; process context */
struct shca_burst *shca_burst_alloc(void)
{
	return kvzalloc(sizeof(struct shca_burst), GFP_KERNEL_ACCOUNT);
}

/**
 * shca_burst_room - can another packet be added for sure?
 * @b: the burst
 * @limit: packets wanted at the most
 *
 * A packet needs a reference for each page that each SGE touches: the most is
 * two an SGE, if every one of them lies across the end of a page. Of regions it
 * needs one an SGE, so a burst may be full of those before; that is found out
 * when it is added.
 */
bool shca_burst_room(const struct shca_burst *b, u32 limit)
{
	return b->n < min_t(u32, limit, SHCA_BURST_MAX) &&
	       b->nref + 2 * SHCA_MAX_SGE <= SHCA_BURST_REFS;
}

/** shca_burst_pkt - begin a packet without payload; room was checked */
struct shca_tx_pkt *shca_burst_pkt(struct shca_burst *b, u8 hdr_len)
{
	struct shca_tx_pkt *pkt = &b->pkt[b->n++];

	pkt->hdr_len = hdr_len;
	pkt->pad = 0;
	pkt->copy = false;
	pkt->ref = b->nref;
	pkt->nref = 0;
	pkt->payload = 0;
	return pkt;
}

/*
 * Regions that only this packet lay in stay with the burst and are dropped when
 * it is sent.  An empty one is not sent, and must hold none: the owner may go,
 * and who deregisters a region waits for them.
 */
static void burst_take_back(struct shca_burst *b)
{
	b->nref = b->pkt[--b->n].ref;
	if (!b->n)
		shca_burst_drop(b);
}

static struct shca_mr *burst_mr(struct shca_burst *b, struct shca_dev *dev,
				u32 key)
{
	struct shca_mr *mr;
	int i;

	for (i = 0; i < b->nmr; i++)
		if (b->mr[i]->key == key)
			return b->mr[i];
	if (b->nmr == SHCA_BURST_MRS)
		return ERR_PTR(-EAGAIN);
	mr = shca_mr_get(dev, key);
	if (!mr)
		return ERR_PTR(-ENOENT);
	b->mr[b->nmr++] = mr;
	return mr;
}

static int burst_key(struct shca_burst *b, struct shca_qp *qp, u32 key,
		     int access, u64 addr, u32 len)
{
	struct shca_tx_pkt *pkt = &b->pkt[b->n - 1];
	struct shca_mr *mr = burst_mr(b, qp->dev, key);
	int ret;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	ret = shca_mr_check(mr, qp->pd, access, addr, len);
	if (ret)
		return ret;
	ret = shca_mr_refs(mr, addr, len, &b->ref[b->nref],
			   SHCA_BURST_REFS - b->nref);
	if (ret < 0)
		return ret;
	b->nref += ret;
	pkt->nref += ret;
	pkt->payload += len;
	return 0;
}

/**
 * shca_burst_key - payload from where a key and an address point
 * @b: the burst; its last packet gets the payload
 * @qp: whose protection domain counts
 * @key: lkey or rkey
 * @access: IB_ACCESS_* needed
 * @addr: first byte
 * @len: bytes
 *
 * Return: 0; -EAGAIN if the burst must be sent first; -ENOENT, -EPERM or
 * -ERANGE if the memory may not be used. On error the packet is taken back.
 */
int shca_burst_key(struct shca_burst *b, struct shca_qp *qp, u32 key,
		   int access, u64 addr, u32 len)
{
	int ret = len ? burst_key(b, qp, key, access, addr, len) : 0;

	if (ret)
		burst_take_back(b);
	return ret;
}

/**
 * shca_burst_sges - payload from the buffers of a WQE
 * @b: the burst; its last packet gets the payload
 * @qp: whose protection domain counts
 * @sge: the buffers
 * @nsge: how many
 * @access: IB_ACCESS_* needed; 0 for reading
 * @offset: bytes of them to skip
 * @len: bytes; the payload is shorter if the buffers are
 *
 * Return: as shca_burst_key(). -EAGAIN on an empty burst can not be: it has
 * room for the regions of as many SGEs as a WQE may have.
 */
int shca_burst_sges(struct shca_burst *b, struct shca_qp *qp,
		    const struct shca_sge *sge, u32 nsge, int access,
		    u32 offset, u32 len)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < nsge && len; i++) {
		u32 part;

		if (offset >= sge[i].length) {
			offset -= sge[i].length;
			continue;
		}
		part = min(sge[i].length - offset, len);
		ret = burst_key(b, qp, sge[i].lkey, access,
				sge[i].addr + offset, part);
		if (ret)
			break;
		len -= part;
		offset = 0;
	}
	if (ret)
		burst_take_back(b);
	return ret;
}

/** shca_burst_bytes - payload from memory of our own, which the link copies */
void shca_burst_bytes(struct shca_burst *b, const void *data, u32 len)
{
	struct shca_tx_pkt *pkt = &b->pkt[b->n - 1];

	pkt->copy = true;
	if (!len)
		return;
	b->ref[b->nref].va = (void *)data;
	b->ref[b->nref++].len = len;
	pkt->nref++;
	pkt->payload += len;
}

static void burst_trace(const struct shca_burst *b, const struct shca_qp *qp,
			u32 sent, int error)
{
	const struct shca_bth *bth = (const struct shca_bth *)b->pkt[0].hdr;
	u32 again = 0, i;

	/* Responses have no highest PSN, but what comes again is copied. */
	for (i = 0; i < sent; i++) {
		const struct shca_tx_pkt *pkt = &b->pkt[i];
		u32 psn = shca_bth_psn((const struct shca_bth *)pkt->hdr);

		if (b == qp->sq.burst)
			again += shca_psn_diff(psn, qp->sq.max_psn) < 0;
		else
			again += pkt->copy && pkt->payload;
	}
	trace_burst(qp->dev, qp->qpn, shca_bth_psn(bth), bth->opcode, sent,
		    again, b->referenced, b->copied, SHCA_TRACE_WIRE, error);
}

/**
 * shca_burst_xmit - send the burst and empty it
 * @b: the burst
 * @qp: whose it is
 * @flow: where to
 * @sent: packets that were handed over
 *
 * Context: the owner of the runner the burst belongs to.
 * Return: as shca_link_ops.xmit.
 */
int shca_burst_xmit(struct shca_burst *b, struct shca_qp *qp,
		    struct shca_flow *flow, unsigned int *sent)
{
	int ret = 0;

	*sent = 0;
	if (b->n) {
		b->qpn = qp->qpn;
		b->referenced = 0;
		b->copied = 0;
		ret = qp->dev->link->xmit(qp->dev, flow, b, sent);
		if (b == qp->sq.burst) {
			qp->sq.tx_referenced += b->referenced;
			qp->sq.tx_copied += b->copied;
		} else {
			qp->rq.tx_referenced += b->referenced;
			qp->rq.tx_copied += b->copied;
		}
		if (trace_burst_enabled())
			burst_trace(b, qp, *sent, ret);
	}
	shca_burst_drop(b);
	return ret;
}

/** shca_burst_drop - empty the burst unsent */
void shca_burst_drop(struct shca_burst *b)
{
	while (b->nmr)
		shca_mr_put(b->mr[--b->nmr]);
	b->n = 0;
	b->nref = 0;
}

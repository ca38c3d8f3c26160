// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_ud: datagrams.  Data, immediate data and the 40 bytes of GRH in front
 * (for IPv4 the header stands in the last 20 of them), the answer through an
 * address handle made from the completion, and what has to be dropped in
 * silence: a wrong Q_Key, an unknown QP, a datagram nobody waits for.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define QKEY	0x11111111
#define GRH	40
#define MS	5000

static struct ibv_send_wr ud_wr(struct ibv_sge *sge, struct ibv_ah *ah,
				uint32_t qpn, uint32_t qkey)
{
	return (struct ibv_send_wr){
		.wr_id = 7,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {
			.ah = ah, .remote_qpn = qpn, .remote_qkey = qkey,
		},
	};
}

static void send_wr(struct vt_end *e, struct ibv_send_wr *wr)
{
	struct ibv_wc wc;
	int rc = vt_try_send(e->qp, wr);

	require(!rc, "post_send: %s", strerror(rc));
	wc = vt_wait(e->cq, MS, "UD send");
	require(wc.opcode == IBV_WC_SEND && wc.wr_id == 7,
		"completion of the send: opcode %d", wc.opcode);
}

static void check_grh(const uint8_t *grh, const struct vt_dev *from,
		      const struct vt_dev *to)
{
	const uint8_t *ip4 = grh + 20;

	if (vt_gid_is_ipv4(&to->gid)) {
		require(ip4[0] == 0x45, "IPv4 header begins with 0x%02x",
			ip4[0]);
		require(ip4[9] == 17, "IPv4 protocol %u, not UDP", ip4[9]);
		require(!memcmp(ip4 + 12, from->gid.raw + 12, 4),
			"wrong source address");
		require(!memcmp(ip4 + 16, to->gid.raw + 12, 4),
			"wrong destination address");
		return;
	}
	require(grh[0] >> 4 == 6, "GRH begins with 0x%02x", grh[0]);
	require(!memcmp(grh + 8, from->gid.raw, 16), "wrong SGID in the GRH");
	require(!memcmp(grh + 24, to->gid.raw, 16), "wrong DGID in the GRH");
}

/* @b answers @a through what the completion tells */
static void answer(struct vt_end *a, struct vt_end *b, struct ibv_wc *wc,
		   struct vt_buf *rx, struct vt_buf *rx_a, struct vt_buf *tx_b)
{
	struct ibv_sge to = vt_sge(rx_a, 0, GRH + 100);
	struct ibv_sge from = vt_sge(tx_b, 0, 100);
	struct ibv_send_wr wr;
	struct ibv_ah *ah;
	int rc;

	vt_step("answering");
	vt_fill(tx_b->p, 100, 77, 0);
	vt_post_recv(a->qp, 3, &to, 1);
	ah = ibv_create_ah_from_wc(b->qp->pd, wc, (struct ibv_grh *)rx->p,
				   b->dev->port);
	require(ah, "create_ah_from_wc: %m");
	wr = ud_wr(&from, ah, wc->src_qp, QKEY);
	send_wr(b, &wr);
	*wc = vt_wait(a->cq, MS, "answer");
	require(wc->wr_id == 3 && wc->byte_len == GRH + 100,
		"answer: byte_len %u", wc->byte_len);
	require(wc->src_qp == b->qp->qp_num, "answer: src_qp %u", wc->src_qp);
	vt_check(rx_a->p + GRH, 100, 77, 0, "answer");
	rc = ibv_destroy_ah(ah);
	require(!rc, "destroy_ah: %s", strerror(rc));
}

struct rig {
	struct vt_end a, b;
	struct vt_buf tx, rx, rx_a, tx_b;
	struct ibv_ah *ah;
	size_t mtu;
};

static void one(struct rig *r, size_t len, bool imm)
{
	struct ibv_sge from = vt_sge(&r->tx, 0, len);
	struct ibv_sge to = vt_sge(&r->rx, 0, GRH + r->mtu);
	struct ibv_send_wr wr = ud_wr(&from, r->ah, r->b.qp->qp_num, QKEY);
	uint64_t seed = len * 2 + imm;
	struct ibv_wc wc;

	vt_step("UD SEND%s of %zu bytes", imm ? " with immediate" : "", len);
	if (imm) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(0xfeed0000 + len);
	}
	vt_fill(r->tx.p, len, seed, 0);
	memset(r->rx.p, VT_POISON, r->rx.len);
	vt_post_recv(r->b.qp, 5, &to, 1);
	send_wr(&r->a, &wr);
	wc = vt_wait(r->b.cq, MS, "UD receive");
	require(wc.wr_id == 5 && wc.opcode == IBV_WC_RECV, "opcode %d",
		wc.opcode);
	require(wc.byte_len == GRH + len, "byte_len %u, not %zu", wc.byte_len,
		GRH + len);
	require(wc.src_qp == r->a.qp->qp_num, "src_qp %u", wc.src_qp);
	require(wc.qp_num == r->b.qp->qp_num, "qp_num %u", wc.qp_num);
	require(wc.wc_flags & IBV_WC_GRH, "no GRH flag");
	require(imm == !!(wc.wc_flags & IBV_WC_WITH_IMM), "wc_flags 0x%x",
		wc.wc_flags);
	require(!imm || ntohl(wc.imm_data) == 0xfeed0000 + len,
		"immediate data 0x%x", ntohl(wc.imm_data));
	check_grh(r->rx.p, r->a.dev, r->b.dev);
	vt_check(r->rx.p + GRH, len, seed, 0, "UD data");
	vt_check_byte(r->rx.p + GRH + len, r->rx.len - GRH - len, VT_POISON,
		      "behind the datagram");
	if (len == 256)
		answer(&r->a, &r->b, &wc, &r->rx, &r->rx_a, &r->tx_b);
}

/* sent, dropped, and what follows arrives */
static void dropped(struct rig *r, uint32_t qpn, uint32_t qkey,
		    const char *what)
{
	struct ibv_sge from = vt_sge(&r->tx, 0, 64);
	struct ibv_sge to = vt_sge(&r->rx, 0, GRH + r->mtu);
	struct ibv_send_wr wr = ud_wr(&from, r->ah, qpn, qkey);
	struct ibv_wc wc;

	vt_step("%s", what);
	vt_post_recv(r->b.qp, 6, &to, 1);
	vt_fill(r->tx.p, 64, 1, 0);
	send_wr(&r->a, &wr);
	vt_expect_none(r->b.cq, 50, what);
	vt_fill(r->tx.p, 64, 2, 0);
	wr = ud_wr(&from, r->ah, r->b.qp->qp_num, QKEY);
	send_wr(&r->a, &wr);
	wc = vt_wait(r->b.cq, MS, what);
	require(wc.wr_id == 6, "wr_id");
	vt_check(r->rx.p + GRH, 64, 2, 0, what);
}

static void nobody_waits(struct rig *r)
{
	struct ibv_sge from = vt_sge(&r->tx, 0, 64);
	struct ibv_send_wr wr = ud_wr(&from, r->ah, r->b.qp->qp_num, QKEY);

	vt_step("datagrams without a receive posted");
	for (int i = 0; i < 5; i++)
		send_wr(&r->a, &wr);
	one(r, 64, false);
	vt_expect_none(r->b.cq, 20, "datagrams that nobody waited for");
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 255, 256, 257, 1000 };
	struct vt_pair pair = { .seconds = 120 };
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = QKEY };
	struct vt_dev *da, *db;
	struct rig r;

	vt_pair_parse(&pair, argc, argv, NULL);
	vt_pair_open(&pair, &da, &db);
	memset(&r, 0, sizeof(r));
	r.mtu = 128 << MIN(da->mtu, db->mtu);
	vt_end_create(&r.a, da, &opt);
	vt_end_create(&r.b, db, &opt);
	r.tx = vt_alloc(da->pd, r.mtu, 1, IBV_ACCESS_LOCAL_WRITE);
	r.rx_a = vt_alloc(da->pd, GRH + r.mtu, 3, IBV_ACCESS_LOCAL_WRITE);
	r.rx = vt_alloc(db->pd, GRH + r.mtu, 5, IBV_ACCESS_LOCAL_WRITE);
	r.tx_b = vt_alloc(db->pd, r.mtu, 7, IBV_ACCESS_LOCAL_WRITE);
	r.ah = vt_ah(&r.a, db);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		one(&r, sizes[i], false);
		one(&r, sizes[i], true);
	}
	one(&r, r.mtu, false);
	one(&r, r.mtu, true);
	dropped(&r, r.b.qp->qp_num, QKEY + 1, "wrong Q_Key");
	dropped(&r, 0xabcdef, QKEY, "unknown QP");
	nobody_waits(&r);
	vt_check_guards(&r.rx, "receive buffer");
	require(!ibv_destroy_ah(r.ah), "destroy_ah");
	vt_end_destroy(&r.a);
	vt_end_destroy(&r.b);
	vt_free(&r.tx);
	vt_free(&r.rx);
	vt_free(&r.rx_a);
	vt_free(&r.tx_b);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_ud: ok\n");
	return 0;
}

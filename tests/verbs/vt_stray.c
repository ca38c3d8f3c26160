// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_stray: datagrams that a program can send on a native InfiniBand port and
 * should not: to LIDs, groups, GIDs, queue pairs and with Q_Keys that are not there
 * or not its own, of any length.  None may arrive at the queue pair of DEVICE2, and
 * good ones arrive before and after.
 *
 *	vt_stray [-n TIMES] [-s SEED] DEVICE DEVICE2 LID...
 *
 * LID...: besides DEVICE2's, more that datagrams go to
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define QKEY	0x44444444
#define GRH	40
#define LEN	64
#define AHS	64
#define MS	5000

static struct vt_end from, to;
static struct vt_buf tx, rx;
static struct ibv_ah *good_ah, *ah[AHS];
static bool ah_good[AHS];
static uint16_t lids[16];
static size_t nlids;

static uint32_t pick(const uint32_t *list, size_t n)
{
	size_t i = random() % (n + 1);

	return i < n ? list[i] : (uint32_t)random();
}

static struct ibv_ah *try_ah(struct ibv_ah_attr *attr)
{
	attr->port_num = 1;
	return ibv_create_ah(from.dev->pd, attr);
}

/* One may be refused (LID 0); most are not. */
static void make_ahs(void)
{
	size_t made = 0;

	for (size_t i = 0; i < AHS; i++) {
		struct ibv_ah_attr attr = {
			.dlid = random() % 4 ? lids[random() % nlids] :
					       (uint16_t)random(),
			.sl = random() % 16,
			.src_path_bits = random() % 128,
		};

		if (random() % 2) {
			attr.is_global = 1;
			attr.grh.hop_limit = random();
			attr.grh.flow_label = random() & 0xfffff;
			attr.grh.traffic_class = random();
			attr.grh.dgid = random() % 2 ? to.dev->gid :
						       from.dev->gid;
			if (random() % 2)
				attr.grh.dgid.raw[random() % 16] = random();
		}
		ah_good[i] = attr.dlid == to.dev->lid &&
			(!attr.is_global || !memcmp(&attr.grh.dgid,
						    &to.dev->gid, 16));
		ah[i] = try_ah(&attr);
		made += !!ah[i];
	}
	require(made > AHS / 2, "only %zu address handles", made);
}

static void send_one(struct ibv_ah *h, uint32_t qpn, uint32_t qkey, size_t len)
{
	struct ibv_sge sge = vt_sge(&tx, 0, len);

	vt_post_datagram(from.qp, &sge, h, qpn, qkey);
	vt_wait(from.cq, MS, "send");
}

static void stray(long i, size_t mtu)
{
	const uint32_t qpns[] = { 0, 1, 2, to.qp->qp_num, to.qp->qp_num,
				  0xffffff, from.qp->qp_num };
	const uint32_t qkeys[] = { QKEY, QKEY, QKEY + 1, 0x80010000, 0 };
	uint32_t qpn = pick(qpns, ARRAY_SIZE(qpns)) & 0xffffff;
	uint32_t qkey = pick(qkeys, ARRAY_SIZE(qkeys));
	size_t a = random() % AHS;

	if (!ah[a])
		return;
	/* The high bit stands for the sender's own Q_Key, which is the good one. */
	if (ah_good[a] && qpn == to.qp->qp_num &&
	    (qkey == QKEY || qkey & 0x80000000))
		qkey = QKEY + 1;
	vt_step("stray datagram %ld to QP 0x%x, Q_Key 0x%x", i, qpn, qkey);
	send_one(ah[a], qpn, qkey, random() % (mtu + 1));
}

static void arrives(uint64_t seed)
{
	struct ibv_sge sge = vt_sge(&rx, 0, GRH + LEN);
	struct ibv_wc wc;

	vt_step("a good datagram");
	vt_fill(tx.p, LEN, seed, 0);
	send_one(good_ah, to.qp->qp_num, QKEY, LEN);
	wc = vt_wait(to.cq, MS, "receive");
	require(wc.byte_len == GRH + LEN && wc.src_qp == from.qp->qp_num,
		"another datagram, of %u bytes from QP %u", wc.byte_len,
		wc.src_qp);
	vt_check(rx.p + GRH, LEN, seed, 0, "datagram");
	vt_post_recv(to.qp, 1, &sge, 1);
}

int main(int argc, char **argv)
{
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = QKEY };
	struct ibv_ah_attr attr = {};
	long times = 1000, seed = 1;
	struct ibv_sge sge;
	size_t mtu;
	int c;

	while ((c = getopt(argc, argv, "n:s:")) != -1) {
		switch (c) {
		case 'n':
			times = vt_number(optarg, 1, 10000000);
			break;
		case 's':
			seed = vt_number(optarg, 0, 0x7fffffff);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind < 2 || argc - optind > 14) {
		fprintf(stderr,
			"usage: vt_stray [-n TIMES] [-s SEED] DEVICE DEVICE2 LID...\n");
		return 2;
	}
	vt_watchdog(200);
	srandom(seed);
	vt_end_create(&from, vt_open_ib(argv[optind]), &opt);
	vt_end_create(&to, vt_open_ib(argv[optind + 1]), &opt);
	mtu = 128 << from.dev->mtu;
	tx = vt_alloc(from.dev->pd, mtu, 1, IBV_ACCESS_LOCAL_WRITE);
	rx = vt_alloc(to.dev->pd, GRH + LEN, 3, IBV_ACCESS_LOCAL_WRITE);
	lids[nlids++] = to.dev->lid;
	lids[nlids++] = from.dev->lid;
	for (int i = optind + 2; i < argc; i++)
		lids[nlids++] = vt_number(argv[i], 0, 65535);
	attr.dlid = to.dev->lid;
	good_ah = try_ah(&attr);
	require(good_ah, "create_ah: %m");
	make_ahs();
	sge = vt_sge(&rx, 0, GRH + LEN);
	vt_post_recv(to.qp, 1, &sge, 1);
	arrives(1);
	for (long i = 0; i < times; i++) {
		if (i % 100 == 99)
			arrives(i);
		stray(i, mtu);
	}
	vt_expect_none(to.cq, 100, "a stray datagram");
	arrives(3);
	vt_check_guards(&rx, "receive buffer");
	for (size_t i = 0; i < AHS; i++)
		require(!ah[i] || !ibv_destroy_ah(ah[i]), "destroy_ah");
	require(!ibv_destroy_ah(good_ah), "destroy_ah");
	printf("%ld stray datagrams, seed %ld\n", times, seed);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_key: datagrams with keys that the receiver does not take, between two native
 * InfiniBand ports.  None may arrive; before and after them good ones do, on the
 * same queue pair.
 *
 *	vt_key [-n TIMES] [-g] -p INDEX|-q DEVICE DEVICE2
 *
 * -p  with the P_Key at that index of DEVICE's table
 * -q  with a wrong Q_Key
 * -g  all of them to the GID with the default prefix, whatever the port's is
 */
#include <endian.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "shca_test.h"

#define QKEY	0x33333333
#define GRH	40
#define LEN	64
#define MS	5000

static struct vt_end good, bad, to;
static struct vt_buf tx, rx;
static struct ibv_ah *ah;

static void send_by(struct vt_end *from, uint32_t qkey, uint64_t seed)
{
	struct ibv_sge sge = vt_sge(&tx, 0, LEN);

	vt_fill(tx.p, LEN, seed, 0);
	vt_post_datagram(from->qp, &sge, ah, to.qp->qp_num, qkey);
	vt_wait(from->cq, MS, "send");
}

static void arrives(uint64_t seed)
{
	struct ibv_sge sge = vt_sge(&rx, 0, GRH + LEN);
	struct ibv_wc wc;

	vt_step("a good datagram");
	send_by(&good, QKEY, seed);
	wc = vt_wait(to.cq, MS, "receive");
	require(wc.src_qp == good.qp->qp_num, "it is from QP %u", wc.src_qp);
	vt_check(rx.p + GRH, LEN, seed, 0, "datagram");
	vt_post_recv(to.qp, 1, &sge, 1);
}

int main(int argc, char **argv)
{
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = QKEY };
	struct vt_opt bad_opt = opt;
	struct ibv_ah_attr attr = { .port_num = 1 };
	uint32_t bad_qkey = QKEY;
	struct vt_dev *a, *b;
	long times = 1;
	struct ibv_sge sge;
	int c;

	while ((c = getopt(argc, argv, "n:p:qg")) != -1) {
		switch (c) {
		case 'n':
			times = vt_number(optarg, 1, 1000000);
			break;
		case 'p':
			bad_opt.pkey_index = vt_number(optarg, 0, 65535);
			break;
		case 'q':
			bad_qkey = QKEY + 1;
			break;
		case 'g':
			attr.is_global = 1;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || !bad_opt.pkey_index == (bad_qkey == QKEY)) {
		fprintf(stderr,
			"usage: vt_key [-n TIMES] [-g] -p INDEX|-q DEVICE DEVICE2\n");
		return 2;
	}
	vt_watchdog(100);
	a = vt_open_ib(argv[optind]);
	b = vt_open_ib(argv[optind + 1]);
	vt_end_create(&good, a, &opt);
	vt_end_create(&bad, a, &bad_opt);
	vt_end_create(&to, b, &opt);
	tx = vt_alloc(a->pd, LEN, 1, IBV_ACCESS_LOCAL_WRITE);
	rx = vt_alloc(b->pd, GRH + LEN, 3, IBV_ACCESS_LOCAL_WRITE);
	attr.dlid = b->lid;
	attr.grh.hop_limit = 1;
	attr.grh.dgid.global.subnet_prefix = htobe64(0xfe80000000000000);
	attr.grh.dgid.global.interface_id = b->gid.global.interface_id;
	ah = ibv_create_ah(a->pd, &attr);
	require(ah, "create_ah: %m");
	sge = vt_sge(&rx, 0, GRH + LEN);
	vt_post_recv(to.qp, 1, &sge, 1);
	arrives(1);
	for (long i = 0; i < times; i++) {
		vt_step("bad datagram %ld", i);
		send_by(&bad, bad_qkey, 2);
	}
	vt_expect_none(to.cq, 100, "a datagram with a wrong key");
	arrives(3);
	require(!ibv_destroy_ah(ah), "destroy_ah");
	vt_end_destroy(&good);
	vt_end_destroy(&bad);
	vt_end_destroy(&to);
	vt_free(&tx);
	vt_free(&rx);
	vt_close(a);
	vt_close(b);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_victim: queue pairs to be shot at (T13).
 *
 * Opens RC, UD and, where there are, UC queue pairs that believe in a peer at -r IP, posts
 * receives and offers a region for RDMA.  Prints one line for each queue pair
 * and one for the region, then "ready", and waits for a line on stdin.  Then
 * nothing may have been written beside the buffers that were offered, no
 * more may have completed than was posted, and everything can be destroyed.
 *
 *	qp TYPE QPN EXPECTED-PSN PEER-QPN
 *	mr RKEY ADDRESS LENGTH
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define PER_TYPE	8
#define DEPTH		64
#define LEN		2048
#define PEER_QPN	0x123456
#define PEER_PSN	0x000100
#define QKEY		0x11111111

static const struct { enum ibv_qp_type type; const char *name; } types[] = {
	{ IBV_QPT_RC, "rc" }, { IBV_QPT_UD, "ud" }, { IBV_QPT_UC, "uc" },
};

static bool has_uc(struct vt_dev *dev)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, 2, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UC, .send_cq = cq, .recv_cq = cq,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_qp *qp;

	require(cq, "create_cq: %m");
	qp = ibv_create_qp(dev->pd, &init);
	require(qp || errno == EOPNOTSUPP, "create_qp of a UC: %m");
	if (qp)
		require(!ibv_destroy_qp(qp), "destroy_qp");
	require(!ibv_destroy_cq(cq), "destroy_cq");
	return qp;
}

int main(int argc, char **argv)
{
	struct vt_addr peer = { .qpn = PEER_QPN, .psn = PEER_PSN,
				.mtu = IBV_MTU_1024 };
	struct vt_end end[ARRAY_SIZE(types) * PER_TYPE];
	struct vt_pair pair = { .seconds = 300 };
	struct vt_buf mr, rx, tx;
	struct vt_dev *dev, *same;
	struct ibv_sge sge;
	unsigned int done = 0, errors = 0;
	size_t ends = ARRAY_SIZE(end);
	char line[64];
	int c;

	peer.gid.raw[10] = 0xff;
	peer.gid.raw[11] = 0xff;
	while ((c = getopt(argc, argv, VT_PAIR_OPTS "r:")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c != 'r' || inet_pton(AF_INET, optarg, peer.gid.raw + 12) != 1)
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a || pair.dev_b || !peer.gid.raw[12]) {
		fprintf(stderr,
			"usage: vt_victim -d DEV [-g GID] -r PEER-IP [-t SECONDS]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	vt_pair_open(&pair, &dev, &same);
	mr = vt_alloc(dev->pd, LEN, 1000, VT_ALL_ACCESS);
	rx = vt_alloc(dev->pd, LEN, 1000, IBV_ACCESS_LOCAL_WRITE);
	tx = vt_alloc(dev->pd, LEN, 1000, IBV_ACCESS_LOCAL_WRITE);
	sge = vt_sge(&rx, 0, LEN);
	if (!has_uc(dev))
		ends -= PER_TYPE;
	for (size_t i = 0; i < ends; i++) {
		size_t t = i / PER_TYPE;
		struct vt_opt opt = {
			.type = types[t].type, .qkey = QKEY, .timeout = 18,
			.send_wr = DEPTH, .recv_wr = DEPTH, .cqe = 4 * DEPTH,
		};

		vt_end_create(&end[i], dev, &opt);
		for (int k = 0; k < DEPTH; k++)
			vt_post_recv(end[i].qp, k, &sge, 1);
		if (opt.type != IBV_QPT_UD)
			vt_connect_to(&end[i], &peer, &opt);
		printf("qp %s %u %u %u\n", types[t].name, end[i].qp->qp_num,
		       PEER_PSN, PEER_QPN);
	}
	printf("mr %u %llu %d\n", mr.mr->rkey, (unsigned long long)
	       (uintptr_t)mr.p, LEN);
	/* half of the RC ones have requests out, so that responses matter */
	for (int i = 0; i < PER_TYPE / 2; i++) {
		struct ibv_sge from = vt_sge(&tx, 0, LEN);

		vt_post_send(end[i].qp, 1000, &from, 1, 0);
		vt_post_rdma(end[i].qp, 1001, IBV_WR_RDMA_READ, &from, 1, 4096,
			     1);
	}
	printf("ready\n");
	require(fgets(line, sizeof(line), stdin), "nothing on stdin");

	vt_step("after the attack");
	vt_check_guards(&mr, "beside the region");
	vt_check_guards(&rx, "beside the receive buffer");
	vt_check_guards(&tx, "beside the send buffer");
	for (size_t i = 0; i < ends; i++) {
		unsigned int n = 0;
		struct ibv_wc wc;

		while (ibv_poll_cq(end[i].cq, 1, &wc) == 1) {
			require(wc.wr_id < DEPTH || wc.wr_id == 1000 ||
				wc.wr_id == 1001, "wr_id %llu is not ours",
				(unsigned long long)wc.wr_id);
			require(++n <= DEPTH + 2, "more completions than requests");
			done++;
			errors += !!wc.status;
		}
		require(vt_state(end[i].qp) == IBV_QPS_ERR ||
			vt_state(end[i].qp) == IBV_QPS_RTS, "state %d",
			vt_state(end[i].qp));
		vt_end_destroy(&end[i]);
	}
	vt_free(&mr);
	vt_free(&rx);
	vt_free(&tx);
	vt_close(dev);
	printf("vt_victim: ok, %u completions, %u of them in error\n", done,
	       errors);
	return 0;
}

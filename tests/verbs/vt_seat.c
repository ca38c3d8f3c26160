// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_seat: a send queue that has much to do on the local path does not keep a
 * modify_qp waiting until it is done.
 *
 *	vt_seat -d DEV ...
 */
#include <getopt.h>
#include <stdio.h>

#include "shca_test.h"

#define MS	60000
#define LEN	(8u << 20)

int main(int argc, char **argv)
{
	struct vt_opt opt = { .send_wr = 1000, .cqe = 1000 };
	struct ibv_qp_attr attr = { .min_rnr_timer = 5 };
	struct vt_pair pair = { .seconds = 200 };
	unsigned long times = 40, left;
	struct vt_dev *dev, *same;
	struct vt_end a, b;
	struct vt_buf from, to;
	struct ibv_sge sge;
	struct ibv_wc wc;
	int rc;

	vt_pair_parse(&pair, argc, argv, &times);
	require(optind == argc && !pair.dev_b && times <= 1000,
		"one device, and 1000 at the most");
	vt_pair_open(&pair, &dev, &same);
	vt_end_create(&a, dev, &opt);
	vt_end_create(&b, dev, &opt);
	vt_connect(&a, &b, &opt);
	from = vt_alloc(dev->pd, LEN, 0, VT_ALL_ACCESS);
	to = vt_alloc(dev->pd, LEN, 0, VT_ALL_ACCESS);
	sge = vt_sge(&from, 0, LEN);
	for (unsigned long i = 0; i < times; i++)
		vt_post_rdma(a.qp, i, IBV_WR_RDMA_WRITE, &sge, 1,
			     (uintptr_t)to.p, to.mr->rkey);
	vt_step("modify_qp");
	rc = ibv_modify_qp(a.qp, &attr, IBV_QP_MIN_RNR_TIMER);
	require(!rc, "modify_qp: %d", rc);
	left = times;
	while (left && ibv_poll_cq(a.cq, 1, &wc) == 1)
		left--;
	printf("vt_seat: %lu of %lu WRITEs of 8 MiB were left\n", left, times);
	require(left > times / 2, "modify_qp waited for the send queue");
	while (left--)
		vt_wait(a.cq, MS, "write");
	vt_end_destroy(&a);
	vt_end_destroy(&b);
	vt_free(&from);
	vt_free(&to);
	vt_close(dev);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_mistake: makes one of the mistakes of docs/TROUBLESHOOTING.md, by its name,
 * between two queue pairs of this process. It only makes it: whether it is named is
 * for tests/cases/mistakes.sh to see.
 *
 * -x COMMAND runs between connecting and sending; the name `send` makes no mistake
 * of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shca_test.h"

#define LEN	4096
#define MS	10000

/* fails soon: 1 ms, no retries */
static const struct vt_opt hasty = {
	.timeout = 8, .retry = 1, .rnr_retry = 1, .min_rnr_timer = 1,
};

static struct vt_dev *dev_a, *dev_b;
static struct vt_end a, b;
static struct vt_buf near_buf, far_buf;
static const char *command;

static void create(const struct vt_opt *opt_a, const struct vt_opt *opt_b)
{
	vt_end_create(&a, dev_a, opt_a);
	vt_end_create(&b, dev_b, opt_b);
	near_buf = vt_alloc(dev_a->pd, LEN, 0, VT_ALL_ACCESS);
	far_buf = vt_alloc(dev_b->pd, LEN, 0, VT_ALL_ACCESS);
}

static void run_command(void)
{
	if (command)
		require(!system(command), "%s failed", command);
}

/* Ends with a completion, whatever it says. */
static void finish(void)
{
	struct ibv_wc wc;

	require(vt_poll(a.cq, &wc, MS), "no completion");
	printf("completed: %s\n", ibv_wc_status_str(wc.status));
}

static void send_one(void)
{
	struct ibv_sge sge = vt_sge(&near_buf, 0, 64);

	run_command();
	vt_post_send(a.qp, 1, &sge, 1, 0);
	finish();
}

static void receive_one(size_t len)
{
	struct ibv_sge sge = vt_sge(&far_buf, 0, len);

	vt_post_recv(b.qp, 2, &sge, 1);
}

/* --- ibv_modify_qp is refused ---------------------------------------------- */

static void refused(struct ibv_qp_attr *attr, int mask)
{
	int rc = ibv_modify_qp(a.qp, attr, mask);

	require(rc, "modify_qp was to fail");
	printf("refused: %s\n", strerror(rc));
}

static void to_rtr(bool grh, int gid_index, int mtu, int reads,
		   const union ibv_gid *dgid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu,
		.dest_qp_num = 17,
		.max_dest_rd_atomic = reads,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = grh,
			.port_num = 1,
			.dlid = 1,
			.grh = {
				.dgid = *dgid,
				.sgid_index = gid_index,
				.hop_limit = 64,
			},
		},
	};

	vt_end_create(&a, dev_a, &hasty);
	refused(&attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		IBV_QP_MIN_RNR_TIMER);
}

static void no_grh(void)
{
	to_rtr(false, dev_a->gid_index, IBV_MTU_1024, 1, &dev_b->gid);
}

static void gid_index(void)
{
	to_rtr(true, 200, IBV_MTU_1024, 1, &dev_b->gid);
}

static void mtu(void)
{
	to_rtr(true, dev_a->gid_index, IBV_MTU_4096, 1, &dev_b->gid);
}

static void reads(void)
{
	to_rtr(true, dev_a->gid_index, IBV_MTU_1024, 255, &dev_b->gid);
}

static void nobody(void)
{
	union ibv_gid gid = dev_b->gid;

	gid.raw[15] = 99;
	to_rtr(true, dev_a->gid_index, IBV_MTU_1024, 1, &gid);
}

static void order(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	vt_end_create(&a, dev_a, &hasty);
	refused(&attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
		IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void memlock(void)
{
	struct rlimit lim = { 4096, 4096 };
	size_t len = 1 << 20;
	void *p = calloc(1, len);

	require(p && !setrlimit(RLIMIT_MEMLOCK, &lim), "setrlimit: %m");
	require(!ibv_reg_mr(dev_a->pd, p, len, IBV_ACCESS_LOCAL_WRITE),
		"reg_mr was to fail");
	printf("refused: %m\n");
}

/* --- the two ends disagree --------------------------------------------------- */

static void disagree(uint32_t qpn, uint32_t psn, bool gid, bool early)
{
	struct vt_addr to_b, to_a;

	create(&hasty, &hasty);
	to_b = vt_addr_of(&b);
	to_a = vt_addr_of(&a);
	to_b.qpn += qpn;
	to_a.psn = (to_a.psn + psn) & 0xffffff;
	if (gid)
		to_a.gid = dev_b->gid;
	vt_connect_to(&a, &to_b, &hasty);
	if (!early)
		vt_connect_to(&b, &to_a, &hasty);
	receive_one(LEN);
	send_one();
}

static void wrong_qpn(void) { disagree(0x10000, 0, false, false); }
static void wrong_psn(void) { disagree(0, 1000, false, false); }
static void wrong_gid(void) { disagree(0, 0, true, false); }
static void early(void) { disagree(0, 0, false, true); }
static void plain(void) { disagree(0, 0, false, false); }

/* --- requests ------------------------------------------------------------------ */

static void write_to(uint32_t lkey, uint32_t rkey, int access)
{
	struct vt_opt opt = hasty;
	struct ibv_sge sge;

	opt.access = access;
	create(&hasty, &opt);
	vt_connect(&a, &b, &hasty);
	sge = vt_sge(&near_buf, 0, 64);
	sge.lkey += lkey;
	vt_post_rdma(a.qp, 1, IBV_WR_RDMA_WRITE, &sge, 1,
		     (uintptr_t)far_buf.p, far_buf.mr->rkey + rkey);
	finish();
}

static void wrong_rkey(void) { write_to(0, 1, 0); }
static void wrong_lkey(void) { write_to(1, 0, 0); }
static void not_enabled(void) { write_to(0, 0, -1); }

static void connected(const struct vt_opt *opt_b)
{
	create(&hasty, opt_b);
	vt_connect(&a, &b, &hasty);
}

static void rnr(void)
{
	connected(&hasty);
	send_one();
}

static void too_small(void)
{
	connected(&hasty);
	receive_one(16);
	send_one();
}

static void small_cq(void)
{
	struct vt_opt opt = hasty;
	struct ibv_sge sge;
	int i;

	opt.cqe = 1;
	connected(&opt);
	sge = vt_sge(&near_buf, 0, 64);
	for (i = 0; i < 4; i++)
		receive_one(LEN);
	for (i = 0; i < 4; i++)
		vt_post_send(a.qp, i, &sge, 1, 0);
	finish();
}

/* --- datagrams -------------------------------------------------------------------- */

static void datagram(uint32_t qkey, size_t room)
{
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = 0x1234 };
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_sge sge;

	create(&opt, &opt);
	sge = vt_sge(&near_buf, 0, 64);
	if (room)
		receive_one(room);
	wr.sg_list = &sge;
	wr.wr.ud.ah = vt_ah(&a, dev_b);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	require(!vt_try_send(a.qp, &wr), "post_send");
	finish();
}

static void wrong_qkey(void) { datagram(0x4321, LEN); }
static void grh_room(void) { datagram(0x1234, 64); }
static void no_receive(void) { datagram(0x1234, 0); }

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "no-grh", no_grh }, { "gid-index", gid_index }, { "mtu", mtu },
	{ "order", order }, { "reads", reads }, { "nobody", nobody },
	{ "memlock", memlock }, { "qpn", wrong_qpn }, { "psn", wrong_psn },
	{ "gid", wrong_gid }, { "early", early }, { "rkey", wrong_rkey },
	{ "lkey", wrong_lkey }, { "access", not_enabled }, { "rnr", rnr },
	{ "small", too_small }, { "cq", small_cq }, { "qkey", wrong_qkey },
	{ "grh-room", grh_room }, { "no-receive", no_receive },
	{ "send", plain },
};

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 60 };
	unsigned int i;
	int c;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "x:")) != -1) {
		if (c == 'x')
			command = optarg;
		else if (!vt_pair_arg(&pair, c, optarg))
			goto usage;
	}
	if (optind + 1 != argc)
		goto usage;
	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(mistakes[i].name, argv[optind]))
			continue;
		vt_pair_open(&pair, &dev_a, &dev_b);
		mistakes[i].make();
		return 0;
	}
usage:
	fprintf(stderr, "usage: %s %s [-x COMMAND] MISTAKE\n", argv[0],
		VT_PAIR_USAGE);
	return 2;
}

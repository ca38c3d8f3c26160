// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_absent: what README says is not there answers EOPNOTSUPP, with RoCE.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

static struct vt_dev *dev;
static struct vt_end rc, ud;
static unsigned int count;

static void absent(int err, const char *what)
{
	require(err == EOPNOTSUPP, "%s: %s", what,
		err ? strerror(err) : "it is there");
	count++;
}

/* what a call that returns a pointer came to */
static int made(void *object)
{
	return object ? 0 : errno;
}

static void queue_pairs(void)
{
	static const struct { enum ibv_qp_type type; const char *name; } types[] = {
		{ IBV_QPT_UC, "UC" }, { IBV_QPT_RAW_PACKET, "raw packets" },
		{ IBV_QPT_XRC_SEND, "XRC" }, { IBV_QPT_DRIVER, "a driver's type" },
	};
	struct ibv_qp_init_attr_ex ex = {
		.qp_type = IBV_QPT_RC, .send_cq = rc.cq, .recv_cq = rc.cq,
		.cap = { 1, 1, 1, 1, 0 },
		.pd = dev->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_qp_init_attr init = {
			.qp_type = types[i].type,
			.send_cq = rc.cq, .recv_cq = rc.cq,
			.cap = { 1, 1, 1, 1, 0 },
		};

		absent(made(ibv_create_qp(dev->pd, &init)), types[i].name);
	}
	absent(made(ibv_create_qp_ex(dev->ctx, &ex)), "a builder of atomics");
}

static void objects(struct vt_buf *buf)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 1, .max_sge = 1 } };
	union ibv_gid mgid = { .raw = { 0xff, 0x12 } };

	absent(made(ibv_create_srq(dev->pd, &srq)), "SRQ");
	absent(made(ibv_alloc_mw(dev->pd, IBV_MW_TYPE_1)), "MW, type 1");
	absent(made(ibv_alloc_mw(dev->pd, IBV_MW_TYPE_2)), "MW, type 2");
	absent(made(ibv_reg_mr(dev->pd, buf->p, buf->len,
			       IBV_ACCESS_ON_DEMAND)), "on-demand paging");
	absent(ibv_resize_cq(rc.cq, rc.cq->cqe * 2), "CQ resizing");
	absent(ibv_attach_mcast(ud.qp, &mgid, 0), "multicast");
}

static void requests(struct vt_buf *buf)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_LOCAL_INV, IBV_WR_BIND_MW, IBV_WR_SEND_WITH_INV,
		IBV_WR_TSO,
	};
	struct ibv_sge sge = vt_sge(buf, 0, 8);

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		struct ibv_send_wr wr = {
			.opcode = ops[i], .sg_list = &sge, .num_sge = 1,
		};
		char what[32];

		snprintf(what, sizeof(what), "opcode %d", ops[i]);
		absent(vt_try_send(rc.qp, &wr), what);
	}
	vt_expect_none(rc.cq, 5, "behind what was refused");
}

static void states(void)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp_attr alt = { .alt_port_num = 1, .alt_timeout = 14 };
	struct ibv_qp_attr rearm = { .path_mig_state = IBV_MIG_REARM };

	absent(ibv_modify_qp(rc.qp, &sqd, IBV_QP_STATE), "SQD");
	absent(ibv_modify_qp(rc.qp, &alt, IBV_QP_ALT_PATH), "alternate path");
	absent(ibv_modify_qp(rc.qp, &rearm, IBV_QP_PATH_MIG_STATE),
	       "path migration");
	require(vt_state(rc.qp) == IBV_QPS_RTS, "state is %d",
		vt_state(rc.qp));
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 60 };
	struct vt_opt opt = { 0 }, ud_opt = { .type = IBV_QPT_UD, .qkey = 1 };
	struct ibv_device_attr attr;
	struct vt_dev *same;
	struct vt_buf buf;

	vt_pair_parse(&pair, argc, argv, NULL);
	vt_pair_open(&pair, &dev, &same);
	vt_end_create(&rc, dev, &opt);
	vt_end_create(&ud, dev, &ud_opt);
	vt_connect(&rc, &rc, &opt);
	buf = vt_alloc(dev->pd, 64, 0, VT_ALL_ACCESS);
	queue_pairs();
	objects(&buf);
	requests(&buf);
	states();
	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	require(!attr.max_srq && !attr.max_mw && !attr.max_mcast_grp &&
		attr.atomic_cap == IBV_ATOMIC_NONE &&
		!(attr.device_cap_flags & (IBV_DEVICE_RESIZE_MAX_WR |
					   IBV_DEVICE_AUTO_PATH_MIG |
					   IBV_DEVICE_MEM_WINDOW |
					   IBV_DEVICE_MEM_MGT_EXTENSIONS)),
		"query_device promises what is not there");
	vt_free(&buf);
	vt_end_destroy(&ud);
	vt_end_destroy(&rc);
	vt_close(dev);
	printf("vt_absent: %u times EOPNOTSUPP: ok\n", count);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is said of a modify_qp that was refused.  The device is this file: it answers
 * the queries of libibverbs in the library's place.
 */
#include <errno.h>
#include <string.h>

#include "../why.h"
#include "unit.h"

enum { READS = 16, GID = 3 };	/* at once; index of the only GID */

static uint8_t link_layer;
static struct ibv_qp qp;
static struct ibv_context context;

#undef ibv_query_port
int ibv_query_port(struct ibv_context *ctx, uint8_t num,
		   struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr *port = (struct ibv_port_attr *)attr;

	(void)ctx;
	port->active_mtu = IBV_MTU_1024;
	port->link_layer = link_layer;
	return num == 1 ? 0 : EINVAL;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	(void)ctx;
	memset(attr, 0, sizeof(*attr));
	attr->max_qp_rd_atom = READS;
	attr->max_qp_init_rd_atom = READS;
	return 0;
}

int ibv_query_gid(struct ibv_context *ctx, uint8_t num, int index,
		  union ibv_gid *gid)
{
	(void)ctx;
	(void)num;
	memset(gid, 0, sizeof(*gid));
	gid->raw[15] = index == GID;
	return 0;
}

/* INIT to RTR with nothing wrong in it */
static struct ibv_qp_attr rtr(bool grh)
{
	return (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = READS,
		.ah_attr = {
			.is_global = grh,
			.grh.sgid_index = GID,
		},
	};
}

static enum shca_why why(struct ibv_qp_attr attr, int err)
{
	return shca_why_modify(&qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			       IBV_QP_PATH_MTU | IBV_QP_MAX_DEST_RD_ATOMIC, err);
}

static void port(uint8_t layer)
{
	link_layer = layer;
	qp.context = &context;
	qp.state = IBV_QPS_INIT;
}

static void ethernet(void)
{
	struct ibv_qp_attr attr;

	port(IBV_LINK_LAYER_ETHERNET);
	CHECK(why(rtr(true), EINVAL) == SHCA_WHY_UNKNOWN);
	CHECK(why(rtr(false), EINVAL) == SHCA_WHY_NO_GRH);
	CHECK(why(rtr(true), ETIMEDOUT) == SHCA_WHY_UNREACHABLE);
	attr = rtr(true), attr.ah_attr.grh.sgid_index++;
	CHECK(why(attr, EINVAL) == SHCA_WHY_GID_INDEX);
	attr = rtr(true), attr.path_mtu = IBV_MTU_2048;
	CHECK(why(attr, EINVAL) == SHCA_WHY_MTU);
	attr = rtr(true), attr.max_dest_rd_atomic++;
	CHECK(why(attr, EINVAL) == SHCA_WHY_READS);
}

/* A native port needs no GRH, and its MTU is not the last word. */
static void native(void)
{
	struct ibv_qp_attr attr;

	port(IBV_LINK_LAYER_INFINIBAND);
	CHECK(why(rtr(false), EINVAL) == SHCA_WHY_UNKNOWN);
	attr = rtr(false), attr.ah_attr.grh.sgid_index++;
	CHECK(why(attr, EINVAL) == SHCA_WHY_UNKNOWN);
	attr.ah_attr.is_global = 1;
	CHECK(why(attr, EINVAL) == SHCA_WHY_GID_INDEX);
	attr = rtr(false), attr.path_mtu = IBV_MTU_2048;
	CHECK(why(attr, EINVAL) == SHCA_WHY_UNKNOWN);
	attr = rtr(false), attr.max_dest_rd_atomic++;
	CHECK(why(attr, EINVAL) == SHCA_WHY_READS);
}

static void steps(void)
{
	static const enum ibv_qp_state all[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QPS_SQE, IBV_QPS_ERR,
	};
	static const struct {
		enum ibv_qp_state to;
		unsigned int from;
	} legal[] = {
#define S(state)	(1u << IBV_QPS_##state)
		{ IBV_QPS_RESET, ~0u },
		{ IBV_QPS_INIT, S(RESET) | S(INIT) },
		{ IBV_QPS_RTR, S(INIT) },
		{ IBV_QPS_RTS, S(RTR) | S(RTS) | S(SQE) },
		{ IBV_QPS_SQD, 0 },
		{ IBV_QPS_SQE, 0 },
		{ IBV_QPS_ERR, ~S(RESET) },
	};
	unsigned int i, j;

	port(IBV_LINK_LAYER_ETHERNET);
	for (i = 0; i < sizeof(legal) / sizeof(legal[0]); i++) {
		for (j = 0; j < sizeof(all) / sizeof(all[0]); j++) {
			struct ibv_qp_attr attr = { .qp_state = legal[i].to };
			bool ok = legal[i].from >> all[j] & 1;

			qp.state = all[j];
			CHECK(shca_why_modify(&qp, &attr, IBV_QP_STATE, EINVAL) ==
			      (ok ? SHCA_WHY_UNKNOWN : SHCA_WHY_STATE));
		}
	}
}

void test_why(void)
{
	run("why: an Ethernet port", ethernet);
	run("why: a native port", native);
	run("why: steps from state to state", steps);
}

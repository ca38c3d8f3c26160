// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Why the kernel has refused something.
 *
 * Verbs answer with an errno, and most of EINVAL's reasons are found by ib_core,
 * before our module is asked.  So the caller's arguments are looked at again
 * here, once a call has failed, and the probe modify_failed tells who listens
 * (`ibctl trace errors`).
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "why.h"

static bool gid_there(struct ibv_context *ctx, uint8_t port, int index)
{
	static const union ibv_gid none;
	union ibv_gid gid;

	return !ibv_query_gid(ctx, port, index, &gid) &&
	       memcmp(&gid, &none, sizeof(gid));
}

/* Is it a step that the state allows (IBA 10.3.1), and that our module takes? */
static bool step_legal(enum ibv_qp_state from, enum ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR || from == IBV_QPS_RTS ||
		       from == IBV_QPS_SQE;
	case IBV_QPS_ERR:
		return from != IBV_QPS_RESET;
	default:
		return to == IBV_QPS_RESET;
	}
}

/**
 * shca_why_modify - why ibv_modify_qp failed
 * @qp: the QP, in the state before
 * @attr: what was asked for
 * @mask: which of it
 * @err: the errno
 *
 * Context: may sleep (system calls); errno may change.
 * Return: the reason, SHCA_WHY_UNKNOWN if the arguments look right.
 */
enum shca_why shca_why_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr,
			      int mask, int err)
{
	struct ibv_device_attr dev;
	struct ibv_port_attr port;
	uint8_t num = 1;
	bool eth;

	if (mask & IBV_QP_STATE && !step_legal(qp->state, attr->qp_state))
		return SHCA_WHY_STATE;
	if (ibv_query_port(qp->context, num, &port) ||
	    ibv_query_device(qp->context, &dev))
		return SHCA_WHY_UNKNOWN;
	eth = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	if (mask & IBV_QP_AV) {
		if (eth && !attr->ah_attr.is_global)
			return SHCA_WHY_NO_GRH;
		if (attr->ah_attr.is_global &&
		    !gid_there(qp->context, num, attr->ah_attr.grh.sgid_index))
			return SHCA_WHY_GID_INDEX;
		if (err == ENETUNREACH || err == EHOSTUNREACH ||
		    err == ETIMEDOUT)
			return SHCA_WHY_UNREACHABLE;
	}
	/* A native port's MTU may change yet: a larger one is taken. */
	if (eth && mask & IBV_QP_PATH_MTU && attr->path_mtu > port.active_mtu)
		return SHCA_WHY_MTU;
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC &&
	     attr->max_rd_atomic > dev.max_qp_init_rd_atom) ||
	    (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	     attr->max_dest_rd_atomic > dev.max_qp_rd_atom))
		return SHCA_WHY_READS;
	return SHCA_WHY_UNKNOWN;
}

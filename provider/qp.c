// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: create, modify, query, destroy.
 *
 * A QP has one mapping with an SQ and an RQ in it, for as long as the QP
 * exists.  Whether a WR may be posted depends on the QP's state; that is
 * remembered under the lock of either queue (shca_wq.open), so that posting
 * needs to look nowhere else and a reset finds both queues at rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "probe.h"
#include "softhca.h"
#include "why.h"

static_assert(sizeof(struct shca_ring_hdr) == 192, "struct shca_ring_hdr");
static_assert(sizeof(struct shca_send_wqe) == 64, "struct shca_send_wqe");
static_assert(sizeof(struct shca_recv_wqe) == 16, "struct shca_recv_wqe");

/* A queue of no entries is one that nothing can be posted to. */
static int init_wq(struct shca_wq *wq, void *hdr, char *map, uint32_t map_size,
		   uint32_t offset)
{
	uint64_t end = offset + (uint64_t)wq->entries * wq->stride;

	if (wq->entries &&
	    (!shca_is_power_of_two(wq->entries) || end > map_size ||
	     offset % 8 || wq->stride % 8 ||
	     offset < 2 * sizeof(struct shca_ring_hdr)))
		return EPROTO;
	wq->hdr = hdr;
	wq->slots = map + offset;
	wq->cons = shca_load(&wq->hdr->cons);
	wq->prod = shca_load(&wq->hdr->prod);
	return pthread_spin_init(&wq->lock, PTHREAD_PROCESS_PRIVATE);
}

/**
 * shca_qp_init_rings - set up the process's end of a QP's rings
 * @qp: the QP, zeroed
 * @map: its mapping
 * @resp: how the kernel laid it out; checked, because a later module might
 *	have chosen something that this provider cannot drive
 *
 * Context: may sleep.
 * Return: 0 or an errno; nothing is to be undone then.
 */
int shca_qp_init_rings(struct shca_qp *qp, void *map,
		       const struct shca_create_qp_resp *resp)
{
	struct shca_ring_hdr *hdr = map;
	uint64_t sges;
	int ret;

	qp->sq.entries = resp->sq_entries;
	qp->sq.stride = resp->sq_stride;
	qp->sq.max_sge = resp->sq_max_sge;
	qp->sq.max_inline = resp->sq_max_inline;
	qp->rq.entries = resp->rq_entries;
	qp->rq.stride = resp->rq_stride;
	qp->rq.max_sge = resp->rq_max_sge;

	if (resp->map.size < 2 * sizeof(*hdr))
		return EPROTO;
	sges = (uint64_t)resp->sq_max_sge * sizeof(struct shca_sge);
	if (resp->sq_entries &&
	    (sizeof(struct shca_send_wqe) + sges > resp->sq_stride ||
	     sizeof(struct shca_send_wqe) + (uint64_t)resp->sq_max_inline >
	     resp->sq_stride))
		return EPROTO;
	sges = (uint64_t)resp->rq_max_sge * sizeof(struct shca_sge);
	if (resp->rq_entries &&
	    sizeof(struct shca_recv_wqe) + sges > resp->rq_stride)
		return EPROTO;

	ret = init_wq(&qp->sq, &hdr[0], map, resp->map.size, resp->sq_offset);
	if (ret)
		return ret;
	ret = init_wq(&qp->rq, &hdr[1], map, resp->map.size, resp->rq_offset);
	if (ret) {
		pthread_spin_destroy(&qp->sq.lock);
		return ret;
	}
	qp->map = map;
	qp->map_size = resp->map.size;
	return 0;
}

static int map_rings(struct ibv_context *context, struct shca_qp *qp,
		     const struct shca_create_qp_resp *resp)
{
	void *map;
	int ret;

	map = shca_map(context, &resp->map);
	if (!map)
		return errno;
	ret = shca_qp_init_rings(qp, map, resp);
	if (ret)
		munmap(map, resp->map.size);
	return ret;
}

static bool type_supported(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_UD;
}

/**
 * shca_qp_create - ibv_create_qp
 * @pd: its protection domain
 * @attr: what it is to be like; capacities are updated to what was granted
 *
 * Context: may sleep.
 * Return: the QP, or NULL with errno set.
 */
struct ibv_qp *shca_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct shca_create_qp_resp drv;
	} resp = {};
	struct ibv_create_qp cmd = {};
	struct shca_qp *qp;
	int ret;

	static_assert(offsetof(__typeof__(resp), drv) == sizeof(resp.core),
		      "the driver's response follows the core's");

	if (!type_supported(attr->qp_type) || attr->srq) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->sq_sig_all = attr->sq_sig_all;
	ret = ibv_cmd_create_qp(pd, &qp->vqp.qp, attr, &cmd, sizeof(cmd),
				&resp.core, sizeof(resp));
	if (ret)
		goto err_free_qp;
	ret = map_rings(pd->context, qp, &resp.drv);
	if (ret)
		goto err_destroy_qp;
	return &qp->vqp.qp;

err_destroy_qp:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free_qp:
	free(qp);
	errno = ret;
	return NULL;
}

/**
 * shca_qp_create_ex - ibv_create_qp_ex
 * @context: the device's context
 * @attr: what it is to be like, with the builder API's operations; what we lack
 *	is refused with EOPNOTSUPP
 *
 * Context: may sleep.
 * Return: the QP, or NULL with errno set.
 */
struct ibv_qp *shca_qp_create_ex(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD |
			       IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	struct {
		struct ib_uverbs_ex_create_qp_resp core;
		struct shca_create_qp_resp drv;
	} resp = {};
	struct ibv_create_qp_ex cmd = {};
	uint64_t ops = 0;
	struct shca_qp *qp;
	int ret;

	static_assert(offsetof(__typeof__(resp), drv) == sizeof(resp.core),
		      "the driver's response follows the core's");

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		ops = attr->send_ops_flags;
	if (!type_supported(attr->qp_type) || attr->srq ||
	    !shca_build_supported(attr->qp_type, ops) ||
	    attr->comp_mask & ~known ||
	    !(attr->comp_mask & IBV_QP_INIT_ATTR_PD) ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	     attr->create_flags)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->sq_sig_all = attr->sq_sig_all;
	ret = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr, &cmd, sizeof(cmd),
				    &resp.core, sizeof(resp));
	if (ret)
		goto err_free_qp;
	ret = map_rings(context, qp, &resp.drv);
	if (ret)
		goto err_destroy_qp;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		shca_build_init(qp, ops);
	return &qp->vqp.qp;

err_destroy_qp:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free_qp:
	free(qp);
	errno = ret;
	return NULL;
}

/**
 * shca_qp_set_open - open or close the queues as a state wants it
 * @qp: the QP
 * @state: the QP's new state
 *
 * Receives may be posted from INIT on, sends from RTS on; both in the error
 * state, where they are flushed.  The kernel moves a QP to the error state by
 * itself, which needs no notice here.
 *
 * Context: takes the locks of both queues, one after the other.
 */
void shca_qp_set_open(struct shca_qp *qp, enum ibv_qp_state state)
{
	pthread_spin_lock(&qp->sq.lock);
	qp->sq.open = state != IBV_QPS_RESET && state != IBV_QPS_INIT &&
		      state != IBV_QPS_RTR;
	pthread_spin_unlock(&qp->sq.lock);

	pthread_spin_lock(&qp->rq.lock);
	qp->rq.open = state != IBV_QPS_RESET;
	pthread_spin_unlock(&qp->rq.lock);
}

/**
 * shca_qp_resync - take over the indices that the kernel left after a reset
 * @qp: the QP, closed
 *
 * The kernel drops what lay in the queues; whether it does so by moving the
 * consumer up or both indices to 0 is its own choice.
 */
void shca_qp_resync(struct shca_qp *qp)
{
	struct shca_wq *wqs[] = { &qp->sq, &qp->rq };
	struct shca_wq *wq;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		wq = wqs[i];
		pthread_spin_lock(&wq->lock);
		wq->cons = shca_load_acquire(&wq->hdr->cons);
		wq->prod = shca_load(&wq->hdr->prod);
		pthread_spin_unlock(&wq->lock);
	}
}

/**
 * shca_qp_modify - ibv_modify_qp
 * @ibqp: the QP
 * @attr: new attributes
 * @mask: which of them (enum ibv_qp_attr_mask)
 *
 * Context: may sleep; takes the locks of both queues when the state changes.
 * Return: 0 or an errno, EOPNOTSUPP for an alternate path.
 */
int shca_qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct shca_qp *qp = shca_to_qp(ibqp);
	bool reset = mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET;
	struct ibv_modify_qp cmd = {};
	int ret;

	/* Over Ethernet ib_core has refused it already, with another errno. */
	if (mask & IBV_QP_ALT_PATH)
		return EOPNOTSUPP;
	if (reset)
		shca_qp_set_open(qp, IBV_QPS_RESET);
	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (ret) {
		SHCA_PROBE(modify_failed, ibqp->qp_num,
			   shca_why_modify(ibqp, attr, mask, ret), ret,
			   attr->qp_state);
		if (reset)
			shca_qp_set_open(qp, ibqp->state);
		return ret;
	}
	if (reset)
		shca_qp_resync(qp);
	else if (mask & IBV_QP_STATE)
		shca_qp_set_open(qp, attr->qp_state);
	return 0;
}

/**
 * shca_qp_query - ibv_query_qp
 * @ibqp: the QP
 * @attr: filled in
 * @mask: what is wanted
 * @init_attr: filled in with the attributes of its creation
 *
 * Context: may sleep.
 * Return: 0 or an errno.
 */
int shca_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
}

/**
 * shca_qp_destroy - ibv_destroy_qp
 * @ibqp: the QP
 *
 * Context: may sleep; waits for events that have not been acknowledged.
 * Return: 0, or the kernel's errno; the QP then lives on.
 */
int shca_qp_destroy(struct ibv_qp *ibqp)
{
	struct shca_qp *qp = shca_to_qp(ibqp);
	int ret = ibv_cmd_destroy_qp(ibqp);

	if (ret)
		return ret;
	munmap(qp->map, qp->map_size);
	pthread_spin_destroy(&qp->sq.lock);
	pthread_spin_destroy(&qp->rq.lock);
	free(qp);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: create, query, destroy.  Modify is in qp_modify.c, posting in
 * post.c.
 *
 * ib_core's struct ib_qp holds one reference to struct shca_qp, which has the
 * rings.  The rings' memory (qp->map) and the kernel's copies of send WQEs
 * (qp->sq.swqe) end with destroy_qp, after the runners were closed.  Whoever
 * else holds a reference looks at the rings only under qp->mod, and only while
 * qp->map is there.
 */
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../base/trace_qp.h"
#include "../object/cq.h"
#include "../object/pd.h"
#include "../transport/transport.h"
#include "device.h"
#include "mmap.h"
#include "ops.h"

static_assert(sizeof(struct shca_ring_hdr) == 192);
static_assert(sizeof(struct shca_send_wqe) == 64);
static_assert(sizeof(struct shca_recv_wqe) == 16);

/* Where the parts of a QP's rings lie, in bytes from the start */
struct qp_layout {
	u32 sq_offset;
	u32 rq_offset;
	size_t size;
};

static int check_init(const struct shca_dev *dev,
		      const struct ib_qp_init_attr *attr, bool user)
{
	const struct ib_qp_cap *cap = &attr->cap;

	switch (attr->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UD:
		break;
	case IB_QPT_SMI:
		if (!dev->node)
			return -EOPNOTSUPP;
		fallthrough;
	case IB_QPT_GSI:
		if (user)
			return -EPERM;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (attr->create_flags || attr->srq || attr->xrcd || attr->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > SHCA_MAX_QP_WR ||
	    cap->max_recv_wr > SHCA_MAX_QP_WR ||
	    cap->max_send_sge > SHCA_MAX_SGE ||
	    cap->max_recv_sge > SHCA_MAX_SGE ||
	    cap->max_inline_data > SHCA_MAX_INLINE)
		return -EINVAL;
	return 0;
}

/* Sizes of the rings from what was asked for, which is updated to what is. */
static void size_rings(struct shca_qp *qp, struct ib_qp_cap *cap,
		       struct qp_layout *l)
{
	struct shca_ring *sq = &qp->sq.ring, *rq = &qp->rq.ring;
	u32 room;

	/* All bounded by check_init(): nothing overflows. */
	cap->max_send_sge = max(cap->max_send_sge, 1u);
	cap->max_recv_sge = max(cap->max_recv_sge, 1u);
	room = max_t(u32, cap->max_send_sge * sizeof(struct shca_sge),
		     cap->max_inline_data);
	sq->stride = roundup(sizeof(struct shca_send_wqe) + room, 64);
	sq->entries = roundup_pow_of_two(max(cap->max_send_wr, 1u));
	rq->stride = sizeof(struct shca_recv_wqe) +
		     cap->max_recv_sge * sizeof(struct shca_sge);
	rq->entries = roundup_pow_of_two(max(cap->max_recv_wr, 1u));

	qp->sq.max_sge = cap->max_send_sge;
	qp->sq.max_inline = min_t(u32, SHCA_MAX_INLINE, sq->stride -
				  sizeof(struct shca_send_wqe));
	qp->sq.swqe_stride = roundup(offsetof(struct shca_swqe, wqe) +
				     sq->stride, 64);
	qp->rq.max_sge = cap->max_recv_sge;

	cap->max_send_wr = sq->entries;
	cap->max_recv_wr = rq->entries;
	cap->max_inline_data = qp->sq.max_inline;

	l->sq_offset = 2 * sizeof(struct shca_ring_hdr);
	l->rq_offset = l->sq_offset + sq->entries * sq->stride;
	l->size = l->rq_offset + rq->entries * rq->stride;
}

static int alloc_rings(struct shca_qp *qp, struct ib_ucontext *ctx,
		       const struct qp_layout *l)
{
	struct shca_ring_hdr *hdr;
	struct shca_mmap *map;

	qp->sq.swqe = kvcalloc(qp->sq.ring.entries, qp->sq.swqe_stride,
			       GFP_KERNEL_ACCOUNT);
	if (!qp->sq.swqe)
		return -ENOMEM;
	map = shca_mmap_alloc(ctx, l->size);
	if (IS_ERR(map)) {
		kvfree(qp->sq.swqe);
		return PTR_ERR(map);
	}
	hdr = map->mem;
	qp->sq.ring.hdr = &hdr[0];
	qp->sq.ring.slots = map->mem + l->sq_offset;
	qp->rq.ring.hdr = &hdr[1];
	qp->rq.ring.slots = map->mem + l->rq_offset;
	qp->map = map;
	return 0;
}

static void free_rings(struct shca_qp *qp)
{
	struct shca_mmap *map = qp->map;

	lockdep_assert_held(&qp->mod);
	qp->map = NULL;
	qp->sq.ring.hdr = NULL;
	qp->rq.ring.hdr = NULL;
	shca_mmap_release(map);
	kvfree(qp->sq.swqe);
	qp->sq.swqe = NULL;
}

static void name_owner(struct shca_qp *qp, const struct ib_qp *ibqp)
{
	if (qp->user) {
		qp->pid = task_tgid_nr(current);
		get_task_comm(qp->comm, current->group_leader);
	} else if (ibqp->res.kern_name) {
		strscpy(qp->comm, ibqp->res.kern_name, sizeof(qp->comm));
	}
}

static int qp_answer(struct shca_qp *qp, const struct qp_layout *l,
		     struct ib_udata *udata)
{
	struct shca_create_qp_resp resp = {
		.sq_offset = l->sq_offset,
		.sq_entries = qp->sq.ring.entries,
		.sq_stride = qp->sq.ring.stride,
		.sq_max_inline = qp->sq.max_inline,
		.rq_offset = l->rq_offset,
		.rq_entries = qp->rq.ring.entries,
		.rq_stride = qp->rq.ring.stride,
		.sq_max_sge = qp->sq.max_sge,
		.rq_max_sge = qp->rq.max_sge,
	};

	shca_mmap_fill(qp->map, &resp.map);
	return shca_answer(udata, &resp, sizeof(resp));
}

/**
 * shca_create_qp - ib_device_ops.create_qp
 * @ibqp: the QP
 * @attr: what it is to be like; capacities are updated to what was granted
 * @udata: of a process: answered with struct shca_create_qp_resp
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP (type, flags, SRQ), -EINVAL (capacities), -EPERM,
 * -ENOMEM (or as many as there may be), -EBUSY or -EFAULT.
 */
int shca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		   struct ib_udata *udata)
{
	struct ib_ucontext *ctx = udata ? shca_udata_context(udata) : NULL;
	struct shca_dev *dev = to_shca(ibqp->device);
	struct ib_qp_cap cap = attr->cap;
	struct qp_layout layout;
	struct shca_qp *qp;
	int ret;

	ret = check_init(dev, attr, udata);
	if (ret)
		return ret;
	if (udata &&
	    udata->outlen < shca_answer_min(shca_create_qp_resp, rq_max_sge))
		return -EINVAL;

	if (!atomic_add_unless(&dev->qps, 1, SHCA_MAX_QP))
		return -ENOMEM;
	qp = shca_qp_alloc(dev, attr->qp_type);
	if (!qp) {
		ret = -ENOMEM;
		goto uncount;
	}
	qp->ib = ibqp;
	qp->pd = to_shca_pd(ibqp->pd);
	qp->user = udata;
	qp->mtu = ib_mtu_enum_to_int(shca_port_max_mtu(dev));
	qp->sq.cq = to_shca_cq(attr->send_cq);
	qp->sq.sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->rq.cq = to_shca_cq(attr->recv_cq);
	name_owner(qp, ibqp);
	size_rings(qp, &cap, &layout);
	qp->attr.cap = cap;
	qp->attr.port_num = 1;
	qp->attr.path_mtu = shca_port_mtu(dev);
	container_of(ibqp, struct shca_ib_qp, ib)->qp = qp;

	ret = alloc_rings(qp, ctx, &layout);
	if (ret)
		goto put_qp;
	ret = shca_transport_attach(qp);
	if (ret)
		goto free_rings;
	ret = shca_qp_publish(qp);
	if (ret)
		goto detach;
	ibqp->qp_num = qp->qpn;
	if (udata) {
		ret = qp_answer(qp, &layout, udata);
		if (ret)
			goto unpublish;
	}
	attr->cap = cap;
	trace_qp_create(dev, qp->qpn, qp->type, qp->pid, qp->comm);
	return 0;

unpublish:
	shca_qp_unpublish(qp);
detach:
	mutex_lock(&qp->mod);
	shca_transport_detach(qp);
	mutex_unlock(&qp->mod);
free_rings:
	mutex_lock(&qp->mod);
	free_rings(qp);
	mutex_unlock(&qp->mod);
put_qp:
	shca_qp_put(qp);
uncount:
	atomic_dec(&dev->qps);
	return ret;
}

/**
 * shca_query_qp - ib_device_ops.query_qp
 * @ibqp: the QP
 * @attr: filled in, whatever @mask says
 * @mask: what is wanted
 * @init: filled in with the attributes of its creation
 *
 * Context: process, may sleep.
 * Return: 0.
 */
int shca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init)
{
	struct shca_qp *qp = to_shca_qp(ibqp);

	mutex_lock(&qp->mod);
	*attr = qp->attr;
	attr->qp_state = shca_qp_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_psn = READ_ONCE(qp->sq.psn);
	attr->rq_psn = READ_ONCE(qp->rq.epsn);
	/* The GID it was resolved to may be gone. */
	attr->ah_attr.grh.sgid_attr = NULL;
	mutex_unlock(&qp->mod);

	memset(init, 0, sizeof(*init));
	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->port_num = 1;
	return 0;
}

/**
 * shca_destroy_qp - ib_device_ops.destroy_qp
 * @ibqp: the QP
 * @udata: unused
 *
 * Context: process; waits for a turn of its runners, never for a packet or a
 * grace period.
 * Return: 0.
 */
int shca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct shca_qp *qp = to_shca_qp(ibqp);

	trace_qp_destroy(qp->dev, qp->qpn);
	shca_qp_unpublish(qp);
	mutex_lock(&qp->mod);
	shca_transport_detach(qp);
	shca_cq_forget(qp->sq.cq, ibqp);
	shca_cq_forget(qp->rq.cq, ibqp);
	free_rings(qp);
	mutex_unlock(&qp->mod);
	shca_qp_put(qp);
	atomic_dec(&to_shca(ibqp->device)->qps);
	return 0;
}

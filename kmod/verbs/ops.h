/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The verbs, as ib_core calls them, and what the files of verbs/ share. */
#ifndef _SHCA_VERBS_OPS_H
#define _SHCA_VERBS_OPS_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "../base/device.h"
#include "../object/av.h"
#include "../object/qp.h"
#include "../uapi/softhca-abi.h"

/* The objects that ib_core allocates for us and frees after destroy. */

struct shca_ucontext {
	struct ib_ucontext ib;
};

/**
 * struct shca_ib_ah - ib_core's end of an address handle
 * @ib: what ib_core knows
 * @ah: the handle that WQEs name
 * @attr: what query_ah answers; ib_core holds its GID for as long as the handle
 */
struct shca_ib_ah {
	struct ib_ah ib;
	struct shca_ah *ah;
	struct rdma_ah_attr attr;
};

/** struct shca_ib_qp - ib_core's end of a QP, which holds one reference */
struct shca_ib_qp {
	struct ib_qp ib;
	struct shca_qp *qp;
};

static inline struct shca_ib_ah *to_shca_ah(struct ib_ah *ib)
{
	return container_of(ib, struct shca_ib_ah, ib);
}

static inline struct shca_qp *to_shca_qp(struct ib_qp *ib)
{
	return container_of(ib, struct shca_ib_qp, ib)->qp;
}

static inline struct ib_ucontext *shca_udata_context(struct ib_udata *udata)
{
	return &rdma_udata_to_drv_context(udata, struct shca_ucontext, ib)->ib;
}

/**
 * shca_answer_min - bytes of a response that every provider has room for
 * @type: the response
 * @last: its last field of version 1 that has a meaning
 */
#define shca_answer_min(type, last)	offsetofend(struct type, last)

/**
 * shca_answer - copy a response to the process, as far as its provider knows it
 * @udata: of the process
 * @resp: the response
 * @size: its bytes
 *
 * A provider may be older than the module and know less (docs/ABI.md); what it
 * must have was checked with shca_answer_min() before anything was made.
 *
 * Return: 0 or -EFAULT.
 */
static inline int shca_answer(struct ib_udata *udata, const void *resp,
			      size_t size)
{
	return ib_copy_to_udata(udata, (void *)resp, min(size, udata->outlen));
}

/* ops.c */
extern const struct ib_device_ops shca_device_ops;

/* device.c */
void shca_device_dealloc(struct ib_device *ib);

/* roce_port.c */
extern const struct ib_device_ops shca_roce_device_ops;
bool shca_port_refresh(struct shca_dev *dev, bool *state_changed);

/* ib_port.c */
extern const struct ib_device_ops shca_ib_device_ops;

/* port.c */
int shca_query_device(struct ib_device *ib, struct ib_device_attr *attr,
		      struct ib_udata *udata);
void shca_get_dev_fw_str(struct ib_device *ib, char *str);
extern const struct rdma_stat_desc shca_stat_descs[];

struct rdma_hw_stats *shca_alloc_hw_port_stats(struct ib_device *ib, u32 port);
int shca_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		      u32 port, int index);

/* ucontext.c */
int shca_alloc_ucontext(struct ib_ucontext *ctx, struct ib_udata *udata);
void shca_dealloc_ucontext(struct ib_ucontext *ctx);
void shca_disassociate_ucontext(struct ib_ucontext *ctx);

/* pd.c */
int shca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int shca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);

/* ah.c */
int shca_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
		   struct ib_udata *udata);
int shca_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr);
int shca_destroy_ah(struct ib_ah *ah, u32 flags);

/* mr.c */
struct ib_mr *shca_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *shca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va,
			       int access, struct ib_udata *udata);
int shca_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);

/* cq.c */
int shca_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		   struct ib_udata *udata);
int shca_pre_destroy_cq(struct ib_cq *cq);
int shca_destroy_cq(struct ib_cq *cq, struct ib_udata *udata);
int shca_poll_cq(struct ib_cq *cq, int n, struct ib_wc *wc);
int shca_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags);

/* qp.c */
/* counter.c */
void shca_counters_sum(struct shca_dev *dev, u64 *sum);
struct rdma_hw_stats *shca_counter_alloc_stats(struct rdma_counter *counter);
int shca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int shca_counter_unbind_qp(struct ib_qp *ibqp);
int shca_counter_dealloc(struct rdma_counter *counter);
int shca_counter_update_stats(struct rdma_counter *counter);

int shca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		   struct ib_udata *udata);
int shca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int shca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* qp_modify.c */
int shca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);

/* post.c */
int shca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad);
int shca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad);

#endif /* _SHCA_VERBS_OPS_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a provider needs of libibverbs beyond its public header.
 *
 * libibverbs-dev does not ship the header that providers inside rdma-core are
 * built with.  This file declares the part of that interface which softhca
 * uses, written down from the layouts and symbols found in the installed
 * library; everything that depends on the version is pinned by a static
 * assertion, so that a library we do not know fails to compile and does not
 * crash.
 *
 * SHCA_RDMA_CORE (44 or 56) and SHCA_PABI (the NN of IBVERBS_PRIVATE_NN) come
 * from the Makefile.  Two versions of rdma-core may share NN and still differ
 * (struct ibv_qp_ex grew between 44 and 56): one .so a version of rdma-core.
 */
#ifndef SHCA_VERBS_PRIVATE_H
#define SHCA_VERBS_PRIVATE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#if !defined(SHCA_RDMA_CORE) || !defined(SHCA_PABI)
#error "define SHCA_RDMA_CORE and SHCA_PABI (see the Makefile)"
#endif
#if SHCA_PABI != 34
#error "this libibverbs has a private ABI that verbs_private.h does not know"
#endif

#define SHCA_ASSERT_SIZE(type, bytes) \
	static_assert(sizeof(type) == (bytes), "size of " #type)
#define SHCA_ASSERT_AT(type, member, offset) \
	static_assert(offsetof(type, member) == (offset), #type "." #member)

#define shca_container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* -- how a driver presents itself ------------------------------------------ */

enum { SHCA_MATCH_END = 0, SHCA_MATCH_DRIVER_ID = 3 };

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};
SHCA_ASSERT_SIZE(struct verbs_match_ent, 24);
SHCA_ASSERT_AT(struct verbs_match_ent, u, 8);
SHCA_ASSERT_AT(struct verbs_match_ent, kind, 20);

struct verbs_sysfs_dev;
struct verbs_device;

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs);
	struct verbs_context *(*alloc_context)(struct ibv_device *device,
					       int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device,
						int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs);
	void (*uninit_device)(struct verbs_device *device);
};
SHCA_ASSERT_SIZE(struct verbs_device_ops, 72);
SHCA_ASSERT_AT(struct verbs_device_ops, match_table, 16);
SHCA_ASSERT_AT(struct verbs_device_ops, alloc_context, 40);
SHCA_ASSERT_AT(struct verbs_device_ops, alloc_device, 56);
SHCA_ASSERT_AT(struct verbs_device_ops, uninit_device, 64);

/* Allocated by the provider, filled in by the library. */
struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	int refcount;
	void *entry[2];
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};
SHCA_ASSERT_SIZE(struct verbs_device, 712);
SHCA_ASSERT_AT(struct verbs_device, ops, 664);
SHCA_ASSERT_AT(struct verbs_device, entry, 680);
SHCA_ASSERT_AT(struct verbs_device, core_support, 704);

/* struct verbs_context is public, down to the context at its end. */
SHCA_ASSERT_SIZE(struct verbs_context, 648);
SHCA_ASSERT_AT(struct verbs_context, create_cq_ex, 200);
SHCA_ASSERT_AT(struct verbs_context, priv, 208);
SHCA_ASSERT_AT(struct verbs_context, create_qp_ex, 264);
SHCA_ASSERT_AT(struct verbs_context, sz, 312);
SHCA_ASSERT_AT(struct verbs_context, context, 320);

/* -- objects with a part of the library's ---------------------------------- */

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};
SHCA_ASSERT_SIZE(struct verbs_cq, 288);

enum { SHCA_VERBS_QP_EX = 1 << 1 };	/* in comp_mask: qp_ex is usable */

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;
	void *xrcd;
};
SHCA_ASSERT_SIZE(struct ibv_qp, 160);
#if SHCA_RDMA_CORE == 44
SHCA_ASSERT_SIZE(struct ibv_qp_ex, 352);
SHCA_ASSERT_SIZE(struct verbs_qp, 368);
SHCA_ASSERT_AT(struct verbs_qp, comp_mask, 352);
#elif SHCA_RDMA_CORE == 56
SHCA_ASSERT_SIZE(struct ibv_qp_ex, 360);
SHCA_ASSERT_SIZE(struct verbs_qp, 376);
SHCA_ASSERT_AT(struct verbs_qp, comp_mask, 360);
#else
#error "unknown SHCA_RDMA_CORE: add its layouts to verbs_private.h"
#endif

struct verbs_mr {
	struct ibv_mr ibv_mr;
	uint32_t mr_type;
	int access;
};
SHCA_ASSERT_SIZE(struct verbs_mr, 56);
SHCA_ASSERT_AT(struct verbs_mr, mr_type, 48);

/* -- the table of operations ----------------------------------------------- */

typedef void (*shca_unused_op)(void);

/* One pointer an operation, in the library's order; ours have their type. */
struct verbs_context_ops {
	shca_unused_op advise_mr;
	shca_unused_op alloc_dm;
	shca_unused_op alloc_mw;
	shca_unused_op alloc_null_mr;
	shca_unused_op alloc_parent_domain;
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	shca_unused_op alloc_td;
	shca_unused_op async_event;
	shca_unused_op attach_counters_point_flow;
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	shca_unused_op bind_mw;
	shca_unused_op close_xrcd;
	shca_unused_op cq_event;
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd,
				    struct ibv_ah_attr *attr);
	shca_unused_op create_counters;
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	shca_unused_op create_flow;
	shca_unused_op create_flow_action_esp;
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	shca_unused_op create_rwq_ind_table;
	shca_unused_op create_srq;
	shca_unused_op create_srq_ex;
	shca_unused_op create_wq;
	shca_unused_op dealloc_mw;
	int (*dealloc_pd)(struct ibv_pd *pd);
	shca_unused_op dealloc_td;
	int (*dereg_mr)(struct verbs_mr *vmr);
	int (*destroy_ah)(struct ibv_ah *ah);
	shca_unused_op destroy_counters;
	int (*destroy_cq)(struct ibv_cq *cq);
	shca_unused_op destroy_flow;
	shca_unused_op destroy_flow_action;
	int (*destroy_qp)(struct ibv_qp *qp);
	shca_unused_op destroy_rwq_ind_table;
	shca_unused_op destroy_srq;
	shca_unused_op destroy_wq;
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	void (*free_context)(struct ibv_context *context);
	shca_unused_op free_dm;
	shca_unused_op get_srq_num;
	shca_unused_op import_dm;
	shca_unused_op import_mr;
	shca_unused_op import_pd;
	shca_unused_op modify_cq;
	shca_unused_op modify_flow_action_esp;
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask);
	shca_unused_op modify_qp_rate_limit;
	shca_unused_op modify_srq;
	shca_unused_op modify_wq;
	shca_unused_op open_qp;
	shca_unused_op open_xrcd;
	int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	shca_unused_op post_srq_ops;
	shca_unused_op post_srq_recv;
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size);
	shca_unused_op query_ece;
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *attr);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			int attr_mask, struct ibv_qp_init_attr *init_attr);
	shca_unused_op query_qp_data_in_order;
	shca_unused_op query_rt_values;
	shca_unused_op query_srq;
	shca_unused_op read_counters;
	shca_unused_op reg_dm_mr;
	shca_unused_op reg_dmabuf_mr;
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t hca_va, int access);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	shca_unused_op rereg_mr;
	shca_unused_op resize_cq;
	shca_unused_op set_ece;
	shca_unused_op unimport_dm;
	shca_unused_op unimport_mr;
	shca_unused_op unimport_pd;
};
SHCA_ASSERT_SIZE(struct verbs_context_ops, 608);
#define SHCA_ASSERT_OP(op, index) \
	SHCA_ASSERT_AT(struct verbs_context_ops, op, (index) * 8)
SHCA_ASSERT_OP(alloc_pd, 5);
SHCA_ASSERT_OP(create_ah, 13);
SHCA_ASSERT_OP(create_qp_ex, 20);
SHCA_ASSERT_OP(dealloc_pd, 26);
SHCA_ASSERT_OP(destroy_qp, 34);
SHCA_ASSERT_OP(free_context, 39);
SHCA_ASSERT_OP(modify_qp, 47);
SHCA_ASSERT_OP(poll_cq, 53);
SHCA_ASSERT_OP(query_device_ex, 58);
SHCA_ASSERT_OP(query_qp, 61);
SHCA_ASSERT_OP(reg_mr, 68);
SHCA_ASSERT_OP(req_notify_cq, 69);

/* -- commands: a header, the core's part, the driver's part (none here) ----- */

struct ibv_get_context {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_get_context core;
};
SHCA_ASSERT_SIZE(struct ibv_get_context, 16);

struct ibv_query_port {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_query_port core;
};
SHCA_ASSERT_SIZE(struct ibv_query_port, 24);

struct ibv_alloc_pd {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_alloc_pd core;
};
SHCA_ASSERT_SIZE(struct ibv_alloc_pd, 16);

struct ibv_reg_mr {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_reg_mr core;
};
SHCA_ASSERT_SIZE(struct ibv_reg_mr, 48);

struct ibv_create_cq {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_create_cq core;
};
SHCA_ASSERT_SIZE(struct ibv_create_cq, 40);

struct ibv_create_qp {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_create_qp core;
};
SHCA_ASSERT_SIZE(struct ibv_create_qp, 64);

struct ibv_modify_qp {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_modify_qp core;
};
SHCA_ASSERT_SIZE(struct ibv_modify_qp, 120);

struct ibv_query_qp {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_query_qp core;
};
SHCA_ASSERT_SIZE(struct ibv_query_qp, 24);

/* Extended commands have a second header. */
struct ibv_create_cq_ex {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_create_cq core;
};
SHCA_ASSERT_SIZE(struct ibv_create_cq_ex, 56);

struct ibv_create_qp_ex {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_create_qp core;
};
SHCA_ASSERT_SIZE(struct ibv_create_qp_ex, 88);

/* The driver's response follows the core's without a gap. */
SHCA_ASSERT_SIZE(struct ib_uverbs_get_context_resp, 8);
SHCA_ASSERT_SIZE(struct ib_uverbs_create_cq_resp, 8);
SHCA_ASSERT_SIZE(struct ib_uverbs_ex_create_cq_resp, 16);
SHCA_ASSERT_SIZE(struct ib_uverbs_create_qp_resp, 32);
SHCA_ASSERT_SIZE(struct ib_uverbs_ex_create_qp_resp, 40);
SHCA_ASSERT_SIZE(struct ib_uverbs_create_ah_resp, 4);

/* -- functions of libibverbs, version IBVERBS_PRIVATE_NN ------------------- */

#define SHCA_PASTE_(a, b)	a##b
#define SHCA_PASTE(a, b)	SHCA_PASTE_(a, b)
#define shca_register_driver	SHCA_PASTE(verbs_register_driver_, SHCA_PABI)

void shca_register_driver(const struct verbs_device_ops *ops);

void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t alloc_size,
				    struct verbs_context *context_offset,
				    uint32_t driver_id);
void verbs_set_ops(struct verbs_context *vctx,
		   const struct verbs_context_ops *ops);
void verbs_uninit_context(struct verbs_context *vctx);

int ibv_cmd_get_context(struct verbs_context *vctx,
			struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size);
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *attr, struct ibv_query_port *cmd,
		       size_t cmd_size);
int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_create_cq(struct ibv_context *context, int cqe,
		      struct ibv_comp_channel *channel, int comp_vector,
		      struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp,
		      size_t resp_size);
int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_create_qp(struct ibv_pd *pd, struct ibv_qp *qp,
		      struct ibv_qp_init_attr *attr, struct ibv_create_qp *cmd,
		      size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
		      size_t resp_size);
int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr,
			  struct ibv_create_qp_ex *cmd, size_t cmd_size,
			  struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd,
		      size_t cmd_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		     int attr_mask, struct ibv_qp_init_attr *init_attr,
		     struct ibv_query_qp *cmd, size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		      struct ibv_send_wr **bad_wr);
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);

#endif /* SHCA_VERBS_PRIVATE_H */

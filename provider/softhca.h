/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The provider's objects.  Each holds the library's object, to which the
 * application has a pointer, and our part behind it.
 *
 * Locks: one spin lock an SQ, an RQ and a CQ.  None is taken while another is
 * held, and none across a system call; the builder API holds that of its SQ
 * from ibv_wr_start to ibv_wr_complete or ibv_wr_abort.
 */
#ifndef SHCA_SOFTHCA_H
#define SHCA_SOFTHCA_H

#include "ring.h"
#include "verbs_private.h"

/* A message of IBA is at most this long. */
#define SHCA_MAX_MESSAGE	(1u << 31)

struct shca_ah {
	struct ibv_ah ah;
	uint32_t number;	/* names it in a WQE */
};

/**
 * struct shca_cq - a completion queue
 * @vcq: the library's part, extended or not
 * @lock: guards @prod, @cons and @cur
 * @single_threaded: the application vowed not to need @lock
 * @prod: the kernel's producer index when it was last looked at
 * @cons: oldest index not polled
 * @cur: the CQE that the read_* operations of an extended CQ look at
 * @hdr: the ring's head, shared
 * @slots: the first CQE, shared
 * @entries: slots, a power of two
 * @map_size: bytes mapped from @hdr on
 */
struct shca_cq {
	struct verbs_cq vcq;

	pthread_spinlock_t lock;
	bool single_threaded;
	uint32_t prod;
	uint32_t cons;
	const struct shca_cqe *cur;

	struct shca_cq_hdr *hdr;
	const struct shca_cqe *slots;
	uint32_t entries;
	size_t map_size;
};

/**
 * struct shca_qp - a queue pair
 * @vqp: the library's part, extended or not
 * @sq: send queue
 * @rq: receive queue
 * @sq_sig_all: every send is signaled
 * @build_prod: builder API: index after the last WR begun
 * @build_err: builder API: first error, returned by ibv_wr_complete
 * @build_wqe: builder API: the WR that setters work on; NULL if none
 * @build_addressed: builder API: @build_wqe (UD) has its address handle
 * @map: the mapping with both rings
 * @map_size: its size
 *
 * The build_* fields belong to the holder of @sq.lock.
 */
struct shca_qp {
	struct verbs_qp vqp;
	struct shca_wq sq;
	struct shca_wq rq;
	bool sq_sig_all;

	uint32_t build_prod;
	int build_err;
	struct shca_send_wqe *build_wqe;
	bool build_addressed;

	void *map;
	size_t map_size;
};

static inline struct shca_ah *shca_to_ah(struct ibv_ah *ah)
{
	return shca_container_of(ah, struct shca_ah, ah);
}

static inline struct shca_cq *shca_to_cq(struct ibv_cq *cq)
{
	return shca_container_of(cq, struct shca_cq, vcq.cq);
}

static inline struct shca_qp *shca_to_qp(struct ibv_qp *qp)
{
	return shca_container_of(qp, struct shca_qp, vqp.qp);
}

/* softhca.c */
void *shca_map(struct ibv_context *context, const struct shca_mmap_info *info);

/* cq.c */
struct ibv_cq *shca_cq_create(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel,
			      int comp_vector);
struct ibv_cq_ex *shca_cq_create_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr);
int shca_cq_destroy(struct ibv_cq *ibcq);
int shca_cq_init_ring(struct shca_cq *cq, void *map,
		      const struct shca_create_cq_resp *resp);
void shca_cq_init_ex(struct shca_cq *cq);
int shca_cq_poll(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
int shca_cq_req_notify(struct ibv_cq *ibcq, int solicited_only);

/* qp.c */
struct ibv_qp *shca_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *shca_qp_create_ex(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr);
int shca_qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int shca_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
int shca_qp_destroy(struct ibv_qp *ibqp);
int shca_qp_init_rings(struct shca_qp *qp, void *map,
		       const struct shca_create_qp_resp *resp);
void shca_qp_set_open(struct shca_qp *qp, enum ibv_qp_state state);
void shca_qp_resync(struct shca_qp *qp);

/* post.c */
bool shca_send_op_legal(enum ibv_qp_type type, uint32_t opcode);
int shca_doorbell(struct shca_qp *qp);
int shca_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad_wr);
int shca_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad_wr);

/* build.c */
bool shca_build_supported(enum ibv_qp_type type, uint64_t send_ops_flags);
void shca_build_init(struct shca_qp *qp, uint64_t send_ops_flags);

#endif /* SHCA_SOFTHCA_H */

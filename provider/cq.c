// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: create, poll, arm, destroy.
 *
 * The kernel fills CQEs, the process empties them; neither polling nor arming
 * makes a system call.  Polling holds the CQ's lock.  Arming takes none (see
 * shca_cq_arm).  The ring is mapped as long as the CQ exists, also when the
 * device has gone meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "probe.h"
#include "softhca.h"

/* The numbers of a CQE are those of libibverbs: they are passed on as is. */
static_assert(IBV_WC_GRH == SHCA_CQE_GRH, "IBV_WC_GRH");
static_assert(IBV_WC_WITH_IMM == SHCA_CQE_WITH_IMM, "IBV_WC_WITH_IMM");
static_assert(IBV_WC_WITH_INV == SHCA_CQE_WITH_INV, "IBV_WC_WITH_INV");
static_assert((int)IBV_WC_SEND == IB_UVERBS_WC_SEND, "IBV_WC_SEND");
static_assert((int)IBV_WC_RDMA_READ == IB_UVERBS_WC_RDMA_READ,
	      "IBV_WC_RDMA_READ");
static_assert(IBV_WC_RECV == 128, "IBV_WC_RECV");
static_assert(sizeof(struct shca_cqe) == 64, "struct shca_cqe");
static_assert(sizeof(struct shca_cq_hdr) == 192, "struct shca_cq_hdr");

/* The other flags of a CQE are for kernel consumers. */
#define WC_FLAGS (SHCA_CQE_GRH | SHCA_CQE_WITH_IMM | SHCA_CQE_WITH_INV)

/* Fields that ibv_create_cq_ex may ask for: all but time stamps and tags. */
#define WC_FLAGS_SUPPORTED	((uint64_t)IBV_WC_STANDARD_FLAGS)

/**
 * shca_cq_init_ring - set up the process's end of a CQ
 * @cq: the CQ, zeroed
 * @map: its mapping
 * @resp: how the kernel laid it out; checked, because a later module might
 *	have chosen something that this provider cannot drive
 *
 * Context: may sleep.
 * Return: 0 or an errno.
 */
int shca_cq_init_ring(struct shca_cq *cq, void *map,
		      const struct shca_create_cq_resp *resp)
{
	uint64_t need = sizeof(struct shca_cq_hdr) +
			(uint64_t)resp->entries * sizeof(struct shca_cqe);

	if (!shca_is_power_of_two(resp->entries) || need > resp->map.size)
		return EPROTO;
	cq->hdr = map;
	cq->slots = (const struct shca_cqe *)(cq->hdr + 1);
	cq->entries = resp->entries;
	cq->map_size = resp->map.size;
	cq->cons = shca_load(&cq->hdr->cons);
	cq->prod = cq->cons;
	return pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
}

static int map_ring(struct ibv_context *context, struct shca_cq *cq,
		    const struct shca_create_cq_resp *resp)
{
	void *map;
	int ret;

	map = shca_map(context, &resp->map);
	if (!map)
		return errno;
	ret = shca_cq_init_ring(cq, map, resp);
	if (ret)
		munmap(map, resp->map.size);
	return ret;
}

/**
 * shca_cq_create - ibv_create_cq
 * @context: the device's context
 * @cqe: least number of entries
 * @channel: where events go, or NULL
 * @comp_vector: completion vector
 *
 * Context: may sleep.
 * Return: the CQ, or NULL with errno set.
 */
struct ibv_cq *shca_cq_create(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel,
			      int comp_vector)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct shca_create_cq_resp drv;
	} resp = {};
	struct ibv_create_cq cmd = {};
	struct shca_cq *cq;
	int ret;

	static_assert(offsetof(__typeof__(resp), drv) == sizeof(resp.core),
		      "the driver's response follows the core's");

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	ret = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->vcq.cq,
				&cmd, sizeof(cmd), &resp.core, sizeof(resp));
	if (ret)
		goto err_free_cq;
	ret = map_ring(context, cq, &resp.drv);
	if (ret)
		goto err_destroy_cq;
	return &cq->vcq.cq;

err_destroy_cq:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free_cq:
	free(cq);
	errno = ret;
	return NULL;
}

/**
 * shca_cq_create_ex - ibv_create_cq_ex
 * @context: the device's context
 * @attr: what the CQ is to be like; what we lack is refused with EOPNOTSUPP
 *
 * Context: may sleep.
 * Return: the CQ, or NULL with errno set.
 */
struct ibv_cq_ex *shca_cq_create_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr)
{
	struct {
		struct ib_uverbs_ex_create_cq_resp core;
		struct shca_create_cq_resp drv;
	} resp = {};
	struct ibv_create_cq_ex cmd = {};
	uint32_t flags = 0;
	struct shca_cq *cq;
	int ret;

	static_assert(offsetof(__typeof__(resp), drv) == sizeof(resp.core),
		      "the driver's response follows the core's");

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;
	if (attr->comp_mask & ~IBV_CQ_INIT_ATTR_MASK_FLAGS ||
	    flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED ||
	    attr->wc_flags & ~WC_FLAGS_SUPPORTED) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	ret = ibv_cmd_create_cq_ex(context, attr, &cq->vcq, &cmd, sizeof(cmd),
				   &resp.core, sizeof(resp), 0);
	if (ret)
		goto err_free_cq;
	ret = map_ring(context, cq, &resp.drv);
	if (ret)
		goto err_destroy_cq;
	cq->single_threaded = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	shca_cq_init_ex(cq);
	return &cq->vcq.cq_ex;

err_destroy_cq:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free_cq:
	free(cq);
	errno = ret;
	return NULL;
}

/**
 * shca_cq_destroy - ibv_destroy_cq
 * @ibcq: the CQ
 *
 * Context: may sleep; waits for events that have not been acknowledged.
 * Return: 0, or the kernel's errno; the CQ then lives on.
 */
int shca_cq_destroy(struct ibv_cq *ibcq)
{
	struct shca_cq *cq = shca_to_cq(ibcq);
	int ret = ibv_cmd_destroy_cq(ibcq);

	if (ret)
		return ret;
	munmap(cq->hdr, cq->map_size);
	pthread_spin_destroy(&cq->lock);
	free(cq);
	return 0;
}

static void cq_lock(struct shca_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_lock(&cq->lock);
}

static void cq_unlock(struct shca_cq *cq)
{
	if (!cq->single_threaded)
		pthread_spin_unlock(&cq->lock);
}

/* The oldest CQE, or NULL; the acquire orders its bytes after the index. */
static const struct shca_cqe *next_cqe(struct shca_cq *cq)
{
	const struct shca_cqe *cqe;

	if (cq->prod == cq->cons) {
		cq->prod = shca_load_acquire(&cq->hdr->prod);
		if (cq->prod == cq->cons)
			return NULL;
	}
	cqe = &cq->slots[cq->cons & (cq->entries - 1)];
	SHCA_PROBE(poll_cq, cqe->qp_num, cq->cons, cqe->wr_id,
		   cqe->opcode);
	cq->cons++;
	return cqe;
}

/* Give back all slots before cons: what was read of them has been read. */
static void release_cqes(struct shca_cq *cq)
{
	shca_store_release(&cq->hdr->cons, cq->cons);
}

static void cqe_to_wc(const struct shca_cqe *cqe, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc) {
		.wr_id		= cqe->wr_id,
		.status		= (enum ibv_wc_status)cqe->status,
		.opcode		= (enum ibv_wc_opcode)cqe->opcode,
		.vendor_err	= cqe->vendor_err,
		.byte_len	= cqe->byte_len,
		.imm_data	= (__be32)cqe->imm,
		.qp_num		= cqe->qp_num,
		.src_qp		= cqe->src_qp,
		.wc_flags	= cqe->wc_flags & WC_FLAGS,
		.pkey_index	= cqe->pkey_index,
		.slid		= cqe->slid,
		.sl		= cqe->sl,
		.dlid_path_bits	= cqe->dlid_path_bits,
	};
}

/**
 * shca_cq_poll - ibv_poll_cq
 * @ibcq: the CQ
 * @num_entries: room in @wc
 * @wc: filled with the oldest completions
 *
 * Fewer than @num_entries means that the kernel's producer index was read
 * again and nothing was there: arming relies on it.
 *
 * Context: takes the CQ's lock; no system call.
 * Return: the number of completions.
 */
int shca_cq_poll(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct shca_cq *cq = shca_to_cq(ibcq);
	const struct shca_cqe *cqe;
	int n;

	cq_lock(cq);
	for (n = 0; n < num_entries; n++) {
		cqe = next_cqe(cq);
		if (!cqe)
			break;
		cqe_to_wc(cqe, &wc[n]);
	}
	if (n)
		release_cqes(cq);
	cq_unlock(cq);
	return n;
}

/**
 * shca_cq_req_notify - ibv_req_notify_cq
 * @ibcq: the CQ
 * @solicited_only: not 0 for solicited completions and errors only
 *
 * Context: no lock, no system call.
 * Return: 0.
 */
int shca_cq_req_notify(struct ibv_cq *ibcq, int solicited_only)
{
	shca_cq_arm(shca_to_cq(ibcq)->hdr, solicited_only ?
		    SHCA_CQ_ARM_SOLICITED : SHCA_CQ_ARM_NEXT);
	return 0;
}

/* -- the extended CQ: one CQE at a time, fields read one by one ------------- */

static int look_at_next(struct shca_cq *cq)
{
	cq->cur = next_cqe(cq);
	if (!cq->cur)
		return ENOENT;
	cq->vcq.cq_ex.wr_id = cq->cur->wr_id;
	cq->vcq.cq_ex.status = (enum ibv_wc_status)cq->cur->status;
	return 0;
}

static struct shca_cq *ex_to_cq(struct ibv_cq_ex *ibcq)
{
	return shca_to_cq(ibv_cq_ex_to_cq(ibcq));
}

/* The lock is kept if a completion was found, until end_poll. */
static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct shca_cq *cq = ex_to_cq(ibcq);
	int ret;

	if (attr->comp_mask)
		return EINVAL;
	cq_lock(cq);
	ret = look_at_next(cq);
	if (ret)
		cq_unlock(cq);
	return ret;
}

/* Keeps the lock in any case: end_poll follows, also after ENOENT. */
static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct shca_cq *cq = ex_to_cq(ibcq);

	release_cqes(cq);
	return look_at_next(cq);
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct shca_cq *cq = ex_to_cq(ibcq);

	release_cqes(cq);
	cq->cur = NULL;
	cq_unlock(cq);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ibcq)
{
	return (enum ibv_wc_opcode)ex_to_cq(ibcq)->cur->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ibcq)
{
	return (__be32)ex_to_cq(ibcq)->cur->imm;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->wc_flags & WC_FLAGS;
}

static uint32_t read_slid(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	return ex_to_cq(ibcq)->cur->dlid_path_bits;
}

/**
 * shca_cq_init_ex - give a CQ the operations of an extended one
 * @cq: the CQ
 */
void shca_cq_init_ex(struct shca_cq *cq)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
}

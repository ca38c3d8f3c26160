/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs: the part of a QP that packets, timers and work look up.
 *
 * It is our own allocation, to which struct ib_qp (freed by ib_core as soon as
 * destroy_qp returns) holds one reference.  Packets find it by QPN under RCU
 * and take a reference for the length of a delivery; no skb holds one.
 *
 * Destroy, in this order: unlink from the table of QPNs, close both runners
 * (nobody runs this QP any more), stop the timer and the event work, drop
 * the reference.  What a QP points to (device, PD, CQs) outlives its runners,
 * because ib_core destroys those later.
 *
 * Who may touch what:
 *   attr, state changes by verbs   under @mod (and both runners owned where a
 *                                  runner reads the field)
 *   sq                             the owner of sq.run
 *   rq                             the owner of rq.run
 *   sq_post_lock, rq_post_lock     kernel consumers' posting, any context
 */
#ifndef _SHCA_QP_H
#define _SHCA_QP_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <rdma/ib_verbs.h>

#include "../base/limits.h"
#include "../base/stats.h"
#include "../uapi/softhca-netlink.h"
#include "av.h"
#include "ring.h"
#include "runner.h"

struct shca_burst;
struct shca_cq;
struct shca_dev;
struct shca_mmap;
struct shca_mr;
struct shca_pd;

/**
 * struct shca_why - why a QP is in error
 * @reason: SOFTHCA_ERROR_REASON_*; the first one stays
 * @opcode: BTH opcode of the packet or WQE it happened on, 0xff: none
 * @psn: where
 */
struct shca_why {
	u32 reason;
	u32 opcode;
	u32 psn;
};

/**
 * struct shca_swqe - a send WQE under way, in memory of the kernel's
 * @wqe: the slot, copied once; its sge or inline data follow
 *	(&struct shca_sq.swqe_stride)
 * @length: bytes of the message
 * @packets: PSNs it takes: packets sent, or responses for a READ
 * @first_psn: of the first
 * @sent: PSNs of it sent (requested, for a READ) since the last go-back
 * @status: what check, or sending it, found: IB_WC_SUCCESS, or how it will
 *	complete
 * @reason: SOFTHCA_ERROR_REASON_* that goes with @status
 * @failed: it put the QP in error, so it completes with @status, not flushed
 */
struct shca_swqe {
	u32 length;
	u32 packets;
	u32 first_psn;
	u32 sent;
	u32 status;
	u32 reason;
	bool failed;
	struct shca_send_wqe wqe;
};

/**
 * struct shca_local - the WQE at sq.cur, being executed on the local path
 * @active: it was admitted by the responder
 * @down: it is copied from its end to its start, since it overlaps itself
 * @moved: bytes copied so far
 */
struct shca_local {
	bool active;
	bool down;
	u32 moved;
};

/**
 * struct shca_sq - requester side; belongs to the owner of @run
 * @run: the runner; its inbox holds acknowledges and READ responses
 * @ring: the SQ shared with the poster
 * @swqe: kernel's copies, one a slot, same index
 * @swqe_stride: bytes from one to the next
 * @cq: where completions go
 * @sig_all: every WQE is signalled
 * @max_sge: of a WQE
 * @max_inline: bytes of a WQE
 * @fetched: ring index of the next WQE to fetch
 * @cur: ring index of the WQE to send from; ring.cons <= cur <= fetched
 * @wire: ring index of the first WQE not yet told to be on the wire; kept up to
 *	date only while that is traced
 * @psn: next PSN to send
 * @una: oldest PSN not acknowledged
 * @max_psn: one past the highest PSN ever sent: below it a packet is sent
 *	again, from a private copy
 * @unacked_req: packets sent since the last that asked for an ACK
 * @rd_limit: READ requests that may be outstanding
 * @rd_out: READ requests that are
 * @rd_head: oldest of them in @rd_end
 * @rd_end: PSN of the last response of each
 * @cwnd: packets that may be in flight, up to the device's window: one after a
 *	timeout, doubled by each round that is acknowledged
 * @retries: left of retry_cnt, refilled by progress
 * @backoff: timeouts since there was progress
 * @rnr_retries: left of rnr_retry; 7 at start means without end
 * @wait: nothing is sent until the timer fires: the peer asked for it (RNR), or
 *	the network had no room
 * @stuck: packets were lost on this side, and none was acknowledged since
 * @stuck_since: jiffies of the first such loss since a retry was due
 * @local: a message under way on the local path
 * @gap_psn: PSN from which a gap in the responses was asked for again
 * @gap_time: jiffies when
 * @gap_wait: jiffies from then in which it is not asked for again
 * @gap_seen: the three are valid
 * @timeout: local ACK timeout in jiffies, 0: none
 * @deadline: jiffies at which the timeout, or the wait, is over
 * @timer: fires at @deadline or before; then it is armed for the rest
 * @timer_fired: bit 0 set by the timer, taken by the runner
 * @flow: route to the peer
 * @burst: packets being put together
 * @tx_bytes: payload bytes sent, without repeats
 * @tx_packets: packets sent, with repeats
 * @rx_bytes: payload bytes of READ responses
 * @rx_packets: acknowledges and responses received
 * @retransmits: packets sent again
 * @messages: WQEs completed with success
 * @tx_referenced: payload bytes handed to the link by reference
 * @tx_copied: payload bytes handed to it as a copy
 * @rnr_naks: RNR NAKs that were heeded
 * @timeouts: answers that did not come in time
 * @last_nak: syndrome of the last NAK received, or 0
 */
struct shca_sq {
	struct shca_runner run;
	struct shca_ring ring;
	void *swqe;
	u32 swqe_stride;
	struct shca_cq *cq;
	bool sig_all;
	u32 max_sge;
	u32 max_inline;

	struct timer_list timer;
	unsigned long timer_fired;

	struct shca_flow flow;
	struct shca_burst *burst;

	u64 tx_bytes;
	u64 tx_packets;
	u64 rx_bytes;
	u64 rx_packets;
	u64 retransmits;
	u64 messages;
	u64 tx_referenced;
	u64 tx_copied;
	u64 rnr_naks;
	u64 timeouts;

	/* from here on: forgotten in RESET */
	u32 fetched;
	u32 cur;
	u32 wire;
	u32 psn;
	u32 una;
	u32 max_psn;
	u32 unacked_req;
	u32 rd_limit;
	u32 rd_out;
	u32 rd_head;
	u32 rd_end[SHCA_MAX_RD_ATOMIC];
	u32 cwnd;
	u8 retries;
	u8 backoff;
	u8 rnr_retries;
	bool wait;
	bool stuck;
	unsigned long stuck_since;
	struct shca_local local;
	u32 gap_psn;
	unsigned long gap_time;
	unsigned long gap_wait;
	bool gap_seen;
	unsigned long timeout;
	unsigned long deadline;
	u32 last_nak;
};

/**
 * struct shca_rwqe - the receive WQE in use, in memory of the kernel's
 * @valid: there is one
 * @wqe: the slot, copied once
 * @sge: its buffers, the most there can be
 */
struct shca_rwqe {
	bool valid;
	struct shca_recv_wqe wqe;
	struct shca_sge sge[SHCA_MAX_SGE];
};

/**
 * struct shca_read - a READ request being answered
 * @active: there is one
 * @rkey: of its RETH
 * @va: next byte to send
 * @left: bytes to send
 * @psn: of the next response
 * @first: the next response is the first
 * @copy: the request came before, so responses carry private copies
 */
struct shca_read {
	bool active;
	bool first;
	bool copy;
	u32 rkey;
	u32 left;
	u32 psn;
	u64 va;
};

/**
 * struct shca_rq - responder side; belongs to the owner of @run
 * @run: the runner; its inbox holds requests
 * @ring: the RQ shared with the poster
 * @cq: where completions go
 * @max_sge: of a WQE
 * @fetched: ring index of the next WQE to use
 * @epsn: PSN expected
 * @msn: messages completed
 * @kind: SHCA_OPF_SEND or _WRITE of the message under way, 0: none
 * @offset: bytes of it received
 * @local: SHCA_OPF_SEND, _WRITE or _READ of the message that the local path has
 *	admitted at @epsn, 0: none
 * @write_va: next byte of the WRITE under way
 * @write_left: bytes of it to come
 * @write_rkey: its key
 * @rwqe: the receive WQE in use
 * @nak_sent: a NAK was sent for @epsn
 * @nak_psn: the last PSN past @epsn that arrived since: a smaller one means that
 *	the requester went back and @epsn was lost again
 * @comm_est: IB_EVENT_COMM_EST was raised
 * @ack_due: an acknowledge is to be sent
 * @read: a READ being answered, before anything else
 * @parked: bit 0: the requester of the peer, on the same device, found the seat
 *	taken and wants to be kicked; atomic
 * @min_rnr_timer: code that a RNR NAK carries
 * @flow: route to the peer
 * @burst: packets being put together
 * @rx_bytes: payload bytes of requests, without duplicates
 * @rx_packets: requests received
 * @tx_bytes: payload bytes of READ responses
 * @tx_packets: acknowledges and responses sent
 * @messages: receive WQEs completed with success
 * @tx_referenced: payload bytes handed to the link by reference
 * @tx_copied: payload bytes handed to it as a copy
 */
struct shca_rq {
	struct shca_runner run;
	struct shca_ring ring;
	struct shca_cq *cq;
	u32 max_sge;

	unsigned long parked;
	struct shca_flow flow;
	struct shca_burst *burst;

	u64 rx_bytes;
	u64 rx_packets;
	u64 tx_bytes;
	u64 tx_packets;
	u64 messages;
	u64 tx_referenced;
	u64 tx_copied;

	/* from here on: forgotten in RESET */
	u32 fetched;
	u32 epsn;
	u32 msn;
	u32 kind;
	u32 offset;
	u32 local;
	u64 write_va;
	u32 write_left;
	u32 write_rkey;
	struct shca_rwqe rwqe;
	bool nak_sent;
	u32 nak_psn;
	bool comm_est;
	bool ack_due;
	struct shca_read read;
	u8 min_rnr_timer;
};

/* Bits of shca_qp.events */
enum {
	SHCA_EV_FATAL,
	SHCA_EV_REQ_ERR,
	SHCA_EV_ACCESS_ERR,
	SHCA_EV_COMM_EST,
};

/**
 * struct shca_qp - a queue pair
 * @ref: see above
 * @rcu: frees it after lookups have ended
 * @ib: what ib_core knows; valid while a runner is open
 * @dev: its device
 * @pd: its protection domain
 * @qpn: its number; 0 for the SMI QP, 1 for the GSI QP
 * @type: IB_QPT_RC, _UD, _GSI or _SMI
 * @user: posted to by a process
 * @pid: of that process, as the initial namespace numbers it, or 0
 * @comm: its name
 * @map: memory of the rings, for mmap; owned
 * @mod: excludes modify, query and destroy; taken before either runner
 * @state: enum ib_qp_state; written under @mod, or by cmpxchg on error
 * @attr: as set by modify_qp
 * @mtu: bytes of payload a packet carries at the most
 * @access: what the peer may do: IB_ACCESS_REMOTE_*
 * @dest_qpn: of a connected QP
 * @qkey: of a datagram QP
 * @pkey_index: its partition; of the GSI QP each WQE names one
 * @av: of a connected QP
 * @why: why it is in error
 * @last_heard: jiffies of the last packet from the peer; 0: never
 * @events: SHCA_EV_* to report
 * @event_work: reports them
 * @bound: in dev->bound while it is bound to a counter; under dev->bound_mutex
 * @bound_at: its counters when it was bound
 * @sq_post_lock: kernel consumers that fill the SQ; with interrupts off; leaf
 * @rq_post_lock: the same of the RQ
 * @sq: requester side
 * @rq: responder side
 */
struct shca_qp {
	struct kref ref;
	struct rcu_head rcu;
	struct ib_qp *ib;
	struct shca_dev *dev;
	struct shca_pd *pd;
	u32 qpn;
	enum ib_qp_type type;
	bool user;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	struct shca_mmap *map;

	struct mutex mod;	/* modify, query, destroy */
	int state;
	struct ib_qp_attr attr;
	u32 mtu;
	u32 access;
	u32 dest_qpn;
	u32 qkey;
	u16 pkey_index;
	struct shca_av av;

	struct shca_why why;
	unsigned long last_heard;
	unsigned long events;
	struct work_struct event_work;

	struct list_head bound;
	u64 bound_at[SHCA_QP_STAT_COUNT];

	spinlock_t sq_post_lock;	/* kernel consumers fill the SQ */
	spinlock_t rq_post_lock;	/* kernel consumers fill the RQ */

	struct shca_sq sq ____cacheline_aligned_in_smp;
	struct shca_rq rq ____cacheline_aligned_in_smp;
};

static inline bool shca_qp_connected(const struct shca_qp *qp)
{
	return qp->type == IB_QPT_RC;
}

/* QP0 and QP1: one of each a port, found by the port */
static inline bool shca_qp_special(const struct shca_qp *qp)
{
	return qp->type == IB_QPT_GSI || qp->type == IB_QPT_SMI;
}

/* Is the opcode (enum ib_wr_opcode) one that this type of QP executes? */
static inline bool shca_qp_executes(const struct shca_qp *qp, u32 opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return true;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		return shca_qp_connected(qp);
	default:
		return false;
	}
}

static inline struct shca_swqe *shca_swqe(const struct shca_sq *sq, u32 index)
{
	return sq->swqe + (size_t)(index & (sq->ring.entries - 1)) *
		sq->swqe_stride;
}

static inline enum ib_qp_state shca_qp_state(const struct shca_qp *qp)
{
	return READ_ONCE(qp->state);
}

struct shca_qp *shca_qp_alloc(struct shca_dev *dev, enum ib_qp_type type);
int shca_qp_publish(struct shca_qp *qp);
void shca_qp_unpublish(struct shca_qp *qp);
struct shca_qp *shca_qp_get(u32 qpn);
struct shca_qp *shca_qp_get_special(struct shca_dev *dev, u32 qpn);
bool shca_qp_tryget(struct shca_qp *qp);
void shca_qp_put(struct shca_qp *qp);
struct shca_qp *shca_qp_next(u32 *qpn);

void shca_qp_keep_why(struct shca_qp *qp, u32 reason, u32 opcode, u32 psn);
void shca_qp_error(struct shca_qp *qp, u32 reason, u32 opcode, u32 psn);
void shca_qp_fatal(struct shca_qp *qp, u32 reason, u32 psn);
void shca_qp_event(struct shca_qp *qp, int event);
void shca_qp_kick(struct shca_qp *qp, enum shca_ctx ctx);

#endif /* _SHCA_QP_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two connected queue pairs of transport/ as it is, in a program: who posts to
 * them, the wire between them, and the clock are simulated, and all chance comes
 * from one seed, so that what fails fails again.
 */
#ifndef _SHCA_SIM_H
#define _SHCA_SIM_H

#include "../internal.h"
#include "../../object/mr.h"
#include "../../wire/test/test.h"

enum {
	SIM_SLOTS	= 64,		/* send WQEs of a ring */
	SIM_RECVS	= 32,		/* receive WQEs */
	SIM_MSG		= 140000,	/* bytes of a message, more than two turns */
	SIM_ROOM	= SIM_MSG + 4096,	/* bytes between messages */
	SIM_US		= 1000000 / HZ,	/* of a jiffy */
	SIM_KEY		= 7,		/* of end 0's region; end 1's is one more */
};

/**
 * struct sim_wire - what happens to packets; the same both ways
 * @loss: probability that one vanishes
 * @dup: that it comes twice
 * @reorder: that it comes late
 * @local_loss: that it is lost on the sender's side, which is told
 * @drop_all: every packet is lost on the sender's side
 * @too_large: bytes of payload of which none gets through, 0: all do
 * @delay: us until it arrives
 * @rate: bytes of a ms, 0: without end
 * @queue: packets that wait or are under way, the most there can be
 * @keep: BTH opcode, or -1; a copy of the last packet that has it is kept
 */
struct sim_wire {
	double loss, dup, reorder, local_loss;
	bool drop_all;
	u32 too_large;
	u32 delay;
	u32 rate;
	u32 queue;
	int keep;
};

/** struct sim_msg - a message that was posted and has not been completed */
struct sim_msg {
	u32 op, len, seq;
	bool signaled;
	u8 *own, *peer;
};

/** struct sim_expected - what the peer's receives will be of, in order */
struct sim_expected {
	u32 seq, len;
	bool imm, write;
};

/**
 * struct sim_end - one end
 * @qp: its QP
 * @cq: of its send queue
 * @recv_cq: of its receive queue
 * @mr: covers all memory of the program, until it is @gone
 * @gone: @mr was deregistered
 * @own: where messages are sent from or read to
 * @target: where the peer writes to, a place for each of its messages
 * @source: what the peer reads
 * @recv: where messages are received
 * @msg: under way
 * @posted: messages that were
 * @done: messages that are completed
 * @recv_posted: receives that were
 * @recv_done: receives that are completed
 * @expected: of the peer, who posted messages that take a receive here
 * @expected_put: how many it posted
 * @expected_got: how many came
 * @status: of the first message that failed
 */
struct sim_end {
	struct shca_qp *qp;
	struct shca_cq cq, recv_cq;
	struct shca_mr mr;
	bool gone;
	u8 *own, *target, *source, *recv;
	struct sim_msg msg[SIM_SLOTS];
	u32 posted, done, recv_posted, recv_done;
	struct sim_expected expected[SIM_SLOTS];
	u32 expected_put, expected_got;
	u32 status;
};

/**
 * struct sim - one run
 * @now: us since the start
 * @seed: of the run, for messages
 * @local: both are of one device and reach each other without the wire
 * @ops: bit set of enum ib_wr_opcode that are posted
 * @max_len: bytes of a message at the most
 * @goal: messages that each end posts
 * @recv_rate: of 20 steps, those in which a receive is posted
 */
struct sim {
	u64 now;
	u64 seed;
	bool local;
	u32 ops;
	u32 max_len;
	u32 goal;
	u32 recv_rate;
	struct sim_wire wire;
	struct sim_end end[2];
};

extern struct sim sim;

/* Counts a failure and says in which run. */
#define SIM_FAIL(fmt, ...) \
	CHECK(false, "seed %lu, %lu us: " fmt, sim.seed, sim.now, ##__VA_ARGS__)

/* sim_world.c */
u32 sim_random(u32 n);
bool sim_chance(double p);
void sim_start(u64 seed, u32 mtu);
void sim_stop(void);
void sim_turns(void);
void sim_step(void);

/* sim_wire.c */
int sim_xmit(struct shca_dev *dev, struct shca_flow *flow,
	     struct shca_burst *b, unsigned int *sent);
u64 sim_wire_next(void);
void sim_wire_deliver(void);
void sim_wire_deliver_kept(void);
void sim_wire_clear(void);

/* sim_app.c */
void sim_app_alloc(void);
void sim_app_start(void);
void sim_app_free(void);
bool sim_post(struct sim_end *e, u32 op, u32 len);
bool sim_post_recv(struct sim_end *e);
void sim_app_step(void);
bool sim_app_done(void);

#endif /* _SHCA_SIM_H */

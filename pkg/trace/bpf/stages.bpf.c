// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long each stage of a message takes: added up in maps, nothing is streamed.
 *
 * A message under way has a slot of a table, found by its queue pair and index.
 * Two messages may want the same slot; then the older one is given up and
 * counted, so the table needs no locks and no memory at run time.
 */
#include <asm/ptrace.h>

#include "filter.h"
#include "peers.h"

#define SLOTS	(1 << 16)
#define QP_SLOTS (1 << 12)

/*
 * Histograms are logarithmic, with SUB buckets for each power of two; the first SUB
 * are linear, for less than the lowest of them.
 */
#define SUB_BITS	4
#define SUB		(1 << SUB_BITS)
#define LOW_BITS	5	/* 32 ns */
#define OCTAVES		32	/* the last bucket is for some 67 seconds and more */
#define BUCKETS		(OCTAVES * SUB)	/* a power of two */

#define RECV		128	/* enum ib_wc_opcode */
#define PSN_MASK	0xffffff

enum {
	STAGE_POST, STAGE_QUEUE, STAGE_ACK, STAGE_CQE, STAGE_DELIVER, STAGE_POLL,
	STAGE_TOTAL, STAGE_USER, STAGES
};

/* A WQE that the provider has posted */
struct post {
	__u32 qpn;
	__u32 index;
	__u64 time;
};

struct message {
	__u32 qpn;
	__u32 index;
	__u64 posted;		/* times in ns; 0: not known */
	__u64 fetched;
	__u64 wire;
	__u64 done;
	__u32 opcode;
	__u32 length;
};

struct series_key {
	__u32 qpn;
	__u32 opcode;
	__u32 class;		/* 0: empty, else 2^class bytes at the most */
};

/* A CQE that the provider has yet to poll */
struct cqe_wait {
	__u32 qpn;
	__u32 index;
	__u64 time;		/* 0: none */
	__u64 posted;		/* by its sender; 0: not known */
	struct series_key key;
};

/*
 * A message that a receive completes with, on its way from one queue pair of this
 * host to another: `from` has sent it, or `qpn` has got it, whichever is told
 * first.
 */
struct arrival {
	__u32 qpn;
	__u32 psn;		/* of its last packet */
	__u32 from;
	__u32 cqe_index;
	__u64 fetched;		/* 0: not told yet */
	__u64 posted;
	__u64 written;		/* its CQE; 0: not told yet */
	__u32 length;
};

struct series {
	__u64 sum[STAGES];
	__u64 max[STAGES];
	__u32 bucket[STAGES][BUCKETS];
};

/* Why a message is in no histogram */
struct missed {
	__u64 collisions;	/* its slot was taken by another */
	__u64 no_room;		/* for its series */
	__u64 unseen;		/* on its way to the wire */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct message);
} messages SEC(".maps");

/* The slot of the message of a queue pair that a CQE is due for */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QP_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} due SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct post);
} posts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct cqe_wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct series_key);
	__type(value, struct series);
} series SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct missed);
} missed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct arrival);
} arrivals SEC(".maps");

/* PSN of the message that a CQE is due for, by receiving queue pair */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QP_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} due_receive SEC(".maps");

static const struct series no_series;

#define MISS(why)						\
do {								\
	__u32 zero = 0;						\
	struct missed *m_ = bpf_map_lookup_elem(&missed, &zero);	\
								\
	if (m_)							\
		__sync_fetch_and_add(&m_->why, 1);		\
} while (0)

static __always_inline __u32 slot_of(__u32 qpn, __u32 index)
{
	return (qpn * 2654435761u + index) & (SLOTS - 1);
}

/* enum ib_wr_opcode: WRITE_WITH_IMM, SEND, SEND_WITH_IMM, SEND_WITH_INV */
static __always_inline int completes_receive(__u32 opcode)
{
	return opcode >= 1 && opcode <= 9 && (0x20e >> opcode & 1);
}

static __always_inline struct message *find(__u32 qpn, __u32 index)
{
	__u32 i = slot_of(qpn, index);
	struct message *m = bpf_map_lookup_elem(&messages, &i);

	return m && m->fetched && m->qpn == qpn && m->index == index ? m : 0;
}

static __always_inline __u32 log2_of(__u64 v)
{
	__u32 n = 0;

	if (v >> 32) {
		v >>= 32;
		n += 32;
	}
	if (v >> 16) {
		v >>= 16;
		n += 16;
	}
	if (v >> 8) {
		v >>= 8;
		n += 8;
	}
	if (v >> 4) {
		v >>= 4;
		n += 4;
	}
	if (v >> 2) {
		v >>= 2;
		n += 2;
	}
	return n + (v >> 1);
}

static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 n, i;

	if (ns < 1 << LOW_BITS)
		return ns >> (LOW_BITS - SUB_BITS);
	n = log2_of(ns);
	i = (n - LOW_BITS + 1) * SUB + ((ns >> (n - SUB_BITS)) & (SUB - 1));
	return i < BUCKETS ? i : BUCKETS - 1;
}

static __always_inline void note(struct series *s, __u32 stage, __u64 ns)
{
	__u32 b = bucket_of(ns);

	__sync_fetch_and_add(&s->sum[stage], ns);
	if (ns > s->max[stage])
		s->max[stage] = ns;
	/* The verifier wants to see the bound here, whatever the compiler knows. */
	asm volatile("" : "+r"(b));
	__sync_fetch_and_add(&s->bucket[stage][b & (BUCKETS - 1)], 1);
}

static __always_inline struct series *series_of(const struct series_key *key)
{
	struct series *s = bpf_map_lookup_elem(&series, key);

	if (s)
		return s;
	bpf_map_update_elem(&series, key, &no_series, BPF_NOEXIST);
	s = bpf_map_lookup_elem(&series, key);
	if (!s)
		MISS(no_room);
	return s;
}

static __always_inline __u32 class_of(__u32 length)
{
	return length > 1 ? log2_of(length - 1) + 1 : length;
}

/* A queue pair may have its sends and its receives on different CQs. */
static __always_inline __u32 wait_slot(__u32 qpn, __u32 index, int receive)
{
	return slot_of(qpn, index) ^ (receive ? SLOTS / 2 : 0);
}

static __always_inline void wait_for_poll(__u32 qpn, __u32 index, __u64 time,
					  __u64 posted,
					  const struct series_key *key)
{
	__u32 i = wait_slot(qpn, index, key->opcode == RECV);
	struct cqe_wait *w = bpf_map_lookup_elem(&waits, &i);

	if (!w)
		return;
	w->qpn = qpn;
	w->index = index;
	w->time = time;
	w->posted = posted;
	w->key = *key;
}

/*
 * The message is over: into its histograms with it. With a CQE it is yet to be
 * polled.
 */
static __always_inline void finish(struct message *m, __u64 now, int has_cqe,
				   __u32 cqe_index)
{
	struct series_key key = {
		.qpn = m->qpn,
		.opcode = m->opcode,
		.class = class_of(m->length),
	};
	__u64 posted = m->posted, fetched = m->fetched;
	struct series *s;

	m->fetched = 0;
	if (!m->wire) {
		MISS(unseen);
		return;
	}
	s = series_of(&key);
	if (!s)
		return;
	if (posted)
		note(s, STAGE_POST, fetched - posted);
	note(s, STAGE_QUEUE, m->wire - fetched);
	note(s, STAGE_ACK, m->done - m->wire);
	note(s, STAGE_CQE, now - m->done);
	note(s, STAGE_TOTAL, now - fetched);
	if (has_cqe && posted)
		wait_for_poll(key.qpn, cqe_index, now, posted, &key);
}

static __always_inline struct arrival *arrival(__u32 qpn, __u32 psn)
{
	__u32 i = slot_of(qpn, psn);

	return bpf_map_lookup_elem(&arrivals, &i);
}

/* From the fetch of the sender's WQE until the receiver's CQE was written */
static __always_inline void delivered(__u32 qpn, __u32 length, __u64 ns)
{
	struct series_key key = {
		.qpn = qpn,
		.opcode = RECV,
		.class = class_of(length),
	};
	struct series *s = series_of(&key);

	if (s)
		note(s, STAGE_DELIVER, ns);
}

/* The message was sent: it arrives now, or has arrived. */
static __always_inline void sent(const struct message *m, __u32 psn)
{
	__u32 qpn = m->qpn, dest, i;
	struct peer *to = local_peer(qpn);
	struct cqe_wait *w;
	struct arrival *a;

	if (!to)
		return;
	dest = to->qpn;
	a = arrival(dest, psn);
	if (!a)
		return;
	if (a->qpn != dest || a->psn != psn || a->from != qpn || !a->written) {
		a->qpn = dest;
		a->psn = psn;
		a->from = qpn;
		a->fetched = m->fetched;
		a->posted = m->posted;
		a->written = 0;
		return;
	}
	delivered(a->qpn, a->length, a->written - m->fetched);
	a->qpn = 0;
	i = wait_slot(dest, a->cqe_index, 1);
	w = bpf_map_lookup_elem(&waits, &i);
	if (w && w->time == a->written && w->qpn == dest)
		w->posted = m->posted;
}

/* The CQE of a receive is written. */
static __always_inline void got(__u32 qpn, __u32 length, __u32 cqe_index)
{
	__u32 at = qpn & (QP_SLOTS - 1);
	__u64 *d = bpf_map_lookup_elem(&due_receive, &at);
	struct peer *from = local_peer(qpn);
	__u64 now = bpf_ktime_get_ns(), posted = 0;
	struct series_key key = {
		.qpn = qpn,
		.opcode = RECV,
		.class = class_of(length),
	};
	struct arrival *a;
	__u32 psn;

	if (!d || *d >> 32 != qpn)
		return;
	psn = *d;
	*d = 0;
	if (!from) {
		/* When it was sent is known elsewhere. */
		wait_for_poll(qpn, cqe_index, now, 0, &key);
		return;
	}
	a = arrival(qpn, psn);
	if (!a)
		return;
	if (a->qpn == qpn && a->psn == psn && a->from == from->qpn && a->fetched) {
		delivered(qpn, length, now - a->fetched);
		posted = a->posted;
		a->qpn = 0;
	} else {
		a->qpn = qpn;
		a->psn = psn;
		a->from = from->qpn;
		a->cqe_index = cqe_index;
		a->fetched = 0;
		a->written = now;
		a->length = length;
	}
	wait_for_poll(qpn, cqe_index, now, posted, &key);
}

/*
 * The provider's probes (provider/probe.h). Their arguments are those of a
 * function: queue pair, index, wr_id, opcode.
 */
SEC("uprobe")
int on_post_send(struct pt_regs *regs)
{
	__u32 qpn = regs->rdi, index = regs->rsi;
	__u32 i = slot_of(qpn, index);
	struct post *p = bpf_map_lookup_elem(&posts, &i);

	if (!p)
		return SEEN;
	p->qpn = qpn;
	p->index = index;
	p->time = bpf_ktime_get_ns();
	return SEEN;
}

SEC("uprobe")
int on_poll_cq(struct pt_regs *regs)
{
	__u32 qpn = regs->rdi, index = regs->rsi;
	int receive = !!(regs->rcx & RECV);
	__u64 now = bpf_ktime_get_ns();
	__u32 i = wait_slot(qpn, index, receive);
	struct cqe_wait *w = bpf_map_lookup_elem(&waits, &i);
	struct series_key key;
	struct series *s;

	if (!w || !w->time || w->qpn != qpn || w->index != index ||
	    (w->key.opcode == RECV) != receive)
		return SEEN;
	key = w->key;
	s = series_of(&key);
	if (s) {
		note(s, STAGE_POLL, now - w->time);
		if (w->posted)
			note(s, STAGE_USER, now - w->posted);
	}
	w->time = 0;
	return SEEN;
}

SEC("raw_tp/send_fetch")
int on_send_fetch(RAW *ctx)
{
	__u32 qpn = QPN(ctx), index = ctx->args[FETCH_INDEX];
	struct message *m;
	struct post *p;
	__u32 i;

	if (!wanted_qpn(qpn))
		return 0;
	i = slot_of(qpn, index);
	m = bpf_map_lookup_elem(&messages, &i);
	p = bpf_map_lookup_elem(&posts, &i);
	if (!m || !p)
		return 0;
	if (m->fetched)
		MISS(collisions);
	m->qpn = qpn;
	m->index = index;
	m->posted = p->qpn == qpn && p->index == index ? p->time : 0;
	p->qpn = 0;
	m->fetched = bpf_ktime_get_ns();
	m->wire = 0;
	m->opcode = ctx->args[FETCH_OPCODE];
	m->length = ctx->args[FETCH_LENGTH];
	return 0;
}

SEC("raw_tp/send_wire")
int on_send_wire(RAW *ctx)
{
	struct message *m = find(QPN(ctx), ctx->args[WIRE_INDEX]);
	__u32 psn = ctx->args[WIRE_PSN], packets = ctx->args[WIRE_PACKETS];

	if (!m || m->wire)
		return 0;
	m->wire = bpf_ktime_get_ns();
	if (completes_receive(m->opcode))
		sent(m, (psn + packets - 1) & PSN_MASK);
	return 0;
}

SEC("raw_tp/recv_done")
int on_recv_done(RAW *ctx)
{
	__u32 qpn = QPN(ctx), at = qpn & (QP_SLOTS - 1);
	__u64 *d;

	if ((__u32)ctx->args[RECV_STATUS] || !wanted_qpn(qpn))
		return 0;
	d = bpf_map_lookup_elem(&due_receive, &at);
	if (d)
		*d = (__u64)qpn << 32 | (__u32)ctx->args[RECV_PSN];
	return 0;
}

SEC("raw_tp/send_done")
int on_send_done(RAW *ctx)
{
	__u32 qpn = QPN(ctx), index = ctx->args[DONE_INDEX];
	struct message *m = find(qpn, index);
	__u32 at = qpn & (QP_SLOTS - 1);
	__u64 *d;

	if (!m)
		return 0;
	if ((__u32)ctx->args[DONE_STATUS]) {
		/* Failed or flushed: its times mean nothing. */
		m->fetched = 0;
		return 0;
	}
	m->done = bpf_ktime_get_ns();
	if (!(__u32)ctx->args[DONE_CQE]) {
		finish(m, m->done, 0, 0);
		return 0;
	}
	d = bpf_map_lookup_elem(&due, &at);
	if (d)
		*d = (__u64)qpn << 32 | index;
	return 0;
}

SEC("raw_tp/cqe")
int on_cqe(RAW *ctx)
{
	__u32 qpn = QPN(ctx), at = qpn & (QP_SLOTS - 1);
	__u32 index = ctx->args[CQE_INDEX];
	struct message *m;
	__u64 *d;

	/* One in error is due for nothing. */
	if ((__u32)ctx->args[CQE_STATUS])
		return 0;
	if (ctx->args[CQE_OPCODE] & RECV) {
		got(qpn, ctx->args[CQE_LENGTH], index);
		return 0;
	}
	d = bpf_map_lookup_elem(&due, &at);
	if (!d || *d >> 32 != qpn)
		return 0;
	m = find(qpn, *d);
	if (m)
		finish(m, bpf_ktime_get_ns(), 1, index);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";

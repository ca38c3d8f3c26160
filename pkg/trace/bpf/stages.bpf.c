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

#define SLOTS	(1 << 16)
#define QP_SLOTS (1 << 12)

/* Histograms are logarithmic, with SUB buckets for each power of two. */
#define SUB_BITS	4
#define SUB		(1 << SUB_BITS)
#define LOW_BITS	7	/* the first bucket is for less than 128 ns */
#define OCTAVES		32	/* the last bucket is for some 9 minutes and more */
#define BUCKETS		(OCTAVES * SUB)	/* a power of two */

enum {
	STAGE_POST, STAGE_QUEUE, STAGE_ACK, STAGE_CQE, STAGE_POLL,
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
	__u64 posted;
	struct series_key key;
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

static const struct series no_series;

static __always_inline void miss(int no_room)
{
	__u32 zero = 0;
	struct missed *m = bpf_map_lookup_elem(&missed, &zero);

	if (m)
		__sync_fetch_and_add(no_room ? &m->no_room : &m->collisions, 1);
}

static __always_inline __u32 slot_of(__u32 qpn, __u32 index)
{
	return (qpn * 2654435761u + index) & (SLOTS - 1);
}

static __always_inline struct message *slot(__u32 qpn, __u32 index)
{
	__u32 i = slot_of(qpn, index);

	return bpf_map_lookup_elem(&messages, &i);
}

static __always_inline struct message *find(__u32 qpn, __u32 index)
{
	struct message *m = slot(qpn, index);

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
		return 0;
	n = log2_of(ns);
	i = (n - LOW_BITS) * SUB + ((ns >> (n - SUB_BITS)) & (SUB - 1));
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

/*
 * The message is over: into its histograms with it. With a CQE it is yet to be
 * polled.
 */
static __always_inline void finish(struct message *m, __u64 now,
				   const struct cqe *e)
{
	struct series_key key = {
		.qpn = m->qpn,
		.opcode = m->opcode,
		.class = m->length > 1 ? log2_of(m->length - 1) + 1 :
					 m->length,
	};
	struct series *s = bpf_map_lookup_elem(&series, &key);
	struct cqe_wait *w;
	__u32 i;

	if (!s) {
		bpf_map_update_elem(&series, &key, &no_series, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&series, &key);
	}
	if (s && m->wire) {
		if (m->posted)
			note(s, STAGE_POST, m->fetched - m->posted);
		note(s, STAGE_QUEUE, m->wire - m->fetched);
		note(s, STAGE_ACK, m->done - m->wire);
		note(s, STAGE_CQE, now - m->done);
		note(s, STAGE_TOTAL, now - m->fetched);
	} else if (!s) {
		miss(1);
	}
	m->fetched = 0;
	if (!e || !m->posted)
		return;
	i = slot_of(e->c.qpn, e->index);
	w = bpf_map_lookup_elem(&waits, &i);
	if (!w)
		return;
	w->qpn = e->c.qpn;
	w->index = e->index;
	w->time = now;
	w->posted = m->posted;
	w->key = key;
}

/*
 * The provider's probes (provider/probe.h). Their arguments are those of a
 * function: queue pair, index, wr_id.
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
	__u64 now = bpf_ktime_get_ns();
	__u32 i = slot_of(qpn, index);
	struct cqe_wait *w = bpf_map_lookup_elem(&waits, &i);
	struct series_key key;
	struct series *s;

	if (!w || !w->time || w->qpn != qpn || w->index != index)
		return SEEN;
	key = w->key;
	s = bpf_map_lookup_elem(&series, &key);
	if (s) {
		note(s, STAGE_POLL, now - w->time);
		note(s, STAGE_USER, now - w->posted);
	}
	w->time = 0;
	return SEEN;
}

SEC("tracepoint/softhca/send_fetch")
int on_send_fetch(struct send_fetch *e)
{
	struct message *m;
	struct post *p;
	__u32 i;

	if (!wanted(&e->c))
		return SEEN;
	m = slot(e->c.qpn, e->index);
	if (!m)
		return SEEN;
	if (m->fetched)
		miss(0);
	m->qpn = e->c.qpn;
	m->index = e->index;
	i = slot_of(e->c.qpn, e->index);
	p = bpf_map_lookup_elem(&posts, &i);
	m->posted = p && p->qpn == m->qpn && p->index == m->index ? p->time : 0;
	if (p)
		p->qpn = 0;
	m->fetched = bpf_ktime_get_ns();
	m->wire = 0;
	m->opcode = e->opcode;
	m->length = e->length;
	return SEEN;
}

SEC("tracepoint/softhca/send_wire")
int on_send_wire(struct send_wire *e)
{
	struct message *m = find(e->c.qpn, e->index);

	if (m && !m->wire)
		m->wire = bpf_ktime_get_ns();
	return SEEN;
}

SEC("tracepoint/softhca/send_done")
int on_send_done(struct send_done *e)
{
	__u32 at = e->c.qpn & (QP_SLOTS - 1);
	struct message *m = find(e->c.qpn, e->index);
	__u64 *d;

	if (!m)
		return SEEN;
	if (e->status) {
		/* Failed or flushed: its times mean nothing. */
		m->fetched = 0;
		return SEEN;
	}
	m->done = bpf_ktime_get_ns();
	if (!e->cqe) {
		finish(m, m->done, 0);
		return SEEN;
	}
	d = bpf_map_lookup_elem(&due, &at);
	if (d)
		*d = (__u64)e->c.qpn << 32 | e->index;
	return SEEN;
}

SEC("tracepoint/softhca/cqe")
int on_cqe(struct cqe *e)
{
	__u32 at = e->c.qpn & (QP_SLOTS - 1);
	struct message *m;
	__u64 *d;

	/* A receive's; or a failed send's, which is due for nothing. */
	if (e->opcode & 128 || e->status)
		return SEEN;
	d = bpf_map_lookup_elem(&due, &at);
	if (!d || *d >> 32 != e->c.qpn)
		return SEEN;
	m = find(e->c.qpn, *d);
	if (m)
		finish(m, bpf_ktime_get_ns(), e);
	return SEEN;
}

char _license[] SEC("license") = "Dual BSD/GPL";

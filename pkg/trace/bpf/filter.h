/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whose events count.  An event may come in anybody's context, so a process
 * means the one that created the queue pair: package trace fills `owners` with
 * the queue pairs there are, qp_create adds those that come, and qp_destroy makes
 * room for others.  What is told of a queue pair after that, its last completions or
 * packets that come too late, still has an owner, for as long as `gone` remembers it.
 */
#ifndef SOFTHCA_BPF_FILTER_H
#define SOFTHCA_BPF_FILTER_H

#include "count.h"
#include "events.h"

#define QPS	65536	/* two devices full of them */

struct owner {
	__u32 pid;
	char comm[NAME];
	char dev[NAME];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct owner);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, QPS);
	__type(key, __u32);
	__type(value, struct owner);
} gone SEC(".maps");

/* Queue pairs that a map of programs here had no room for; package trace reports them. */
COUNTER(no_room);

static __always_inline struct owner *owner_of(__u32 qpn)
{
	struct owner *o = bpf_map_lookup_elem(&owners, &qpn);

	return o ? o : bpf_map_lookup_elem(&gone, &qpn);
}

/* What is wanted, set before the programs are loaded; 0 and "" mean all. */
volatile const __u32 want_qpn;
volatile const __u32 want_pid;
volatile const char want_dev[NAME];
volatile const char want_comm[NAME];

static __always_inline int same_name(const char *a, const volatile char *want)
{
	int i;

#pragma unroll
	for (i = 0; i < NAME; i++) {
		if (a[i] != want[i])
			return 0;
		if (!a[i])
			break;
	}
	return 1;
}

static __always_inline int wanted_owner(__u32 pid, const char *comm)
{
	return (!want_pid || pid == want_pid) &&
	       (!want_comm[0] || same_name(comm, want_comm));
}

/* Is the event one of those that count? */
static __always_inline int wanted(const struct common *c)
{
	struct owner *o;
	__u32 qpn = c->qpn;

	if (want_qpn && qpn != want_qpn)
		return 0;
	if (want_dev[0] && !same_name(c->dev, want_dev))
		return 0;
	if (!want_pid && !want_comm[0])
		return 1;
	o = owner_of(qpn);
	return o && wanted_owner(o->pid, o->comm);
}

/*
 * The same for a raw tracepoint, whose device is a pointer to what is not known here:
 * the queue pair's owner tells. QP 1, which each device has, is of none of them.
 */
static __always_inline int wanted_qpn(__u32 qpn)
{
	struct owner *o;

	if (want_qpn && qpn != want_qpn)
		return 0;
	if (!want_dev[0] && !want_pid && !want_comm[0])
		return 1;
	if (want_dev[0] && qpn == 1)
		return 0;
	o = owner_of(qpn);
	return o && (!want_dev[0] || same_name(o->dev, want_dev)) &&
	       wanted_owner(o->pid, o->comm);
}

SEC("tracepoint/softhca/qp_create")
int on_qp_create(struct qp_create *e)
{
	struct owner o = {};
	__u32 qpn = e->c.qpn;

	o.pid = e->pid;
	__builtin_memcpy(o.comm, e->comm, NAME);
	__builtin_memcpy(o.dev, e->c.dev, NAME);
	if (bpf_map_update_elem(&owners, &qpn, &o, BPF_ANY))
		count(&no_room);
	return SEEN;
}

SEC("tracepoint/softhca/qp_destroy")
int on_qp_destroy(struct common *e)
{
	__u32 qpn = e->qpn;
	struct owner *o = bpf_map_lookup_elem(&owners, &qpn);

	/* Other devices have special queue pairs of the same number. */
	if (!o || qpn < FIRST_QPN)
		return SEEN;
	bpf_map_update_elem(&gone, &qpn, o, BPF_ANY);
	bpf_map_delete_elem(&owners, &qpn);
	return SEEN;
}

#endif

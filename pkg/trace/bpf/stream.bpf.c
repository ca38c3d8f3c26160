// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events as they happen, over a ring buffer.  What does not fit is counted, by
 * no means forgotten.
 */
#include <asm/ptrace.h>

#include "filter.h"
#include "lost.h"

#define BODY_MAX	64

/* AETH syndromes (IBA 9.7.5.1.1): the upper three bits are the kind */
#define SYNDROME_KIND	0xe0
#define SYNDROME_NAK	0x60

/*
 * Only what went wrong, of the events that also tell of what went well.  Waking the
 * reader for each of those would cost more than all the rest.
 */
volatile const __u32 only_errors;

/* enum kind: which tracepoint; package trace has the same list. */
enum kind {
	KIND_SEND_FETCH,
	KIND_SEND_WIRE,
	KIND_SEND_DONE,
	KIND_CQE,
	KIND_DROP,
	KIND_ACK_RECEIVE,
	KIND_ACK_TIMEOUT,
	KIND_RNR_WAIT,
	KIND_GO_BACK,
	KIND_QP_STATE,
	KIND_QP_CREATE,
	KIND_QP_DESTROY,
	KIND_MR_REGISTER,
	KIND_ACK_SEND,
	KIND_BURST,
	KIND_MODIFY_FAILED,
};

struct record {
	__u64 time;		/* ns, CLOCK_MONOTONIC */
	__u32 kind;
	__u32 pid;		/* who did the work; mr_register: who asked */
	char comm[NAME];
	__u8 body[BODY_MAX];	/* the event from its device's name on */
};

/* The body of ack_send and ack_receive */
struct nak {
	char dev[NAME];
	__u32 qpn;
	__u32 psn;
	__u32 syndrome;
	__u32 msn;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} ring SEC(".maps");

/* A record with all but its body, or 0 */
static __always_inline struct record *record(__u32 kind)
{
	struct record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count_lost();
		return 0;
	}
	r->time = bpf_ktime_get_ns();
	r->kind = kind;
	r->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	return r;
}

static __always_inline void emit(const void *event, __u32 kind, __u32 size)
{
	struct record *r = record(kind);
	int i;

	if (!r)
		return;
	/* In words, each at a place that is fixed: the context allows no other. */
#pragma unroll
	for (i = 0; i < BODY_MAX / 4; i++)
		((__u32 *)r->body)[i] = i * 4 + 4 <= size ?
			((const volatile __u32 *)(event + 8))[i] : 0;
	bpf_ringbuf_submit(r, 0);
}

#define STREAM(name, kind, size)			\
SEC("tracepoint/softhca/" #name)			\
int stream_##name(struct common *e)			\
{							\
	if (wanted(e))					\
		emit(e, kind, size);			\
	return SEEN;					\
}

STREAM(send_fetch, KIND_SEND_FETCH, 60)
STREAM(send_wire, KIND_SEND_WIRE, 36)
STREAM(send_done, KIND_SEND_DONE, 48)
STREAM(cqe, KIND_CQE, 52)
STREAM(drop, KIND_DROP, 32)
STREAM(ack_receive, KIND_ACK_RECEIVE, 28)
STREAM(ack_send, KIND_ACK_SEND, 32)
STREAM(ack_timeout, KIND_ACK_TIMEOUT, 28)
STREAM(rnr_wait, KIND_RNR_WAIT, 32)
STREAM(go_back, KIND_GO_BACK, 28)
STREAM(qp_create, KIND_QP_CREATE, 44)
STREAM(qp_destroy, KIND_QP_DESTROY, 20)
STREAM(burst, KIND_BURST, 52)

/*
 * NAKs alone, among all that is acknowledged: a raw tracepoint, since most events come
 * to nothing.  The device's name is known of the queue pair's owner.
 */
static __always_inline void emit_nak(RAW *ctx, __u32 kind, __u32 msn)
{
	__u32 qpn = QPN(ctx);
	struct nak *n;
	struct record *r;
	struct owner *o;

	if ((ctx->args[ACK_SYNDROME] & SYNDROME_KIND) != SYNDROME_NAK ||
	    !wanted_qpn(qpn))
		return;
	r = record(kind);
	if (!r)
		return;
	__builtin_memset(r->body, 0, sizeof(r->body));
	n = (void *)r->body;
	o = owner_of(qpn);
	if (o)
		__builtin_memcpy(n->dev, o->dev, NAME);
	n->qpn = qpn;
	n->psn = ctx->args[ACK_PSN];
	n->syndrome = ctx->args[ACK_SYNDROME];
	n->msn = msn;
	bpf_ringbuf_submit(r, 0);
}

SEC("raw_tp/ack_receive")
int nak_ack_receive(RAW *ctx)
{
	emit_nak(ctx, KIND_ACK_RECEIVE, 0);
	return 0;
}

SEC("raw_tp/ack_send")
int nak_ack_send(RAW *ctx)
{
	emit_nak(ctx, KIND_ACK_SEND, ctx->args[ACK_MSN]);
	return 0;
}

SEC("tracepoint/softhca/qp_state")
int stream_qp_state(struct qp_state *e)
{
	if ((!only_errors || e->reason) && wanted(&e->c))
		emit(e, KIND_QP_STATE, 40);
	return SEEN;
}

/* A region has no queue pair, so only its device and its process count. */
SEC("tracepoint/softhca/mr_register")
int stream_mr_register(struct mr_register *e)
{
	char comm[NAME];

	if (want_qpn || (only_errors && !e->error) ||
	    (want_dev[0] && !same_name(e->c.dev, want_dev)))
		return SEEN;
	bpf_get_current_comm(comm, sizeof(comm));
	if (wanted_owner(bpf_get_current_pid_tgid() >> 32, comm))
		emit(e, KIND_MR_REGISTER, 44);
	return SEEN;
}

/* What the probe modify_failed of the provider has to say */
struct modify_failed {
	char dev[NAME];
	__u32 qpn;
	__u32 why;
	__u32 error;
};

/*
 * The provider's probe (provider/probe.h): queue pair, why, errno. It is called by
 * the process itself.
 */
SEC("uprobe")
int stream_modify_failed(struct pt_regs *regs)
{
	struct modify_failed *m;
	struct record *r;
	__u32 qpn = regs->rdi;
	struct owner *o = owner_of(qpn);
	char comm[NAME];

	bpf_get_current_comm(comm, sizeof(comm));
	if ((want_qpn && qpn != want_qpn) ||
	    (want_dev[0] && (!o || !same_name(o->dev, want_dev))) ||
	    !wanted_owner(bpf_get_current_pid_tgid() >> 32, comm))
		return SEEN;
	r = record(KIND_MODIFY_FAILED);
	if (!r)
		return SEEN;
	__builtin_memset(r->body, 0, sizeof(r->body));
	m = (void *)r->body;
	if (o)
		__builtin_memcpy(m->dev, o->dev, NAME);
	m->qpn = qpn;
	m->why = regs->rsi;
	m->error = regs->rdx;
	bpf_ringbuf_submit(r, 0);
	return SEEN;
}

char _license[] SEC("license") = "Dual BSD/GPL";

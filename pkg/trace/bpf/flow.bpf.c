// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who talks how much: added up in a map, by queue pair.  When it is full, the queue
 * pair that has been silent longest makes room.
 */
#include "filter.h"

struct flow {
	__u64 tx_messages;
	__u64 tx_bytes;
	__u64 rx_messages;
	__u64 rx_bytes;
	__u64 retries;
	__u64 packets_again;
	__u64 referenced;
	__u64 copied;
	__u64 errors;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, QPS);
	__type(key, __u32);
	__type(value, struct flow);
} flows SEC(".maps");

struct peer {
	__u32 qpn;
	__u8 gid[16];
};

/* Also of those that are gone: it is shown with what they did. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, QPS);
	__type(key, __u32);
	__type(value, struct peer);
} peers SEC(".maps");

static const struct flow no_flow;

static __always_inline struct flow *flow_of(__u32 qpn)
{
	struct flow *f = bpf_map_lookup_elem(&flows, &qpn);

	if (f)
		return f;
	bpf_map_update_elem(&flows, &qpn, &no_flow, BPF_NOEXIST);
	f = bpf_map_lookup_elem(&flows, &qpn);
	if (!f)
		count(&no_room);
	return f;
}

SEC("raw_tp/send_done")
int flow_send_done(RAW *ctx)
{
	struct flow *f;

	if (!wanted_qpn(QPN(ctx)))
		return 0;
	f = flow_of(QPN(ctx));
	if (!f)
		return 0;
	if ((__u32)ctx->args[DONE_STATUS]) {
		__sync_fetch_and_add(&f->errors, 1);
	} else {
		__sync_fetch_and_add(&f->tx_messages, 1);
		__sync_fetch_and_add(&f->tx_bytes, (__u32)ctx->args[DONE_LENGTH]);
	}
	return 0;
}

SEC("raw_tp/recv_done")
int flow_recv_done(RAW *ctx)
{
	struct flow *f;

	if ((__u32)ctx->args[RECV_STATUS] || !wanted_qpn(QPN(ctx)))
		return 0;
	f = flow_of(QPN(ctx));
	if (!f)
		return 0;
	__sync_fetch_and_add(&f->rx_messages, 1);
	__sync_fetch_and_add(&f->rx_bytes, (__u32)ctx->args[RECV_LENGTH]);
	return 0;
}

SEC("raw_tp/burst")
int flow_burst(RAW *ctx)
{
	__u32 again = ctx->args[BURST_AGAIN];
	__u32 referenced = ctx->args[BURST_REFERENCED];
	__u32 copied = ctx->args[BURST_COPIED];
	struct flow *f;

	/* an acknowledge */
	if (!again && !referenced && !copied)
		return 0;
	if (!wanted_qpn(QPN(ctx)))
		return 0;
	f = flow_of(QPN(ctx));
	if (!f)
		return 0;
	__sync_fetch_and_add(&f->packets_again, again);
	__sync_fetch_and_add(&f->referenced, referenced);
	__sync_fetch_and_add(&f->copied, copied);
	return 0;
}

SEC("raw_tp/go_back")
int flow_go_back(RAW *ctx)
{
	struct flow *f;

	if (!wanted_qpn(QPN(ctx)))
		return 0;
	f = flow_of(QPN(ctx));
	if (f)
		__sync_fetch_and_add(&f->retries, 1);
	return 0;
}

SEC("tracepoint/softhca/qp_connect")
int flow_qp_connect(struct qp_connect *e)
{
	__u32 qpn = e->c.qpn;
	struct peer p;

	p.qpn = e->dest_qpn;
	__builtin_memcpy(p.gid, e->dgid, sizeof(p.gid));
	bpf_map_update_elem(&peers, &qpn, &p, BPF_ANY);
	return SEEN;
}

char _license[] SEC("license") = "Dual BSD/GPL";

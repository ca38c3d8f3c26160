// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who talks how much: added up in a map, by queue pair.  The map has room for
 * every queue pair that a device can have.
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
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct flow);
} flows SEC(".maps");

struct peer {
	__u32 qpn;
	__u8 gid[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
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
	return bpf_map_lookup_elem(&flows, &qpn);
}

SEC("tracepoint/softhca/send_done")
int flow_send_done(struct send_done *e)
{
	struct flow *f;

	if (!wanted(&e->c))
		return SEEN;
	f = flow_of(e->c.qpn);
	if (!f)
		return SEEN;
	if (e->status) {
		__sync_fetch_and_add(&f->errors, 1);
	} else {
		__sync_fetch_and_add(&f->tx_messages, 1);
		__sync_fetch_and_add(&f->tx_bytes, e->length);
	}
	return SEEN;
}

SEC("tracepoint/softhca/cqe")
int flow_cqe(struct cqe *e)
{
	struct flow *f;

	if (!(e->opcode & 128) || e->status || !wanted(&e->c))
		return SEEN;
	f = flow_of(e->c.qpn);
	if (!f)
		return SEEN;
	__sync_fetch_and_add(&f->rx_messages, 1);
	__sync_fetch_and_add(&f->rx_bytes, e->length);
	return SEEN;
}

SEC("tracepoint/softhca/burst")
int flow_burst(struct burst *e)
{
	struct flow *f;

	if (!wanted(&e->c))
		return SEEN;
	f = flow_of(e->c.qpn);
	if (!f)
		return SEEN;
	__sync_fetch_and_add(&f->packets_again, e->again);
	__sync_fetch_and_add(&f->referenced, e->referenced);
	__sync_fetch_and_add(&f->copied, e->copied);
	return SEEN;
}

SEC("tracepoint/softhca/go_back")
int flow_go_back(struct go_back *e)
{
	struct flow *f;

	if (!wanted(&e->c))
		return SEEN;
	f = flow_of(e->c.qpn);
	if (f)
		__sync_fetch_and_add(&f->retries, 1);
	return SEEN;
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

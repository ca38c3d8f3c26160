/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The peer of each connected queue pair, which may be on this host or not. */
#ifndef SOFTHCA_BPF_PEERS_H
#define SOFTHCA_BPF_PEERS_H

#include "filter.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} peers SEC(".maps");

SEC("tracepoint/softhca/qp_connect")
int on_qp_connect(struct qp_connect *e)
{
	__u32 qpn = e->c.qpn, to = e->dest_qpn;

	if (bpf_map_update_elem(&peers, &qpn, &to, BPF_ANY))
		count(&no_room);
	return SEEN;
}

SEC("tracepoint/softhca/qp_destroy")
int peers_qp_destroy(struct common *e)
{
	__u32 qpn = e->qpn;

	bpf_map_delete_elem(&peers, &qpn);
	return SEEN;
}

#endif

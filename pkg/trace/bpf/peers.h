/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The peer of each connected queue pair, which may be on this host or not. */
#ifndef SOFTHCA_BPF_PEERS_H
#define SOFTHCA_BPF_PEERS_H

#include "events.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} peers SEC(".maps");

SEC("tracepoint/softhca/qp_connect")
int on_qp_connect(struct qp_connect *e)
{
	__u32 qpn = e->c.qpn, to = e->dest_qpn;

	bpf_map_update_elem(&peers, &qpn, &to, BPF_ANY);
	return SEEN;
}

#endif

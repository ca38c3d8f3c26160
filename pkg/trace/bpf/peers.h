/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The peer of each connected queue pair, which may be on this host or not. */
#ifndef SOFTHCA_BPF_PEERS_H
#define SOFTHCA_BPF_PEERS_H

#include "filter.h"

struct peer {
	__u32 qpn;
	__u8 sgid[16];		/* our own end; all 0 without a GRH */
	__u8 dgid[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct peer);
} peers SEC(".maps");

SEC("tracepoint/softhca/qp_connect")
int on_qp_connect(struct qp_connect *e)
{
	__u32 qpn = e->c.qpn;
	struct peer to;

	to.qpn = e->dest_qpn;
	__builtin_memcpy(to.sgid, e->sgid, sizeof(to.sgid));
	__builtin_memcpy(to.dgid, e->dgid, sizeof(to.dgid));
	if (bpf_map_update_elem(&peers, &qpn, &to, BPF_ANY))
		count(&no_room);
	return SEEN;
}

static __always_inline int same_gid(const __u8 *a, const __u8 *b)
{
	return !__builtin_memcmp(a, b, 16);
}

/*
 * The peer of a queue pair, if it is one of this host: that queue pair knows us as its
 * peer, and each end knows the other by the address that the other has for itself.  The
 * numbers alone do not tell: a host that begins at the same time has the same ones.
 * Without a GRH there is nothing more to go by, so then it is taken for one of another.
 */
static __always_inline struct peer *local_peer(__u32 qpn)
{
	static const __u8 none[16];
	struct peer *to = bpf_map_lookup_elem(&peers, &qpn), *back;
	__u32 dest;

	if (!to)
		return 0;
	dest = to->qpn;
	back = bpf_map_lookup_elem(&peers, &dest);
	if (!back || back->qpn != qpn || !same_gid(back->sgid, to->dgid) ||
	    !same_gid(back->dgid, to->sgid) || same_gid(to->dgid, none))
		return 0;
	return to;
}

SEC("tracepoint/softhca/qp_destroy")
int peers_qp_destroy(struct common *e)
{
	__u32 qpn = e->qpn;

	bpf_map_delete_elem(&peers, &qpn);
	return SEEN;
}

#endif

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How much payload is referenced and how much copied, added up by queue pair and
 * path; and for samples the proof: the buffer of a message, and the page frames
 * that the packets which leave this host are made of, as the kernel itself shows
 * them to whoever watches a network device.  That needs the kernel's BTF.
 *
 * A queue pair has one sample at a time, from its fetch until it is done.
 */
#include "filter.h"
#include "lost.h"
#include "peers.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#define MAX_FRAGS	17	/* more are not told */
#define ETH_P_IP	0x0800
#define ETH_P_IPV6	0x86dd
#define UDP		17
#define ROCE_PORT	4791
#define LOW24		0xffffff
#define GAP		3	/* ticks of the kernel's clock, and one more for */
#define GAP_PACKETS	2	/* so many packets */

/* Every which message is looked at, 0: one in GAP; and how long it may be */
volatile const __u32 want_every;
volatile const __u32 max_length;
/* Where the variable vmemmap_base is; 0: this kernel has none, its value is fixed */
volatile const __u64 vmemmap_at;
volatile const __u64 vmemmap_fixed;

struct path_key {
	__u32 qpn;
	__u32 path;
};

struct path {
	__u64 packets;
	__u64 again;
	__u64 referenced;
	__u64 copied;
};

/* When it is full, what has been silent longest makes room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, QPS);
	__type(key, struct path_key);
	__type(value, struct path);
} paths SEC(".maps");

/* The sample of a queue pair, by the QPN that its packets are for */
struct sample {
	__u32 qpn;
	__u32 index;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct sample);
} samples SEC(".maps");

#define RING_BYTES	(1 << 24)

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* Messages that could have been samples, and samples that are not over */
static volatile __u32 seen;
static volatile __u64 next;
static volatile __u32 live;

/* What a record is; package trace has the same list. */
enum {
	BEGIN,		/* a message: whose, where its buffer is */
	WIRE,		/* its packets' PSNs */
	PACKET,		/* one of the queue pair's packets, and what it is made of */
	END,		/* it was acknowledged, or failed */
};

struct head {
	__u32 kind;
	__u32 qpn;
	__u32 index;
	__u32 pid;	/* BEGIN: the owner, 0: a kernel consumer */
	__u64 addr;	/* BEGIN */
	__u32 length;	/* BEGIN */
	__u32 psn;	/* WIRE, PACKET */
	__u32 packets;	/* WIRE */
	__u32 status;	/* END */
};

struct frag {
	__u64 frame;
	__u32 offset;
	__u32 length;
};

struct packet {
	struct head h;
	__u32 count;	/* of fragments; those past MAX_FRAGS are not there */
	__u32 rsvd;
	struct frag frag[MAX_FRAGS];
};

/* --- the kernel's structs, what is used of them ------------------------------- */

struct sk_buff {
	unsigned int len;
	unsigned int data_len;
	__u16 protocol;
	__u16 network_header;
	unsigned int end;
	unsigned char *head;
} __attribute__((preserve_access_index));

struct page {
	unsigned long flags;
} __attribute__((preserve_access_index));

/* Before and after fragments could be something else than pages */
struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
} __attribute__((preserve_access_index));

struct skb_frag {
	unsigned long netmem;
	unsigned int len;
	unsigned int offset;
} __attribute__((preserve_access_index));

struct skb_shared_info {
	__u8 nr_frags;
	struct skb_frag frags[MAX_FRAGS];
} __attribute__((preserve_access_index));

/* ------------------------------------------------------------------------------ */

static __always_inline struct head *record(__u32 kind, __u32 qpn, __u32 index)
{
	struct head *h = bpf_ringbuf_reserve(&ring, sizeof(*h), 0);

	if (!h) {
		count_lost();
		return 0;
	}
	__builtin_memset(h, 0, sizeof(*h));
	h->kind = kind;
	h->qpn = qpn;
	h->index = index;
	return h;
}

/* The sample of a queue pair, if it is this message */
static __always_inline int is_sample(__u32 qpn, __u32 index, __u32 *key)
{
	struct peer *to = bpf_map_lookup_elem(&peers, &qpn);
	struct sample *s;

	if (!to)
		return 0;
	*key = to->qpn;
	s = bpf_map_lookup_elem(&samples, key);
	return s && s->qpn == qpn && s->index == index;
}

SEC("raw_tp/burst")
int copies_burst(RAW *ctx)
{
	__u32 referenced = ctx->args[BURST_REFERENCED];
	__u32 copied = ctx->args[BURST_COPIED];
	struct path_key key = { .qpn = QPN(ctx), .path = ctx->args[BURST_PATH] };
	static const struct path none;
	struct path *p;

	/* without a payload: acknowledges and requests */
	if (!referenced && !copied && !key.path)
		return 0;
	if (!wanted_qpn(key.qpn))
		return 0;
	p = bpf_map_lookup_elem(&paths, &key);
	if (!p) {
		bpf_map_update_elem(&paths, &key, &none, BPF_NOEXIST);
		p = bpf_map_lookup_elem(&paths, &key);
		if (!p) {
			count(&no_room);
			return 0;
		}
	}
	__sync_fetch_and_add(&p->packets, (__u32)ctx->args[BURST_PACKETS]);
	__sync_fetch_and_add(&p->again, (__u32)ctx->args[BURST_AGAIN]);
	__sync_fetch_and_add(&p->referenced, referenced);
	__sync_fetch_and_add(&p->copied, copied);
	return 0;
}

static __always_inline void end_sample(__u32 key)
{
	if (!bpf_map_delete_elem(&samples, &key))
		__sync_fetch_and_add(&live, -1);
}

/* Is this message to be a sample?  Two CPUs may both say yes, which harms nobody. */
static __always_inline int due(__u32 packets)
{
	__u64 now;

	if (want_every)
		return __sync_fetch_and_add(&seen, 1) % want_every == 0;
	/* One instruction; no other clock costs as little on every kernel. */
	now = bpf_jiffies64();
	if (now < next)
		return 0;
	next = now + GAP + packets / GAP_PACKETS;
	return 1;
}

SEC("raw_tp/send_fetch")
int copies_send_fetch(RAW *ctx)
{
	__u32 qpn = QPN(ctx), index = ctx->args[FETCH_INDEX];
	__u32 length = ctx->args[FETCH_LENGTH];
	struct sample s = { .qpn = qpn, .index = index };
	struct owner *o;
	struct head *h;
	struct peer *to;
	__u32 key;

	if ((__u32)ctx->args[FETCH_NUM_SGE] != 1 || !ctx->args[FETCH_ADDR] ||
	    !length || length > max_length ||
	    (__u32)ctx->args[FETCH_OPCODE] > 3 || !wanted_qpn(qpn))
		return 0;
	if (!due(ctx->args[FETCH_PACKETS]))
		return 0;
	to = bpf_map_lookup_elem(&peers, &qpn);
	if (!to)
		return 0;
	key = to->qpn;
	if (bpf_map_update_elem(&samples, &key, &s, BPF_NOEXIST))
		return 0;
	__sync_fetch_and_add(&live, 1);
	h = record(BEGIN, qpn, index);
	if (!h) {
		end_sample(key);
		return 0;
	}
	o = owner_of(qpn);
	h->pid = o ? o->pid : 0;
	h->addr = ctx->args[FETCH_ADDR];
	h->length = length;
	bpf_ringbuf_submit(h, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("raw_tp/send_wire")
int copies_send_wire(RAW *ctx)
{
	__u32 qpn = QPN(ctx), index = ctx->args[WIRE_INDEX], key;
	struct head *h;

	if (!live || !is_sample(qpn, index, &key))
		return 0;
	h = record(WIRE, qpn, index);
	if (!h)
		return 0;
	h->psn = ctx->args[WIRE_PSN];
	h->packets = ctx->args[WIRE_PACKETS];
	bpf_ringbuf_submit(h, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("raw_tp/send_done")
int copies_send_done(RAW *ctx)
{
	__u32 qpn = QPN(ctx), index = ctx->args[DONE_INDEX], key;
	struct head *h;

	if (!live || !is_sample(qpn, index, &key))
		return 0;
	end_sample(key);
	h = record(END, qpn, index);
	if (!h)
		return 0;
	h->status = ctx->args[DONE_STATUS];
	/* The reader is woken once for all of the sample. */
	bpf_ringbuf_submit(h, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("tracepoint/softhca/qp_destroy")
int copies_qp_destroy(struct common *e)
{
	__u32 qpn = e->qpn;
	struct peer *to = bpf_map_lookup_elem(&peers, &qpn);
	struct sample *s;
	__u32 key;

	if (!to)
		return SEEN;
	key = to->qpn;
	s = bpf_map_lookup_elem(&samples, &key);
	if (s && s->qpn == qpn)
		end_sample(key);
	bpf_map_delete_elem(&peers, &qpn);
	return SEEN;
}

static __always_inline __u64 frame_of(unsigned long page)
{
	__u64 base = vmemmap_fixed;

	if (vmemmap_at)
		bpf_probe_read_kernel(&base, sizeof(base), (void *)vmemmap_at);
	return (page - base) / bpf_core_type_size(struct page);
}

static __always_inline void read_frag(struct frag *to, const void *info, int i)
{
	const void *at = info + bpf_core_field_offset(struct skb_shared_info, frags);
	unsigned long page = 0;

	if (bpf_core_field_exists(struct skb_frag, netmem)) {
		at += i * bpf_core_type_size(struct skb_frag);
		bpf_probe_read_kernel(&page, sizeof(page),
				      at + bpf_core_field_offset(struct skb_frag, netmem));
		bpf_probe_read_kernel(&to->length, 4,
				      at + bpf_core_field_offset(struct skb_frag, len));
		bpf_probe_read_kernel(&to->offset, 4,
				      at + bpf_core_field_offset(struct skb_frag, offset));
	} else {
		at += i * bpf_core_type_size(struct bio_vec);
		bpf_probe_read_kernel(&page, sizeof(page),
				      at + bpf_core_field_offset(struct bio_vec, bv_page));
		bpf_probe_read_kernel(&to->length, 4,
				      at + bpf_core_field_offset(struct bio_vec, bv_len));
		bpf_probe_read_kernel(&to->offset, 4,
				      at + bpf_core_field_offset(struct bio_vec, bv_offset));
	}
	to->frame = frame_of(page);
}

/* Where the UDP header is, or 0 if this is none for RoCEv2 */
static __always_inline const void *udp_header(const void *ip)
{
	__u8 first = 0, proto = 0;
	__be16 port = 0;
	const void *udp;

	bpf_probe_read_kernel(&first, 1, ip);
	if (first >> 4 == 4) {
		bpf_probe_read_kernel(&proto, 1, ip + 9);
		udp = ip + (first & 0xf) * 4;
	} else {
		bpf_probe_read_kernel(&proto, 1, ip + 6);
		udp = ip + 40;
	}
	bpf_probe_read_kernel(&port, 2, udp + 2);
	return proto == UDP && port == bpf_htons(ROCE_PORT) ? udp : 0;
}

/* Any packet that is handed to any network device: one of a sample? */
SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(copies_xmit, const struct sk_buff *skb)
{
	const void *head, *udp, *info;
	__u16 protocol;
	__be32 word[2] = {};
	struct packet *p;
	struct sample *s;
	__u32 qpn;
	int i;

	if (!live)
		return 0;
	protocol = bpf_ntohs(BPF_CORE_READ(skb, protocol));
	if (protocol != ETH_P_IP && protocol != ETH_P_IPV6)
		return 0;
	head = BPF_CORE_READ(skb, head);
	udp = udp_header(head + BPF_CORE_READ(skb, network_header));
	if (!udp)
		return 0;
	/* Of the BTH: the queue pair it is for, and the PSN */
	bpf_probe_read_kernel(word, sizeof(word), udp + 8 + 4);
	qpn = bpf_ntohl(word[0]) & LOW24;
	s = bpf_map_lookup_elem(&samples, &qpn);
	if (!s)
		return 0;
	p = bpf_ringbuf_reserve(&ring, sizeof(*p), 0);
	if (!p) {
		count_lost();
		return 0;
	}
	__builtin_memset(p, 0, sizeof(*p));
	p->h.kind = PACKET;
	p->h.qpn = s->qpn;
	p->h.index = s->index;
	p->h.psn = bpf_ntohl(word[1]) & LOW24;
	info = head + BPF_CORE_READ(skb, end);
	p->count = 0;
	bpf_probe_read_kernel(&p->count, 1,
			      info + bpf_core_field_offset(struct skb_shared_info, nr_frags));
	for (i = 0; i < MAX_FRAGS; i++) {
		if (i >= p->count)
			break;
		read_frag(&p->frag[i], info, i);
	}
	/* In a full ring no record could wake the reader any more. */
	bpf_ringbuf_submit(p, bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >
			   RING_BYTES / 4 ?
			   BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";

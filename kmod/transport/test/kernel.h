/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel, as far as transport/ needs it to run in a program: included before
 * everything else, in place of all of the kernel's headers (Makefile). There is
 * one thread, so locks, fences and RCU are nothing, and time stands still but for
 * sim_step(). Tracepoints are compiled and do nothing.
 */
#ifndef _SHCA_TEST_KERNEL_H
#define _SHCA_TEST_KERNEL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "../../wire/user.h"

typedef int64_t s64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef u64 __aligned_u64 __attribute__((aligned(8)));
typedef unsigned int gfp_t;

#define __percpu
#define __rcu
#define __DECLARE_FLEX_ARRAY(type, name) \
	struct { struct { } none_##name; type name[]; }
#define ____cacheline_aligned_in_smp
#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define HZ			250
#define PAGE_SIZE		4096ul
#define SZ_64K			65536
#define TASK_COMM_LEN		16

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(a, b)	(((a) + (b) - 1) / (b))
#define offset_in_page(p)	((unsigned long)(p) & (PAGE_SIZE - 1))
#define min_t(type, a, b) ({			\
	type _a = (a), _b = (b);		\
	_a < _b ? _a : _b;			\
})
#define max_t(type, a, b) ({			\
	type _a = (a), _b = (b);		\
	_a > _b ? _a : _b;			\
})
#define min(a, b)		min_t(__typeof__(a), a, b)
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define BUILD_BUG_ON(x)		((void)sizeof(char[1 - 2 * !!(x)]))
#define unsafe_memcpy(to, from, len, ...)	memcpy(to, from, len)
#define lockdep_assert_held(x)	((void)(x))

#define READ_ONCE(x)		(*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(READ_ONCE(x) = (value))
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define smp_mb()		((void)0)
#define smp_rmb()		((void)0)
#define smp_mb__after_atomic()	((void)0)
#define this_cpu_inc(x)		((x)++)
#define this_cpu_add(x, n)	((x) += (n))

#define ERR_PTR(error)		((void *)(long)(error))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) >= (unsigned long)-4095)

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
typedef struct { int refs; } refcount_t;
typedef struct { int none; } spinlock_t;
typedef struct { int none; } netdevice_tracker;
struct mutex { int none; };
struct kref { int none; };
struct rcu_head { int none; };
struct completion { int none; };
struct xarray { int none; };
struct work_struct { int none; };
struct lock_class_key { int none; };
struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next; };
struct in6_addr { u8 byte[16]; };
struct net;
struct net_device;
#define DECLARE_HASHTABLE(name, bits)	struct hlist_node *name[1 << (bits)]
#define cancel_work_sync(work)		((void)(work))
#define cond_resched()			((void)0)

static inline void set_bit(int n, unsigned long *word)
{
	*word |= 1ul << n;
}

static inline bool test_and_clear_bit(int n, unsigned long *word)
{
	bool was = *word >> n & 1;

	*word &= ~(1ul << n);
	return was;
}

static inline void *kvzalloc(size_t len, gfp_t gfp)
{
	return calloc(1, len);
}

#define kvfree		free

/* Time */
extern unsigned long jiffies;

struct timer_list {
	bool pending;
	unsigned long expires;
};

#define time_before(a, b)	((long)((a) - (b)) < 0)
#define usecs_to_jiffies(us)	DIV_ROUND_UP(us, 1000000 / HZ)
#define timer_setup(timer, fn, flags)	((timer)->pending = false)
#define timer_pending(timer)		((timer)->pending)
#define timer_delete(timer)		((void)((timer)->pending = false))
#define timer_delete_sync		timer_delete

static inline void mod_timer(struct timer_list *timer, unsigned long expires)
{
	timer->pending = true;
	timer->expires = expires;
}

/* Packets: linear, each an allocation as long as it is, so that ASan sees its end */
struct sk_buff {
	struct sk_buff *next, *prev;
	char cb[48];
	u8 *data;
	u32 len;
	u64 at;		/* sim_wire.c: when it arrives, in us, */
	int to;		/* and at which end */
};

struct sk_buff_head {
	struct sk_buff *first, *last;
	u32 qlen;
};

static inline void skb_queue_tail(struct sk_buff_head *q, struct sk_buff *skb)
{
	skb->next = NULL;
	skb->prev = q->last;
	if (q->last)
		q->last->next = skb;
	else
		q->first = skb;
	q->last = skb;
	q->qlen++;
}

static inline struct sk_buff *skb_dequeue(struct sk_buff_head *q)
{
	struct sk_buff *skb = q->first;

	if (!skb)
		return NULL;
	q->first = skb->next;
	if (q->first)
		q->first->prev = NULL;
	else
		q->last = NULL;
	q->qlen--;
	return skb;
}

static inline bool skb_queue_empty_lockless(const struct sk_buff_head *q)
{
	return !q->first;
}

static inline void consume_skb(struct sk_buff *skb)
{
	free(skb->data);
	free(skb);
}

#define kfree_skb	consume_skb

static inline int skb_copy_bits(const struct sk_buff *skb, u32 off, void *to,
				u32 len)
{
	if (off > skb->len || len > skb->len - off)
		return -EFAULT;
	memcpy(to, skb->data + off, len);
	return 0;
}

/* ib_core */
#define IB_DEVICE_NAME_MAX	64
struct ib_device { char name[IB_DEVICE_NAME_MAX]; };
struct ib_pd { int none; };
struct ib_cq { int none; };
struct ib_qp { int none; };
struct ib_mr { int none; };
struct ib_umem;
struct ib_wc;
struct rdma_ah_attr;
union ib_gid { u8 raw[16]; };
struct ib_qp_attr { u8 retry_cnt, rnr_retry, max_dest_rd_atomic; };
enum ib_cq_notify_flags { IB_CQ_SOLICITED };
enum ib_qp_type { IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };
enum ib_qp_state {
	IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD,
	IB_QPS_SQE, IB_QPS_ERR,
};
enum ib_wr_opcode {
	IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_SEND,
	IB_WR_SEND_WITH_IMM, IB_WR_RDMA_READ,
};
enum {
	IB_SEND_FENCE = 1, IB_SEND_SIGNALED = 2, IB_SEND_SOLICITED = 4,
	IB_SEND_INLINE = 8,
};
enum {
	IB_ACCESS_LOCAL_WRITE = 1, IB_ACCESS_REMOTE_WRITE = 2,
	IB_ACCESS_REMOTE_READ = 4,
};
enum {
	IB_WC_SUCCESS, IB_WC_LOC_LEN_ERR, IB_WC_LOC_QP_OP_ERR,
	IB_WC_LOC_EEC_OP_ERR, IB_WC_LOC_PROT_ERR, IB_WC_WR_FLUSH_ERR,
	IB_WC_MW_BIND_ERR, IB_WC_BAD_RESP_ERR, IB_WC_LOC_ACCESS_ERR,
	IB_WC_REM_INV_REQ_ERR, IB_WC_REM_ACCESS_ERR, IB_WC_REM_OP_ERR,
	IB_WC_RETRY_EXC_ERR, IB_WC_RNR_RETRY_EXC_ERR,
};
enum {
	IB_WC_SEND, IB_WC_RDMA_WRITE, IB_WC_RDMA_READ, IB_WC_RECV = 128,
	IB_WC_RECV_RDMA_WITH_IMM,
};

/* Tracepoints */
#define TRACE_DEFINE_ENUM(a)	extern int shca_test_no_enum
#define TP_PROTO(...)	__VA_ARGS__
#define TRACE_EVENT(name, proto, ...)					\
	static inline void trace_##name(proto) { }			\
	static inline bool trace_##name##_enabled(void) { return false; }

#endif /* _SHCA_TEST_KERNEL_H */

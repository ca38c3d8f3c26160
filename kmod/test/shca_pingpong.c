// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * shca_pingpong: a kernel consumer of verbs, for tests only, never installed.
 *
 * Two RC queue pairs (or one, connected to itself) throw balls at each other
 * from their completion handlers: the handler polls, reposts the receive, posts
 * the answer and arms again.  That is what upper-layer protocols do, and what
 * deadlocks a driver that calls handlers under its locks or inside of its
 * posting functions.  The module checks besides that the handlers of one CQ
 * never overlap and are never called from within a post.
 *
 *	insmod shca_pingpong.ko dev=shca0 peer=shca1 messages=10000
 *	cat /sys/module/shca_pingpong/parameters/result
 *
 * insmod returns when all messages have been received, or with -EIO.  With
 * messages=0 it returns at once and the balls fly until the module or the
 * device goes away.
 *
 * Lifetime: the test is torn down by whichever comes first, the end of init,
 * the removal of a device it uses, or module exit; game_lock makes it once.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define RING		64	/* receives posted and send buffers, each end */
#define MAX_BALLS	32
#define POLL_BATCH	8
#define RECV_FLAG	BIT(16)	/* in a wr_id */

static char *dev;
module_param(dev, charp, 0444);
MODULE_PARM_DESC(dev, "device of the first queue pair");
static char *peer;
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "device of the second one, by default the first");
static bool self;
module_param(self, bool, 0444);
MODULE_PARM_DESC(self, "one queue pair, connected to itself");
static uint messages = 10000;
module_param(messages, uint, 0444);
MODULE_PARM_DESC(messages, "received messages until the end, 0: endless");
static uint size = 64;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "bytes of a message, 8 to 16384");
static uint balls = 1;
module_param(balls, uint, 0444);
MODULE_PARM_DESC(balls, "messages in flight at a time, 1 to 32");
static uint timeout_s = 60;
module_param(timeout_s, uint, 0444);
MODULE_PARM_DESC(timeout_s, "seconds after which the test has failed");

static char result[160] = "not run";
module_param_string(result, result, sizeof(result), 0444);
MODULE_PARM_DESC(result, "ok, or what went wrong");

/**
 * struct end - one queue pair and what its completion handler needs
 * @dev: device
 * @pd: protection domain
 * @cq: completion queue of both directions
 * @qp: queue pair
 * @mem: RING send buffers, then RING receive buffers
 * @dma: @mem for the device
 * @lock: guards @busy, @waiting and @nwaiting; no verb is called under it
 * @busy: send buffers whose completion is outstanding
 * @waiting: balls for which no send buffer was free. The acknowledges of a burst
 *	of messages may come after the answers to them, so both ends together have
 *	more sends outstanding than there are balls.
 * @nwaiting: how many
 * @running: handlers of @cq that run now; more than one is a bug
 * @poster: task that is inside of a post function
 * @poster_softirq: that it is there in a softirq
 * @gid_index: GID used
 * @gid: that GID
 * @mac: address of its network interface
 */
struct end {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	void *mem;
	u64 dma;
	spinlock_t lock; /* busy, waiting, nwaiting */
	DECLARE_BITMAP(busy, RING);
	u64 waiting[MAX_BALLS];
	u32 nwaiting;
	atomic_t running;
	struct task_struct *poster;
	bool poster_softirq;
	int gid_index;
	union ib_gid gid;
	u8 mac[ETH_ALEN];
};

static struct game {
	struct end end[2];
	struct end *other[2];
	int ends;
	bool open;
	bool failed;
	atomic_t received;
	atomic_t stopped;
	struct completion done;
} game;

/* guards game.open and the tear-down; not taken by handlers */
static DEFINE_MUTEX(game_lock);

static void __printf(1, 2) game_fail(const char *fmt, ...)
{
	va_list ap;

	if (atomic_xchg(&game.stopped, 1))
		return;
	va_start(ap, fmt);
	vsnprintf(result, sizeof(result), fmt, ap);
	va_end(ap);
	game.failed = true;
	complete(&game.done);
}

static void fill(u64 *p, u64 seed)
{
	u32 i;

	for (i = 0; i < size / 8; i++)
		p[i] = seed + i * 0x9e3779b97f4a7c15ull;
}

static bool intact(const u64 *p)
{
	u32 i;

	for (i = 1; i < size / 8; i++)
		if (p[i] != p[0] + i * 0x9e3779b97f4a7c15ull)
			return false;
	return true;
}

static void post_begin(struct end *e)
{
	WRITE_ONCE(e->poster_softirq, !!in_serving_softirq());
	WRITE_ONCE(e->poster, current);
}

static void post_end(struct end *e)
{
	WRITE_ONCE(e->poster, NULL);
}

static int post_recv(struct end *e, u32 slot)
{
	struct ib_sge sge = {
		.addr = e->dma + (u64)(RING + slot) * size,
		.length = size,
		.lkey = e->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_id = RECV_FLAG | slot, .sg_list = &sge, .num_sge = 1,
	};
	int ret;

	post_begin(e);
	ret = ib_post_recv(e->qp, &wr, NULL);
	post_end(e);
	return ret;
}

static int post_send(struct end *e, u32 slot, u64 seed)
{
	struct ib_sge sge = {
		.addr = e->dma + (u64)slot * size,
		.length = size,
		.lkey = e->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_id = slot, .sg_list = &sge, .num_sge = 1,
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
	};
	int ret;

	fill(e->mem + (size_t)slot * size, seed);
	post_begin(e);
	ret = ib_post_send(e->qp, &wr, NULL);
	post_end(e);
	return ret;
}

/* Send a ball, or leave it to the next send completion. */
static int play(struct end *e, u64 seed)
{
	u32 slot;
	int ret = 0;

	spin_lock_bh(&e->lock);
	slot = find_first_zero_bit(e->busy, RING);
	if (slot < RING)
		__set_bit(slot, e->busy);
	else if (WARN_ON_ONCE(e->nwaiting == MAX_BALLS))
		ret = -EOVERFLOW;
	else
		e->waiting[e->nwaiting++] = seed;
	spin_unlock_bh(&e->lock);
	return slot < RING ? post_send(e, slot, seed) : ret;
}

/* A send has completed: its buffer is for the next ball. */
static void sent(struct end *e, u64 slot)
{
	bool twice, more;
	u64 seed = 0;

	spin_lock_bh(&e->lock);
	twice = slot >= RING || !test_bit(slot, e->busy);
	more = !twice && e->nwaiting && !atomic_read(&game.stopped);
	if (more)
		seed = e->waiting[--e->nwaiting];
	else if (!twice)
		__clear_bit(slot, e->busy);
	spin_unlock_bh(&e->lock);
	if (twice)
		game_fail("fail: send %llu completed twice", slot);
	else if (more && post_send(e, slot, seed))
		game_fail("fail: posting a ball that waited");
}

static void received(struct end *e, const struct ib_wc *wc)
{
	u32 slot = wc->wr_id & ~RECV_FLAG;
	u64 *p = e->mem + (size_t)(RING + slot) * size;
	int n, ret;

	if (slot >= RING || wc->byte_len != size || !intact(p)) {
		game_fail("fail: wrong data in slot %u, %u bytes", slot,
			  wc->byte_len);
		return;
	}
	n = atomic_inc_return(&game.received);
	if (messages && n >= messages) {
		if (!atomic_xchg(&game.stopped, 1))
			complete(&game.done);
		return;
	}
	if (atomic_read(&game.stopped))
		return;
	ret = post_recv(e, slot);
	if (!ret)
		ret = play(e, p[0] + 1);
	if (ret)
		game_fail("fail: posting from the handler: %d", ret);
}

static void completed(struct end *e, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR && atomic_read(&game.stopped))
		return;
	if (wc->status != IB_WC_SUCCESS) {
		game_fail("fail: %s: wr_id 0x%llx: %s", dev_name(&e->dev->dev),
			  wc->wr_id, ib_wc_status_msg(wc->status));
		return;
	}
	if (wc->wr_id & RECV_FLAG)
		received(e, wc);
	else
		sent(e, wc->wr_id);
}

static void on_completion(struct ib_cq *cq, void *context)
{
	struct end *e = context;
	struct ib_wc wc[POLL_BATCH];
	int i, n;

	rcu_read_lock();
	if (atomic_inc_return(&e->running) != 1)
		game_fail("fail: two handlers of one CQ at a time");
	if (READ_ONCE(e->poster) == current &&
	    READ_ONCE(e->poster_softirq) == !!in_serving_softirq() &&
	    !in_hardirq())
		game_fail("fail: the handler was called from within a post");
	do {
		while ((n = ib_poll_cq(cq, POLL_BATCH, wc)) > 0)
			for (i = 0; i < n; i++)
				completed(e, &wc[i]);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
	atomic_dec(&e->running);
	rcu_read_unlock();
}

static int choose_gid(struct end *e)
{
	const struct ib_gid_attr *attr;
	int i, best = -1;
	bool ipv4;

	for (i = 0; i < e->dev->port_data[1].immutable.gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(e->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		ipv4 = ipv6_addr_v4mapped((void *)&attr->gid);
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    (best < 0 || ipv4)) {
			best = i;
			e->gid = attr->gid;
			rdma_read_gid_l2_fields(attr, NULL, e->mac);
		}
		rdma_put_gid_attr(attr);
		if (ipv4)
			break;
	}
	e->gid_index = best;
	return best < 0 ? -ENOENT : 0;
}

static void end_close(struct end *e)
{
	if (e->qp)
		ib_destroy_qp(e->qp);
	if (e->cq)
		ib_destroy_cq(e->cq);
	if (e->dma)
		ib_dma_unmap_single(e->dev, e->dma, 2 * RING * (size_t)size,
				    DMA_BIDIRECTIONAL);
	if (e->pd)
		ib_dealloc_pd(e->pd);
	kvfree(e->mem);
	memset(e, 0, sizeof(*e));
}

static int end_open(struct end *e, struct ib_device *device)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 4 * RING };
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = RING, .max_recv_wr = RING,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1,
	};
	size_t len = 2 * RING * (size_t)size;
	u32 i;
	int ret;

	e->dev = device;
	spin_lock_init(&e->lock);
	ret = choose_gid(e);
	if (ret)
		return ret;
	e->mem = kzalloc(len, GFP_KERNEL);
	if (!e->mem)
		return -ENOMEM;
	e->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(e->pd)) {
		ret = PTR_ERR(e->pd);
		e->pd = NULL;
		return ret;
	}
	e->dma = ib_dma_map_single(device, e->mem, len, DMA_BIDIRECTIONAL);
	ret = ib_dma_mapping_error(device, e->dma);
	if (ret) {
		e->dma = 0;
		return ret;
	}
	e->cq = ib_create_cq(device, on_completion, NULL, e, &cq_attr);
	if (IS_ERR(e->cq)) {
		ret = PTR_ERR(e->cq);
		e->cq = NULL;
		return ret;
	}
	init.send_cq = e->cq;
	init.recv_cq = e->cq;
	e->qp = ib_create_qp(e->pd, &init);
	if (IS_ERR(e->qp)) {
		ret = PTR_ERR(e->qp);
		e->qp = NULL;
		return ret;
	}
	ret = ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	for (i = 0; !ret && i < RING; i++)
		ret = post_recv(e, i);
	return ret;
}

static int end_connect(struct end *e, struct end *to)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = to->qp->qp_num,
		.rq_psn = 0xfffff0,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};
	int ret;

	attr.ah_attr.type = rdma_ah_find_type(e->dev, 1);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &to->gid, 0, e->gid_index, 64, 0);
	/* ib_core resolves addresses for user space only */
	memcpy(attr.ah_attr.roce.dmac, to->mac, ETH_ALEN);
	ret = ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_AV |
			   IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	attr.sq_psn = 0xfffff0;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	return ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
			    IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static void game_close(void)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int i;

	lockdep_assert_held(&game_lock);
	if (!game.open)
		return;
	atomic_set(&game.stopped, 1);
	/* a handler that has not seen it yet may still post: let it end */
	synchronize_rcu();
	for (i = 0; i < game.ends; i++) {
		if (game.end[i].qp)
			ib_modify_qp(game.end[i].qp, &attr, IB_QP_STATE);
	}
	for (i = 0; i < game.ends; i++)
		end_close(&game.end[i]);
	game.open = false;
}

static int game_open(struct ib_device *a, struct ib_device *b)
{
	int i, ret;

	lockdep_assert_held(&game_lock);
	init_completion(&game.done);
	game.ends = self ? 1 : 2;
	game.open = true;
	for (i = 0; i < game.ends; i++) {
		game.other[i] = &game.end[self ? 0 : !i];
		ret = end_open(&game.end[i], i ? b : a);
		if (ret) {
			snprintf(result, sizeof(result),
				 "fail: opening end %d: %d", i, ret);
			return ret;
		}
	}
	for (i = 0; i < game.ends; i++) {
		ret = end_connect(&game.end[i], game.other[i]);
		if (ret) {
			snprintf(result, sizeof(result),
				 "fail: connecting end %d: %d", i, ret);
			return ret;
		}
	}
	/* the first event of each; what came before is found by polling */
	for (i = 0; i < game.ends; i++)
		ib_req_notify_cq(game.end[i].cq, IB_CQ_NEXT_COMP);
	for (i = 0; i < balls; i++) {
		ret = play(&game.end[i % game.ends], (u64)i << 32);
		if (ret) {
			game_fail("fail: first ball: %d", ret);
			return ret;
		}
	}
	return 0;
}

static struct ib_device *found[2];

static int pingpong_add(struct ib_device *device)
{
	bool first = !strcmp(dev_name(&device->dev), dev);
	bool second = !strcmp(dev_name(&device->dev), peer);

	if (!first && !second)
		return -EOPNOTSUPP;
	mutex_lock(&game_lock);
	if (first)
		found[0] = device;
	if (second)
		found[1] = device;
	mutex_unlock(&game_lock);
	return 0;
}

static void pingpong_remove(struct ib_device *device, void *data)
{
	mutex_lock(&game_lock);
	if (found[0] == device || found[1] == device) {
		if (game.open && !atomic_xchg(&game.stopped, 1))
			snprintf(result, sizeof(result),
				 "ok: %d messages, then the device went",
				 atomic_read(&game.received));
		game_close();
		found[0] = NULL;
		found[1] = NULL;
	}
	mutex_unlock(&game_lock);
}

static struct ib_client pingpong_client = {
	.name = "shca_pingpong",
	.add = pingpong_add,
	.remove = pingpong_remove,
};

static int pingpong_run(void)
{
	int ret;

	if (!found[0] || !found[1]) {
		snprintf(result, sizeof(result), "fail: no such device");
		return -ENODEV;
	}
	ret = game_open(found[0], found[1]);
	if (!ret && !messages) {
		snprintf(result, sizeof(result), "running");
		return 0;
	}
	if (!ret && !wait_for_completion_timeout(&game.done, timeout_s * HZ)) {
		game_fail("fail: %d of %u messages in %u s",
			  atomic_read(&game.received), messages, timeout_s);
	} else if (!ret && !game.failed) {
		snprintf(result, sizeof(result), "ok: %d messages",
			 atomic_read(&game.received));
	}
	game_close();
	return ret || !game.failed ? ret : -EIO;
}

static int __init pingpong_init(void)
{
	int ret;

	if (!dev || size < 8 || size > 16384 || size % 8 || balls < 1 ||
	    balls > MAX_BALLS)
		return -EINVAL;
	if (!peer)
		peer = dev;
	ret = ib_register_client(&pingpong_client);
	if (ret)
		return ret;
	mutex_lock(&game_lock);
	ret = pingpong_run();
	mutex_unlock(&game_lock);
	pr_info("%s\n", result);
	if (ret)
		ib_unregister_client(&pingpong_client);
	return ret;
}

static void __exit pingpong_exit(void)
{
	/* calls pingpong_remove for each device */
	ib_unregister_client(&pingpong_client);
}

module_init(pingpong_init);
module_exit(pingpong_exit);

MODULE_DESCRIPTION("Kernel verbs ping-pong, a test");
MODULE_LICENSE("Dual BSD/GPL");

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_xfer: transfers between two processes, every byte verified.
 *
 * The client runs batches: it tells the server over TCP what comes (operation,
 * sizes, seed), the server prepares (receives posted, memory poisoned or, for
 * READ, filled), the client posts everything and waits for the completions,
 * and then whoever got data verifies it: the bytes, the length, the immediate
 * data, the order, and that nothing was written around and between.
 *
 * A message lies in a slot of its own.  With -S its local side is scattered
 * over that many pieces with gaps; the remote side of WRITE and READ is
 * contiguous.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shca_test.h"

#define MAX_QPS		64
#define MAX_BATCH	1024
#define MAX_SGE		8
#define GAP		24	/* untouched bytes between two pieces */
#define SLACK		40	/* a receive buffer is that much longer */

enum op { SEND, SEND_IMM, WRITE, WRITE_IMM, READ, NUM_OPS };

static const char * const op_name[NUM_OPS] = {
	[SEND] = "SEND", [SEND_IMM] = "SEND_IMM", [WRITE] = "WRITE",
	[WRITE_IMM] = "WRITE_IMM", [READ] = "READ",
};

static const enum ibv_wr_opcode op_verb[NUM_OPS] = {
	[SEND] = IBV_WR_SEND, [SEND_IMM] = IBV_WR_SEND_WITH_IMM,
	[WRITE] = IBV_WR_RDMA_WRITE,
	[WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM, [READ] = IBV_WR_RDMA_READ,
};

static const enum ibv_wc_opcode op_done[NUM_OPS] = {
	[SEND] = IBV_WC_SEND, [SEND_IMM] = IBV_WC_SEND,
	[WRITE] = IBV_WC_RDMA_WRITE, [WRITE_IMM] = IBV_WC_RDMA_WRITE,
	[READ] = IBV_WC_RDMA_READ,
};

/* what both sides must agree upon; the client's, sent first */
struct setup {
	uint32_t version;
	uint32_t qps, batch, max_size, sge, mtu, timeout;
	uint32_t uc;
	uint32_t path_bits;
};

struct batch {
	uint32_t op;		/* NUM_OPS: the end */
	uint32_t count;
	uint64_t seed;
	uint32_t size[MAX_BATCH];
};

struct target {
	uint64_t addr;
	uint32_t rkey;
	uint32_t stride;
};

struct opts {
	const char *dev, *gid, *host, *port, *pfns;
	bool events, inline_data;
	unsigned int stall_ms, seconds;
	unsigned int ops;	/* bit set of enum op */
	const char *sizes;
	uint64_t total;
	struct setup s;
	struct vt_opt qp;
};

struct side {
	struct vt_dev *dev;
	struct vt_end end[MAX_QPS];
	struct ibv_comp_channel *chan;
	struct ibv_cq *cq;
	struct vt_buf buf;
	size_t stride;
	int sock;
	bool armed;
	const struct opts *o;
	const char *name;
};

/* ---- layout ---------------------------------------------------------- */

static size_t piece_len(size_t len, unsigned int n, unsigned int k)
{
	return k + 1 < n ? len / n : len - (n - 1) * (len / n);
}

static size_t slot_at(const struct side *me, unsigned int i)
{
	return i * me->stride + i % 7;	/* not all aligned alike */
}

/* scattered message of slot @i, @extra bytes added to the last piece */
static int slot_sges(const struct side *me, unsigned int i, size_t len,
		     unsigned int pieces, size_t extra, struct ibv_sge *sge)
{
	size_t at = slot_at(me, i);

	for (unsigned int k = 0; k < pieces; k++) {
		size_t n = piece_len(len, pieces, k);

		sge[k] = vt_sge(&me->buf, at, n + (k + 1 == pieces ? extra : 0));
		at += n + GAP;
	}
	return pieces;
}

static void slot_fill(struct side *me, unsigned int i, size_t len,
		      unsigned int pieces, uint64_t seed)
{
	size_t at = slot_at(me, i), done = 0;

	for (unsigned int k = 0; k < pieces; k++) {
		size_t n = piece_len(len, pieces, k);

		vt_fill(me->buf.p + at, n, seed + i, done);
		at += n + GAP;
		done += n;
	}
}

/* the message, and poison everywhere else in the slot */
static void slot_check(struct side *me, unsigned int i, size_t len,
		       unsigned int pieces, uint64_t seed)
{
	const uint8_t *p = me->buf.p;
	size_t at = slot_at(me, i), done = 0, end = (i + 1) * me->stride;

	vt_check_byte(p + i * me->stride, at - i * me->stride, VT_POISON,
		      "before the message");
	for (unsigned int k = 0; k < pieces; k++) {
		size_t n = piece_len(len, pieces, k);
		size_t gap = k + 1 < pieces ? GAP : end - at - n;

		vt_check(p + at, n, seed + i, done, me->name);
		vt_check_byte(p + at + n, gap, VT_POISON,
			      "behind a piece of the message");
		at += n + gap;
		done += n;
	}
}

/* ---- completions ----------------------------------------------------- */

static void arm(struct side *me)
{
	int rc = ibv_req_notify_cq(me->cq, 0);

	require(!rc, "req_notify_cq: %s", strerror(rc));
}

/* next completion; in event mode sleep, re-arm and look once more first */
static struct ibv_wc next_wc(struct side *me, unsigned int ms)
{
	struct ibv_wc wc;
	int n;

	if (!me->chan)
		return vt_wait(me->cq, ms, me->name);
	for (;;) {
		n = ibv_poll_cq(me->cq, 1, &wc);
		require(n >= 0, "poll_cq: %d", n);
		if (n)
			break;
		if (!me->armed) {
			arm(me);
			me->armed = true;
			continue;
		}
		require(vt_wait_event(me->chan, ms),
			"%s: no completion event in %u ms", me->name, ms);
		me->armed = false;
	}
	require(wc.status == IBV_WC_SUCCESS, "%s: wr_id %llu: %s", me->name,
		(unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
	return wc;
}

static unsigned int qp_index(const struct side *me, uint32_t qpn)
{
	for (unsigned int i = 0; i < me->o->s.qps; i++)
		if (me->end[i].qp->qp_num == qpn)
			return i;
	fail("%s: completion of an unknown QP %u", me->name, qpn);
}

/* ---- set-up ---------------------------------------------------------- */

/* the page frames of the buffer, one a line; registration has pinned them */
static void write_pfns(const struct vt_buf *buf, const char *path)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)buf->p / page;
	uintptr_t last = ((uintptr_t)buf->p + buf->len - 1) / page;
	int fd = open("/proc/self/pagemap", O_RDONLY);
	FILE *out = fopen(path, "w");

	require(fd >= 0, "pagemap: %m");
	require(out, "%s: %m", path);
	for (uintptr_t i = first; i <= last; i++) {
		uint64_t entry;

		require(pread(fd, &entry, 8, i * 8) == 8, "pagemap: %m");
		/* bit 63: present; bits 0 to 54: the frame, for root only */
		entry &= entry >> 63 ? (1ull << 55) - 1 : 0;
		require(entry, "no page frame in pagemap: not root?");
		fprintf(out, "%llu\n", (unsigned long long)entry);
	}
	require(!fclose(out), "%s: %m", path);
	close(fd);
}

static void side_open(struct side *me, const struct opts *o, int sock)
{
	struct vt_addr peer[MAX_QPS], mine[MAX_QPS];
	struct vt_opt qp = {
		.type = o->s.uc ? IBV_QPT_UC : IBV_QPT_RC,
		.send_wr = o->s.batch, .recv_wr = o->s.batch,
		.max_sge = o->s.sge, .mtu = o->s.mtu, .timeout = o->s.timeout,
		.max_inline = o->inline_data ? 128 : 0,
	};

	me->o = o;
	me->sock = sock;
	me->dev = vt_open(o->dev, o->gid);
	me->dev->path_bits = o->s.path_bits;
	if (o->events) {
		me->chan = ibv_create_comp_channel(me->dev->ctx);
		require(me->chan, "create_comp_channel: %m");
	}
	me->cq = ibv_create_cq(me->dev->ctx, 2 * o->s.batch, NULL, me->chan, 0);
	require(me->cq, "create_cq: %m");
	me->stride = (o->s.max_size + (o->s.sge - 1) * GAP + SLACK +
		      VT_GUARD + 63) & ~(size_t)63;
	me->buf = vt_alloc(me->dev->pd, me->stride * o->s.batch, 3,
			   VT_ALL_ACCESS);
	if (o->pfns)
		write_pfns(&me->buf, o->pfns);
	qp.cq = me->cq;
	for (unsigned int i = 0; i < o->s.qps; i++) {
		vt_end_create(&me->end[i], me->dev, &qp);
		mine[i] = vt_addr_of(&me->end[i]);
	}
	vt_tell(sock, mine, o->s.qps * sizeof(mine[0]));
	vt_hear(sock, peer, o->s.qps * sizeof(peer[0]));
	for (unsigned int i = 0; i < o->s.qps; i++)
		vt_connect_to(&me->end[i], &peer[i], &qp);
}

static void side_close(struct side *me)
{
	int rc;

	vt_expect_none(me->cq, 0, "after the last batch");
	vt_check_guards(&me->buf, me->name);
	for (unsigned int i = 0; i < me->o->s.qps; i++)
		vt_end_destroy(&me->end[i]);
	vt_free(&me->buf);
	rc = ibv_destroy_cq(me->cq);
	require(!rc, "destroy_cq: %s", strerror(rc));
	if (me->chan) {
		rc = ibv_destroy_comp_channel(me->chan);
		require(!rc, "destroy_comp_channel: %s", strerror(rc));
	}
	vt_close(me->dev);
	close(me->sock);
}

static void await(struct side *me, uint32_t word)
{
	uint32_t got;

	vt_hear(me->sock, &got, sizeof(got));
	require(got == word, "the peer says %u, expected %u", got, word);
}

static void say(struct side *me, uint32_t word)
{
	vt_tell(me->sock, &word, sizeof(word));
}

/* ---- server ---------------------------------------------------------- */

static uint32_t imm_of(const struct batch *b, unsigned int i)
{
	return (uint32_t)b->seed * 2654435761u + i;
}

static void serve_receives(struct side *me, const struct batch *b)
{
	unsigned int next[MAX_QPS], qps = me->o->s.qps;
	bool imm = b->op == SEND_IMM || b->op == WRITE_IMM;
	enum ibv_wc_opcode op = b->op == WRITE_IMM ?
		IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;

	for (unsigned int q = 0; q < qps; q++)
		next[q] = q;
	for (unsigned int n = 0; n < b->count; n++) {
		struct ibv_wc wc = next_wc(me, me->o->stall_ms);
		unsigned int q = qp_index(me, wc.qp_num), i = next[q];

		require(wc.wr_id == i,
			"receive %llu of QP %u completed, %u was next",
			(unsigned long long)wc.wr_id, q, i);
		next[q] += qps;
		require(wc.opcode == op, "message %u: opcode %d, not %d", i,
			wc.opcode, op);
		require(wc.byte_len == b->size[i],
			"message %u: byte_len %u, not %u", i, wc.byte_len,
			b->size[i]);
		require(imm == !!(wc.wc_flags & IBV_WC_WITH_IMM),
			"message %u: wc_flags 0x%x", i, wc.wc_flags);
		require(!imm || ntohl(wc.imm_data) == imm_of(b, i),
			"message %u: immediate 0x%x, not 0x%x", i,
			ntohl(wc.imm_data), imm_of(b, i));
	}
}

static void serve_batch(struct side *me, const struct batch *b)
{
	unsigned int pieces = b->op == SEND || b->op == SEND_IMM ?
			      me->o->s.sge : 1;
	struct ibv_sge sge[MAX_SGE];

	memset(me->buf.p, VT_POISON, b->count * me->stride);
	for (unsigned int i = 0; i < b->count; i++) {
		struct ibv_qp *qp = me->end[i % me->o->s.qps].qp;

		if (b->op == READ)
			slot_fill(me, i, b->size[i], 1, b->seed);
		else if (b->op == WRITE_IMM)
			vt_post_recv(qp, i, NULL, 0);
		else if (b->op != WRITE)
			vt_post_recv(qp, i, sge, slot_sges(me, i, b->size[i],
							   pieces, SLACK, sge));
	}
	say(me, 1);
	if (b->op != WRITE && b->op != READ)
		serve_receives(me, b);
	await(me, 2);
	for (unsigned int i = 0; i < b->count; i++)
		slot_check(me, i, b->size[i], pieces, b->seed);
	say(me, 3);
}

static void server(struct opts *o)
{
	struct side me = { .name = "server" };
	struct target target;
	struct batch b;
	uint64_t batches = 0;
	int sock;

	vt_step("server: waiting for the client");
	sock = vt_listen_accept(o->port, o->seconds);
	vt_hear(sock, &o->s, sizeof(o->s));
	require(o->s.version == 1 && o->s.qps <= MAX_QPS &&
		o->s.batch <= MAX_BATCH && o->s.sge <= MAX_SGE,
		"the client speaks another protocol");
	side_open(&me, o, sock);
	target.addr = (uintptr_t)me.buf.p;
	target.rkey = me.buf.mr->rkey;
	target.stride = me.stride;
	vt_tell(sock, &target, sizeof(target));
	for (;;) {
		vt_hear(sock, &b, sizeof(b));
		if (b.op >= NUM_OPS)
			break;
		require(b.count <= o->s.batch, "batch of %u", b.count);
		vt_step("server: %s batch %llu, sizes %u to %u", op_name[b.op],
			(unsigned long long)batches++, b.size[0],
			b.size[b.count - 1]);
		serve_batch(&me, &b);
	}
	side_close(&me);
	printf("server: ok, %llu batches\n", (unsigned long long)batches);
}

/* ---- client ---------------------------------------------------------- */

struct progress {
	uint64_t start, last, max_gap, print, bytes, messages;
};

static void progress_note(struct progress *p, size_t bytes)
{
	uint64_t now = vt_now_us();

	p->max_gap = MAX(p->max_gap, now - p->last);
	p->last = now;
	p->bytes += bytes;
	p->messages++;
	if (now >= p->print) {
		printf("%6.1f s %8llu messages %10llu bytes\n",
		       (now - p->start) / 1e6, (unsigned long long)p->messages,
		       (unsigned long long)p->bytes);
		fflush(stdout);
		p->print = now + 1000000;
	}
}

static void post(struct side *me, const struct batch *b,
		 const struct target *t, unsigned int i)
{
	struct ibv_sge sge[MAX_SGE];
	struct ibv_send_wr wr = {
		.wr_id = i,
		.sg_list = sge,
		.num_sge = slot_sges(me, i, b->size[i], me->o->s.sge, 0, sge),
		.opcode = op_verb[b->op],
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(imm_of(b, i)),
		.wr.rdma = {
			.remote_addr = t->addr + i * t->stride + i % 7,
			.rkey = t->rkey,
		},
	};
	int rc;

	if (me->o->inline_data && b->op != READ && b->size[i] <= 128)
		wr.send_flags |= IBV_SEND_INLINE;
	rc = vt_try_send(me->end[i % me->o->s.qps].qp, &wr);
	require(!rc, "post_send: %s", strerror(rc));
	/* inline data may be reused at once */
	if (wr.send_flags & IBV_SEND_INLINE)
		memset(me->buf.p + i * me->stride, VT_POISON, me->stride);
}

static void run_batch(struct side *me, const struct batch *b,
		      const struct target *t, struct progress *prog)
{
	unsigned int next[MAX_QPS], qps = me->o->s.qps;

	memset(me->buf.p, VT_POISON, b->count * me->stride);
	if (b->op != READ)
		for (unsigned int i = 0; i < b->count; i++)
			slot_fill(me, i, b->size[i], me->o->s.sge, b->seed);
	vt_tell(me->sock, b, sizeof(*b));
	await(me, 1);
	for (unsigned int q = 0; q < qps; q++)
		next[q] = q;
	prog->last = vt_now_us();
	for (unsigned int i = 0; i < b->count; i++)
		post(me, b, t, i);
	for (unsigned int n = 0; n < b->count; n++) {
		struct ibv_wc wc = next_wc(me, me->o->stall_ms);
		unsigned int q = qp_index(me, wc.qp_num), i = next[q];

		require(wc.wr_id == i,
			"request %llu of QP %u completed, %u was next",
			(unsigned long long)wc.wr_id, q, i);
		require(wc.opcode == op_done[b->op],
			"request %u completed as opcode %d, not %d", i,
			wc.opcode, op_done[b->op]);
		next[q] += qps;
		progress_note(prog, b->size[i]);
	}
	say(me, 2);
	if (b->op == READ)
		for (unsigned int i = 0; i < b->count; i++)
			slot_check(me, i, b->size[i], me->o->s.sge, b->seed);
	await(me, 3);
}

/* "0-4099" or "1,2,65536" or a mixture; calls back for each size */
static void each_size(const char *list, void (*fn)(void *, uint32_t), void *arg)
{
	char *copy = strdup(list), *save, *item;

	require(copy, "no memory");
	for (item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		char *dash = strchr(item, '-');
		long lo, hi;

		if (dash)
			*dash = '\0';
		lo = vt_number(item, 0, 1l << 30);
		hi = dash ? vt_number(dash + 1, lo, 1l << 30) : lo;
		for (long n = lo; n <= hi; n++)
			fn(arg, n);
	}
	free(copy);
}

static void find_max(void *arg, uint32_t size)
{
	uint32_t *max = arg;

	*max = MAX(*max, size);
}

struct gather {
	struct side *me;
	const struct target *t;
	struct progress *prog;
	uint64_t planned;
	struct batch b;
};

static void flush_batch(struct gather *g)
{
	if (!g->b.count)
		return;
	vt_step("client: %s sizes %u to %u", op_name[g->b.op], g->b.size[0],
		g->b.size[g->b.count - 1]);
	run_batch(g->me, &g->b, g->t, g->prog);
	g->b.seed += MAX_BATCH;
	g->b.count = 0;
}

static void add_size(void *arg, uint32_t size)
{
	struct gather *g = arg;

	g->b.size[g->b.count++] = size;
	g->planned += size;
	if (g->b.count == g->me->o->s.batch)
		flush_batch(g);
}

static void client(struct opts *o)
{
	struct side me = { .name = "client" };
	struct progress prog = { .start = vt_now_us() };
	struct target target;
	struct gather *g = calloc(1, sizeof(*g));
	int sock = vt_dial(o->host, o->port, o->seconds);

	require(g, "no memory");
	each_size(o->sizes, find_max, &o->s.max_size);
	vt_tell(sock, &o->s, sizeof(o->s));
	side_open(&me, o, sock);
	vt_hear(sock, &target, sizeof(target));
	prog.print = prog.start + 1000000;
	g->me = &me;
	g->t = &target;
	g->prog = &prog;
	g->b.seed = 1;
	for (unsigned int op = 0; op < NUM_OPS; op++) {
		uint64_t before = prog.bytes, messages = prog.messages;

		if (!(o->ops & 1u << op))
			continue;
		g->b.op = op;
		for (g->planned = 0; !g->planned || g->planned < o->total;) {
			uint64_t planned = g->planned;

			each_size(o->sizes, add_size, g);
			if (g->planned == planned)
				break;	/* sizes of 0 only */
		}
		flush_batch(g);
		printf("%-9s %8llu messages %10llu bytes verified\n",
		       op_name[op],
		       (unsigned long long)(prog.messages - messages),
		       (unsigned long long)(prog.bytes - before));
		fflush(stdout);
	}
	g->b.op = NUM_OPS;
	vt_tell(sock, &g->b, sizeof(g->b));
	side_close(&me);
	printf("client: ok, longest wait for a completion %llu ms\n",
	       (unsigned long long)prog.max_gap / 1000);
	free(g);
}

/* ---- main ------------------------------------------------------------ */

static void usage(void)
{
	fprintf(stderr,
"usage: vt_xfer -d DEV [-g GID] -s|-c HOST [-p PORT] [-e] [-w MS] [-t SECONDS]\n"
"  client only: [-o OP,...] [-n SIZES] [-T BYTES] [-q QPS] [-b BATCH]\n"
"               [-S PIECES] [-m 256|512|1024|2048|4096] [-O TIMEOUT] [-I] [-u]\n"
"               [-B BITS]\n"
"  OP: SEND SEND_IMM WRITE WRITE_IMM READ; all by default\n"
"  -n 0-64,4096   sizes, each once; with -T again and again until BYTES\n"
"  -w MS          fail when nothing completes for so long (10000)\n"
"  -e             sleep on completion events   -I inline where it fits\n"
"  -u             UC instead of RC (no READ, WRITE) -O exponent of the ACK timeout\n"
"  -B BITS        between the LIDs with these path bits\n"
"  -P FILE        write the page frames of the buffer\n");
	exit(2);
}

static unsigned int parse_ops(char *list)
{
	unsigned int set = 0, op;
	char *item, *save;

	for (item = strtok_r(list, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		for (op = 0; op < NUM_OPS; op++)
			if (!strcmp(item, op_name[op]))
				break;
		if (op == NUM_OPS)
			usage();
		set |= 1u << op;
	}
	return set;
}

static uint32_t parse_mtu(const char *arg)
{
	for (uint32_t m = IBV_MTU_256; m <= IBV_MTU_4096; m++)
		if (vt_number(arg, 256, 4096) == 128 << m)
			return m;
	usage();
	return 0;
}

int main(int argc, char **argv)
{
	struct opts o = {
		.port = "18600", .stall_ms = 10000, .seconds = 300,
		.ops = (1u << NUM_OPS) - 1, .sizes = "0-64,1023-1025,4099",
		.s = { .version = 1, .qps = 1, .batch = 16, .sge = 1 },
	};
	bool serve = false;
	int c;

	while ((c = getopt(argc, argv, "d:g:sc:p:ew:t:o:n:T:q:b:S:m:O:IuP:B:")) != -1) {
		switch (c) {
		case 'd': o.dev = optarg; break;
		case 'g': o.gid = optarg; break;
		case 's': serve = true; break;
		case 'c': o.host = optarg; break;
		case 'p': o.port = optarg; break;
		case 'e': o.events = true; break;
		case 'w': o.stall_ms = vt_number(optarg, 1, 600000); break;
		case 't': o.seconds = vt_number(optarg, 1, 86400); break;
		case 'o': o.ops = parse_ops(optarg); break;
		case 'n': o.sizes = optarg; break;
		case 'T': o.total = vt_number(optarg, 0, 1l << 40); break;
		case 'q': o.s.qps = vt_number(optarg, 1, MAX_QPS); break;
		case 'b': o.s.batch = vt_number(optarg, 1, MAX_BATCH); break;
		case 'S': o.s.sge = vt_number(optarg, 1, MAX_SGE); break;
		case 'm': o.s.mtu = parse_mtu(optarg); break;
		case 'O': o.s.timeout = vt_number(optarg, 1, 31); break;
		case 'P': o.pfns = optarg; break;
		case 'I': o.inline_data = true; break;
		case 'u': o.s.uc = 1; break;
		case 'B': o.s.path_bits = vt_number(optarg, 0, 127); break;
		default: usage();
		}
	}
	if (!o.dev || serve == !!o.host || optind != argc)
		usage();
	/* UC: what ends with a completion on the other side, which tells when */
	if (o.s.uc)
		o.ops &= ~(1u << READ | 1u << WRITE);
	vt_watchdog(o.seconds);
	if (serve)
		server(&o);
	else
		client(&o);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The helpers of shca_test.h: process (failing, watchdog), device, memory and
 * patterns, queue pairs, completions, posting.  Nothing
 * here is thread-safe except the functions that post, poll and check.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shca_test.h"

/* ---- process --------------------------------------------------------- */

static char vt_doing[160] = "starting";

void vt_step(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(vt_doing, sizeof(vt_doing), fmt, ap);
	va_end(ap);
}

void vt_fail(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	const char *look = getenv("VT_ON_FAIL");
	static atomic_flag failing = ATOMIC_FLAG_INIT;
	va_list ap;

	/* one thread tells, the others wait for its exit */
	while (atomic_flag_test_and_set(&failing))
		pause();
	fflush(stdout);
	fprintf(stderr, "FAIL %s:%d (%s): ", base ? base + 1 : file, line,
		vt_doing);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	/* what the devices say while the queue pairs are there still */
	if (look && system(look))
		fprintf(stderr, "\"%s\" failed\n", look);
	exit(1);
}

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(3);
}

static void on_alarm(int sig)
{
	(void)sig;
	put("FAIL: time is up (");
	put(vt_doing);
	put(")\n");
	_exit(3);
}

void vt_watchdog(unsigned int seconds)
{
	signal(SIGALRM, on_alarm);
	alarm(seconds);
}

uint64_t vt_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

long vt_number(const char *arg, long lo, long hi)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(arg, &end, 0);
	if (errno || end == arg || *end || n < lo || n > hi) {
		fprintf(stderr, "%s: not a number from %ld to %ld\n", arg, lo,
			hi);
		exit(2);
	}
	return n;
}

/* ---- device ---------------------------------------------------------- */

bool vt_gid_is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

static bool gid_of_ip(const char *ip, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET6, ip, gid->raw) == 1)
		return true;
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	return inet_pton(AF_INET, ip, gid->raw + 12) == 1;
}

static void choose_gid(struct vt_dev *dev, const char *want)
{
	struct ibv_gid_entry table[256];
	union ibv_gid gid;
	bool by_ip = want && gid_of_ip(want, &gid);
	long index = want && !by_ip ? vt_number(want, 0, 255) : -1;
	ssize_t n = ibv_query_gid_table(dev->ctx, table, ARRAY_SIZE(table), 0);
	int best = -1;

	require(n > 0, "%s has no GID (%zd)", dev->name, n);
	for (ssize_t i = 0; i < n; i++) {
		if (table[i].gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (by_ip ? !memcmp(&table[i].gid, &gid, sizeof(gid)) :
		    want ? table[i].gid_index == (uint32_t)index :
			   vt_gid_is_ipv4(&table[i].gid)) {
			best = i;
			break;
		}
		if (!want && best < 0)
			best = i;
	}
	require(best >= 0, "%s has no RoCEv2 GID %s", dev->name,
		want ? want : "at all");
	dev->gid_index = table[best].gid_index;
	dev->gid = table[best].gid;
}

static struct vt_dev *open_port(const char *name, struct ibv_port_attr *port)
{
	struct vt_dev *dev = calloc(1, sizeof(*dev));
	/* made once: it asks the kernel for each device there is */
	static struct ibv_device **list;
	static int n;
	int rc;

	require(dev, "no memory");
	if (!list)
		list = ibv_get_device_list(&n);
	require(list, "no list of devices: %m");
	for (int i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			dev->ctx = ibv_open_device(list[i]);
	require(dev->ctx, "cannot open device %s (%d devices seen): %m", name,
		n);
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	dev->port = 1;
	rc = ibv_query_port(dev->ctx, dev->port, port);
	require(!rc, "query_port of %s: %s", name, strerror(rc));
	require(port->state == IBV_PORT_ACTIVE, "port of %s is %s", name,
		ibv_port_state_str(port->state));
	dev->mtu = port->active_mtu;
	dev->lid = port->lid;
	dev->pd = ibv_alloc_pd(dev->ctx);
	require(dev->pd, "alloc_pd on %s: %m", name);
	return dev;
}

struct vt_dev *vt_open(const char *name, const char *gid)
{
	struct ibv_port_attr port;
	struct vt_dev *dev = open_port(name, &port);
	bool ib = port.link_layer == IBV_LINK_LAYER_INFINIBAND;

	dev->grh = !ib || gid;
	if (!ib)
		choose_gid(dev, gid);
	else
		require((!gid || !vt_number(gid, 0, 0)) &&
			!ibv_query_gid(dev->ctx, 1, 0, &dev->gid),
			"no GID 0 of %s: %m", name);
	return dev;
}

struct vt_dev *vt_open_ib(const char *name)
{
	struct vt_dev *dev = vt_open(name, NULL);

	require(dev->lid, "%s is not of native InfiniBand", name);
	return dev;
}

void vt_close(struct vt_dev *dev)
{
	int rc = ibv_dealloc_pd(dev->pd);

	require(!rc, "dealloc_pd: %s", strerror(rc));
	rc = ibv_close_device(dev->ctx);
	require(!rc, "close_device: %s", strerror(rc));
	free(dev);
}

static unsigned long long read_counter(const struct vt_dev *dev,
				       const char *name)
{
	unsigned long long value;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/%u/hw_counters/%s", dev->name,
		 dev->port, name);
	/* ib_core keeps values for `lifespan`, 10 ms, before it asks again */
	usleep(20000);
	f = fopen(path, "re");
	require(f && fscanf(f, "%llu", &value) == 1, "%s: %m", path);
	fclose(f);
	return value;
}

uint64_t vt_counter(const struct vt_dev *dev, const char *name)
{
	/* ib_core answers from a copy until it is as old, and a tick more */
	usleep((read_counter(dev, "lifespan") + 20) * 1000);
	return read_counter(dev, name);
}

bool vt_pair_arg(struct vt_pair *pair, int opt, char *arg)
{
	switch (opt) {
	case 'd':
		pair->dev_a = arg;
		return true;
	case 'D':
		pair->dev_b = arg;
		return true;
	case 'g':
		pair->gid_a = arg;
		return true;
	case 'G':
		pair->gid_b = arg;
		return true;
	case 't':
		pair->seconds = vt_number(arg, 1, 86400);
		return true;
	default:
		return false;
	}
}

void vt_pair_parse(struct vt_pair *pair, int argc, char **argv,
		   unsigned long *n)
{
	const char *opts = n ? VT_PAIR_OPTS "n:" : VT_PAIR_OPTS;
	bool bad = false;
	int c;

	while ((c = getopt(argc, argv, opts)) != -1) {
		if (vt_pair_arg(pair, c, optarg))
			continue;
		if (n && c == 'n')
			*n = vt_number(optarg, 1, 100000000);
		else
			bad = true;
	}
	if (bad || !pair->dev_a) {
		fprintf(stderr, "usage: %s " VT_PAIR_USAGE "%s\n",
			program_invocation_short_name, n ? " [-n TIMES]" : "");
		exit(2);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
}

void vt_pair_open(const struct vt_pair *pair, struct vt_dev **a,
		  struct vt_dev **b)
{
	vt_watchdog(pair->seconds ? pair->seconds : 120);
	*a = vt_open(pair->dev_a, pair->gid_a);
	*b = *a;
	if (pair->dev_b)
		*b = vt_open(pair->dev_b, pair->gid_b);
}

/* ---- memory ---------------------------------------------------------- */

struct vt_buf vt_alloc(struct ibv_pd *pd, size_t len, size_t skew, int access)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct vt_buf buf = { .len = len };

	buf.map_len = (VT_GUARD + skew + len + VT_GUARD + page - 1) &
		      ~(page - 1);
	if (!skew)
		buf.map_len += page;
	buf.base = mmap(NULL, buf.map_len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(buf.base != MAP_FAILED, "mmap of %zu bytes: %m", buf.map_len);
	buf.p = buf.base + (skew ? VT_GUARD + skew : page);
	memset(buf.base, VT_POISON, buf.map_len);
	buf.mr = ibv_reg_mr(pd, buf.p, MAX(len, 1), access);
	require(buf.mr, "reg_mr of %zu bytes: %m", len);
	return buf;
}

void vt_free(struct vt_buf *buf)
{
	int rc = ibv_dereg_mr(buf->mr);

	require(!rc, "dereg_mr: %s", strerror(rc));
	munmap(buf->base, buf->map_len);
	memset(buf, 0, sizeof(*buf));
}

void vt_check_guards(const struct vt_buf *buf, const char *what)
{
	size_t before = buf->p - buf->base;

	vt_check_byte(buf->base, before, VT_POISON, what);
	vt_check_byte(buf->p + buf->len, buf->map_len - before - buf->len,
		      VT_POISON, what);
}

/* word @i of the pattern of @seed */
static uint64_t pattern_word(uint64_t seed, uint64_t i)
{
	uint64_t x = (seed << 32) + i * 0x9e3779b97f4a7c15ull;

	return x ^ (x >> 29) ^ 0x5851f42d4c957f2dull;
}

static uint8_t pattern_byte(uint64_t seed, size_t at)
{
	uint64_t w = pattern_word(seed, at / 8);

	return ((const uint8_t *)&w)[at % 8];
}

void vt_fill(void *p, size_t len, uint64_t seed, size_t at)
{
	uint8_t *b = p;
	size_t i = 0;

	for (; i < len && (at + i) % 8; i++)
		b[i] = pattern_byte(seed, at + i);
	for (; i + 8 <= len; i += 8) {
		uint64_t w = pattern_word(seed, (at + i) / 8);

		memcpy(b + i, &w, 8);
	}
	for (; i < len; i++)
		b[i] = pattern_byte(seed, at + i);
}

long vt_mismatch(const void *p, size_t len, uint64_t seed, size_t at)
{
	const uint8_t *b = p;
	size_t i = 0;

	for (; i < len && (at + i) % 8; i++)
		if (b[i] != pattern_byte(seed, at + i))
			return i;
	for (; i + 8 <= len; i += 8) {
		uint64_t w = pattern_word(seed, (at + i) / 8);

		if (memcmp(b + i, &w, 8))
			break;
	}
	for (; i < len; i++)
		if (b[i] != pattern_byte(seed, at + i))
			return i;
	return -1;
}

void vt_check(const void *p, size_t len, uint64_t seed, size_t at,
	      const char *what)
{
	long bad = vt_mismatch(p, len, seed, at);
	const uint8_t *b = p;

	if (bad < 0)
		return;
	fail("%s: byte %ld of %zu is 0x%02x, should be 0x%02x", what, bad, len,
	     b[bad], pattern_byte(seed, at + bad));
}

void vt_check_byte(const void *p, size_t len, uint8_t byte, const char *what)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		require(b[i] == byte,
			"%s: byte %zu of %zu is 0x%02x, nobody may write there",
			what, i, len, b[i]);
}

/* ---- queue pairs ----------------------------------------------------- */

static int or_usual(int value, int usual)
{
	return value ? value : usual;
}

static void to_init(struct vt_end *end, const struct vt_opt *opt)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = end->dev->port,
		.pkey_index = opt->pkey_index,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	int rc;

	if (end->qp->qp_type == IBV_QPT_UD) {
		attr.qkey = opt->qkey;
		mask |= IBV_QP_QKEY;
	} else {
		attr.qp_access_flags =
			opt->access < 0 ? 0 : or_usual(opt->access,
				end->qp->qp_type == IBV_QPT_UC ?
				IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_WRITE : VT_ALL_ACCESS);
		mask |= IBV_QP_ACCESS_FLAGS;
	}
	rc = ibv_modify_qp(end->qp, &attr, mask);
	require(!rc, "%s: RESET to INIT: %s", end->dev->name, strerror(rc));
}

void vt_to_init(struct vt_end *end, const struct vt_opt *opt)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int rc = ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);

	require(!rc, "%s: to RESET: %s", end->dev->name, strerror(rc));
	to_init(end, opt);
}

static void ud_to_rts(struct vt_end *end)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int rc = ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);

	require(!rc, "UD to RTR: %s", strerror(rc));
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = end->psn;
	rc = ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	require(!rc, "UD to RTS: %s", strerror(rc));
}

void vt_end_create(struct vt_end *end, struct vt_dev *dev,
		   const struct vt_opt *opt)
{
	static uint32_t count;
	struct ibv_qp_init_attr init = {
		.qp_type = or_usual(opt->type, IBV_QPT_RC),
		.sq_sig_all = opt->sq_sig_all,
		.srq = opt->srq,
		.cap = {
			.max_send_wr = or_usual(opt->send_wr, 128),
			.max_recv_wr = or_usual(opt->recv_wr, 128),
			.max_send_sge = or_usual(opt->max_sge, 4),
			.max_recv_sge = or_usual(opt->max_sge, 4),
			.max_inline_data = opt->max_inline,
		},
	};

	memset(end, 0, sizeof(*end));
	end->dev = dev;
	/* close to the wrap, now and then */
	end->psn = (0xffff80 + 31 * count++) & 0xffffff;
	if (opt->channel) {
		end->chan = ibv_create_comp_channel(dev->ctx);
		require(end->chan, "create_comp_channel: %m");
	}
	end->cq = opt->cq;
	if (!end->cq)
		end->cq = ibv_create_cq(dev->ctx,
			or_usual(opt->cqe, init.cap.max_send_wr +
				 init.cap.max_recv_wr), end, end->chan, 0);
	require(end->cq, "create_cq: %m");
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	end->qp = ibv_create_qp(opt->pd ? opt->pd : dev->pd, &init);
	require(end->qp, "create_qp on %s: %m", dev->name);
	to_init(end, opt);
	if (init.qp_type == IBV_QPT_UD)
		ud_to_rts(end);
}

void vt_end_destroy(struct vt_end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	bool own_cq;
	int rc;

	rc = ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init);
	require(!rc, "query_qp: %s", strerror(rc));
	own_cq = end->cq->cq_context == end;
	rc = ibv_destroy_qp(end->qp);
	require(!rc, "destroy_qp: %s", strerror(rc));
	if (own_cq) {
		rc = ibv_destroy_cq(end->cq);
		require(!rc, "destroy_cq: %s", strerror(rc));
	}
	if (end->chan) {
		rc = ibv_destroy_comp_channel(end->chan);
		require(!rc, "destroy_comp_channel: %s", strerror(rc));
	}
	memset(end, 0, sizeof(*end));
}

struct vt_addr vt_addr_of(const struct vt_end *end)
{
	return (struct vt_addr){
		.qpn = end->qp->qp_num,
		.psn = end->psn,
		.mtu = end->dev->mtu,
		.lid = end->dev->lid | end->dev->path_bits,
		.gid = end->dev->gid,
	};
}

static struct ibv_ah_attr ah_attr(const struct vt_dev *dev, uint16_t dlid,
				  const union ibv_gid *dgid)
{
	return (struct ibv_ah_attr){
		.dlid = dlid,
		.src_path_bits = dev->path_bits,
		.is_global = dev->grh,
		.port_num = dev->port,
		.grh = {
			.dgid = *dgid,
			.sgid_index = dev->gid_index,
			.hop_limit = 64,
		},
	};
}

void vt_to_rtr(struct vt_end *end, const struct vt_addr *peer,
	       const struct vt_opt *opt)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = or_usual(opt->mtu, MIN((uint32_t)end->dev->mtu,
						   peer->mtu)),
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic =
			opt->rd_atomic < 0 ? 0 : or_usual(opt->rd_atomic, 4),
		.min_rnr_timer = or_usual(opt->min_rnr_timer, 12),
		.ah_attr = ah_attr(end->dev, peer->lid, &peer->gid),
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	int rc;

	if (end->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	rc = ibv_modify_qp(end->qp, &attr, mask);
	require(!rc, "%s: INIT to RTR: %s", end->dev->name, strerror(rc));
}

static void to_rts(struct vt_end *end, const struct vt_opt *opt)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = end->psn,
		.timeout = opt->timeout < 0 ? 0 : or_usual(opt->timeout, 18),
		.retry_cnt = or_usual(opt->retry, 8) - 1,
		.rnr_retry = or_usual(opt->rnr_retry, 8) - 1,
		.max_rd_atomic =
			opt->rd_atomic < 0 ? 4 : or_usual(opt->rd_atomic, 4),
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	int rc;

	if (end->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	rc = ibv_modify_qp(end->qp, &attr, mask);
	require(!rc, "%s: RTR to RTS: %s", end->dev->name, strerror(rc));
}

void vt_connect_to(struct vt_end *end, const struct vt_addr *peer,
		   const struct vt_opt *opt)
{
	vt_to_rtr(end, peer, opt);
	to_rts(end, opt);
}

void vt_connect(struct vt_end *a, struct vt_end *b, const struct vt_opt *opt)
{
	struct vt_addr at_a = vt_addr_of(a), at_b = vt_addr_of(b);

	vt_to_rtr(a, &at_b, opt);
	if (a != b)
		vt_to_rtr(b, &at_a, opt);
	to_rts(a, opt);
	if (a != b)
		to_rts(b, opt);
}

int vt_to_err(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

enum ibv_qp_state vt_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int rc = ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);

	require(!rc, "query_qp: %s", strerror(rc));
	return attr.qp_state;
}

struct ibv_ah *vt_ah(struct vt_end *end, const struct vt_dev *to)
{
	struct ibv_ah_attr attr = ah_attr(end->dev, to->lid | to->path_bits,
					  &to->gid);
	struct ibv_ah *ah = ibv_create_ah(end->qp->pd, &attr);

	require(ah, "create_ah: %m");
	return ah;
}

/* ---- completions ----------------------------------------------------- */

bool vt_poll(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	uint64_t end = vt_now_us() + ms * 1000ull;
	unsigned int idle = 0;
	int n;

	for (;;) {
		n = ibv_poll_cq(cq, 1, wc);
		require(n >= 0, "poll_cq: %d", n);
		if (n)
			return true;
		if (vt_now_us() >= end)
			return false;
		/* a guest with one CPU: let the others work */
		if (++idle < 30)
			sched_yield();
		else
			usleep(100);
	}
}

struct ibv_wc vt_wait_status(struct ibv_cq *cq, unsigned int ms,
			     enum ibv_wc_status status, const char *what)
{
	struct ibv_wc wc;

	require(vt_poll(cq, &wc, ms), "%s: no completion in %u ms", what, ms);
	require(wc.status == status,
		"%s: wr_id %llu completed with %s (%d), should be %s", what,
		(unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
		wc.status, ibv_wc_status_str(status));
	return wc;
}

struct ibv_wc vt_wait(struct ibv_cq *cq, unsigned int ms, const char *what)
{
	return vt_wait_status(cq, ms, IBV_WC_SUCCESS, what);
}

void vt_expect_none(struct ibv_cq *cq, unsigned int ms, const char *what)
{
	struct ibv_wc wc;

	if (vt_poll(cq, &wc, ms))
		fail("%s: unexpected completion, wr_id %llu %s", what,
		     (unsigned long long)wc.wr_id,
		     ibv_wc_status_str(wc.status));
}

bool vt_readable(int fd, unsigned int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

bool vt_wait_event(struct ibv_comp_channel *chan, unsigned int ms)
{
	struct ibv_cq *cq;
	void *context;

	if (!vt_readable(chan->fd, ms))
		return false;
	require(!ibv_get_cq_event(chan, &cq, &context), "get_cq_event: %m");
	ibv_ack_cq_events(cq, 1);
	return true;
}

bool vt_async_event(struct ibv_context *ctx, enum ibv_event_type type,
		    unsigned int ms)
{
	struct ibv_async_event event;

	if (!vt_readable(ctx->async_fd, ms))
		return false;
	require(!ibv_get_async_event(ctx, &event), "get_async_event: %m");
	require(event.event_type == type, "event \"%s\", should be \"%s\"",
		ibv_event_type_str(event.event_type),
		ibv_event_type_str(type));
	ibv_ack_async_event(&event);
	return true;
}

/* ---- posting --------------------------------------------------------- */

struct ibv_sge vt_sge(const struct vt_buf *buf, size_t at, size_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)buf->p + at,
		.length = len,
		.lkey = buf->mr->lkey,
	};
}

int vt_try_send(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	return ibv_post_send(qp, wr, &bad);
}

int vt_try_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge,
		int num_sge)
{
	struct ibv_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = num_sge,
	};
	struct ibv_recv_wr *bad = NULL;

	return ibv_post_recv(qp, &wr, &bad);
}

void vt_post_send(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge,
		  int num_sge, unsigned int flags)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = num_sge,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | flags,
	};
	int rc = vt_try_send(qp, &wr);

	require(!rc, "post_send: %s", strerror(rc));
}

void vt_post_rdma(struct ibv_qp *qp, uint64_t wr_id, enum ibv_wr_opcode op,
		  struct ibv_sge *sge, int num_sge, uint64_t raddr,
		  uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = num_sge,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = raddr, .rkey = rkey },
	};
	int rc = vt_try_send(qp, &wr);

	require(!rc, "post_send: %s", strerror(rc));
}

void vt_post_datagram(struct ibv_qp *qp, struct ibv_sge *sge, struct ibv_ah *ah,
		      uint32_t qpn, uint32_t qkey)
{
	struct ibv_send_wr wr = {
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = qkey },
	};
	int rc = vt_try_send(qp, &wr);

	require(!rc, "post_send: %s", strerror(rc));
}

void vt_post_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge,
		  int num_sge)
{
	int rc = vt_try_recv(qp, wr_id, sge, num_sge);

	require(!rc, "post_recv: %s", strerror(rc));
}

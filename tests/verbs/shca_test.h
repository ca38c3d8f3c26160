/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the verbs programs of the tests share: opening a device, choosing a
 * GID, queue pairs, connecting them, completions with a time limit, patterns.
 *
 * Every helper ends the program with a sentence and status 1 when something
 * fails that the test did not ask for, so a test reads as what it does.  A
 * watchdog ends a program that hangs with status 3.
 */
#ifndef SHCA_TEST_H
#define SHCA_TEST_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VT_GUARD	64	/* bytes around every buffer that nobody may touch */
#define VT_POISON	0xa5

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)	((a) < (b) ? (a) : (b))
#define MAX(a, b)	((a) > (b) ? (a) : (b))

/*
 * fail: the test found something wrong; ends the program with status 1, after
 * running the command in the environment's VT_ON_FAIL
 */
#define fail(...)	vt_fail(__FILE__, __LINE__, __VA_ARGS__)
/* require: as fail(), if @cond does not hold */
#define require(cond, ...) do { if (!(cond)) fail(__VA_ARGS__); } while (0)

void vt_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/**
 * vt_watchdog - end the program with status 3 after some time
 * @seconds: time from now; 0 takes it back
 */
void vt_watchdog(unsigned int seconds);

/** vt_step - note what is being done now, for vt_fail() and the watchdog */
void vt_step(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

uint64_t vt_now_us(void);

/**
 * struct vt_dev - an open device and the address its queue pairs use
 * @ctx: context
 * @pd: a protection domain
 * @name: name of the device
 * @port: always 1
 * @lid: of the port; 0 with RoCE
 * @path_bits: of the LIDs that the port has, the one that it sends from
 * @grh: queue pairs are connected by GID; else by LID alone
 * @gid_index: index of @gid
 * @gid: the RoCEv2 GID chosen by vt_open(), or GID 0
 * @mtu: active MTU of the port
 */
struct vt_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	char name[64];
	uint8_t port;
	uint16_t lid;
	uint8_t path_bits;
	bool grh;
	int gid_index;
	union ibv_gid gid;
	enum ibv_mtu mtu;
};

/**
 * vt_open - open a device
 * @name: its name
 * @gid: an IP address, a GID index, or NULL: the first IPv4 GID, else GID 0. Of a
 *	native InfiniBand port NULL (no GRH) or 0.
 */
struct vt_dev *vt_open(const char *name, const char *gid);
/** vt_open_ib - open a device with a native InfiniBand port */
struct vt_dev *vt_open_ib(const char *name);
void vt_close(struct vt_dev *dev);

/** vt_counter - hardware counter @name of @dev's port, as it is now */
uint64_t vt_counter(const struct vt_dev *dev, const char *name);

/** vt_gid_is_ipv4 - whether @gid is an IPv4-mapped address */
bool vt_gid_is_ipv4(const union ibv_gid *gid);

/**
 * struct vt_buf - a registered buffer between two guards
 * @base: start of the mapping
 * @p: the buffer, @skew bytes into a page
 * @len: its length
 * @mr: covers exactly @p to @p + @len
 */
struct vt_buf {
	uint8_t *base;
	uint8_t *p;
	size_t len;
	size_t map_len;
	struct ibv_mr *mr;
};

#define VT_ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct vt_buf vt_alloc(struct ibv_pd *pd, size_t len, size_t skew, int access);
void vt_free(struct vt_buf *buf);
/** vt_check_guards - nobody wrote outside of @buf */
void vt_check_guards(const struct vt_buf *buf, const char *what);

/** vt_fill - write the pattern of @seed, from its byte @at on */
void vt_fill(void *p, size_t len, uint64_t seed, size_t at);
/** vt_mismatch - offset of the first byte that is not the pattern's, or -1 */
long vt_mismatch(const void *p, size_t len, uint64_t seed, size_t at);
void vt_check(const void *p, size_t len, uint64_t seed, size_t at,
	      const char *what);
/** vt_check_byte - all of it is @byte */
void vt_check_byte(const void *p, size_t len, uint8_t byte, const char *what);

/**
 * struct vt_end - one end of a connection
 * @dev: device
 * @cq: completion queue of both directions
 * @chan: channel of @cq, or NULL
 * @qp: queue pair
 * @psn: PSN of its first request
 */
struct vt_end {
	struct vt_dev *dev;
	struct ibv_comp_channel *chan;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t psn;
};

/**
 * struct vt_opt - what a queue pair is to be like; zero means the usual
 * @type: IBV_QPT_RC if 0
 * @send_wr, @recv_wr: 128 if 0
 * @max_sge: 4 if 0
 * @max_inline: bytes of inline data
 * @cqe: send_wr + recv_wr if 0
 * @channel: make a completion channel
 * @srq: shared receive queue
 * @cq: use this queue instead of an own one
 * @pd: the device's if NULL
 * @sq_sig_all: every send completes
 * @access: qp_access_flags, all if 0; -1 for none
 * @mtu: IBV_MTU_*, the smaller of both ends' if 0
 * @timeout: of RTS, 18 (1.1 s, so that a busy host is not a loss) if 0, none
 *	if -1
 * @retry: retry_cnt plus 1, 8 (that is 7) if 0
 * @rnr_retry: plus 1, 8 (that is without end) if 0
 * @min_rnr_timer: 12 (0.64 ms) if 0
 * @rd_atomic: 4 if 0; -1 as well, but the peer's READs are to be refused
 * @qkey: of a UD queue pair
 * @pkey_index: of its P_Key
 */
struct vt_opt {
	enum ibv_qp_type type;
	int send_wr, recv_wr, max_sge, max_inline, cqe;
	bool channel, sq_sig_all;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	int access;
	enum ibv_mtu mtu;
	int timeout, retry, rnr_retry, min_rnr_timer, rd_atomic;
	uint32_t qkey;
	uint16_t pkey_index;
};

/** vt_end_create - an end with its queue pair in INIT (UD: in RTS) */
void vt_end_create(struct vt_end *end, struct vt_dev *dev,
		   const struct vt_opt *opt);
void vt_end_destroy(struct vt_end *end);

/** struct vt_addr - what one end has to know of the other */
struct vt_addr {
	uint32_t qpn;
	uint32_t psn;
	uint32_t mtu;
	uint32_t lid;	/* that the end sends from */
	union ibv_gid gid;
};

struct vt_addr vt_addr_of(const struct vt_end *end);
/** vt_to_init - from any state through RESET to INIT */
void vt_to_init(struct vt_end *end, const struct vt_opt *opt);
/** vt_to_rtr - INIT to RTR with a known peer */
void vt_to_rtr(struct vt_end *end, const struct vt_addr *peer,
	       const struct vt_opt *opt);
/** vt_connect_to - INIT to RTS with a known peer */
void vt_connect_to(struct vt_end *end, const struct vt_addr *peer,
		   const struct vt_opt *opt);
/** vt_connect - both ends in this process; @a and @b may be the same */
void vt_connect(struct vt_end *a, struct vt_end *b, const struct vt_opt *opt);
int vt_to_err(struct ibv_qp *qp);
enum ibv_qp_state vt_state(struct ibv_qp *qp);
/** vt_ah - the path from @end to the port of @to */
struct ibv_ah *vt_ah(struct vt_end *end, const struct vt_dev *to);

/** vt_poll - the next completion, within @ms; false if none came */
bool vt_poll(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms);
/** vt_wait - as vt_poll(), but it must come and must be a success */
struct ibv_wc vt_wait(struct ibv_cq *cq, unsigned int ms, const char *what);
/** vt_wait_status - it must come with @status */
struct ibv_wc vt_wait_status(struct ibv_cq *cq, unsigned int ms,
			     enum ibv_wc_status status, const char *what);
/** vt_expect_none - nothing completes within @ms */
void vt_expect_none(struct ibv_cq *cq, unsigned int ms, const char *what);
/** vt_wait_event - an event of the channel within @ms; acknowledged */
bool vt_wait_event(struct ibv_comp_channel *chan, unsigned int ms);
/** vt_async_event - waits for an event of that type; others are an error */
bool vt_async_event(struct ibv_context *ctx, enum ibv_event_type type,
		    unsigned int ms);

/* posting; @wr_id comes back in the completion, every send is signaled */
struct ibv_sge vt_sge(const struct vt_buf *buf, size_t at, size_t len);
int vt_try_send(struct ibv_qp *qp, struct ibv_send_wr *wr);
int vt_try_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge,
		int num_sge);
void vt_post_send(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge,
		  int num_sge, unsigned int flags);
void vt_post_rdma(struct ibv_qp *qp, uint64_t wr_id, enum ibv_wr_opcode op,
		  struct ibv_sge *sge, int num_sge, uint64_t raddr,
		  uint32_t rkey);
/** vt_post_datagram - a SEND to queue pair @qpn behind @ah */
void vt_post_datagram(struct ibv_qp *qp, struct ibv_sge *sge, struct ibv_ah *ah,
		      uint32_t qpn, uint32_t qkey);
void vt_post_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge,
		  int num_sge);

/** vt_readable - there is something to read within @ms */
bool vt_readable(int fd, unsigned int ms);

/* a control connection between two processes */
int vt_listen_accept(const char *port, unsigned int seconds);
int vt_dial(const char *host, const char *port, unsigned int seconds);
void vt_tell(int sock, const void *p, size_t len);
void vt_hear(int sock, void *p, size_t len);

/** vt_pair_args - parse -d DEV [-D DEV] [-g GID] [-G GID] [-t SECONDS] */
struct vt_pair {
	const char *dev_a, *dev_b, *gid_a, *gid_b;
	unsigned int seconds;
};

#define VT_PAIR_OPTS	"d:D:g:G:t:"
#define VT_PAIR_USAGE	"-d DEV [-D DEV2] [-g GID] [-G GID2] [-t SECONDS]"
bool vt_pair_arg(struct vt_pair *pair, int opt, char *arg);
/**
 * vt_pair_parse - the whole command line of a program with no other options
 * @n: set by -n TIMES, if the program takes that; or NULL
 *
 * Ends the program with status 2 if that is not what was given; what follows
 * the options is the caller's, from optind on.
 */
void vt_pair_parse(struct vt_pair *pair, int argc, char **argv,
		   unsigned long *n);
void vt_pair_open(const struct vt_pair *pair, struct vt_dev **a,
		  struct vt_dev **b);
long vt_number(const char *arg, long lo, long hi);

#endif /* SHCA_TEST_H */

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_all: a datagram from every native InfiniBand port to every one, itself
 * too, by LID, and one with a GRH.  Each must arrive once, whole, at nobody else,
 * and say where it is from.  Then every port pings each STEPth one, which
 * answers to where the completion says that the ping came from.
 *
 * All of a round are under way at once: every port posts its datagrams with one
 * call, then all completion queues are polled in turn.
 *
 *	vt_all [-t SECONDS] [-l BYTES] [-p STEP] [-b BITS] DEVICE...
 *
 * -b  from and to the LIDs with these path bits, of the 2^LMC that a port has
 */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shca_test.h"

#define QKEY	0x22222222
#define GRH	40
#define SILENCE	10000000	/* us without any arrival: one is lost */
#define BATCH	16		/* completions of a call */

/**
 * struct host - a port and its queue pair
 * @tx: what is sent, a slot for each receiver
 * @rx: a slot of GRH and datagram for each sender
 * @ah: a handle for each receiver
 * @from: completions of what came in this round, by sender; zeros: not yet
 * @due: completions that have to come in this round
 */
struct host {
	struct vt_dev *dev;
	struct vt_end end;
	struct vt_buf tx, rx;
	struct ibv_ah **ah;
	struct ibv_wc *from;
	size_t due;
};

static struct host *hosts;
static size_t count, len = 256, step = 1;
static uint8_t path_bits;
static uint64_t begin;

static size_t slot_len(void)
{
	return GRH + len;
}

/* What goes from @f to @t in round @round */
static uint64_t seed_of(size_t f, size_t t, unsigned int round)
{
	return 1 + (f * count + t) * 4 + round;
}

static void *array_of(size_t size)
{
	void *p = calloc(count, size);

	require(p, "no memory");
	return p;
}

static void post_slot(struct host *h, size_t slot)
{
	struct ibv_sge sge = vt_sge(&h->rx, slot * slot_len(), slot_len());

	vt_post_recv(h->end.qp, slot, &sge, 1);
}

static void host_open(struct host *h, const char *name)
{
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = QKEY };

	vt_step("opening %s", name);
	h->dev = vt_open_ib(name);
	h->dev->path_bits = path_bits;
	opt.recv_wr = count;
	opt.send_wr = count;
	vt_end_create(&h->end, h->dev, &opt);
	h->tx = vt_alloc(h->dev->pd, len * count, 3, IBV_ACCESS_LOCAL_WRITE);
	h->rx = vt_alloc(h->dev->pd, slot_len() * count, 5,
			 IBV_ACCESS_LOCAL_WRITE);
	h->ah = array_of(sizeof(*h->ah));
	h->from = array_of(sizeof(*h->from));
	for (size_t i = 0; i < count; i++)
		post_slot(h, i);
}

static void host_close(struct host *h)
{
	vt_step("closing %s", h->dev->name);
	vt_expect_none(h->end.cq, 0, "a datagram too many");
	vt_check_guards(&h->rx, "receive buffers");
	vt_end_destroy(&h->end);
	vt_free(&h->rx);
	vt_free(&h->tx);
	vt_close(h->dev);
	free(h->ah);
	free(h->from);
}

/* @dgid: NULL for a path without GRH */
static struct ibv_ah *ah_to(struct host *from, uint16_t dlid,
			    const union ibv_gid *dgid)
{
	struct ibv_ah_attr attr = {
		.dlid = dlid, .src_path_bits = path_bits, .port_num = 1,
	};
	struct ibv_ah *ah;

	if (dgid) {
		attr.is_global = 1;
		attr.grh.dgid = *dgid;
		attr.grh.hop_limit = 1;
	}
	ah = ibv_create_ah(from->dev->pd, &attr);
	require(ah, "create_ah on %s: %m", from->dev->name);
	return ah;
}

static void destroy_ahs(struct host *h)
{
	for (size_t t = 0; t < count; t++) {
		require(!h->ah[t] || !ibv_destroy_ah(h->ah[t]), "destroy_ah");
		h->ah[t] = NULL;
	}
}

/* From @f to each that has a handle in its ah[] */
static void send_all(size_t f, unsigned int round)
{
	struct host *from = &hosts[f];
	struct ibv_send_wr wr[count];
	struct ibv_sge sge[count];
	size_t n = 0;
	int rc;

	for (size_t t = 0; t < count; t++) {
		if (!from->ah[t])
			continue;
		vt_fill(from->tx.p + t * len, len, seed_of(f, t, round), 0);
		sge[n] = vt_sge(&from->tx, t * len, len);
		wr[n] = (struct ibv_send_wr){
			.wr_id = t,
			.next = &wr[n + 1],
			.sg_list = &sge[n],
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.ud = {
				.ah = from->ah[t],
				.remote_qpn = hosts[t].end.qp->qp_num,
				.remote_qkey = QKEY,
			},
		};
		hosts[t].due++;
		from->due++;
		n++;
	}
	if (!n)
		return;
	wr[n - 1].next = NULL;
	rc = vt_try_send(from->end.qp, wr);
	require(!rc, "post_send on %s: %s", from->dev->name, strerror(rc));
}

/* The LID of a port that is used */
static uint16_t lid_of(const struct host *h)
{
	return h->dev->lid | h->dev->path_bits;
}

static size_t sender_of(const struct host *to, const struct ibv_wc *wc)
{
	for (size_t f = 0; f < count; f++)
		if (hosts[f].end.qp->qp_num == wc->src_qp &&
		    lid_of(&hosts[f]) == wc->slid)
			return f;
	fail("%s has one from QP %u of LID %u, which is none of ours",
	     to->dev->name, wc->src_qp, wc->slid);
}

static void arrived(size_t t, const struct ibv_wc *wc, unsigned int round,
		    bool grh)
{
	struct host *to = &hosts[t], *from;
	size_t f = sender_of(to, wc);
	uint8_t *slot = to->rx.p + wc->wr_id * slot_len();

	from = &hosts[f];
	require(!to->from[f].src_qp, "%s has a second one from %s",
		to->dev->name, from->dev->name);
	to->from[f] = *wc;
	require(wc->byte_len == slot_len(), "byte_len %u", wc->byte_len);
	require(wc->dlid_path_bits == path_bits, "dlid_path_bits %u",
		wc->dlid_path_bits);
	require(grh == !!(wc->wc_flags & IBV_WC_GRH), "wc_flags 0x%x",
		wc->wc_flags);
	require(!grh || (!memcmp(slot + 8, &from->dev->gid, 16) &&
			 !memcmp(slot + 24, &to->dev->gid, 16)),
		"GRH of the datagram from %s to %s", from->dev->name,
		to->dev->name);
	vt_check(slot + GRH, len, seed_of(f, t, round), 0, "datagram");
	post_slot(to, wc->wr_id);
}

/* Take what has completed at @t. Return: how much that is. */
static int collect_one(size_t t, unsigned int round, bool grh)
{
	struct host *to = &hosts[t];
	struct ibv_wc wc[BATCH];
	int n = ibv_poll_cq(to->end.cq, BATCH, wc);

	require(n >= 0, "poll_cq: %d", n);
	for (int i = 0; i < n; i++) {
		require(wc[i].status == IBV_WC_SUCCESS, "%s: status %s",
			to->dev->name, ibv_wc_status_str(wc[i].status));
		require(wc[i].opcode == IBV_WC_RECV ||
			wc[i].opcode == IBV_WC_SEND, "opcode %d", wc[i].opcode);
		if (wc[i].opcode == IBV_WC_RECV)
			arrived(t, &wc[i], round, grh);
	}
	require((size_t)n <= to->due, "%s has a completion too many",
		to->dev->name);
	to->due -= n;
	return n;
}

/* Take everything that is due; nothing is lost, and nothing comes twice. */
static void collect(unsigned int round, bool grh)
{
	uint64_t last = vt_now_us();
	size_t due;

	do {
		int n = 0;

		due = 0;
		for (size_t t = 0; t < count; t++) {
			n += collect_one(t, round, grh);
			due += hosts[t].due;
		}
		if (n) {
			last = vt_now_us();
			continue;
		}
		require(!due || vt_now_us() < last + SILENCE,
			"%zu completions have not come", due);
		/* a guest with one CPU: let the others work */
		sched_yield();
	} while (due);
}

static void told(const char *what)
{
	printf("%6.1f s: %s\n", (vt_now_us() - begin) / 1e6, what);
	fflush(stdout);
}

static void everybody(unsigned int round, bool grh)
{
	vt_step("everybody to everybody%s", grh ? ", with GRH" : "");
	for (size_t f = 0; f < count; f++) {
		memset(hosts[f].from, 0, count * sizeof(*hosts[f].from));
		for (size_t t = 0; t < count; t++)
			hosts[f].ah[t] = ah_to(&hosts[f], lid_of(&hosts[t]),
					       grh ? &hosts[t].dev->gid : NULL);
	}
	for (size_t f = 0; f < count; f++)
		send_all(f, round);
	collect(round, grh);
	for (size_t f = 0; f < count; f++)
		destroy_ahs(&hosts[f]);
}

static void pings(unsigned int round)
{
	vt_step("pings");
	for (size_t f = 0; f < count; f++) {
		memset(hosts[f].from, 0, count * sizeof(*hosts[f].from));
		for (size_t t = 0; t < count; t += step)
			hosts[f].ah[t] = ah_to(&hosts[f], lid_of(&hosts[t]),
					       NULL);
	}
	for (size_t f = 0; f < count; f++)
		send_all(f, round);
	collect(round, false);

	vt_step("answers to pings");
	for (size_t f = 0; f < count; f++)
		destroy_ahs(&hosts[f]);
	for (size_t t = 0; t < count; t += step)
		for (size_t f = 0; f < count; f++)
			hosts[t].ah[f] = ah_to(&hosts[t],
					       hosts[t].from[f].slid, NULL);
	for (size_t f = 0; f < count; f++)
		memset(hosts[f].from, 0, count * sizeof(*hosts[f].from));
	for (size_t t = 0; t < count; t += step)
		send_all(t, round + 1);
	collect(round + 1, false);
	for (size_t t = 0; t < count; t += step)
		destroy_ahs(&hosts[t]);
}

int main(int argc, char **argv)
{
	unsigned int seconds = 200;
	int opt;

	while ((opt = getopt(argc, argv, "t:l:p:b:")) != -1) {
		switch (opt) {
		case 't':
			seconds = vt_number(optarg, 1, 3600);
			break;
		case 'l':
			len = vt_number(optarg, 1, 4096);
			break;
		case 'p':
			step = vt_number(optarg, 1, 4096);
			break;
		case 'b':
			path_bits = vt_number(optarg, 0, 127);
			break;
		default:
			return 2;
		}
	}
	count = argc - optind;
	if (!count) {
		fprintf(stderr,
			"usage: vt_all [-t SECONDS] [-l BYTES] [-p STEP] [-b BITS] DEVICE...\n");
		return 2;
	}
	vt_watchdog(seconds);
	begin = vt_now_us();
	hosts = array_of(sizeof(*hosts));
	for (size_t i = 0; i < count; i++)
		host_open(&hosts[i], argv[optind + i]);
	told("all are open");
	everybody(0, false);
	told("everybody to everybody");
	everybody(1, true);
	told("with a GRH");
	pings(2);
	told("pings are answered");
	for (size_t i = 0; i < count; i++)
		host_close(&hosts[i]);
	free(hosts);
	printf("%zu datagrams between %zu ports\n", 2 * count * count, count);
	return 0;
}

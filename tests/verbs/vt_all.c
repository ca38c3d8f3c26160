// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_all: a datagram from every native InfiniBand port to every one, itself
 * too, by LID, and one with a GRH.  Each must arrive once, whole, at nobody else,
 * and say where it is from.  Then every port pings each STEPth one, which
 * answers to where the completion says that the ping came from.
 *
 *	vt_all [-t SECONDS] [-l BYTES] [-p STEP] DEVICE...
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shca_test.h"

#define QKEY	0x22222222
#define GRH	40
#define MS	10000

/**
 * struct host - a port and its queue pair
 * @tx: what is sent
 * @rx: a slot of GRH and datagram for each sender
 */
struct host {
	struct vt_dev *dev;
	struct vt_end end;
	struct vt_buf tx, rx;
};

static struct host *hosts;
static size_t count, len = 256, step = 1;

static size_t slot_len(void)
{
	return GRH + len;
}

static uint64_t seed_of(size_t from, size_t to, bool grh)
{
	return 1 + (from * count + to) * 2 + grh;
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
	opt.recv_wr = count;
	opt.send_wr = count;
	vt_end_create(&h->end, h->dev, &opt);
	h->tx = vt_alloc(h->dev->pd, len * count, 3, IBV_ACCESS_LOCAL_WRITE);
	h->rx = vt_alloc(h->dev->pd, slot_len() * count, 5,
			 IBV_ACCESS_LOCAL_WRITE);
	for (size_t i = 0; i < count; i++)
		post_slot(h, i);
}

/* @dgid: NULL for a path without GRH */
static struct ibv_ah *ah_to(struct host *from, uint16_t dlid,
			    const union ibv_gid *dgid)
{
	struct ibv_ah_attr attr = { .dlid = dlid, .port_num = 1 };
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

static void send_to(struct host *from, size_t f, size_t t, struct ibv_ah *ah,
		    uint32_t qpn, bool grh)
{
	struct ibv_sge sge = vt_sge(&from->tx, t * len, len);
	struct ibv_send_wr wr = {
		.wr_id = t,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {
			.ah = ah, .remote_qpn = qpn, .remote_qkey = QKEY,
		},
	};
	int rc;

	vt_fill(from->tx.p + t * len, len, seed_of(f, t, grh), 0);
	rc = vt_try_send(from->end.qp, &wr);
	require(!rc, "post_send on %s: %s", from->dev->name, strerror(rc));
}

/* The one datagram that @to gets from @from; its completion is returned */
static struct ibv_wc check_arrival(size_t f, size_t t, bool grh)
{
	struct host *from = &hosts[f], *to = &hosts[t];
	uint8_t *slot;
	struct ibv_wc wc;

	do {
		wc = vt_wait(to->end.cq, MS, "datagram");
	} while (wc.opcode == IBV_WC_SEND);
	require(wc.opcode == IBV_WC_RECV, "opcode %d", wc.opcode);
	require(wc.src_qp == from->end.qp->qp_num && wc.slid == from->dev->lid,
		"%s has one from QP %u of LID %u, not from %s", to->dev->name,
		wc.src_qp, wc.slid, from->dev->name);
	require(wc.byte_len == slot_len(), "byte_len %u", wc.byte_len);
	require(grh == !!(wc.wc_flags & IBV_WC_GRH), "wc_flags 0x%x",
		wc.wc_flags);
	slot = to->rx.p + wc.wr_id * slot_len();
	require(!grh || (!memcmp(slot + 8, &from->dev->gid, 16) &&
			 !memcmp(slot + 24, &to->dev->gid, 16)),
		"GRH of the datagram from %s to %s", from->dev->name,
		to->dev->name);
	vt_check(slot + GRH, len, seed_of(f, t, grh), 0, "datagram");
	post_slot(to, wc.wr_id);
	return wc;
}

/* Completions of sends that check_arrival() has not met */
static void drain_sends(struct host *h)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(h->end.cq, 1, &wc) > 0)
		require(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND,
			"%s: status %s, opcode %d", h->dev->name,
			ibv_wc_status_str(wc.status), wc.opcode);
}

static void round_of(size_t f, bool grh)
{
	struct ibv_ah *ah[count];
	struct host *from = &hosts[f];

	vt_step("%s to all%s", from->dev->name, grh ? ", with GRH" : "");
	for (size_t t = 0; t < count; t++)
		ah[t] = ah_to(from, hosts[t].dev->lid, grh ? &hosts[t].dev->gid : NULL);
	for (size_t t = 0; t < count; t++)
		send_to(from, f, t, ah[t], hosts[t].end.qp->qp_num, grh);
	for (size_t t = 0; t < count; t++)
		check_arrival(f, t, grh);
	drain_sends(from);
	for (size_t t = 0; t < count; t++)
		require(!ibv_destroy_ah(ah[t]), "destroy_ah");
}

static void ping(size_t f, size_t t)
{
	struct host *from = &hosts[f], *to = &hosts[t];
	struct ibv_ah *there, *back;
	struct ibv_wc wc;

	vt_step("%s pings %s", from->dev->name, to->dev->name);
	there = ah_to(from, to->dev->lid, NULL);
	send_to(from, f, t, there, to->end.qp->qp_num, false);
	wc = check_arrival(f, t, false);
	back = ah_to(to, wc.slid, NULL);
	send_to(to, t, f, back, wc.src_qp, false);
	check_arrival(t, f, false);
	drain_sends(from);
	drain_sends(to);
	require(!ibv_destroy_ah(there) && !ibv_destroy_ah(back), "destroy_ah");
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
}

int main(int argc, char **argv)
{
	unsigned int seconds = 200;
	int opt;

	while ((opt = getopt(argc, argv, "t:l:p:")) != -1) {
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
		default:
			return 2;
		}
	}
	count = argc - optind;
	if (!count) {
		fprintf(stderr,
			"usage: vt_all [-t SECONDS] [-l BYTES] [-p STEP] DEVICE...\n");
		return 2;
	}
	vt_watchdog(seconds);
	hosts = calloc(count, sizeof(*hosts));
	require(hosts, "no memory");
	for (size_t i = 0; i < count; i++)
		host_open(&hosts[i], argv[optind + i]);
	for (size_t f = 0; f < count; f++) {
		round_of(f, false);
		round_of(f, true);
	}
	for (size_t f = 0; f < count; f++)
		for (size_t t = 0; t < count; t += step)
			ping(f, t);
	for (size_t i = 0; i < count; i++)
		host_close(&hosts[i]);
	free(hosts);
	printf("%zu datagrams between %zu ports\n", 2 * count * count, count);
	return 0;
}

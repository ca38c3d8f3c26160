// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_targets: queue pairs of a native InfiniBand port for packets that somebody
 * makes up, one of each kind that a check on receive tells apart.
 *
 * Prints a line for each and then "ready", and waits for a line on stdin.  What
 * has been received by then must be eight times "good", at least once where
 * something may arrive at all, and nothing of it written beside its buffer.
 *
 *	qp NAME QPN
 *
 * rc, rcgrh	connected with QP PEER_QPN at a LID, without and with a GRH to
 *		GID PREFIX::PEER; the first PSN is PEER_PSN
 * ud		Q_Key QKEY
 * dry		ud that has no receives
 * small	ud whose receives are shorter than 32 bytes
 * init, error	rc in those states
 * elsewhere	ud of another device
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "shca_test.h"

#define QKEY		0x11111111
#define PEER		0x020304
#define PEER_QPN	0x123456
#define PEER_PSN	0x000100
#define GRH		40
#define LEN		32
#define SLOT		(GRH + LEN)
#define DEPTH		16

static const char good[] = "good";

enum { RC, RC_GRH, UD, DRY, SMALL, INIT, ERROR, ELSEWHERE, TARGETS };

static const struct {
	const char *name;
	bool ud, receives;
} target[TARGETS] = {
	[RC] = { "rc", false, true }, [RC_GRH] = { "rcgrh", false, true },
	[UD] = { "ud", true, true }, [DRY] = { "dry", true, false },
	[SMALL] = { "small", true, true }, [INIT] = { "init", false, true },
	[ERROR] = { "error", false, false },
	[ELSEWHERE] = { "elsewhere", true, true },
};

static struct vt_end end[TARGETS];
static struct vt_buf rx[TARGETS];

static void make(int t, struct vt_dev *dev, struct vt_addr *peer)
{
	struct vt_opt opt = {
		.type = target[t].ud ? IBV_QPT_UD : IBV_QPT_RC,
		.qkey = QKEY, .recv_wr = DEPTH,
	};

	vt_step("making %s", target[t].name);
	vt_end_create(&end[t], dev, &opt);
	rx[t] = vt_alloc(dev->pd, SLOT * DEPTH, 5, IBV_ACCESS_LOCAL_WRITE);
	for (int i = 0; target[t].receives && i < DEPTH; i++) {
		struct ibv_sge sge = vt_sge(&rx[t], i * SLOT,
					    SLOT - (t == SMALL));

		vt_post_recv(end[t].qp, i, &sge, 1);
	}
	if (t == RC || t == RC_GRH || t == ERROR) {
		dev->grh = t == RC_GRH;
		vt_connect_to(&end[t], peer, &opt);
	}
	if (t == ERROR)
		require(!vt_to_err(end[t].qp), "to ERR");
	printf("qp %s %u\n", target[t].name, end[t].qp->qp_num);
}

static void check(int t)
{
	bool may = t == RC || t == RC_GRH || t == UD;
	unsigned int n = 0;
	struct ibv_wc wc;

	vt_step("what %s has got", target[t].name);
	for (; vt_poll(end[t].cq, &wc, 0); n++) {
		size_t grh = target[t].ud ? GRH : 0;
		const uint8_t *p = rx[t].p + wc.wr_id * SLOT + grh;

		require(may, "something arrived");
		require(!wc.status, "status %s", ibv_wc_status_str(wc.status));
		require(wc.byte_len == grh + 8 * strlen(good), "%u bytes",
			wc.byte_len);
		for (int i = 0; i < 8; i++)
			require(!memcmp(p + i * strlen(good), good,
					strlen(good)), "it is not good");
	}
	require(!may || n, "nothing arrived");
	require(t == INIT || t == ERROR || vt_state(end[t].qp) == IBV_QPS_RTS,
		"state %d", vt_state(end[t].qp));
	vt_check_guards(&rx[t], target[t].name);
	printf("%s: %u good ones\n", target[t].name, n);
	vt_end_destroy(&end[t]);
	vt_free(&rx[t]);
}

int main(int argc, char **argv)
{
	struct vt_addr peer = {
		.qpn = PEER_QPN, .psn = PEER_PSN, .mtu = IBV_MTU_1024,
	};
	struct vt_dev *dev, *other;
	char line[64];

	if (argc != 4) {
		fprintf(stderr,
			"usage: vt_targets DEVICE PEER-LID OTHER-DEVICE\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	vt_watchdog(300);
	dev = vt_open_ib(argv[1]);
	other = vt_open_ib(argv[3]);
	peer.lid = vt_number(argv[2], 1, 0xbfff);
	peer.gid = dev->gid;
	peer.gid.global.interface_id = htobe64(PEER);
	for (int t = 0; t < TARGETS; t++)
		make(t, t == ELSEWHERE ? other : dev, &peer);
	printf("ready\n");
	require(fgets(line, sizeof(line), stdin), "nothing on stdin");
	for (int t = 0; t < TARGETS; t++)
		check(t);
	vt_close(dev);
	vt_close(other);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_mcast: multicast between two native InfiniBand ports on one cable.  What is
 * sent to a group reaches every queue pair that is attached to it, at both ends,
 * and no other; and a device has as many groups and members as it says.
 *
 *	vt_mcast DEVICE DEVICE2
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shca_test.h"

#define QKEY	0x44444444
#define GRH	40
#define LEN	256
#define MS	5000
#define MLID	0xc123
#define SLOT	(GRH + LEN)

enum { FROM, NEAR, FAR, OTHER, ENDS };

static struct vt_end end[ENDS];
static struct vt_buf tx, rx[ENDS];
static struct ibv_ah *ah;

static union ibv_gid group(uint32_t n)
{
	union ibv_gid gid = { .raw = { 0xff, 0x12, 0x12, 0x34 } };

	gid.raw[12] = n >> 24;
	gid.raw[13] = n >> 16;
	gid.raw[14] = n >> 8;
	gid.raw[15] = n;
	return gid;
}

static void attach(struct vt_end *e, uint32_t n)
{
	union ibv_gid gid = group(n);
	int rc = ibv_attach_mcast(e->qp, &gid, MLID);

	require(!rc, "attach_mcast: %s", strerror(rc));
}

static void detach(struct vt_end *e, uint32_t n)
{
	union ibv_gid gid = group(n);
	int rc = ibv_detach_mcast(e->qp, &gid, MLID);

	require(!rc, "detach_mcast: %s", strerror(rc));
}

/* Send to group 1; it must come to those of the mask of ends, and no others. */
static void reaches(unsigned int mask, uint64_t seed)
{
	struct ibv_sge sge = vt_sge(&tx, 0, LEN);
	union ibv_gid gid = group(1);
	struct ibv_wc wc;

	vt_fill(tx.p, LEN, seed, 0);
	vt_post_datagram(end[FROM].qp, &sge, ah, 0xffffff, QKEY);
	vt_wait(end[FROM].cq, MS, "send");
	for (int i = NEAR; i < ENDS; i++) {
		vt_step("group 1, mask %#x, end %d", mask, i);
		if (!(mask & 1u << i)) {
			vt_expect_none(end[i].cq, 50, "a packet of a group");
			continue;
		}
		wc = vt_wait(end[i].cq, MS, "receive");
		require(wc.byte_len == SLOT && wc.wc_flags & IBV_WC_GRH &&
			wc.src_qp == end[FROM].qp->qp_num,
			"%u bytes from QP %u", wc.byte_len, wc.src_qp);
		require(!memcmp(rx[i].p + 24, &gid, sizeof(gid)),
			"the DGID is not the group");
		vt_check(rx[i].p + GRH, LEN, seed, 0, "datagram");
		sge = vt_sge(&rx[i], 0, SLOT);
		vt_post_recv(end[i].qp, 1, &sge, 1);
	}
}

/* A group has as many members as the device says, and each gets the packet. */
static void crowd(struct vt_dev *dev)
{
	static struct vt_end e[512];
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = QKEY };
	struct ibv_sge from = vt_sge(&tx, 0, LEN), to = vt_sge(&rx[FAR], 0, SLOT);
	union ibv_gid gid = group(1);
	struct ibv_device_attr attr;
	int rc, n;

	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	n = attr.max_mcast_qp_attach;
	require(n > 0 && n < (int)ARRAY_SIZE(e), "%d members of a group", n);
	for (int i = 0; i <= n; i++) {
		vt_step("member %d of %d", i, n);
		vt_end_create(&e[i], dev, &opt);
		vt_post_recv(e[i].qp, 1, &to, 1);
		rc = ibv_attach_mcast(e[i].qp, &gid, MLID);
		require(rc == (i < n ? 0 : ENOMEM), "attach_mcast: %s",
			strerror(rc));
	}
	attach(&e[n], 2);		/* another group, of the same LID */
	vt_post_datagram(end[FROM].qp, &from, ah, 0xffffff, QKEY);
	vt_wait(end[FROM].cq, MS, "send");
	for (int i = 0; i < n; i++) {
		vt_step("member %d of %d", i, n);
		vt_wait(e[i].cq, MS, "receive");
	}
	vt_expect_none(e[n].cq, 50, "a packet of a group that was full");
	detach(&e[0], 1);
	attach(&e[n], 1);		/* one that leaves makes room for one */
	detach(&e[n], 1);
	detach(&e[n], 2);
	for (int i = 0; i <= n; i++) {
		if (i && i < n)
			detach(&e[i], 1);
		vt_end_destroy(&e[i]);
	}
	printf("%d members of one group\n", n);
}

/* Attach until it is refused, each queue pair to every group. */
static void limits(struct vt_dev *dev)
{
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = QKEY };
	struct vt_end e[64] = {};
	struct ibv_device_attr attr;
	long members = 0, groups = 0;
	union ibv_gid gid;
	size_t used = 0;
	int rc = 0;

	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	require(attr.max_mcast_grp > 0 && attr.max_total_mcast_qp_attach > 0,
		"no groups");
	for (; rc == 0 && used < ARRAY_SIZE(e); used++) {
		vt_end_create(&e[used], dev, &opt);
		for (groups = 0; groups <= attr.max_mcast_grp; groups++) {
			vt_step("queue pair %zu, group %ld", used, groups);
			gid = group(groups);
			rc = ibv_attach_mcast(e[used].qp, &gid,
					      0xc000 + groups % 0x3ff);
			if (rc)
				break;
			members++;
		}
		require(rc == ENOMEM, "group %ld: %s", groups, strerror(rc));
		if (groups == attr.max_mcast_grp)
			rc = 0;		/* as many as there are; the next one */
	}
	require(members == attr.max_total_mcast_qp_attach,
		"%ld members, not %d", members, attr.max_total_mcast_qp_attach);
	/* One that leaves makes room for one. */
	gid = group(0);
	rc = ibv_detach_mcast(e[0].qp, &gid, 0xc000);
	require(!rc, "detach_mcast: %s", strerror(rc));
	rc = ibv_attach_mcast(e[0].qp, &gid, 0xc000);
	require(!rc, "attach_mcast again: %s", strerror(rc));
	printf("%d groups, %ld members\n", attr.max_mcast_grp, members);
	for (size_t i = 0; i < used; i++) {
		for (long g = 0; g < attr.max_mcast_grp; g++) {
			gid = group(g);
			if (ibv_detach_mcast(e[i].qp, &gid, 0xc000 + g % 0x3ff))
				break;
		}
		vt_end_destroy(&e[i]);
	}
}

int main(int argc, char **argv)
{
	struct vt_opt opt = { .type = IBV_QPT_UD, .qkey = QKEY };
	struct ibv_ah_attr attr = {
		.port_num = 1,
		.dlid = MLID,
		.is_global = 1,
		.grh = { .dgid = group(1), .hop_limit = 1 },
	};
	struct vt_dev *dev[2];
	union ibv_gid gid = group(1);
	struct ibv_sge sge;

	if (argc != 3) {
		fprintf(stderr, "usage: vt_mcast DEVICE DEVICE2\n");
		return 2;
	}
	vt_watchdog(140);
	dev[0] = vt_open_ib(argv[1]);
	dev[1] = vt_open_ib(argv[2]);
	for (int i = 0; i < ENDS; i++) {
		struct vt_dev *d = dev[i >= FAR];

		vt_end_create(&end[i], d, &opt);
		rx[i] = vt_alloc(d->pd, SLOT, i, IBV_ACCESS_LOCAL_WRITE);
		sge = vt_sge(&rx[i], 0, SLOT);
		vt_post_recv(end[i].qp, 1, &sge, 1);
	}
	tx = vt_alloc(dev[0]->pd, LEN, 1, IBV_ACCESS_LOCAL_WRITE);
	ah = ibv_create_ah(dev[0]->pd, &attr);
	require(ah, "create_ah: %m");

	reaches(0, 1);
	attach(&end[FAR], 1);
	attach(&end[OTHER], 2);		/* another group of the same LID */
	reaches(1 << FAR, 2);
	attach(&end[OTHER], 1);
	reaches(1 << FAR | 1 << OTHER, 3);
	attach(&end[NEAR], 1);		/* on the sender's port */
	attach(&end[NEAR], 1);		/* a second time changes nothing */
	reaches(1 << FAR | 1 << OTHER | 1 << NEAR, 4);
	detach(&end[FAR], 1);
	reaches(1 << OTHER | 1 << NEAR, 5);
	require(ibv_detach_mcast(end[FAR].qp, &gid, MLID),
		"detached a second time");
	detach(&end[OTHER], 1);
	detach(&end[OTHER], 2);
	detach(&end[NEAR], 1);
	reaches(0, 6);
	crowd(dev[1]);
	limits(dev[1]);

	require(!ibv_destroy_ah(ah), "destroy_ah");
	vt_free(&tx);
	for (int i = 0; i < ENDS; i++) {
		vt_end_destroy(&end[i]);
		vt_check_guards(&rx[i], "receive buffer");
		vt_free(&rx[i]);
	}
	vt_close(dev[0]);
	vt_close(dev[1]);
	return 0;
}

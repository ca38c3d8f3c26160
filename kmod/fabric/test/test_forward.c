// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of a switch's forwarding in user space: by LID, by group, along the
 * path of a directed-route SMP, and what must not get through.
 */
#include <stdlib.h>

#include "../forward.h"
#include "../../wire/test/test.h"

#define PORTS	8

static struct shca_node_port port[PORTS + 1];
static u8 vl[8 * (PORTS + 1) * (PORTS + 1)], lft[SHCA_SWITCH_LFT];
static u64 mft[SHCA_SWITCH_MFT];
static struct shca_node sw = {
	.type = SHCA_NODE_SWITCH, .num_ports = PORTS, .port = port,
	.sl_to_vl = vl, .lft = lft, .mft = mft,
};

/* Ports 1 to 4 are ACTIVE, 5 ARMED, 6 INIT, the others DOWN; LID 3 */
static void reset(void)
{
	int i;

	shca_node_init(&sw);
	port[0].info.lid = cpu_to_be16(3);
	for (i = 1; i <= 6; i++) {
		shca_node_link(&sw, i, SHCA_NODE_LINK_UP);
		shca_pi_set_state(&port[i].info, i <= 4 ? 4 : i == 5 ? 3 : 2);
	}
	for (i = 1; i <= PORTS; i++)
		lft[10 + i] = i;
	sw.sw.linear_fdb_top = cpu_to_be16(0xbfff);
	lft[30] = PORTS + 1;
	lft[31] = 0;
	mft[2] = ~0ull;
}

static struct shca_fwd by_lid(u8 in, u8 lane, u16 dlid)
{
	struct shca_lrh l;

	shca_lrh_put(&l, lane, 0, false, dlid, 77, 24);
	return shca_forward(&sw, in, &l);
}

static bool dropped(struct shca_fwd f, enum shca_fwd_why why)
{
	return f.verdict == SHCA_FWD_DROP && f.why == why;
}

/* for want of the port that it would leave by; 0: not for that */
static bool not_open(struct shca_fwd f, u8 out)
{
	return dropped(f, SHCA_FWD_STATE) && f.ports == (out ? 1u << out : 0);
}

static bool goes(struct shca_fwd f, u64 ports)
{
	return f.verdict == SHCA_FWD_OUT && f.ports == ports;
}

static void test_unicast(void)
{
	CHECK(goes(by_lid(1, 0, 12), 1 << 2), "port 2");
	CHECK(goes(by_lid(0, 0, 12), 1 << 2), "from the switch");
	CHECK(goes(by_lid(5, 0, 11), 1 << 1), "from an ARMED port");
	CHECK(not_open(by_lid(6, 0, 11), 0), "from INIT");
	CHECK(not_open(by_lid(1, 0, 15), 5), "to ARMED");
	CHECK(dropped(by_lid(2, 0, 12), SHCA_FWD_NO_ROUTE), "back");
	CHECK(dropped(by_lid(1, 0, 99), SHCA_FWD_NO_ROUTE), "unknown LID");
	CHECK(dropped(by_lid(1, 0, 30), SHCA_FWD_NO_ROUTE), "no such port");
	CHECK(dropped(by_lid(1, 0, 31), SHCA_FWD_NO_ROUTE), "port 0");
	CHECK(dropped(by_lid(1, 0, 0), SHCA_FWD_NO_ROUTE), "LID 0");
	CHECK(dropped(by_lid(1, 0, 0xffff), SHCA_FWD_NO_ROUTE), "permissive");
	CHECK(by_lid(1, 0, 3).verdict == SHCA_FWD_LOCAL, "own LID");
	port[0].info.lid = 0;
	CHECK(dropped(by_lid(1, 0, 3), SHCA_FWD_NO_ROUTE), "no LID yet");
	CHECK(dropped(by_lid(1, 0, 0xbfff), SHCA_FWD_NO_ROUTE), "last LID");
	sw.sw.linear_fdb_top = cpu_to_be16(12);
	CHECK(goes(by_lid(1, 0, 12), 1 << 2), "the top of the table");
	CHECK(dropped(by_lid(1, 0, 13), SHCA_FWD_NO_ROUTE), "above it");
	CHECK(by_lid(1, 15, 3).verdict != SHCA_FWD_LOCAL, "no LID");
}

static void test_management(void)
{
	CHECK(dropped(by_lid(6, 15, 16), SHCA_FWD_NO_ROUTE), "back");
	CHECK(goes(by_lid(1, 15, 16), 1 << 6), "to INIT");
	CHECK(goes(by_lid(6, 15, 15), 1 << 5), "from INIT");
	CHECK(not_open(by_lid(1, 15, 17), 7), "to DOWN");
	CHECK(dropped(by_lid(1, 15, 0xc002), SHCA_FWD_VL15), "multicast");
	CHECK(by_lid(6, 15, 3).verdict == SHCA_FWD_LOCAL, "own LID");
	CHECK(by_lid(6, 15, 0xffff).verdict == SHCA_FWD_DIRECTED, "directed");
	/* A port that a Set took to DOWN answers it before the link goes. */
	shca_pi_set_state(&port[2].info, SHCA_PORT_DOWN);
	CHECK(goes(by_lid(1, 15, 12), 1 << 2), "set to DOWN");
	CHECK(not_open(by_lid(1, 0, 12), 2), "data to DOWN");
}

static void test_multicast(void)
{
	CHECK(goes(by_lid(1, 0, 0xc002), 0x1c), "ports 2 to 4");
	CHECK(goes(by_lid(0, 0, 0xc002), 0x1e), "from the switch");
	mft[2] = 1 << 1;
	CHECK(dropped(by_lid(1, 0, 0xc002), SHCA_FWD_NO_ROUTE), "only us");
	CHECK(dropped(by_lid(1, 0, 0xc400), SHCA_FWD_NO_ROUTE), "past the end");
	CHECK(dropped(by_lid(1, 0, 0xfffe), SHCA_FWD_NO_ROUTE), "the last");
}

static struct shca_smp smp;

static void path(u8 ptr, u8 cnt, bool back)
{
	memset(&smp, 0, sizeof(smp));
	smp.mgmt_class = 0x81;
	smp.hop_ptr = ptr;
	smp.hop_cnt = cnt;
	smp.status = cpu_to_be16(back ? 0x8000 : 0);
	smp.dr_slid = 0xffff;
	smp.dr_dlid = 0xffff;
	smp.initial_path[1] = 1;
	smp.initial_path[2] = 6;
	smp.initial_path[3] = 4;
	smp.return_path[1] = 2;
	smp.return_path[2] = 5;
}

static struct shca_fwd directed(u8 in, bool lid)
{
	return shca_forward_directed(&sw, in, lid, &smp);
}

static void test_outbound(void)
{
	path(1, 2, false);
	CHECK(goes(directed(3, false), 1 << 6), "transit");
	CHECK(smp.hop_ptr == 2 && smp.return_path[1] == 3, "path");
	path(2, 2, false);
	CHECK(directed(4, false).verdict == SHCA_FWD_LOCAL, "end");
	CHECK(smp.hop_ptr == 3 && smp.return_path[2] == 4, "path");
	/* The answer */
	smp.status |= cpu_to_be16(0x8000);
	CHECK(goes(directed(0, true), 1 << 4) && smp.hop_ptr == 2, "answer");
	path(2, 2, false);
	smp.dr_dlid = cpu_to_be16(14);
	CHECK(directed(4, false).verdict == SHCA_FWD_BY_LID, "then by LID");
	path(2, 2, false);
	smp.dr_dlid = cpu_to_be16(0xc002);
	CHECK(dropped(directed(4, false), SHCA_FWD_VL15), "by no unicast LID");
	path(0, 3, false);
	smp.dr_slid = cpu_to_be16(12);
	CHECK(goes(directed(4, true), 1 << 1) && smp.hop_ptr == 1, "first by LID");
	path(3, 2, false);
	smp.dr_dlid = cpu_to_be16(3);
	CHECK(directed(2, true).verdict == SHCA_FWD_LOCAL, "by LID to us");
	CHECK(smp.hop_ptr == 3, "the path is untouched");
	shca_pi_set_state(&port[2].info, SHCA_PORT_DOWN);
	path(3, 3, true);
	smp.return_path[2] = 2;
	CHECK(goes(directed(6, false), 1 << 2), "back by a port set to DOWN");
}

static void test_inbound(void)
{
	path(3, 3, true);
	CHECK(goes(directed(6, false), 1 << 5) && smp.hop_ptr == 2, "transit");
	CHECK(goes(directed(6, false), 1 << 2) && smp.hop_ptr == 1, "transit");
	CHECK(dropped(directed(6, false), SHCA_FWD_VL15), "nobody asked");
	path(1, 3, true);
	smp.dr_slid = cpu_to_be16(12);
	CHECK(directed(6, false).verdict == SHCA_FWD_BY_LID, "on by LID");
}

static void test_bad_paths(void)
{
	static const struct { u8 ptr, cnt; bool back, lid; } bad[] = {
		{ 0, 3, false, false }, { 4, 3, false, false },
		{ 255, 3, false, false }, { 1, 64, false, false },
		{ 64, 64, false, false }, { 255, 255, false, false },
		{ 0, 0, false, false }, { 1, 3, false, true },
		{ 0, 0, false, true }, { 0, 3, true, false },
		{ 4, 3, true, false }, { 65, 64, true, true },
		{ 255, 254, true, true }, { 0, 0, true, true },
		{ 1, 0, true, true }, { 5, 3, true, true },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		path(bad[i].ptr, bad[i].cnt, bad[i].back);
		CHECK(dropped(directed(1, bad[i].lid), SHCA_FWD_VL15), "%d/%d",
		      bad[i].ptr, bad[i].cnt);
	}
	path(1, 2, false);
	smp.initial_path[2] = 0;
	CHECK(dropped(directed(1, false), SHCA_FWD_VL15), "out by port 0");
	path(1, 2, false);
	smp.initial_path[2] = PORTS + 1;
	CHECK(dropped(directed(1, false), SHCA_FWD_VL15), "no such port");
	path(1, 2, false);
	smp.initial_path[2] = 255;
	CHECK(dropped(directed(1, false), SHCA_FWD_VL15), "no such port");
	path(1, 2, false);
	smp.initial_path[2] = 7;
	CHECK(not_open(directed(1, false), 7), "port is DOWN");
	path(2, 2, false);
	smp.mgmt_class = 0x01;
	CHECK(dropped(directed(1, false), SHCA_FWD_VL15), "class");
}

/* Out of bounds would be found by the sanitizer. */
static void test_random(void)
{
	u8 *p = (u8 *)&smp;
	u64 sum = 0;
	int i, j;

	srandom(1);
	for (i = 0; i < 200000; i++) {
		struct shca_fwd f;

		for (j = 0; j < 256; j++)
			p[j] = random();
		smp.mgmt_class = 0x81;
		smp.hop_ptr = random() % 68;
		smp.hop_cnt = random() % 68;
		f = directed(random() % (PORTS + 1), random() & 1);
		if (f.verdict == SHCA_FWD_OUT &&
		    (!f.ports || f.ports & ~0x1feull))
			break;
		f = by_lid(random() % (PORTS + 1), random() & 15, random());
		if (f.verdict == SHCA_FWD_OUT &&
		    (!f.ports || f.ports & ~0x1feull))
			break;
		sum += f.ports;
	}
	CHECK(i == 200000 && sum, "round %d", i);
}

int main(void)
{
	static void (*const test[])(void) = {
		test_unicast, test_management, test_multicast, test_outbound,
		test_inbound, test_bad_paths, test_random,
	};
	size_t i;

	for (i = 0; i < sizeof(test) / sizeof(test[0]); i++) {
		reset();
		test[i]();
	}
	return test_end();
}

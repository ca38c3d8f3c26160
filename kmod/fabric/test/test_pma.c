// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of the performance agent in user space.  Offsets into the MADs are
 * written out here as the specification has them, not taken from mad.h.
 */
#include "../pma_mad.h"
#include "../../wire/test/test.h"

#define PORT	1

#define SW_PORTS 3	/* 0..2 of a switch */

static struct shca_pma_values now, base;
static u8 in[256], out[256];

static void request(u8 method, u16 attr, u8 port, u16 select)
{
	memset(in, 0, sizeof(in));
	memset(out, 0xee, sizeof(out));
	in[0] = 1;		/* BaseVersion */
	in[1] = 4;		/* MgmtClass: performance */
	in[2] = 1;		/* ClassVersion */
	in[3] = method;
	in[15] = 0x77;		/* of the transaction ID */
	in[16] = attr >> 8;
	in[17] = attr;
	in[65] = port;		/* PortSelect; nothing in ClassPortInfo */
	in[66] = select >> 8;
	in[67] = select;
}

static enum shca_mad_result run(void)
{
	const struct shca_pma_ports ports = {
		.first = PORT, .count = 1, .now = &now, .base = &base,
	};

	return shca_pma_mad((void *)in, (void *)out, &ports);
}

static u64 field(int at, int bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | out[at++];
	return v;
}

static void check_reply(u16 status, const char *what)
{
	CHECK(run() == SHCA_MAD_REPLY, "%s", what);
	CHECK(out[3] == 0x81, "%s: method %#x", what, out[3]);
	CHECK(field(4, 2) == status, "%s: status %#x", what,
	      (unsigned int)field(4, 2));
	CHECK(out[0] == in[0] && out[1] == 4 && out[15] == 0x77 &&
	      out[16] == in[16] && out[17] == in[17], "%s", what);
}

static void set_now(void)
{
	now = (struct shca_pma_values) { .v = {
		[SHCA_PMA_XMIT_DATA] = 1000, [SHCA_PMA_RCV_DATA] = 2000,
		[SHCA_PMA_UNI_XMIT] = 30, [SHCA_PMA_UNI_RCV] = 40,
		[SHCA_PMA_RCV_ERRORS] = 5, [SHCA_PMA_XMIT_DISCARDS] = 6,
	} };
	memset(&base, 0, sizeof(base));
}

static void test_not_ours(void)
{
	static const u8 method[] = { 0x03, 0x05, 0x06, 0x81, 0x86, 0x00, 0xff };
	static const u8 class[] = { 0x01, 0x81, 0x03, 0x07, 0x32 };
	size_t i;

	for (i = 0; i < sizeof(method); i++) {
		request(method[i], 0x0012, PORT, 0);
		CHECK(run() == SHCA_MAD_NOT_OURS, "method %#x", method[i]);
		CHECK(out[0] == 0xee, "method %#x: wrote a reply", method[i]);
	}
	for (i = 0; i < sizeof(class); i++) {
		request(0x01, 0x0012, PORT, 0);
		in[1] = class[i];
		CHECK(run() == SHCA_MAD_NOT_OURS, "class %#x", class[i]);
	}
	request(0x07, 0x0002, PORT, 0);
	CHECK(run() == SHCA_MAD_CONSUMED, "TrapRepress");
}

static void test_refused(void)
{
	set_now();
	request(0x01, 0x0013, PORT, 0);
	check_reply(0x0c, "unknown attribute");
	request(0x02, 0x0001, PORT, 0);
	check_reply(0x0c, "Set of ClassPortInfo");
	request(0x01, 0x0012, 2, 0);
	check_reply(0x1c, "other port");
	request(0x01, 0x001d, 0xff, 0);
	check_reply(0x1c, "all ports");
	request(0x02, 0x0012, 0, 0xffff);
	check_reply(0x1c, "Set of port 0");
	CHECK(!base.v[SHCA_PMA_XMIT_DATA], "cleared though refused");
	request(0x01, 0x0012, PORT, 0);
	in[0] = 2;
	check_reply(0x04, "base version");
	request(0x01, 0x0012, PORT, 0);
	in[2] = 2;
	check_reply(0x04, "class version");
}

static void test_class_port_info(void)
{
	request(0x01, 0x0001, 0, 0);
	check_reply(0, "ClassPortInfo");
	CHECK(out[64] == 1 && out[65] == 1, "versions");
	CHECK(field(66, 2) == 0x0200, "CapabilityMask");
}

static void test_counters(void)
{
	set_now();
	request(0x01, 0x0012, PORT, 0xffff);
	check_reply(0, "Get PortCounters");
	CHECK(out[65] == PORT, "PortSelect");
	CHECK(field(72, 2) == 5, "PortRcvErrors");
	CHECK(field(78, 2) == 6, "PortXmitDiscards");
	CHECK(field(88, 4) == 1000, "PortXmitData");
	CHECK(field(92, 4) == 2000, "PortRcvData");
	CHECK(field(96, 4) == 30, "PortXmitPkts");
	CHECK(field(100, 4) == 40, "PortRcvPkts");
	CHECK(!base.v[SHCA_PMA_XMIT_DATA], "Get cleared");

	now.v[SHCA_PMA_XMIT_DATA] = 0x100000000ull;
	now.v[SHCA_PMA_UNI_RCV] = 0xffffffffull;
	now.v[SHCA_PMA_RCV_ERRORS] = 0x10000;
	request(0x01, 0x0012, PORT, 0);
	check_reply(0, "Get PortCounters");
	CHECK(field(88, 4) == 0xffffffff, "saturated");
	CHECK(field(100, 4) == 0xffffffff, "just fits");
	CHECK(field(72, 2) == 0xffff, "saturated");
}

static void test_clear(void)
{
	set_now();
	request(0x02, 0x0012, PORT, 0x1008);	/* PortXmitData, PortRcvErrors */
	check_reply(0, "Set PortCounters");
	CHECK(field(88, 4) == 0, "PortXmitData");
	CHECK(field(72, 2) == 0, "PortRcvErrors");
	CHECK(field(92, 4) == 2000, "PortRcvData");
	CHECK(field(78, 2) == 6, "PortXmitDiscards");

	now.v[SHCA_PMA_XMIT_DATA] += 7;
	request(0x01, 0x001d, PORT, 0);
	check_reply(0, "Get PortCountersExtended");
	CHECK(field(72, 8) == 7, "PortXmitData since the clear");
	CHECK(field(80, 8) == 2000, "PortRcvData");
	CHECK(field(88, 8) == 30, "PortXmitPkts");
	CHECK(field(96, 8) == 40, "PortRcvPkts");
	CHECK(field(104, 8) == 30, "PortUnicastXmitPkts");
	CHECK(field(112, 8) == 40, "PortUnicastRcvPkts");
	CHECK(field(120, 8) == 0 && field(128, 8) == 0, "multicast");

	now.v[SHCA_PMA_RCV_DATA] = 0x123456789abcull;
	request(0x02, 0x001d, PORT, 0x0004);	/* PortXmitPkts */
	check_reply(0, "Set PortCountersExtended");
	CHECK(field(88, 8) == 0, "PortXmitPkts");
	CHECK(field(80, 8) == 0x123456789abcull, "64 bits");
}

static void test_multicast(void)
{
	set_now();
	now.v[SHCA_PMA_MULTI_XMIT] = 3;
	now.v[SHCA_PMA_MULTI_RCV] = 4;
	request(0x01, 0x0012, PORT, 0);
	check_reply(0, "Get PortCounters");
	CHECK(field(96, 4) == 33 && field(100, 4) == 44, "all packets");
	request(0x02, 0x001d, PORT, 0x0080);	/* PortMulticastRcvPkts */
	check_reply(0, "Set PortCountersExtended");
	CHECK(field(88, 8) == 33 && field(96, 8) == 40, "all packets");
	CHECK(field(104, 8) == 30 && field(112, 8) == 40, "unicast");
	CHECK(field(120, 8) == 3 && field(128, 8) == 0, "multicast");
}

/*
 * A packet counts among all before it counts as multicast.  One in between when
 * the counters are cleared is unicast for a moment, and then one less.
 */
static void test_less_than_base(void)
{
	set_now();
	now.v[SHCA_PMA_UNI_RCV] = 41;
	request(0x02, 0x001d, PORT, 0xffff);
	check_reply(0, "Set PortCountersExtended");
	now.v[SHCA_PMA_UNI_RCV] = 40;
	now.v[SHCA_PMA_MULTI_RCV] = 1;
	request(0x01, 0x001d, PORT, 0);
	check_reply(0, "Get PortCountersExtended");
	CHECK(field(112, 8) == 0 && field(128, 8) == 1, "unicast, multicast");
	CHECK(field(96, 8) == 1, "all packets");
	now.v[SHCA_PMA_UNI_RCV] = 43;
	check_reply(0, "Get PortCountersExtended");
	CHECK(field(112, 8) == 2, "unicast");
}

/* A switch has many ports, and the sum of them. */
static void test_switch(void)
{
	static struct shca_pma_values sw_now[SW_PORTS], sw_base[SW_PORTS];
	const struct shca_pma_ports ports = {
		.first = 0, .count = SW_PORTS, .sums = true,
		.now = sw_now, .base = sw_base,
	};
	int i;

	for (i = 0; i < SW_PORTS; i++) {
		sw_now[i].v[SHCA_PMA_XMIT_DATA] = 100 + i;
		sw_now[i].v[SHCA_PMA_RELAY_ERRORS] = 1 + i;
		sw_now[i].v[SHCA_PMA_VL15_DROPPED] = 7;
		sw_now[i].v[SHCA_PMA_LINK_DOWNED] = 200;
	}
	request(0x01, 0x0001, 0, 0);
	shca_pma_mad((void *)in, (void *)out, &ports);
	CHECK(field(66, 2) == 0x0300, "CapabilityMask");

	request(0x01, 0x0012, 2, 0);
	shca_pma_mad((void *)in, (void *)out, &ports);
	CHECK(field(4, 2) == 0 && field(88, 4) == 102, "port 2");
	CHECK(field(76, 2) == 3, "PortRcvSwitchRelayErrors");
	CHECK(field(86, 2) == 7, "VL15Dropped");
	CHECK(out[71] == 200, "LinkDownedCounter");

	request(0x01, 0x0012, 3, 0);
	shca_pma_mad((void *)in, (void *)out, &ports);
	CHECK(field(4, 2) == 0x1c, "no such port");

	request(0x02, 0x0012, 1, 0x1020);
	shca_pma_mad((void *)in, (void *)out, &ports);
	request(0x01, 0x0012, 0xff, 0);
	shca_pma_mad((void *)in, (void *)out, &ports);
	CHECK(field(88, 4) == 202 && field(76, 2) == 4, "sum, less port 1");
	CHECK(out[71] == 0xff && out[65] == 0xff, "saturated");
}

int main(void)
{
	test_not_ours();
	test_refused();
	test_class_port_info();
	test_counters();
	test_clear();
	test_multicast();
	test_less_than_base();
	test_switch();
	return test_end();
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of the subnet management agent in user space.  Offsets into the SMPs
 * are written out here as the specification has them, not taken from smp.h.
 */
#include <stdlib.h>

#include "../sma_mad.h"
#include "../../wire/test/test.h"

#define GUID	0x1253484300000001ull
#define KEY	0x1122334455667788ull

static struct shca_node_port ca_port[2], sw_port[21];
static u8 ca_vl[8 * 2], sw_vl[8 * 21 * 21], lft[SHCA_SWITCH_LFT];
static u64 mft[SHCA_SWITCH_MFT];
static struct shca_node ca = {
	.type = SHCA_NODE_CA, .num_ports = 1, .port = ca_port,
	.sl_to_vl = ca_vl, .desc = "an adapter",
}, sw = {
	.type = SHCA_NODE_SWITCH, .num_ports = 20, .port = sw_port,
	.sl_to_vl = sw_vl, .lft = lft, .mft = mft, .desc = "a switch",
};
static u8 in[256], out[256];
static struct shca_sma_call call;
static u64 now;

static void put(u8 *at, int bytes, u64 v)
{
	while (bytes--) {
		at[bytes] = v;
		v >>= 8;
	}
}

static u64 get(const u8 *at, int bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | *at++;
	return v;
}

static void reset(void)
{
	ca.guid = cpu_to_be64(GUID);
	sw.guid = cpu_to_be64(GUID + 0x100);
	shca_node_init(&ca);
	shca_node_init(&sw);
	shca_node_link(&ca, 1, SHCA_NODE_LINK_UP);
}

static void request(u8 method, u16 attr, u32 mod)
{
	memset(in, 0, sizeof(in));
	memset(out, 0xee, sizeof(out));
	in[0] = 1;
	in[1] = 0x81;
	in[2] = 1;
	in[3] = method;
	put(in + 8, 8, 0x77);
	put(in + 16, 2, attr);
	put(in + 20, 4, mod);
}

static enum shca_mad_result run(struct shca_node *n, u8 port)
{
	call = (struct shca_sma_call) {
		.in = (void *)in, .out = (void *)out, .port = port, .now = now,
	};
	return shca_sma_mad(n, &call);
}

static void check_reply(struct shca_node *n, u8 port, u16 status,
			const char *what)
{
	enum shca_mad_result r = run(n, port);

	CHECK(r == SHCA_MAD_REPLY, "%s: %d", what, r);
	CHECK(out[3] == 0x81, "%s: method %#x", what, out[3]);
	CHECK(get(out + 4, 2) == (0x8000u | status), "%s: status %#x", what,
	      (unsigned int)get(out + 4, 2));
	CHECK(!memcmp(in + 6, out + 6, 18), "%s: header", what);
}

/* A Set(PortInfo) that a SM would send: it begins as what is there. */
static void port_info(u8 port, struct shca_node *n)
{
	request(0x02, 0x0015, port);
	memcpy(in + 64, &n->port[port].info, 64);
	put(in + 64 + 16, 2, 5);	/* LID */
	put(in + 64 + 18, 2, 1);	/* MasterSMLID */
	in[64 + 32] &= 0xf0;		/* PortState: no change */
	in[64 + 33] = 0;		/* PortPhysicalState, LinkDownDefault */
}

static void test_not_ours(void)
{
	static const u8 method[] = { 0x03, 0x05, 0x06, 0x81, 0x86, 0x00, 0xff };
	static const u8 class[] = { 0x03, 0x04, 0x07, 0x32, 0x80 };
	size_t i;

	for (i = 0; i < sizeof(method); i++) {
		request(method[i], 0x0011, 0);
		CHECK(run(&ca, 1) == SHCA_MAD_NOT_OURS, "method %#x",
		      method[i]);
		CHECK(out[0] == 0xee, "wrote a reply");
	}
	for (i = 0; i < sizeof(class); i++) {
		request(0x01, 0x0011, 0);
		in[1] = class[i];
		CHECK(run(&ca, 1) == SHCA_MAD_NOT_OURS, "class %#x", class[i]);
	}
	request(0x07, 0x0002, 0);
	CHECK(run(&ca, 1) == SHCA_MAD_CONSUMED, "TrapRepress");
	request(0x01, 0x0020, 0);
	check_reply(&ca, 1, 0x0c, "SMInfo without a SM");
	ca_port[1].info.cap_mask |= cpu_to_be32(0x2);
	CHECK(run(&ca, 1) == SHCA_MAD_NOT_OURS, "SMInfo with a SM");
	request(0x01, 0x0011, 0);
	CHECK(run(&ca, 0) == SHCA_MAD_CONSUMED, "port 0 of a CA");
	CHECK(run(&ca, 2) == SHCA_MAD_CONSUMED, "no such port");
	CHECK(run(&sw, 21) == SHCA_MAD_CONSUMED, "no such port");
}

static void test_refused(void)
{
	static const struct { u8 method; u16 attr; u32 mod; u16 status; } t[] = {
		{ 0x02, 0x0010, 0, 0x0c }, { 0x02, 0x0011, 0, 0x0c },
		{ 0x01, 0x0013, 0, 0x0c }, { 0x01, 0x0012, 0, 0x0c },
		{ 0x01, 0x0019, 0, 0x0c }, { 0x01, 0x001b, 0, 0x0c },
		{ 0x01, 0xffff, 0, 0x0c }, { 0x01, 0x0014, 1, 0x1c },
		{ 0x01, 0x0015, 2, 0x1c }, { 0x01, 0x0015, 0x101, 0x1c },
		{ 0x01, 0x0016, 1, 0x1c }, { 0x01, 0x0016, 0x20000, 0x1c },
		{ 0x01, 0x0018, 0, 0x1c }, { 0x01, 0x0018, 0x20000, 0x1c },
		{ 0x01, 0x0018, 0x50000, 0x1c },
	}, s[] = {
		{ 0x01, 0x0015, 21, 0x1c }, { 0x01, 0x0016, 0x10000, 0x1c },
		{ 0x01, 0x0017, 0x1500, 0x1c }, { 0x01, 0x0017, 0x15, 0x1c },
		{ 0x01, 0x0017, 0x10000, 0x1c }, { 0x01, 0x0018, 0x10015, 0x1c },
		{ 0x02, 0x0019, 768, 0x1c }, { 0x02, 0x0019, ~0u, 0x1c },
		{ 0x02, 0x001b, 32, 0x1c }, { 0x02, 0x001b, 0x20000000, 0x1c },
		{ 0x02, 0x001b, 0xf0000000, 0x1c }, { 0x02, 0x001b, 0x200, 0x1c },
	};
	size_t i;
	char what[32];

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(what, sizeof(what), "CA %#x %#x", t[i].attr, t[i].mod);
		request(t[i].method, t[i].attr, t[i].mod);
		check_reply(&ca, 1, t[i].status, what);
	}
	for (i = 0; i < sizeof(s) / sizeof(s[0]); i++) {
		snprintf(what, sizeof(what), "SW %#x %#x", s[i].attr, s[i].mod);
		request(s[i].method, s[i].attr, s[i].mod);
		check_reply(&sw, 3, s[i].status, what);
	}
	request(0x01, 0x0011, 0);
	in[0] = 2;
	check_reply(&ca, 1, 0x04, "base version");
	request(0x01, 0x0011, 0);
	in[2] = 2;
	check_reply(&ca, 1, 0x04, "class version");
}

static void test_node(void)
{
	request(0x01, 0x0010, 0);
	check_reply(&ca, 1, 0, "NodeDescription");
	CHECK(!strcmp((char *)out + 64, "an adapter"), "text");
	request(0x01, 0x0011, 0);
	check_reply(&ca, 1, 0, "NodeInfo");
	CHECK(out[64] == 1 && out[65] == 1 && out[66] == 1 && out[67] == 1,
	      "versions, type, ports");
	CHECK(get(out + 76, 8) == GUID && get(out + 84, 8) == GUID, "GUIDs");
	CHECK(get(out + 92, 2) == 32 && out[100] == 1, "PartitionCap, port");
	request(0x01, 0x0011, 0);
	check_reply(&sw, 17, 0, "NodeInfo of a switch");
	CHECK(out[66] == 2 && out[67] == 20 && out[100] == 17,
	      "type, ports, LocalPortNum");
	request(0x01, 0x0014, 0);
	check_reply(&ca, 1, 0, "GUIDInfo");
	CHECK(get(out + 64, 8) == GUID && !get(out + 72, 8), "GUIDs");
	request(0x02, 0x0014, 0);
	put(in + 64, 8, 99);
	check_reply(&ca, 1, 0, "Set GUIDInfo");
	CHECK(get(out + 64, 8) == GUID, "GUID 0 stays");
}

static void test_tables(void)
{
	int i;

	request(0x01, 0x0016, 0);
	check_reply(&ca, 1, 0, "P_KeyTable");
	CHECK(get(out + 64, 2) == 0xffff && !get(out + 66, 2), "default");
	request(0x02, 0x0016, 0);
	put(in + 64, 2, 0x7fff);
	put(in + 66, 2, 0x8001);
	check_reply(&ca, 1, 0, "Set P_KeyTable");
	CHECK(call.changed == SHCA_SMA_PKEY, "changed");
	CHECK(get(out + 66, 2) == 0x8001, "reply");
	check_reply(&ca, 1, 0, "again");
	CHECK(!call.changed, "the same is no change");

	request(0x01, 0x0017, 0);
	check_reply(&ca, 1, 0, "SLtoVL");
	CHECK(get(out + 64, 8) == 0x0123456701234567ull, "default");
	request(0x02, 0x0017, 0x0a14);
	for (i = 0; i < 8; i++)
		in[64 + i] = 0x30 + i;
	check_reply(&sw, 1, 0, "Set SLtoVL");
	CHECK(shca_node_vl(&sw, 10, 20, 4) == 3, "SL 4");
	CHECK(shca_node_vl(&sw, 10, 20, 5) == 2, "SL 5");
	CHECK(shca_node_vl(&sw, 11, 20, 5) == 5, "another way in");
	sw_port[20].info.op_vls = 1 << 4;
	CHECK(shca_node_vl(&sw, 10, 20, 5) == 15, "VL not operational");

	request(0x02, 0x0018, 0x30000);
	in[64] = 9;
	check_reply(&ca, 1, 0, "Set VLArb high");
	request(0x01, 0x0018, 0x10000);
	check_reply(&ca, 1, 0, "VLArb low");
	CHECK(!out[64], "is another table");
	request(0x01, 0x0018, 0x30001);
	check_reply(&ca, 1, 0, "VLArb high");
	CHECK(out[64] == 9, "kept");
}

static void test_port_info(void)
{
	request(0x01, 0x0015, 0);
	check_reply(&ca, 1, 0, "PortInfo");
	CHECK(get(out + 72, 8) == 0xfe80000000000000ull, "GidPrefix");
	CHECK(get(out + 84, 4) == 0x06400848, "CapabilityMask");
	CHECK(out[92] == 1 && out[93] == 3 && out[94] == 3 && out[95] == 2,
	      "port, width");
	CHECK(out[96] == 0x12 && out[97] == 0x52, "INIT, LinkUp");
	CHECK(out[100] >> 4 == 5 && (out[105] & 15) == 5, "MTU");
	CHECK(out[101] >> 4 == 4 && out[107] >> 4 == 4, "VLs");
	CHECK(out[114] == 1, "GUIDCap");
	request(0x01, 0x0002, 0);
	check_reply(&ca, 1, 0x0c, "Notice, which bit 2 would claim");
	request(0x01, 0x0015, 0x80000001);
	check_reply(&ca, 1, 0, "PortInfo, extended speeds");

	port_info(1, &ca);
	put(in + 64 + 8, 8, 0xfe80000000000099ull);
	in[64 + 34] = 2;		/* LMC: needs an aligned LID */
	check_reply(&ca, 1, 0x1c, "LID not aligned");
	CHECK(!call.changed && get((u8 *)&ca_port[1].info + 8, 8) ==
	      0xfe80000000000000ull, "nothing was changed");
	put(in + 64 + 16, 2, 8);
	in[64 + 36] = 4 << 4 | 3;	/* NeighborMTU 2048, SMSL 3 */
	in[64 + 51] = 0x80 | 18;	/* ClientReregister */
	check_reply(&ca, 1, 0, "Set PortInfo");
	CHECK(call.changed == (SHCA_SMA_LID | SHCA_SMA_SM | SHCA_SMA_PREFIX |
	      SHCA_SMA_REREGISTER | SHCA_SMA_MTU | SHCA_SMA_TIMEOUT), "%#x", call.changed);
	CHECK(out[64 + 51] == (0x80 | 18), "ClientReregister is echoed");
	CHECK(shca_node_has_lid(&ca_port[1], 11) &&
	      !shca_node_has_lid(&ca_port[1], 12) &&
	      !shca_node_has_lid(&ca_port[1], 7), "LIDs 8..11");
	request(0x01, 0x0015, 1);
	check_reply(&ca, 1, 0, "PortInfo");
	CHECK(out[64 + 51] == 18 && get(out + 80, 2) == 8, "kept");
	CHECK(out[100] == 0x43, "NeighborMTU, SMSL");
}

static void test_bad_port_info(void)
{
	static const struct { u8 at, v; const char *what; } bad[] = {
		{ 17, 0, "LID 0" }, { 16, 0xc0, "multicast LID" },
		{ 18, 0xff, "multicast SM LID" }, { 19, 0, "SM LID 0" },
		{ 29, 4, "8x" }, { 35, 2, "DDR" }, { 36, 6 << 4, "MTU 8192" },
		{ 43, 5 << 4, "VLs" }, { 33, 3, "LinkDownDefault" },
		{ 32, 0x12, "to INIT" }, { 32, 0x15, "to 5" },
		{ 32, 0x14, "ACTIVE from INIT" }, { 33, 0x10, "Sleep" },
		{ 33, 0x50, "LinkUp" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		reset();
		port_info(1, &ca);
		in[64 + bad[i].at] = bad[i].v;
		check_reply(&ca, 1, 0x1c, bad[i].what);
		CHECK(!shca_pi_lid(&ca_port[1].info), "%s: applied",
		      bad[i].what);
	}
}

static u8 set_state(struct shca_node *n, u8 port, u8 state, u8 phys)
{
	port_info(port, n);
	in[64 + 32] = state;
	in[64 + 33] = phys << 4;
	run(n, 1);
	return get(out + 4, 2) & 0x7fff;
}

static void test_state(void)
{
	CHECK(set_state(&ca, 1, 3, 0) == 0, "INIT to ARMED");
	CHECK(call.changed & SHCA_SMA_STATE && call.was == 2, "told");
	CHECK(set_state(&ca, 1, 3, 2) == 0x1c, "ARMED with a physical state");
	CHECK(set_state(&ca, 1, 4, 0) == 0, "ARMED to ACTIVE");
	CHECK(set_state(&ca, 1, 4, 0) == 0 && !(call.changed & SHCA_SMA_STATE),
	      "ACTIVE stays");
	CHECK(set_state(&ca, 1, 3, 0) == 0x1c, "ACTIVE to ARMED");
	CHECK(set_state(&ca, 1, 1, 0) == 0 && call.was == 4 &&
	      call.changed & SHCA_SMA_BOUNCE, "to DOWN");
	CHECK(shca_pi_state(&ca_port[1].info) == 1, "is DOWN");
	CHECK(set_state(&ca, 1, 3, 0) == 0x1c, "DOWN to ARMED");
	CHECK(set_state(&ca, 1, 1, 3) == 0 && call.changed & SHCA_SMA_DISABLE,
	      "disable");
	CHECK(set_state(&ca, 1, 0, 2) == 0 && call.changed & SHCA_SMA_ENABLE,
	      "enable");
	CHECK(shca_node_link(&ca, 1, SHCA_NODE_LINK_UP) == 1, "was DOWN");
	CHECK(shca_pi_state(&ca_port[1].info) == 2 &&
	      shca_pi_lid(&ca_port[1].info) == 5, "INIT, and keeps its LID");
}

static void test_m_key(void)
{
	struct shca_node_port *p = &ca_port[1];

	p->info.m_key = cpu_to_be64(KEY);
	p->info.m_key_lease = cpu_to_be16(10);
	now = 1000;
	request(0x01, 0x0015, 1);
	check_reply(&ca, 1, 0, "protection 0: Get");
	CHECK(get(out + 64, 8) == KEY, "shows the key");
	port_info(1, &ca);
	CHECK(run(&ca, 1) == SHCA_MAD_CONSUMED, "protection 0: Set");
	CHECK(call.changed == SHCA_SMA_BAD_M_KEY, "trap");
	CHECK(be16_to_cpu(p->info.m_key_violations) == 1, "counted");

	p->info.prot_lmc = 1 << 6;
	request(0x01, 0x0015, 1);
	check_reply(&ca, 1, 0, "protection 1: Get");
	CHECK(get(out + 64, 8) == 0, "hides the key");
	put(in + 24, 8, KEY);
	check_reply(&ca, 1, 0, "with the key");
	CHECK(get(out + 64, 8) == KEY && !p->lease_runs, "lease stops");

	p->info.prot_lmc = 2 << 6;
	request(0x01, 0x0011, 1);
	CHECK(run(&ca, 1) == SHCA_MAD_CONSUMED, "protection 2: Get");
	request(0x07, 0x0002, 0);
	CHECK(run(&ca, 1) == SHCA_MAD_CONSUMED, "TrapRepress");
	CHECK(be16_to_cpu(p->info.m_key_violations) == 3, "counted");
	now += 9;
	request(0x01, 0x0011, 1);
	CHECK(run(&ca, 1) == SHCA_MAD_CONSUMED, "before the lease ends");
	now += 1;
	check_reply(&ca, 1, 0, "after the lease");

	p->info.prot_lmc = 3 << 6;
	call = (struct shca_sma_call) {
		.in = (void *)in, .out = (void *)out, .port = 1,
		.trusted = true,
	};
	CHECK(shca_sma_mad(&ca, &call) == SHCA_MAD_REPLY, "trusted");
	p->info.m_key_violations = cpu_to_be16(0xffff);
	request(0x02, 0x0016, 0);
	CHECK(run(&ca, 1) == SHCA_MAD_CONSUMED, "Set");
	CHECK(be16_to_cpu(p->info.m_key_violations) == 0xffff, "saturated");
}

static void test_switch(void)
{
	request(0x01, 0x0012, 0);
	check_reply(&sw, 1, 0, "SwitchInfo");
	CHECK(get(out + 64, 2) == 49152 && get(out + 68, 2) == 1024, "caps");
	CHECK(!(out[75] & 4), "PortStateChange");
	shca_node_link(&sw, 7, SHCA_NODE_LINK_UP);
	check_reply(&sw, 1, 0, "SwitchInfo");
	CHECK(out[75] & 4, "PortStateChange");
	request(0x02, 0x0012, 0);
	put(in + 70, 2, 77);
	in[75] = 5 << 3;
	check_reply(&sw, 1, 0, "Set SwitchInfo");
	CHECK(out[75] == (5 << 3 | 4), "not cleared by a zero");
	in[75] |= 4;
	check_reply(&sw, 1, 0, "Set SwitchInfo");
	CHECK(out[75] == 5 << 3 && get(out + 70, 2) == 77, "cleared by a one");

	/* A link that changes after it was asked for is not cleared with others. */
	shca_node_link(&sw, 7, SHCA_NODE_LINK_DOWN);
	request(0x01, 0x0012, 0);
	check_reply(&sw, 1, 0, "SwitchInfo");
	shca_node_link(&sw, 7, SHCA_NODE_LINK_UP);
	request(0x02, 0x0012, 0);
	put(in + 70, 2, 77);
	in[75] = 5 << 3 | 4;
	check_reply(&sw, 1, 0, "Set SwitchInfo");
	CHECK(out[75] == (5 << 3 | 4), "cleared unseen");
	check_reply(&sw, 1, 0, "again");
	CHECK(out[75] == (5 << 3 | 4), "the answer to a Set is no report");
	request(0x01, 0x0012, 0);
	check_reply(&sw, 1, 0, "SwitchInfo");
	CHECK(out[75] == (5 << 3 | 4), "is reported");
	request(0x02, 0x0012, 0);
	put(in + 70, 2, 77);
	in[75] = 5 << 3 | 4;
	check_reply(&sw, 1, 0, "Set SwitchInfo");
	CHECK(out[75] == 5 << 3, "cleared once it was seen");
	put(in + 70, 2, 49152);
	check_reply(&sw, 1, 0x1c, "LinearFDBTop");
	request(0x02, 0x0012, 1);
	check_reply(&sw, 1, 0x1c, "Set SwitchInfo with a modifier");
	CHECK(sw.sw.linear_fdb_top == cpu_to_be16(77), "nothing was changed");

	request(0x02, 0x0019, 767);
	memset(in + 64, 9, 64);
	check_reply(&sw, 1, 0, "Set LFT");
	CHECK(lft[49151] == 9 && lft[49152 - 65] == 255, "the last block");

	request(0x02, 0x001b, 0x10000000 | 31);
	put(in + 64 + 62, 2, 0xffff);
	check_reply(&sw, 1, 0, "Set MFT");
	CHECK(mft[1023] == 0x1f0000, "ports 16..20, no others");
	CHECK(get(out + 64 + 62, 2) == 0x1f, "reply");
	request(0x02, 0x001b, 31);
	put(in + 64 + 62, 2, 0x0006);
	check_reply(&sw, 1, 0, "Set MFT");
	CHECK(mft[1023] == 0x1f0006, "the others stay");

	request(0x01, 0x0015, 7);
	check_reply(&sw, 3, 0, "PortInfo of port 7, asked by port 3");
	CHECK(out[92] == 3, "LocalPortNum is the way in");
	CHECK(set_state(&sw, 7, 3, 0) == 0 && call.changed_port == 7, "ARMED");
	CHECK(!shca_pi_lid(&sw_port[7].info), "a link has no LID");
	port_info(0, &sw);
	check_reply(&sw, 1, 0, "port 0");
	CHECK(shca_pi_lid(&sw_port[0].info) == 5, "LID");
	in[64 + 34] = 1;
	put(in + 64 + 16, 2, 6);
	check_reply(&sw, 1, 0x1c, "LMC of a base port 0");
	CHECK(shca_pi_state(&sw_port[0].info) == 4, "is ACTIVE for ever");
}

/* Whatever comes, an answer is well formed and the node stays sound. */
static void test_random(void)
{
	static const u16 attr[] = { 0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17,
				    0x18, 0x19, 0x1b, 0x20, 0x02 };
	int i, j;

	srandom(1);
	for (i = 0; i < 200000; i++) {
		struct shca_node *n = random() & 1 ? &sw : &ca;
		u8 port = n == &sw ? random() % 21 : 1;

		for (j = 0; j < 256; j++)
			in[j] = random();
		if (random() % 8) {
			in[0] = 1;
			in[1] = random() & 1 ? 0x01 : 0x81;
			in[2] = 1;
			in[3] = 1 + (random() & 1);
			put(in + 16, 2, attr[random() % 12]);
			if (random() & 1)
				put(in + 20, 4, random() % 32);
		}
		if (run(n, port) != SHCA_MAD_REPLY)
			continue;
		if (out[3] != 0x81 || memcmp(in + 6, out + 6, 18))
			break;
	}
	CHECK(i == 200000, "round %d", i);
	CHECK(shca_pi_state(&sw_port[0].info) == 4, "port 0");
}

int main(void)
{
	static void (*const test[])(void) = {
		test_not_ours, test_refused, test_node, test_tables,
		test_port_info, test_bad_port_info, test_state, test_m_key,
		test_switch, test_random,
	};
	size_t i;

	for (i = 0; i < sizeof(test) / sizeof(test[0]); i++) {
		reset();
		test[i]();
	}
	return test_end();
}

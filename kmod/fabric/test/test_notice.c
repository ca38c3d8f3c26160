// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of notices in user space.  Offsets into the SMPs are written out here
 * as the specification has them.
 */
#include "../notice.h"
#include "../../wire/test/test.h"

static struct shca_node_port port[3];
static u8 vl[8 * 9], lft[SHCA_SWITCH_LFT];
static u64 mft[SHCA_SWITCH_MFT];
static union {
	struct shca_smp smp;
	u8 b[256];
} out;

static u64 get(int at, int bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | out.b[at++];
	return v;
}

static struct shca_node node(u8 type, u8 ports)
{
	struct shca_node n = {
		.type = type, .num_ports = ports, .port = port, .sl_to_vl = vl,
		.lft = lft, .mft = mft,
	};

	shca_node_init(&n);
	shca_node_base_port(&n, 1)->info.lid = cpu_to_be16(0x1234);
	shca_node_base_port(&n, 1)->info.m_key = cpu_to_be64(0xabcdef);
	shca_node_base_port(&n, 1)->info.sm_lid = cpu_to_be16(1);
	shca_pi_set_state(&shca_node_base_port(&n, 1)->info, SHCA_PORT_ACTIVE);
	return n;
}

static void check_head(u8 type, u8 producer, u16 trap, const char *what)
{
	CHECK(get(0, 4) == 0x01010105, "%s: base, class, version, Trap", what);
	CHECK(get(8, 8) == 77, "%s: transaction", what);
	CHECK(get(16, 2) == 2, "%s: Notice", what);
	CHECK(!get(24, 8), "%s: shows the M_Key", what);
	CHECK(out.b[64] == (0x80 | type), "%s: generic, type", what);
	CHECK(get(65, 3) == producer, "%s: producer", what);
	CHECK(get(68, 2) == trap && get(70, 2) == 0x1234, "%s: trap, LID", what);
}

/* LRH, GRH, BTH and DETH by hand: from 0x0102, QP 0x445566, to QP 0xabcdef */
static void make_packet(u8 *p, bool grh, u8 opcode)
{
	u8 *b = p + (grh ? 48 : 8);
	int i;

	memset(p, 0, 68);
	p[1] = 0x50 | (grh ? 3 : 2);	/* SL 5 */
	p[2] = 0x12, p[3] = 0x34;
	p[6] = 0x01, p[7] = 0x02;
	for (i = 0; grh && i < 32; i++)
		p[16 + i] = 0x80 + i;
	b[0] = opcode;
	b[2] = 0x7f, b[3] = 0xfe;
	b[5] = 0xab, b[6] = 0xcd, b[7] = 0xef;
	b[12] = 0x80, b[13] = 1, b[14] = 2, b[15] = 3;
	b[17] = 0x44, b[18] = 0x55, b[19] = 0x66;
}

static void test_bad_key(void)
{
	struct shca_node ca = node(SHCA_NODE_CA, 1);
	struct shca_port_info *pi = &port[1].info;
	struct shca_key_violation v;
	const u64 second = 1000000000;
	u32 tid = 76;
	u8 p[68];
	int i;

	pi->rereg_timeout = 18;		/* 1.07 s */
	make_packet(p, true, 0x64);
	shca_key_violation_of(p, 258, &v);
	CHECK(shca_notice_bad_key(&ca, 1, 5, &tid, &v, &out.smp), "due");
	check_head(2, 1, 258, "Q_Key");
	CHECK(get(76, 2) == 0x0102 && get(78, 2) == 0x1234, "LIDs");
	CHECK(get(80, 4) == 0x80010203, "Q_Key");
	CHECK(get(84, 4) == 0x50445566 && get(88, 4) == 0xabcdef, "SL, QPs");
	for (i = 0; i < 32; i++)
		CHECK(out.b[92 + i] == 0x80 + i, "GIDs, byte %d", i);
	CHECK(be16_to_cpu(pi->q_key_violations) == 1, "counted");
	CHECK(!pi->p_key_violations, "as what it is");

	make_packet(p, false, 0x04);	/* RC SEND ONLY */
	shca_key_violation_of(p, 257, &v);
	CHECK(!shca_notice_bad_key(&ca, 1, second, &tid, &v, &out.smp),
	      "one in a SubnetTimeOut");
	CHECK(be16_to_cpu(pi->p_key_violations) == 1, "counted all the same");
	CHECK(shca_notice_bad_key(&ca, 1, 2 * second, &tid, &v, &out.smp),
	      "due again");
	tid = 76;
	CHECK(shca_notice_bad_key(&ca, 1, 4 * second, &tid, &v, &out.smp),
	      "and again");
	check_head(2, 1, 257, "P_Key");
	CHECK(get(80, 4) == 0x7ffe && get(84, 4) == 0x50000000, "P_Key, no QP");
	CHECK(!get(92, 8) && !get(108, 8), "no GIDs");
	pi->p_key_violations = cpu_to_be16(0xffff);
	shca_notice_bad_key(&ca, 1, 5 * second, &tid, &v, &out.smp);
	CHECK(be16_to_cpu(pi->p_key_violations) == 0xffff, "saturated");
}

static const u64 timeout = 4096ull << 18;

/* What a port whose SubnetTimeOut is 18 says at a time: a trap, and when next */
static bool says(struct shca_node *n, u64 now, u64 *wait)
{
	u32 tid = 76;

	return shca_notice_take_change(n, 1, now, &tid, &out.smp, wait);
}

static void test_pace(struct shca_node *ca)
{
	struct shca_port_info *pi = &port[1].info;
	struct shca_key_violation v = { .trap = 258 };
	const u64 start = 2 * timeout;
	u32 tid = 76;
	u64 wait;

	pi->rereg_timeout = 18;
	CHECK(!says(ca, start, &wait) && !wait, "nothing has changed");
	shca_notice_change(ca, 1, SHCA_NOTICE_CAP);
	CHECK(says(ca, start, &wait) && !wait, "the first goes at once");
	CHECK(!out.b[79] && !out.b[85], "only the capabilities");
	shca_notice_change(ca, 1, SHCA_NOTICE_CAP);
	shca_notice_change(ca, 1, SHCA_NOTICE_DESC);
	CHECK(!says(ca, start + 1, &wait) && wait == timeout - 1,
	      "the next waits for the end of the SubnetTimeOut");
	CHECK(!says(ca, start + timeout - 1, &wait) && wait == 1, "just");
	CHECK(!shca_notice_bad_key(ca, 1, start + timeout, &tid, &v, &out.smp),
	      "a violation does not go before it");
	CHECK(says(ca, start + timeout, &wait) && !wait, "due");
	CHECK(out.b[79] == 1 && out.b[85] == 1, "it tells of both");
	CHECK(!says(ca, start + 3 * timeout, &wait) && !wait, "once");
	CHECK(shca_notice_bad_key(ca, 1, start + 3 * timeout, &tid, &v,
				  &out.smp), "a violation");
	shca_notice_change(ca, 1, SHCA_NOTICE_CAP);
	CHECK(!says(ca, start + 3 * timeout + 1, &wait) && wait == timeout - 1,
	      "counts for changes too");

	shca_pi_set_state(pi, SHCA_PORT_ARMED);
	CHECK(!says(ca, start + 5 * timeout, &wait) && !wait, "not ACTIVE");
	shca_pi_set_state(pi, SHCA_PORT_ACTIVE);
	CHECK(!says(ca, start + 5 * timeout, &wait) && !wait, "forgotten");
	pi->sm_lid = 0;
	shca_notice_change(ca, 1, SHCA_NOTICE_CAP);
	CHECK(!says(ca, start + 5 * timeout, &wait) && !wait, "no SM");
	CHECK(!shca_notice_bad_key(ca, 1, start + 5 * timeout, &tid, &v,
				   &out.smp), "a violation, and no SM");
	pi->sm_lid = cpu_to_be16(1);
	CHECK(shca_notice_bad_key(ca, 1, start + 5 * timeout, &tid, &v,
				  &out.smp), "what was not sent costs nothing");

	pi->rereg_timeout = 31;
	shca_notice_change(ca, 1, SHCA_NOTICE_CAP);
	CHECK(!says(ca, start + 7 * timeout, &wait) &&
	      wait == (4096ull << 31) - 2 * timeout, "two hours");
	pi->rereg_timeout = 18;
	CHECK(says(ca, start + 7 * timeout, &wait) && !wait,
	      "the present SubnetTimeOut counts, for what waits too");
}

int main(void)
{
	struct shca_node ca = node(SHCA_NODE_CA, 1);
	struct shca_smp bad = {
		.mgmt_class = 0x81, .method = 2, .attr_id = cpu_to_be16(0x15),
		.attr_mod = cpu_to_be32(0x11223344), .m_key = cpu_to_be64(99),
		.dr_slid = cpu_to_be16(0xffff),
	};
	struct shca_node sw;
	u32 tid = 76;
	u64 wait;

	shca_notice_change(&ca, 1, SHCA_NOTICE_DESC);
	CHECK(shca_notice_take_change(&ca, 1, 5, &tid, &out.smp, &wait) &&
	      !wait, "due");
	check_head(4, 1, 144, "local change");
	CHECK(get(76, 2) == 0x1234 && out.b[79] == 1, "LID, OtherLocalChanges");
	CHECK(get(80, 4) == 0x06400848, "CapabilityMask");
	CHECK(out.b[85] == 1, "NodeDescriptionChange");
	test_pace(&ca);

	ca = node(SHCA_NODE_CA, 1);
	tid = 76;
	CHECK(shca_notice_bad_m_key(&ca, 1, 0, &tid, &bad, &out.smp), "due");
	check_head(2, 1, 256, "M_Key");
	CHECK(get(76, 2) == 0x1234 && get(78, 2) == 0xffff, "LID, DrSLID");
	CHECK(out.b[80] == 2 && get(82, 2) == 0x15, "method, attribute");
	CHECK(get(84, 4) == 0x11223344 && get(88, 8) == 99, "modifier, key");

	sw = node(SHCA_NODE_SWITCH, 2);
	tid = 76;
	shca_notice_change(&sw, 0, SHCA_NOTICE_LINK);
	CHECK(shca_notice_take_change(&sw, 0, 5, &tid, &out.smp, &wait), "due");
	check_head(1, 2, 128, "link state");
	CHECK(get(74, 2) == 0x1234, "LID");
	test_bad_key();
	return test_end();
}

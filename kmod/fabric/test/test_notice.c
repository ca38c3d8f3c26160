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
	return n;
}

static void check_head(u8 type, u8 producer, u16 trap, const char *what)
{
	CHECK(get(0, 4) == 0x01010105, "%s: base, class, version, Trap", what);
	CHECK(get(8, 8) == 77, "%s: transaction", what);
	CHECK(get(16, 2) == 2, "%s: Notice", what);
	CHECK(out.b[64] == (0x80 | type), "%s: generic, type", what);
	CHECK(get(65, 3) == producer, "%s: producer", what);
	CHECK(get(68, 2) == trap && get(70, 2) == 0x1234, "%s: trap, LID", what);
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

	shca_notice_local_change(&ca, 1, 77, true, &out.smp);
	check_head(4, 1, 144, "local change");
	CHECK(get(76, 2) == 0x1234 && out.b[79] == 1, "LID, OtherLocalChanges");
	CHECK(get(80, 4) == 0x0240084c, "CapabilityMask");
	CHECK(out.b[85] == 1, "NodeDescriptionChange");
	shca_notice_local_change(&ca, 1, 77, false, &out.smp);
	CHECK(!out.b[79] && !out.b[85], "only the capabilities");

	shca_notice_bad_m_key(&ca, 1, 77, &bad, &out.smp);
	check_head(2, 1, 256, "M_Key");
	CHECK(get(76, 2) == 0x1234 && get(78, 2) == 0xffff, "LID, DrSLID");
	CHECK(out.b[80] == 2 && get(82, 2) == 0x15, "method, attribute");
	CHECK(get(84, 4) == 0x11223344 && get(88, 8) == 99, "modifier, key");

	sw = node(SHCA_NODE_SWITCH, 2);
	shca_notice_link_state(&sw, 77, &out.smp);
	check_head(1, 2, 128, "link state");
	CHECK(get(74, 2) == 0x1234, "LID");
	return test_end();
}

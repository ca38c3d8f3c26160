// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of wire/ in user space.  Each states the rule a second time, by other
 * means than the code: spelled-out tables, 64-bit arithmetic, a bitwise CRC over
 * an explicitly masked copy, and packets that hardware has sent.
 */
#include "../hdr.h"
#include "../icrc.h"
#include "../opcode.h"
#include "../psn.h"
#include "test.h"

/* ---- opcodes ---- */

/*
 * The second statement of the rule: one line an opcode, as IBA table 38 has it.
 * Headers: R RETH, A AETH, D DETH, I ImmDt, V IETH, T AtomicETH,
 * K AtomicAckETH; payload: p.
 */
struct op_line {
	int opcode;
	const char *kind;	/* send write read atomic ack */
	char place;		/* f m l o, or - */
	char side;		/* q request, s response */
	const char *headers;
	int len;		/* of BTH and headers, counted by hand */
};

static const struct op_line rc_uc[] = {
	{ 0x00, "send",   'f', 'q', "p", 12 },
	{ 0x01, "send",   'm', 'q', "p", 12 },
	{ 0x02, "send",   'l', 'q', "p", 12 },
	{ 0x03, "send",   'l', 'q', "Ip", 16 },
	{ 0x04, "send",   'o', 'q', "p", 12 },
	{ 0x05, "send",   'o', 'q', "Ip", 16 },
	{ 0x06, "write",  'f', 'q', "Rp", 28 },
	{ 0x07, "write",  'm', 'q', "p", 12 },
	{ 0x08, "write",  'l', 'q', "p", 12 },
	{ 0x09, "write",  'l', 'q', "Ip", 16 },
	{ 0x0a, "write",  'o', 'q', "Rp", 28 },
	{ 0x0b, "write",  'o', 'q', "RIp", 32 },
};

static const struct op_line rc_only[] = {
	{ 0x0c, "read",   'o', 'q', "R", 28 },
	{ 0x0d, "read",   'f', 's', "Ap", 16 },
	{ 0x0e, "read",   'm', 's', "p", 12 },
	{ 0x0f, "read",   'l', 's', "Ap", 16 },
	{ 0x10, "read",   'o', 's', "Ap", 16 },
	{ 0x11, "ack",    '-', 's', "A", 16 },
	{ 0x12, "atomic", '-', 's', "AK", 24 },
	{ 0x13, "atomic", 'o', 'q', "T", 40 },
	{ 0x14, "atomic", 'o', 'q', "T", 40 },
	{ 0x16, "send",   'l', 'q', "Vp", 16 },
	{ 0x17, "send",   'o', 'q', "Vp", 16 },
};

static const struct op_line ud[] = {
	{ 0x64, "send",   'o', 'q', "Dp", 20 },
	{ 0x65, "send",   'o', 'q', "DIp", 24 },
};

static bool seen[256];

static void check_flag(int op, u32 flag, bool want, const char *what)
{
	bool have = shca_opcodes[op].flags & flag;

	CHECK(have == want, "opcode 0x%02x: %s is %d", op, what, have);
}

static void check_line(const struct op_line *l, int service)
{
	int op = l->opcode | service;
	const char *h = l->headers;
	int len = 12;

	seen[op] = true;
	check_flag(op, SHCA_OPF_KNOWN, true, "KNOWN");
	check_flag(op, SHCA_OPF_REQUEST, l->side == 'q', "REQUEST");
	check_flag(op, SHCA_OPF_RESPONSE, l->side == 's', "RESPONSE");
	check_flag(op, SHCA_OPF_FIRST, l->place == 'f', "FIRST");
	check_flag(op, SHCA_OPF_MIDDLE, l->place == 'm', "MIDDLE");
	check_flag(op, SHCA_OPF_LAST, l->place == 'l', "LAST");
	check_flag(op, SHCA_OPF_ONLY, l->place == 'o', "ONLY");
	check_flag(op, SHCA_OPF_SEND, !strcmp(l->kind, "send"), "SEND");
	check_flag(op, SHCA_OPF_WRITE, !strcmp(l->kind, "write"), "WRITE");
	check_flag(op, SHCA_OPF_READ, !strcmp(l->kind, "read"), "READ");
	check_flag(op, SHCA_OPF_ATOMIC, !strcmp(l->kind, "atomic"), "ATOMIC");
	check_flag(op, SHCA_OPF_RETH, strchr(h, 'R'), "RETH");
	check_flag(op, SHCA_OPF_AETH, strchr(h, 'A'), "AETH");
	check_flag(op, SHCA_OPF_DETH, strchr(h, 'D'), "DETH");
	check_flag(op, SHCA_OPF_IMM, strchr(h, 'I'), "IMM");
	check_flag(op, SHCA_OPF_INV, strchr(h, 'V'), "INV");
	check_flag(op, SHCA_OPF_PAYLOAD, strchr(h, 'p'), "PAYLOAD");
	CHECK(!(shca_opcodes[op].flags & ~0x1ffffu), "opcode 0x%02x", op);

	for (; *h; h++)
		len += *h == 'R' ? 16 : *h == 'A' ? 4 : *h == 'D' ? 8 :
		       *h == 'I' || *h == 'V' ? 4 : *h == 'T' ? 28 :
		       *h == 'K' ? 8 : 0;
	CHECK(len == l->len, "opcode 0x%02x: the test contradicts itself", op);
	CHECK(shca_opcodes[op].hdr_len == l->len, "opcode 0x%02x: %d bytes",
	      op, shca_opcodes[op].hdr_len);
	CHECK(l->len <= SHCA_HDR_MAX, "opcode 0x%02x", op);
	CHECK(shca_opcodes[op].name && *shca_opcodes[op].name,
	      "opcode 0x%02x", op);
}

static void test_opcodes(void)
{
	size_t i;
	int op;

	for (i = 0; i < sizeof(rc_uc) / sizeof(rc_uc[0]); i++) {
		check_line(&rc_uc[i], 0x00);
		check_line(&rc_uc[i], 0x20);
	}
	for (i = 0; i < sizeof(rc_only) / sizeof(rc_only[0]); i++)
		check_line(&rc_only[i], 0x00);
	for (i = 0; i < sizeof(ud) / sizeof(ud[0]); i++)
		check_line(&ud[i], 0x00);
	for (op = 0; op < 256; op++)
		if (!seen[op])
			CHECK(!shca_opcodes[op].flags &&
			      !shca_opcodes[op].hdr_len &&
			      !shca_opcodes[op].name,
			      "opcode 0x%02x is known", op);

	CHECK(!strcmp(shca_opcodes[SHCA_OP_RC | SHCA_OP_ACK].name, "RC ACK"),
	      "%s", shca_opcodes[SHCA_OP_ACK].name);
	CHECK((SHCA_OP_UD | SHCA_OP_SEND_ONLY) == 0x64, "");
	CHECK((SHCA_OP_UC | SHCA_OP_WRITE_ONLY_IMM) == 0x2b, "");
}

/* ---- PSNs ---- */

static void test_psn(void)
{
	static const u32 at[] = {
		0, 1, 2, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0x800002,
		0xfffffe, 0xffffff, 0x123456, 0xabcdef,
	};
	static const u32 step[] = {
		0, 1, 2, 31, 32, 0x7ffffe, 0x7fffff, 0x800000, 0x800001,
		0xfffffe, 0xffffff, 0x1000000, 0x1000001,
	};
	size_t i, j;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (j = 0; j < sizeof(step) / sizeof(step[0]); j++) {
			u64 sum = ((u64)at[i] + step[j]) % 0x1000000;
			u32 got = shca_psn_add(at[i], step[j]);
			s32 diff = shca_psn_diff(got, at[i]);
			long want = step[j] % 0x1000000;

			if (want >= 0x800000)
				want -= 0x1000000;
			CHECK(got == sum, "%#x + %#x = %#x", at[i], step[j], got);
			CHECK(diff == want, "%#x - %#x = %d", got, at[i], diff);
		}
	CHECK(shca_psn_diff(0, 0xffffff) == 1, "");
	CHECK(shca_psn_diff(0xffffff, 0) == -1, "");
	CHECK(shca_psn_diff(0x800000, 0) == -0x800000, "");
	CHECK(shca_psn_diff(0x7fffff, 0) == 0x7fffff, "");
	/* Bits above the 24 do not count. */
	CHECK(shca_psn_diff(0x1000001, 0) == 1, "");
}

/* ---- headers ---- */

static void test_headers(void)
{
	/* RC READ request, SE, pad 2, P_Key ffff, FECN set, QP abcdef, ack */
	static const u8 raw[] = {
		0x0c, 0xa0, 0xff, 0xff, 0x80, 0xab, 0xcd, 0xef,
		0x80, 0x12, 0x34, 0x56,
	};
	const struct shca_bth *b = (const struct shca_bth *)raw;
	struct shca_aeth a = { .word = shca_aeth_word(0x61, 0xff123456) };
	static const u8 aeth[] = { 0x61, 0x12, 0x34, 0x56 };
	u32 i;

	CHECK(b->opcode == 0x0c, "");
	CHECK(b->flags & SHCA_BTH_SE, "");
	CHECK(!(b->flags & SHCA_BTH_MIG), "");
	CHECK(shca_bth_pad(b) == 2, "%d", shca_bth_pad(b));
	CHECK(shca_bth_qpn(b) == 0xabcdef, "%#x", shca_bth_qpn(b));
	CHECK(shca_bth_psn(b) == 0x123456, "%#x", shca_bth_psn(b));
	CHECK(shca_bth_ack_req(b), "");
	CHECK(!memcmp(&a, aeth, 4), "");
	CHECK(shca_aeth_syndrome(&a) ==
	      (SHCA_AETH_NAK | SHCA_NAK_INVALID), "");
	CHECK(shca_aeth_msn(&a) == 0x123456, "");
	for (i = 0; i < 64; i++)
		CHECK((i + shca_pad(i)) % 4 == 0 && shca_pad(i) < 4, "%u", i);
}

/* ---- ICRC ---- */

static u32 crc_bitwise(u32 crc, const void *p, size_t len)
{
	const u8 *b = p;
	int i;

	while (len--) {
		crc ^= *b++;
		for (i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return crc;
}

/* One table lookup a byte: a second CRC-32, so that neither is trusted alone */
static u32 crc_table(u32 crc, const void *p, size_t len)
{
	static u32 table[256];
	const u8 *b = p;
	u32 i, j, c;

	if (!table[1])
		for (i = 0; i < 256; i++) {
			for (c = i, j = 0; j < 8; j++)
				c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
			table[i] = c;
		}
	while (len--)
		crc = table[(u8)(crc ^ *b++)] ^ crc >> 8;
	return crc;
}

/*
 * The rule said independently: the whole packet from the IP header on, copied,
 * masked field by field, behind eight bytes of ones, in one CRC from all ones.
 */
static void icrc_by_copy(const u8 *pkt, size_t len, u8 icrc[4])
{
	static u8 m[16384];
	size_t udp;
	u32 crc;

	memset(m, 0xff, 8);
	memcpy(m + 8, pkt, len);
	if (pkt[0] >> 4 == 4) {
		m[8 + 1] = 0xff;
		m[8 + 8] = 0xff;
		m[8 + 10] = m[8 + 11] = 0xff;
		udp = 8 + 20;
	} else {
		m[8 + 0] = 0x6f;
		m[8 + 1] = m[8 + 2] = m[8 + 3] = 0xff;
		m[8 + 7] = 0xff;
		udp = 8 + 40;
	}
	m[udp + 6] = m[udp + 7] = 0xff;
	m[udp + 8 + 4] = 0xff;
	crc = ~crc_bitwise(0xffffffff, m, 8 + len);
	icrc[0] = crc;
	icrc[1] = crc >> 8;
	icrc[2] = crc >> 16;
	icrc[3] = crc >> 24;
}

/* @pkt: from the IP header to the pad; @hdr_len: of BTH and what follows */
static __le32 icrc_by_code(shca_crc32_fn *fn, const u8 *pkt, size_t len,
			   size_t hdr_len)
{
	bool ipv4 = pkt[0] >> 4 == 4;
	size_t ip = ipv4 ? 20 : 40;
	size_t rest = ip + 8 + hdr_len;
	u32 crc;

	crc = shca_icrc_headers(fn, ipv4, pkt, pkt + ip, pkt + ip + 8, hdr_len);
	crc = fn(crc, pkt + rest, len - rest);
	return shca_icrc_finish(crc);
}

static void check_icrc(const u8 *pkt, size_t len, size_t hdr_len,
		       const u8 want[4], const char *what)
{
	__le32 bits = icrc_by_code(crc_bitwise, pkt, len, hdr_len);
	__le32 table = icrc_by_code(crc_table, pkt, len, hdr_len);
	u8 copy[4];

	icrc_by_copy(pkt, len, copy);
	CHECK(!memcmp(&bits, want, 4), "%s", what);
	CHECK(!memcmp(&table, want, 4), "%s", what);
	CHECK(!memcmp(copy, want, 4), "%s: the test's own rule", what);
}

/* What a ConnectX-4 Lx sent: a congestion notification, IPv4 */
static const u8 hw_cnp[] = {
	0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61,
	0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01,
	0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const u8 hw_cnp_icrc[] = { 0x82, 0xfd, 0x00, 0x2a };

/* What another adapter of that kind sent: UC SEND only, 2 bytes of pad, IPv4 */
static const u8 hw_uc[] = {
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5,
	0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07,
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2,
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	'F', '0', 0x81, 0x8b, 0xe2, 0x89, '5', 0xd9, 0x0e, 0x9a, 0x95, 'P',
	'T', 0x01, 0xbe, 0x88, '^', 'P', 0x00, 0x00,
};

static const u8 hw_uc_icrc[] = { 0x78, 0xf3, 0x53, 0xf3 };

static u32 lcg = 1;

static void random_bytes(u8 *p, size_t n)
{
	while (n--) {
		lcg = lcg * 1664525 + 1013904223;
		*p++ = lcg >> 24;
	}
}

static void test_icrc_random(bool ipv4, size_t hdr_len, size_t payload)
{
	static u8 pkt[16384], other[16384];
	static const u8 masked4[] = { 1, 8, 10, 11, 26, 27, 32 };
	static const u8 masked6[] = { 1, 2, 3, 7, 46, 47, 52 };
	size_t ip = ipv4 ? 20 : 40;
	size_t len = ip + 8 + hdr_len + payload + shca_pad(payload);
	const u8 *masked = ipv4 ? masked4 : masked6;
	__le32 got;
	u8 want[4];
	size_t i, j;

	random_bytes(pkt, len);
	pkt[0] = ipv4 ? 0x45 : 0x60 | (pkt[0] & 0xf);
	memset(pkt + len - shca_pad(payload), 0, shca_pad(payload));
	icrc_by_copy(pkt, len, want);
	check_icrc(pkt, len, hdr_len, want, ipv4 ? "IPv4" : "IPv6");

	/* A changed byte changes the ICRC unless it is one that routers change. */
	for (i = ipv4 ? 0 : 1; i < len; i++) {
		bool is_masked = false;

		for (j = 0; j < sizeof(masked4); j++)
			is_masked |= i == masked[j];
		memcpy(other, pkt, len);
		other[i] ^= 0x5a;
		/* The version picks the rule and may not change. */
		if (i == 0)
			other[0] = 0x46;
		got = icrc_by_code(crc_table, other, len, hdr_len);
		CHECK(!memcmp(&got, want, 4) == is_masked,
		      "IPv%d, header %zu, payload %zu, byte %zu",
		      ipv4 ? 4 : 6, hdr_len, payload, i);
	}
}

static void test_icrc(void)
{
	static const size_t payload[] = { 0, 1, 2, 3, 4, 5, 63, 64, 255, 1024 };
	static const u8 ones[8] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};
	size_t i, hdr_len;

	CHECK(crc_bitwise(~0u, ones, 8) == SHCA_ICRC_SEED, "");
	CHECK(~crc_bitwise(~0u, "123456789", 9) == 0xcbf43926, "");
	CHECK(~crc_table(~0u, "123456789", 9) == 0xcbf43926, "");

	check_icrc(hw_cnp, sizeof(hw_cnp), 12, hw_cnp_icrc, "hardware CNP");
	check_icrc(hw_uc, sizeof(hw_uc), 12, hw_uc_icrc, "hardware UC SEND");

	for (i = 0; i < sizeof(payload) / sizeof(payload[0]); i++)
		for (hdr_len = 12; hdr_len <= SHCA_HDR_MAX; hdr_len += 4) {
			test_icrc_random(true, hdr_len, payload[i]);
			test_icrc_random(false, hdr_len, payload[i]);
		}
}

int main(void)
{
	test_opcodes();
	test_psn();
	test_headers();
	test_icrc();
	return test_end();
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tests of native packets in user space: what is read is what was written, what
 * is malformed is refused, and no header, whatever it says, makes anybody read
 * past its end (the sanitizer would say so).
 */
#include <stdlib.h>

#include "../hdr.h"
#include "../lrh.h"
#include "../opcode.h"
#include "test.h"

static u8 pkt[SHCA_IB_PACKET_MAX];

/* A UD SEND of @payload bytes, put together by hand */
static size_t make(bool grh, size_t payload)
{
	size_t pad = -payload & 3, n = 8 + (grh ? 40 : 0) + 20 + payload + pad + 4;
	u8 *b = pkt + (grh ? 48 : 8);

	memset(pkt, 0, sizeof(pkt));
	pkt[0] = 0x30;			/* VL 3 */
	pkt[1] = 0x50 | (grh ? 3 : 2);	/* SL 5 */
	pkt[2] = 0x12, pkt[3] = 0x34;	/* DLID */
	pkt[4] = n / 4 >> 8, pkt[5] = n / 4;
	pkt[6] = 0x01, pkt[7] = 0x02;	/* SLID */
	if (grh) {
		pkt[8] = 0x60;
		pkt[12] = (n - 48) >> 8, pkt[13] = n - 48;
		pkt[14] = 0x1b;
		pkt[15] = 64;
	}
	b[0] = 0x64;
	b[1] = pad << 4;
	b[2] = 0x7f, b[3] = 0xfe;	/* P_Key */
	b[5] = 0xab, b[6] = 0xcd, b[7] = 0xef;
	b[11] = 9;
	return n;
}

static enum shca_ib_fault parse(size_t len, struct shca_ib_packet *p)
{
	size_t avail = len < SHCA_IB_HDR_MAX ? len : SHCA_IB_HDR_MAX;
	u8 *exact = malloc(avail ? avail : 1);
	enum shca_ib_fault fault;

	memcpy(exact, pkt, avail);
	fault = shca_ib_parse(exact, avail, len, p);
	free(exact);
	return fault;
}

static void test_read(void)
{
	static const size_t payload[] = { 0, 1, 2, 3, 4, 255, 256, 4096 };
	struct shca_ib_packet p;
	size_t i, len;
	int grh;

	for (i = 0; i < sizeof(payload) / sizeof(payload[0]); i++) {
		for (grh = 0; grh < 2; grh++) {
			len = make(grh, payload[i]);
			CHECK(parse(len, &p) == SHCA_IB_OK, "%zu", payload[i]);
			CHECK(p.vl == 3 && p.sl == 5 && p.dlid == 0x1234 &&
			      p.slid == 0x102, "LRH");
			CHECK(p.bth == (grh ? 48 : 8) && p.hdr_len == 20 &&
			      p.opcode == 0x64, "places");
			CHECK(p.pkey == 0x7ffe && p.qpn == 0xabcdef &&
			      p.psn == 9, "BTH");
			CHECK(p.payload == payload[i] &&
			      p.pad == (-payload[i] & 3), "payload");
		}
	}
}

static void test_written(void)
{
	u8 want[48], gid[32];
	int i;

	for (i = 0; i < 32; i++)
		gid[i] = i;
	make(true, 100);
	memcpy(want, pkt, 48);
	memcpy(want + 16, gid, 32);
	memset(pkt, 0xee, 48);
	shca_lrh_put((void *)pkt, 3, 5, true, 0x1234, 0x102, 48 + 20 + 104);
	shca_grh_put((void *)(pkt + 8), 0, 0, 64, gid, gid + 16, 20 + 104);
	CHECK(!memcmp(pkt, want, 48), "LRH and GRH");
	shca_grh_put((void *)(pkt + 8), 0xa5, 0xfff12345, 1, gid, gid + 16, 24);
	CHECK(pkt[8] == 0x6a && pkt[9] == 0x51 && pkt[10] == 0x23 &&
	      pkt[11] == 0x45 && pkt[15] == 1, "traffic class, flow label");
}

static void test_malformed(void)
{
	static const struct { u8 at, v; const char *what; } bad[] = {
		{ 0, 0x31, "LVer" }, { 1, 0x50, "raw" }, { 1, 0x51, "raw IPv6" },
		{ 1, 0x53, "a GRH that there is not" }, { 5, 1, "length" },
		{ 4, 7, "length" }, { 6, 0xc0, "from a group" },
		{ 9, 0x01, "TVer" },
	}, bad_grh[] = {
		{ 8, 0x40, "IPVer" }, { 13, 1, "PayLen" }, { 14, 17, "NxtHdr" },
		{ 49, 0x02, "TVer" },
	};
	struct shca_ib_packet p;
	size_t i, len;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		len = make(false, 64);
		pkt[bad[i].at] = bad[i].v;
		CHECK(parse(len, &p) == SHCA_IB_MALFORMED, "%s", bad[i].what);
	}
	for (i = 0; i < sizeof(bad_grh) / sizeof(bad_grh[0]); i++) {
		len = make(true, 64);
		pkt[bad_grh[i].at] = bad_grh[i].v;
		CHECK(parse(len, &p) == SHCA_IB_MALFORMED, "%s",
		      bad_grh[i].what);
	}
	len = make(false, 64);
	pkt[6] = pkt[7] = 0;
	CHECK(parse(len, &p) == SHCA_IB_MALFORMED, "SLID 0");
	len = make(false, 64);
	pkt[2] = pkt[3] = 0;
	CHECK(parse(len, &p) == SHCA_IB_MALFORMED, "DLID 0");
	len = make(false, 0);
	pkt[9] = 0x30;
	CHECK(parse(len, &p) == SHCA_IB_MALFORMED, "more pad than there is");
	len = make(false, 64);
	pkt[8] = 0x1f;
	CHECK(parse(len, &p) == SHCA_IB_BAD_OPCODE, "opcode");
	/* An acknowledge carries nothing. */
	len = make(false, 64);
	pkt[8] = 0x11;
	CHECK(parse(len, &p) == SHCA_IB_MALFORMED, "payload of an ACK");
	for (i = 0; i < 28; i++) {
		make(false, 0);
		pkt[5] = i / 4;
		CHECK(parse(i, &p) == SHCA_IB_MALFORMED, "%zu bytes", i);
	}
}

static void test_random(void)
{
	struct shca_ib_packet p;
	int i, j, ok = 0;
	size_t len;

	srandom(1);
	for (i = 0; i < 300000; i++) {
		len = random() % 128 * 4 + random() % 2 * (random() & 3);
		for (j = 0; j < SHCA_IB_HDR_MAX; j++)
			pkt[j] = random();
		if (random() % 4) {
			pkt[0] &= 0xf0;
			pkt[1] |= 2;
			pkt[4] = len / 4 >> 8, pkt[5] = len / 4;
			pkt[8] = pkt[1] & 1 ? 0x60 : pkt[8];
			pkt[12] = (len - 48) >> 8, pkt[13] = len - 48;
			pkt[14] = 0x1b;
		}
		if (parse(len, &p) != SHCA_IB_OK)
			continue;
		ok++;
		if (p.bth + p.hdr_len + p.payload + p.pad + 4u != len ||
		    p.hdr_len > SHCA_HDR_MAX || p.payload > 4096)
			break;
	}
	CHECK(i == 300000 && ok > 500, "round %d, %d ok", i, ok);
}

static u32 crc(u32 c, const void *p, size_t len)
{
	const u8 *b = p;
	int i;

	while (len--)
		for (c ^= *b++, i = 0; i < 8; i++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
	return c;
}

static u32 icrc(size_t len)
{
	struct shca_ib_packet p;
	u32 c;

	parse(len, &p);
	c = shca_ib_icrc_headers(crc, pkt, p.bth, p.hdr_len);
	return crc(c, pkt + p.bth + p.hdr_len, p.payload + p.pad);
}

/* The bytes that may change are those that 7.8.1 lists, bit by bit. */
static void test_icrc(void)
{
	struct shca_ib_packet p;
	size_t len, at, bit;
	int grh;
	u32 c;

	for (grh = 0; grh < 2; grh++) {
		len = make(grh, 40);
		c = icrc(len);
		for (at = 0; at < len - 4; at++) {
			for (bit = 0; bit < 8; bit++) {
				size_t b = grh ? 48 : 8;
				bool masked = (at == 0 && bit >= 4) ||
					(grh && ((at == 8 && bit < 4) ||
						 (at > 8 && at < 12) ||
						 at == 15)) || at == b + 4;

				pkt[at] ^= 1 << bit;
				if (parse(len, &p) == SHCA_IB_OK &&
				    p.hdr_len == 20)
					CHECK((icrc(len) == c) == masked,
					      "byte %zu bit %zu", at, bit);
				pkt[at] ^= 1 << bit;
			}
		}
	}
	/* Said independently for one: masked by hand, from all ones */
	len = make(false, 4);
	c = icrc(len);
	pkt[0] = 0xf0;
	pkt[12] = 0xff;
	CHECK(c == crc(0xffffffff, pkt, len - 4), "as a whole");
}

int main(void)
{
	test_read();
	test_written();
	test_malformed();
	test_random();
	test_icrc();
	return test_end();
}

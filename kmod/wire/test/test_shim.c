// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tests of the shim in user space: its bytes, and what is refused. */
#include "../shim.h"
#include "test.h"

static bool ok(u8 version, u8 kind, u8 hops, u8 flags, size_t len)
{
	struct shca_shim s = {
		.version = version,
		.kind = kind,
		.hops = hops,
		.flags = flags,
	};

	return shca_shim_ok(&s, len);
}

static void test_layout(void)
{
	struct shca_hello h = {
		.shim = {
			.version = 1,
			.kind = SHCA_SHIM_HELLO,
			.flags = SHCA_HELLO_WANT,
			.id = cpu_to_be32(0x01020304),
		},
		.session = cpu_to_be32(0xa0b0c0d0),
		.heard = cpu_to_be32(0x0a0b0c0d),
	};
	static const u8 bytes[] = { 1, 1, 0, 1, 1, 2, 3, 4,
				    0xa0, 0xb0, 0xc0, 0xd0,
				    0x0a, 0x0b, 0x0c, 0x0d };

	CHECK(sizeof(bytes) == sizeof(h) && !memcmp(&h, bytes, sizeof(h)),
	      "a hello has other bytes");
	CHECK(shca_shim_ok(&h.shim, sizeof(h)), "a hello is refused");
}

static void test_packet(void)
{
	size_t least = 8 + 24, most = 8 + 8 + 40 + 40 + 4096 + 4, len;
	int hops, flags;

	for (hops = 0; hops < 256; hops++)
		CHECK(ok(1, 0, hops, 0, 100) == (hops >= 1 && hops <= 64),
		      "%d hops", hops);
	for (flags = 1; flags < 256; flags++)
		CHECK(!ok(1, 0, 1, flags, 100), "flags %#x", flags);
	for (len = 0; len < 65536; len++)
		CHECK(ok(1, 0, 1, 0, len) == (len >= least && len <= most),
		      "%zu bytes", len);
}

static void test_hello(void)
{
	size_t len;
	int n;

	for (n = 0; n < 256; n++) {
		CHECK(ok(1, 1, 0, n, 16) == (n < 2), "flags %#x", n);
		CHECK(ok(1, 1, n, 1, 16) == !n, "%d hops", n);
	}
	for (len = 0; len < 5000; len++)
		CHECK(ok(1, 1, 0, 1, len) == (len == 16), "%zu bytes", len);
}

static void test_others(void)
{
	int n;

	for (n = 0; n < 256; n++) {
		CHECK(ok(n, 0, 1, 0, 100) == (n == 1), "version %d", n);
		CHECK(ok(n, 1, 0, 1, 16) == (n == 1), "version %d", n);
		if (n > 1)
			CHECK(!ok(1, n, 1, 0, 100) && !ok(1, n, 0, 1, 16),
			      "kind %d", n);
	}
}

int main(void)
{
	test_layout();
	test_packet();
	test_hello();
	test_others();
	return test_end();
}

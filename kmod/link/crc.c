// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 at the speed the machine has.  Owns the crypto API's handle, from
 * module init to exit; the handle is shared and constant, so no lock.
 *
 * Where the crypto API has no "crc32" (a kernel without it, which is slow and
 * not wrong), the table walk of crc32_le() does everything.
 */
#include <linux/crc32.h>
#include <linux/printk.h>
#include <linux/skbuff.h>

#include "../compat/crc32.h"
#include "crc.h"

#ifdef SHCA_CRC32_SHASH
#include <crypto/hash.h>

/* Below this many bytes the table walk is cheaper than getting at the other */
#define CRC_SHORT	64

static struct crypto_shash *crc_tfm;

static int crc_find(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);

	if (IS_ERR(tfm)) {
		if (PTR_ERR(tfm) == -ENOMEM)
			return -ENOMEM;
		pr_info("softhca: no crypto \"crc32\", packets will cost more\n");
		tfm = NULL;
	}
	crc_tfm = tfm;
	return 0;
}

static void crc_forget(void)
{
	if (crc_tfm)
		crypto_free_shash(crc_tfm);
	crc_tfm = NULL;
}

static u32 crc_update(u32 crc, const void *p, size_t len)
{
	SHASH_DESC_ON_STACK(desc, crc_tfm);
	u32 *state;

	if (len < CRC_SHORT || !crc_tfm)
		return crc32_le(crc, p, len);
	/* The state of this algorithm is the bare CRC, in the CPU's order. */
	desc->tfm = crc_tfm;
	state = shash_desc_ctx(desc);
	*state = crc;
	if (crypto_shash_update(desc, p, len))
		return crc32_le(crc, p, len);
	return *state;
}

#else /* crc32_le() is the fast one */

static int crc_find(void)
{
	return 0;
}

static void crc_forget(void) { }

static u32 crc_update(u32 crc, const void *p, size_t len)
{
	return crc32_le(crc, p, len);
}
#endif

/**
 * shca_crc_init - find the fast CRC
 *
 * Context: process, from module init.
 * Return: 0, or -ENOMEM.
 */
int shca_crc_init(void)
{
	return crc_find();
}

/**
 * shca_crc_exit - the mirror
 *
 * Context: process, from module exit.
 */
void shca_crc_exit(void)
{
	crc_forget();
}

/**
 * shca_crc32 - continue a CRC-32
 * @crc: state
 * @p: bytes
 * @len: how many
 *
 * Context: process or softirq.
 * Return: the new state.
 */
u32 shca_crc32(u32 crc, const void *p, size_t len)
{
	return crc_update(crc, p, len);
}

/**
 * shca_crc32_skb - continue a CRC-32 over a part of a packet, not copying it
 * @crc: state
 * @skb: the packet, linear or not
 * @offset: first byte, from skb->data
 * @len: bytes; within the packet
 *
 * Context: process or softirq.
 * Return: the new state.
 */
u32 shca_crc32_skb(u32 crc, struct sk_buff *skb, u32 offset, u32 len)
{
	struct skb_seq_state st;
	unsigned int n;
	u32 done = 0;
	const u8 *p;

	if (offset + len <= skb_headlen(skb))
		return shca_crc32(crc, skb->data + offset, len);

	skb_prepare_seq_read(skb, offset, offset + len, &st);
	while (done < len) {
		n = skb_seq_read(done, &p, &st);
		if (!n)
			break;
		n = min(n, len - done);
		crc = shca_crc32(crc, p, n);
		done += n;
	}
	skb_abort_seq_read(&st);
	return crc;
}

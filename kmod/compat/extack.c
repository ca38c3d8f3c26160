// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Buffers for refusals.  The text must last until the reply is written, soon
 * after the operation returned, so there are a few buffers, used in turn.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>

#include "extack.h"

#define SHCA_EXTACK_LEN		192
#define SHCA_EXTACK_BUFFERS	16	/* a power of two */

static char extack_buffer[SHCA_EXTACK_BUFFERS][SHCA_EXTACK_LEN];
static atomic_t extack_next;

/**
 * shca_extack - explain a refusal
 * @extack: where; NULL is allowed
 * @fmt: a sentence without full stop, as of printf
 *
 * Context: any.
 */
void shca_extack(struct netlink_ext_ack *extack, const char *fmt, ...)
{
	unsigned int i = (unsigned int)atomic_inc_return(&extack_next);
	char *text = extack_buffer[i % SHCA_EXTACK_BUFFERS];
	va_list args;

	if (!extack)
		return;
	va_start(args, fmt);
	vscnprintf(text, SHCA_EXTACK_LEN, fmt, args);
	va_end(args);
	extack->_msg = text;
}

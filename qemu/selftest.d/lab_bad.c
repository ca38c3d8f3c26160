// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A module that does one bad thing, named by its parameter, when it is loaded:
 * qemu/selftest checks that the lab notices each.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *what = "nothing";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "warn, leak, locks, oops, spin, atomic, uaf");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

static noinline void leak_some(void)
{
	void *volatile lost = kmalloc(100, GFP_KERNEL);

	lost = NULL;
	(void)lost;
}

static void both_orders(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static noinline int use_after_free(void)
{
	int *volatile number = kzalloc(sizeof(*number), GFP_KERNEL);

	if (!number)
		return 0;
	kfree(number);
	return *number;
}

static int __init lab_bad_init(void)
{
	if (!strcmp(what, "warn")) {
		WARN(1, "lab_bad\n");
	} else if (!strcmp(what, "leak")) {
		leak_some();
	} else if (!strcmp(what, "locks")) {
		both_orders();
	} else if (!strcmp(what, "oops")) {
		*(volatile int *)8 = 1;
	} else if (!strcmp(what, "spin")) {
		for (;;)
			cpu_relax();
	} else if (!strcmp(what, "atomic")) {
		spin_lock(&spin);
		msleep(1);
		spin_unlock(&spin);
	} else if (!strcmp(what, "uaf")) {
		pr_info("lab_bad: %d\n", use_after_free());
	}
	return 0;
}
module_init(lab_bad_init);

static void __exit lab_bad_exit(void)
{
}
module_exit(lab_bad_exit);

MODULE_DESCRIPTION("misbehaves, to test the VM lab");
MODULE_LICENSE("Dual BSD/GPL");

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Switches: plain objects of the module, of no interest to ib_core.
 *
 * A switch that was found comes with a reference, which keeps its memory; it
 * may be deleted meanwhile, and then takes no cables any more.
 */
#ifndef _SHCA_SWITCH_H
#define _SHCA_SWITCH_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../link/cable.h"
#include "pma_mad.h"

struct netlink_ext_ack;

#define SHCA_SWITCH_NAME_MAX	63

/** struct shca_switch_count - the counters of a port, SHCA_PMA_* */
struct shca_switch_count {
	atomic64_t v[SHCA_PMA_COUNTERS];
};

/**
 * struct shca_switch_port - an external port
 * @plug: where its cable goes in
 * @sw: the switch
 */
struct shca_switch_port {
	struct shca_plug plug;
	struct shca_switch *sw;
};

/**
 * struct shca_switch - a switch
 * @ref: references; the list holds one
 * @list: in the list of switches, by @id
 * @id: number, never used again
 * @name: its name
 * @lock: guards changes of @node, and @trap_tid, @now and @base; BHs off; a leaf
 * @node: what the subnet manager sees
 * @trap_tid: of the last trap
 * @trap_work: sends the trap of links that changed, when it is time
 * @now: scratch for the performance agent, by port
 * @base: counters when they were cleared, by port
 * @count: counters, by port
 * @port: external ones: number n is [n - 1]
 */
struct shca_switch {
	struct kref ref;
	struct list_head list;
	u32 id;
	char name[SHCA_SWITCH_NAME_MAX + 1];
	spinlock_t lock;	/* see above */
	struct shca_node node;
	u32 trap_tid;
	struct delayed_work trap_work;
	struct shca_pma_values *now;
	struct shca_pma_values *base;
	struct shca_switch_count *count;
	struct shca_switch_port *port;
};

/* switch.c */
int shca_switch_add(const char *name, u32 ports, u64 guid,
		    struct netlink_ext_ack *extack);
int shca_switch_del(const char *name);
bool shca_switch_guid_taken(u64 guid, struct netlink_ext_ack *extack);
struct shca_switch *shca_switch_find(const char *name);
struct shca_switch *shca_switch_find_from(u32 id);
void shca_switch_put(struct shca_switch *sw);
void shca_switch_exit(void);

/* switch_rx.c */
extern const struct shca_plug_ops shca_switch_plug_ops;

void shca_switch_trap_work(struct work_struct *work);

#endif /* _SHCA_SWITCH_H */

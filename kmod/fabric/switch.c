// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Switches: how they come, are found and go.  What they do is in switch_rx.c.
 *
 * switch_mutex guards the list.  It is taken with none of our locks held, and
 * below it nothing of ours is: a switch is taken off the list first and closed
 * then.  Memory goes with the last reference.
 */
#include <linux/mutex.h>
#include <linux/slab.h>

#include "../compat/extack.h"
#include "../verbs/device.h"
#include "switch.h"

static DEFINE_MUTEX(switch_mutex);	/* the list and last_id */
static LIST_HEAD(switches);
static u32 last_id;

static void switch_free(struct kref *ref)
{
	struct shca_switch *sw = container_of(ref, struct shca_switch, ref);

	kvfree(sw->node.lft);
	kvfree(sw->node.mft);
	kvfree(sw->node.sl_to_vl);
	kvfree(sw->node.port);
	kvfree(sw->now);
	kvfree(sw->base);
	kvfree(sw->count);
	kvfree(sw->port);
	kfree(sw);
}

/**
 * shca_switch_put - drop a reference
 * @sw: the switch, as found
 *
 * Context: process.
 */
void shca_switch_put(struct shca_switch *sw)
{
	kref_put(&sw->ref, switch_free);
}

static struct shca_switch *switch_alloc(const char *name, u8 ports, u64 guid)
{
	struct shca_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);
	struct shca_node *n;
	int i;

	if (!sw)
		return NULL;
	kref_init(&sw->ref);
	spin_lock_init(&sw->lock);
	INIT_DELAYED_WORK(&sw->trap_work, shca_switch_trap_work);
	strscpy(sw->name, name, sizeof(sw->name));
	n = &sw->node;
	n->type = SHCA_NODE_SWITCH;
	n->num_ports = ports;
	n->guid = cpu_to_be64(guid);
	strscpy(n->desc, name, sizeof(n->desc));
	n->port = kvcalloc(ports + 1, sizeof(*n->port), GFP_KERNEL);
	n->sl_to_vl = kvzalloc(shca_node_sl_to_vl_size(n->type, ports),
			       GFP_KERNEL);
	n->lft = kvmalloc(SHCA_SWITCH_LFT, GFP_KERNEL);
	n->mft = kvcalloc(SHCA_SWITCH_MFT, sizeof(*n->mft), GFP_KERNEL);
	sw->now = kvcalloc(ports + 1, sizeof(*sw->now), GFP_KERNEL);
	sw->base = kvcalloc(ports + 1, sizeof(*sw->base), GFP_KERNEL);
	sw->count = kvcalloc(ports + 1, sizeof(*sw->count), GFP_KERNEL);
	sw->port = kvcalloc(ports, sizeof(*sw->port), GFP_KERNEL);
	if (!n->port || !n->sl_to_vl || !n->lft || !n->mft || !sw->now ||
	    !sw->base || !sw->count || !sw->port) {
		shca_switch_put(sw);
		return NULL;
	}
	shca_node_init(n);
	for (i = 0; i < ports; i++) {
		sw->port[i].sw = sw;
		shca_plug_init(&sw->port[i].plug, &shca_switch_plug_ops, i + 1);
	}
	return sw;
}

static void switch_close(struct shca_switch *sw)
{
	shca_plugs_close(&sw->port[0].plug, sw->node.num_ports,
			 sizeof(sw->port[0]));
	/* No link changes and no packet comes any more that could ask for it. */
	cancel_delayed_work_sync(&sw->trap_work);
	shca_switch_put(sw);
}

static struct shca_switch *find(const char *name)
{
	struct shca_switch *sw;

	lockdep_assert_held(&switch_mutex);
	list_for_each_entry(sw, &switches, list)
		if (!strcmp(sw->name, name))
			return sw;
	return NULL;
}

static bool guid_taken(__be64 guid, struct netlink_ext_ack *extack)
{
	struct shca_switch *sw;

	lockdep_assert_held(&switch_mutex);
	list_for_each_entry(sw, &switches, list) {
		if (sw->node.guid == guid) {
			shca_extack(extack, "the GUID is that of %s already",
				    sw->name);
			return true;
		}
	}
	return false;
}

/**
 * shca_switch_guid_taken - whether a switch has a GUID
 * @guid: of the node, in host order
 * @extack: whose it is; or NULL
 *
 * Context: process, may sleep.
 * Return: true if one has it.
 */
bool shca_switch_guid_taken(u64 guid, struct netlink_ext_ack *extack)
{
	bool taken;

	mutex_lock(&switch_mutex);
	taken = guid_taken(cpu_to_be64(guid), extack);
	mutex_unlock(&switch_mutex);
	return taken;
}

/**
 * shca_switch_add - add a switch
 * @name: its name
 * @ports: external ports, 1..SHCA_SWITCH_PORTS_MAX
 * @guid: of the node, in host order; 0: a random one of our own
 * @extack: why not; or NULL
 *
 * That no device has this GUID is for the caller to see.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL, -ERANGE, -ENOMEM, -EEXIST if there is a switch of this
 * name, or -EADDRINUSE if there is one with this GUID.
 */
int shca_switch_add(const char *name, u32 ports, u64 guid,
		    struct netlink_ext_ack *extack)
{
	struct shca_switch *sw;
	int ret;

	ret = shca_check_name("switch", name, extack);
	if (ret)
		return ret;
	if (!ports || ports > SHCA_SWITCH_PORTS_MAX) {
		shca_extack(extack, "a switch has 1 to %d ports",
			    SHCA_SWITCH_PORTS_MAX);
		return -ERANGE;
	}
	sw = switch_alloc(name, ports, guid ?: shca_random_guid());
	if (!sw) {
		shca_extack(extack, "there is not enough memory for a switch");
		return -ENOMEM;
	}
	mutex_lock(&switch_mutex);
	if (find(name)) {
		shca_extack(extack,
			    "the name is taken: there is a switch %s already",
			    name);
		ret = -EEXIST;
	} else if (guid_taken(sw->node.guid, extack)) {
		ret = -EADDRINUSE;
	} else {
		sw->id = ++last_id;
		list_add_tail(&sw->list, &switches);
	}
	mutex_unlock(&switch_mutex);
	if (ret)
		shca_switch_put(sw);
	return ret;
}

/**
 * shca_switch_del - delete a switch and pull its cables
 * @name: its name
 *
 * Context: process, may sleep.
 * Return: 0 or -ENODEV.
 */
int shca_switch_del(const char *name)
{
	struct shca_switch *sw;

	mutex_lock(&switch_mutex);
	sw = find(name);
	if (sw)
		list_del_init(&sw->list);
	mutex_unlock(&switch_mutex);
	if (!sw)
		return -ENODEV;
	switch_close(sw);
	return 0;
}

/**
 * shca_switch_find - find a switch by its name
 * @name: the name
 *
 * Context: process.
 * Return: the switch with a reference for shca_switch_put(), or NULL.
 */
struct shca_switch *shca_switch_find(const char *name)
{
	struct shca_switch *sw;

	mutex_lock(&switch_mutex);
	sw = find(name);
	if (sw)
		kref_get(&sw->ref);
	mutex_unlock(&switch_mutex);
	return sw;
}

/**
 * shca_switch_find_from - walk over the switches
 * @id: 0 at first, then one more than that of the last one
 *
 * Context: process.
 * Return: the switch with the smallest number that is not smaller, with a
 * reference, or NULL.
 */
struct shca_switch *shca_switch_find_from(u32 id)
{
	struct shca_switch *sw, *found = NULL;

	mutex_lock(&switch_mutex);
	list_for_each_entry(sw, &switches, list) {
		if (sw->id >= id) {
			kref_get(&sw->ref);
			found = sw;
			break;
		}
	}
	mutex_unlock(&switch_mutex);
	return found;
}

/**
 * shca_switch_exit - delete all that are left
 *
 * Context: process, from module exit; nobody adds any more.
 */
void shca_switch_exit(void)
{
	struct shca_switch *sw, *next;

	list_for_each_entry_safe(sw, next, &switches, list) {
		list_del(&sw->list);
		switch_close(sw);
	}
}

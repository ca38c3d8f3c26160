// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A native InfiniBand port of an adapter: between its plug, the subnet
 * management agent, and ib_core.
 *
 * Owns dev->node and dev->plug, from before the device is registered until
 * after its link was closed.  The node is changed under dev->node_lock; ib_core
 * and listeners are told after the lock was dropped, of what then is the state.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>

#include "../base/device.h"
#include "../link/ib.h"
#include "../object/runner.h"
#include "../verbs/device.h"
#include "hca.h"
#include "notice.h"
#include "pma.h"
#include "sma_mad.h"

/**
 * struct shca_hca - a port and what it is made of
 * @node: dev->node
 * @port: its ports; [0] is not used
 * @sl_to_vl: its mapping
 * @plug: dev->plug
 * @dev: the device
 * @trap_tid: of the last trap; under dev->node_lock
 * @trap_work: sends the trap of changes, when it is time
 */
struct shca_hca {
	struct shca_node node;
	struct shca_node_port port[2];
	u8 sl_to_vl[16];
	struct shca_plug plug;
	struct shca_dev *dev;
	u32 trap_tid;
	struct delayed_work trap_work;
};

static struct shca_hca *to_hca(struct shca_dev *dev)
{
	return container_of(dev->node, struct shca_hca, node);
}

static void event(struct shca_dev *dev, enum ib_event_type type)
{
	struct ib_event ev = {
		.device = &dev->ib,
		.element.port_num = 1,
		.event = type,
	};

	ib_dispatch_event(&ev);
}

/* Put a trap on the cable. Traps may be lost: SMs sweep. */
static void send_trap(struct shca_dev *dev, const struct shca_smp *smp)
{
	const struct shca_port_info *pi = &shca_node_port(dev)->info;
	struct shca_mad_path path = {
		.mgmt = true,
		.sl = pi->mtu_smsl & 15,
		.slid = shca_pi_lid(pi),
		.dlid = be16_to_cpu(pi->sm_lid),
		.pkey = SHCA_PKEY_FULL,
	};
	struct sk_buff *skb;

	/* The SM may have changed its mind since the trap was made. */
	if (!path.slid || !path.dlid)
		return;
	skb = shca_mad_frame(&path, smp);
	if (!skb)
		return;
	if (shca_node_has_lid(shca_node_port(dev), path.dlid)) {
		shca_plug_loop(dev->plug, skb);
		return;
	}
	shca_ib_tap(dev, skb, true, 0);
	shca_plug_send(dev->plug, skb);
}

static void trap_work(struct work_struct *work)
{
	struct shca_hca *hca = container_of(to_delayed_work(work),
					    struct shca_hca, trap_work);
	struct shca_dev *dev = hca->dev;
	unsigned long flags;
	struct shca_smp smp;
	bool due;
	u64 wait;

	spin_lock_irqsave(&dev->node_lock, flags);
	due = shca_notice_take_change(&hca->node, 1, ktime_get_boottime_ns(),
				      &hca->trap_tid, &smp, &wait);
	spin_unlock_irqrestore(&dev->node_lock, flags);
	if (due)
		send_trap(dev, &smp);
	if (wait)
		queue_delayed_work(shca_wq, &hca->trap_work,
				   nsecs_to_jiffies(wait) + 1);
}

/* The SM is to hear of a change of the port's, SHCA_NOTICE_*. */
static void trap_change(struct shca_dev *dev, u8 what)
{
	struct shca_hca *hca = to_hca(dev);
	unsigned long flags;

	spin_lock_irqsave(&dev->node_lock, flags);
	shca_notice_change(&hca->node, 1, what);
	spin_unlock_irqrestore(&dev->node_lock, flags);
	mod_delayed_work(shca_wq, &hca->trap_work, 0);
}

static u32 hca_receive(struct shca_plug *plug, struct sk_buff *skb)
{
	return shca_ib_receive(container_of(plug, struct shca_hca, plug)->dev, skb);
}

static void hca_link(struct shca_plug *plug, enum shca_node_link link)
{
	struct shca_dev *dev = container_of(plug, struct shca_hca, plug)->dev;
	unsigned long flags;
	u8 was;

	spin_lock_irqsave(&dev->node_lock, flags);
	was = shca_node_link(dev->node, 1, link);
	spin_unlock_irqrestore(&dev->node_lock, flags);
	if (link != SHCA_NODE_LINK_UP && was > SHCA_PORT_DOWN)
		shca_count(dev, link_downed);
	/*
	 * The far end may go while ib_core is done with the device, whose caches
	 * an event would bring up to date, and before its plug is closed; or it
	 * comes while the device moves to another namespace, when nobody is
	 * there to be told, but the port has a link all the same.
	 */
	if (!ib_device_try_get(&dev->ib))
		return;
	if (was >= SHCA_PORT_ARMED)
		event(dev, IB_EVENT_PORT_ERR);
	shca_device_changed(dev);
	ib_device_put(&dev->ib);
}

static void hca_violation(struct shca_plug *plug,
			  const struct shca_key_violation *v)
{
	struct shca_hca *hca = container_of(plug, struct shca_hca, plug);
	unsigned long flags;
	struct shca_smp trap;
	bool due;

	spin_lock_irqsave(&hca->dev->node_lock, flags);
	due = shca_notice_bad_key(&hca->node, 1, ktime_get_boottime_ns(),
				  &hca->trap_tid, v, &trap);
	spin_unlock_irqrestore(&hca->dev->node_lock, flags);
	if (due)
		send_trap(hca->dev, &trap);
}

static void hca_name(struct shca_plug *plug, char *name, size_t size)
{
	struct shca_dev *dev = container_of(plug, struct shca_hca, plug)->dev;

	strscpy(name, dev->ib.name, size);
}

static const struct shca_plug_ops hca_plug_ops = {
	.receive = hca_receive,
	.link = hca_link,
	.violation = hca_violation,
	.name = hca_name,
};

/* What a Set changed: ib_core's caches are refreshed by events alone. */
static void tell(struct shca_dev *dev, const struct shca_sma_call *c)
{
	static const struct {
		u32 change;
		enum ib_event_type event;
	} events[] = {
		{ SHCA_SMA_PREFIX,	IB_EVENT_GID_CHANGE },
		{ SHCA_SMA_PKEY,	IB_EVENT_PKEY_CHANGE },
		{ SHCA_SMA_LID,		IB_EVENT_LID_CHANGE },
		{ SHCA_SMA_SM,		IB_EVENT_SM_CHANGE },
		{ SHCA_SMA_REREGISTER,	IB_EVENT_CLIENT_REREGISTER },
	};
	u8 state = shca_pi_state(&shca_node_port(dev)->info);
	int i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (c->changed & events[i].change)
			event(dev, events[i].event);
	if (c->changed & SHCA_SMA_STATE) {
		if (state == SHCA_PORT_ACTIVE)
			event(dev, IB_EVENT_PORT_ACTIVE);
		else if (c->was == SHCA_PORT_ACTIVE)
			event(dev, IB_EVENT_PORT_ERR);
	}
	if (c->changed)
		shca_device_changed(dev);
}

static void act(struct shca_dev *dev, u32 changed)
{
	if (changed & SHCA_SMA_DISABLE)
		shca_plug_later(dev->plug, SHCA_PLUG_DISABLE);
	if (changed & SHCA_SMA_ENABLE)
		shca_plug_later(dev->plug, SHCA_PLUG_ENABLE);
	if (changed & SHCA_SMA_BOUNCE)
		shca_plug_later(dev->plug, SHCA_PLUG_BOUNCE);
	if (changed & SHCA_SMA_TIMEOUT)
		mod_delayed_work(shca_wq, &to_hca(dev)->trap_work, 0);
}

static int process_smp(struct shca_dev *dev, int mad_flags, u32 port,
		       const struct ib_mad *in, struct ib_mad *out)
{
	struct shca_sma_call c = {
		.in = (const struct shca_smp *)in,
		.out = (struct shca_smp *)out,
		.port = port,
		.trusted = mad_flags & IB_MAD_IGNORE_MKEY,
		.now = ktime_get_boottime_seconds(),
	};
	struct shca_hca *hca = to_hca(dev);
	enum shca_mad_result result;
	unsigned long flags;
	struct shca_smp trap;
	bool due = false;

	spin_lock_irqsave(&dev->node_lock, flags);
	result = shca_sma_mad(dev->node, &c);
	if (c.changed & SHCA_SMA_BAD_M_KEY)
		due = shca_notice_bad_m_key(&hca->node, port,
					    ktime_get_boottime_ns(),
					    &hca->trap_tid, c.in, &trap);
	spin_unlock_irqrestore(&dev->node_lock, flags);

	if (due)
		send_trap(dev, &trap);
	if (!(c.changed & SHCA_SMA_BAD_M_KEY))
		tell(dev, &c);
	act(dev, c.changed);
	switch (result) {
	case SHCA_MAD_REPLY:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	case SHCA_MAD_CONSUMED:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}

static int process_mad(struct ib_device *ib, int mad_flags, u32 port,
		       const struct ib_wc *wc, const struct ib_grh *grh,
		       const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey_index)
{
	struct shca_dev *dev = to_shca(ib);

	BUILD_BUG_ON(sizeof(*in) != SHCA_MAD_SIZE);
	if (port != 1)
		return IB_MAD_RESULT_FAILURE;
	switch (in->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_PERF_MGMT:
		return shca_pma_process(dev, port, in, out);
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		if (dev->node)
			return process_smp(dev, mad_flags, port, in, out);
		fallthrough;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}

/* ib_cm and a subnet manager say what they are; the SM wants to know of both. */
static int modify_port(struct ib_device *ib, u32 port, int mask,
		       struct ib_port_modify *modify)
{
	struct shca_dev *dev = to_shca(ib);
	struct shca_port_info *pi = &shca_node_port(dev)->info;
	unsigned long flags;
	u32 was, now;

	if (mask & ~IB_PORT_RESET_QKEY_CNTR)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&dev->node_lock, flags);
	was = be32_to_cpu(pi->cap_mask);
	now = (was | modify->set_port_cap_mask) & ~modify->clr_port_cap_mask;
	pi->cap_mask = cpu_to_be32(now);
	if (mask & IB_PORT_RESET_QKEY_CNTR)
		pi->q_key_violations = 0;
	spin_unlock_irqrestore(&dev->node_lock, flags);
	if (now != was)
		trap_change(dev, SHCA_NOTICE_CAP);
	return 0;
}

static int modify_device(struct ib_device *ib, int mask,
			 struct ib_device_modify *modify)
{
	struct shca_dev *dev = to_shca(ib);
	unsigned long flags;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	spin_lock_irqsave(&dev->node_lock, flags);
	memcpy(dev->node->desc, modify->node_desc, sizeof(dev->node->desc));
	memcpy(ib->node_desc, modify->node_desc, sizeof(ib->node_desc));
	spin_unlock_irqrestore(&dev->node_lock, flags);
	trap_change(dev, SHCA_NOTICE_DESC);
	return 0;
}

const struct ib_device_ops shca_fabric_ops = {
	.process_mad = process_mad,
};

const struct ib_device_ops shca_fabric_ib_ops = {
	.modify_port = modify_port,
	.modify_device = modify_device,
};

/**
 * shca_hca_attach - give a device what fabric/ has for it
 * @dev: with its counters and GUID, not registered yet
 * @ib: it is of native InfiniBand
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int shca_hca_attach(struct shca_dev *dev, bool ib)
{
	struct shca_hca *hca;

	BUILD_BUG_ON(sizeof(dev->ib.node_desc) != sizeof(hca->node.desc));
	if (shca_pma_attach(dev))
		return -ENOMEM;
	if (!ib)
		return 0;
	hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	if (!hca) {
		shca_pma_detach(dev);
		return -ENOMEM;
	}
	hca->dev = dev;
	hca->node.type = SHCA_NODE_CA;
	hca->node.num_ports = 1;
	hca->node.guid = dev->ib.node_guid;
	memcpy(hca->node.desc, dev->ib.node_desc, sizeof(hca->node.desc));
	hca->node.port = hca->port;
	hca->node.sl_to_vl = hca->sl_to_vl;
	shca_node_init(&hca->node);
	shca_plug_init(&hca->plug, &hca_plug_ops, 1);
	INIT_DELAYED_WORK(&hca->trap_work, trap_work);
	dev->node = &hca->node;
	dev->plug = &hca->plug;
	return 0;
}

/**
 * shca_hca_detach - the mirror
 * @dev: not registered any more, its link closed
 *
 * Context: process.
 */
void shca_hca_detach(struct shca_dev *dev)
{
	if (dev->node) {
		/* Its plug is closed: it sends to nobody, and not to itself. */
		cancel_delayed_work_sync(&to_hca(dev)->trap_work);
		kfree(to_hca(dev));
	}
	dev->node = NULL;
	dev->plug = NULL;
	shca_pma_detach(dev);
}

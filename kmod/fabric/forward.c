// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Switch: where a packet goes.  Pure code on the node's tables, which a SM may
 * change at any time: each entry is read once and checked here, whatever it was
 * when it was set.
 */
#include "forward.h"

static struct shca_fwd drop(enum shca_fwd_why why)
{
	return (struct shca_fwd) { .verdict = SHCA_FWD_DROP, .why = why };
}

/* The way out is known, and is not open. */
static struct shca_fwd not_open(u8 port)
{
	return (struct shca_fwd) {
		.verdict = SHCA_FWD_DROP, .why = SHCA_FWD_STATE,
		.ports = 1ull << port,
	};
}

static struct shca_fwd out(u64 ports)
{
	return (struct shca_fwd) { .verdict = SHCA_FWD_OUT, .ports = ports };
}

static bool carries_data(const struct shca_node *n, u8 port)
{
	return shca_pi_state(&n->port[port].info) == SHCA_PORT_ACTIVE;
}

/*
 * Management goes by every link that is up in hardware: the answer to a
 * Set(PortInfo) that takes a port to DOWN leaves by that very port, before the
 * link is trained anew (fabric/switch.c).
 */
static bool carries_mgmt(const struct shca_node *n, u8 port)
{
	return shca_pi_phys(&n->port[port].info) == SHCA_PHYS_LINK_UP;
}

static struct shca_fwd multicast(const struct shca_node *n, u8 in, u16 dlid)
{
	u32 i = dlid - SHCA_LID_MCAST;
	u64 ports = i < SHCA_SWITCH_MFT ? n->mft[i] : 0;
	u8 port;

	ports &= shca_node_all_ports(n) & ~(1ull << in) & ~1ull;
	for (port = 1; port <= n->num_ports; port++)
		if (!carries_data(n, port))
			ports &= ~(1ull << port);
	/* A group without other members is none's fault. */
	return ports ? out(ports) : drop(SHCA_FWD_NO_ROUTE);
}

/**
 * shca_forward - where a packet goes by its LRH
 * @n: the switch
 * @in: port it came in by; 0: from the switch itself
 * @l: its LRH, of the right shape
 *
 * Context: any; the node may change meanwhile.
 * Return: the answer. Ports of SHCA_FWD_OUT exist and may carry it.
 */
struct shca_fwd shca_forward(const struct shca_node *n, u8 in,
			     const struct shca_lrh *l)
{
	u16 dlid = be16_to_cpu(l->dlid);
	bool mgmt = shca_lrh_vl(l) == SHCA_VL_MGMT;
	u8 state = shca_pi_state(&n->port[in].info), port;

	if (mgmt && dlid == SHCA_LID_PERMISSIVE)
		return (struct shca_fwd) { .verdict = SHCA_FWD_DIRECTED };
	if (dlid == SHCA_LID_PERMISSIVE || !dlid)
		return drop(SHCA_FWD_NO_ROUTE);
	if (!mgmt && state != SHCA_PORT_ARMED && state != SHCA_PORT_ACTIVE)
		return drop(SHCA_FWD_STATE);
	if (shca_lid_is_mcast(dlid))
		return mgmt ? drop(SHCA_FWD_VL15) : multicast(n, in, dlid);
	if (shca_node_has_lid(&n->port[0], dlid))
		return (struct shca_fwd) { .verdict = SHCA_FWD_LOCAL };

	if (dlid > be16_to_cpu(n->sw.linear_fdb_top))
		return drop(SHCA_FWD_NO_ROUTE);
	port = n->lft[dlid];
	if (!port || port > n->num_ports || port == in)
		return drop(SHCA_FWD_NO_ROUTE);
	if (mgmt ? !carries_mgmt(n, port) : !carries_data(n, port))
		return not_open(port);
	return out(1ull << port);
}

static struct shca_fwd hop(const struct shca_node *n, u8 port)
{
	if (!port || port > n->num_ports)
		return drop(SHCA_FWD_VL15);
	if (!carries_mgmt(n, port))
		return not_open(port);
	return out(1ull << port);
}

static struct shca_fwd leave_path(u16 lid)
{
	if (!shca_lid_is_unicast(lid))
		return drop(SHCA_FWD_VL15);
	return (struct shca_fwd) { .verdict = SHCA_FWD_BY_LID, .lid = lid };
}

static struct shca_fwd outbound(const struct shca_node *n, u8 in, bool by_lid,
				struct shca_smp *smp)
{
	u8 ptr = smp->hop_ptr, cnt = smp->hop_cnt;

	if (by_lid) {
		/* The path has ended, and the part by LID after it ends here. */
		if (cnt && ptr == cnt + 1 &&
		    smp->dr_dlid != cpu_to_be16(SHCA_LID_PERMISSIVE))
			return (struct shca_fwd) { .verdict = SHCA_FWD_LOCAL };
		/* The path begins here, after a part by LID. */
		if (ptr || !cnt || smp->dr_slid == cpu_to_be16(SHCA_LID_PERMISSIVE))
			return drop(SHCA_FWD_VL15);
		smp->hop_ptr = 1;
		return hop(n, smp->initial_path[1]);
	}
	if (!ptr || ptr > cnt)
		return drop(SHCA_FWD_VL15);
	smp->return_path[ptr] = in;
	smp->hop_ptr = ptr + 1;
	if (ptr < cnt)
		return hop(n, smp->initial_path[ptr + 1]);
	if (smp->dr_dlid != cpu_to_be16(SHCA_LID_PERMISSIVE))
		return leave_path(be16_to_cpu(smp->dr_dlid));
	return (struct shca_fwd) { .verdict = SHCA_FWD_LOCAL };
}

static struct shca_fwd inbound(const struct shca_node *n, bool by_lid,
			       struct shca_smp *smp)
{
	u8 ptr = smp->hop_ptr, cnt = smp->hop_cnt;

	/* Only one that comes by LID, or from us, is past the path's end. */
	if (!ptr || !cnt || ptr > cnt + by_lid)
		return drop(SHCA_FWD_VL15);
	smp->hop_ptr = ptr - 1;
	if (ptr >= 2)
		return hop(n, smp->return_path[ptr - 1]);
	if (smp->dr_slid != cpu_to_be16(SHCA_LID_PERMISSIVE))
		return leave_path(be16_to_cpu(smp->dr_slid));
	/* It is back where it began, and nobody here asked. */
	return drop(SHCA_FWD_VL15);
}

/**
 * shca_forward_directed - where a directed-route SMP goes
 * @n: the switch
 * @in: port it came in by; 0: an answer from the switch itself
 * @by_lid: its LRH names the switch, or it is such an answer; else it came
 *	along the path
 * @smp: the SMP; hop pointer and return path are brought up to date
 *
 * Context: any.
 * Return: the answer: SHCA_FWD_OUT with one port, _LOCAL, _BY_LID or _DROP.
 */
struct shca_fwd shca_forward_directed(const struct shca_node *n, u8 in,
				      bool by_lid, struct shca_smp *smp)
{
	if (smp->mgmt_class != SHCA_MAD_CLASS_SMP_DR ||
	    smp->hop_cnt > SHCA_SMP_HOPS_MAX)
		return drop(SHCA_FWD_VL15);
	if (smp->status & cpu_to_be16(SHCA_SMP_DIRECTION))
		return inbound(n, by_lid, smp);
	return outbound(n, in, by_lid, smp);
}

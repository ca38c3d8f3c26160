/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Subnet management packets and their attributes (IBA volume 1, chapter 14):
 * layouts, plain fields in network byte order, accessors for those that share
 * a byte.
 */
#ifndef _SHCA_SMP_H
#define _SHCA_SMP_H

#include "mad.h"

#define SHCA_MAD_CLASS_SMP_LID		0x01
#define SHCA_MAD_CLASS_SMP_DR		0x81

#define SHCA_MAD_TRAP			0x05

#define SHCA_SMP_DIRECTION		0x8000	/* of the status: coming back */
#define SHCA_SMP_HOPS_MAX		63

/** struct shca_smp - 14.2.1.1 and 14.2.1.2; the paths are directed-route only */
struct shca_smp {
	u8 base_version;
	u8 mgmt_class;
	u8 class_version;
	u8 method;
	__be16 status;
	u8 hop_ptr;
	u8 hop_cnt;
	__be64 tid;
	__be16 attr_id;
	__be16 rsvd;
	__be32 attr_mod;
	__be64 m_key;
	__be16 dr_slid;
	__be16 dr_dlid;
	u8 rsvd2[28];
	u8 data[64];
	u8 initial_path[64];
	u8 return_path[64];
} __packed;

#define SHCA_SMP_NOTICE			0x0002
#define SHCA_SMP_NODE_DESC		0x0010
#define SHCA_SMP_NODE_INFO		0x0011
#define SHCA_SMP_SWITCH_INFO		0x0012
#define SHCA_SMP_GUID_INFO		0x0014
#define SHCA_SMP_PORT_INFO		0x0015
#define SHCA_SMP_PKEY_TABLE		0x0016
#define SHCA_SMP_SL_TO_VL		0x0017
#define SHCA_SMP_VL_ARB			0x0018
#define SHCA_SMP_LINEAR_FT		0x0019
#define SHCA_SMP_MCAST_FT		0x001b
#define SHCA_SMP_SM_INFO		0x0020

#define SHCA_NODE_CA			1
#define SHCA_NODE_SWITCH		2

/** struct shca_node_info - 14.2.5.3 */
struct shca_node_info {
	u8 base_version;
	u8 class_version;
	u8 node_type;
	u8 num_ports;
	__be64 system_image_guid;
	__be64 node_guid;
	__be64 port_guid;
	__be16 partition_cap;
	__be16 device_id;
	__be32 revision;
	u8 local_port_num;
	u8 vendor_id[3];
	u8 rsvd[24];
} __packed;

/** struct shca_switch_info - 14.2.5.4 */
struct shca_switch_info {
	__be16 linear_fdb_cap;
	__be16 random_fdb_cap;
	__be16 mcast_fdb_cap;
	__be16 linear_fdb_top;
	u8 default_port;
	u8 default_mcast_primary;
	u8 default_mcast_not_primary;
	u8 life_psc;		/* LifeTimeValue (5), PortStateChange, 2 more */
	__be16 lids_per_port;
	__be16 partition_enf_cap;
	u8 enforce;		/* partition and raw filters, EnhancedPort0 */
	u8 rsvd;
	__be16 mcast_fdb_top;
	u8 rsvd2[44];
} __packed;

#define SHCA_SWI_LIFE_SHIFT		3
#define SHCA_SWI_LIFE_MASK		0xf8
#define SHCA_SWI_PORT_STATE_CHANGE	0x04

/** struct shca_port_info - 14.2.5.6; the comments count bits */
struct shca_port_info {
	__be64 m_key;
	__be64 gid_prefix;
	__be16 lid;
	__be16 sm_lid;
	__be32 cap_mask;
	__be16 diag_code;
	__be16 m_key_lease;	/* seconds; 0: for ever */
	u8 local_port_num;
	u8 width_enabled;	/* SHCA_WIDTH_* */
	u8 width_supported;
	u8 width_active;
	u8 speed_state;		/* LinkSpeedSupported (4), PortState (4) */
	u8 phys_down;		/* PortPhysicalState (4), LinkDownDefault (4) */
	u8 prot_lmc;		/* M_KeyProtectBits (2), reserved (3), LMC (3) */
	u8 speed_active;	/* LinkSpeedActive (4), LinkSpeedEnabled (4) */
	u8 mtu_smsl;		/* NeighborMTU (4), MasterSMSL (4) */
	u8 vl_init;		/* VLCap (4), InitType (4) */
	u8 vl_high_limit;
	u8 vl_arb_high_cap;
	u8 vl_arb_low_cap;
	u8 init_mtu_cap;	/* InitTypeReply (4), MTUCap (4) */
	u8 stall_hoq;		/* VLStallCount (3), HOQLife (5) */
	u8 op_vls;		/* OperationalVLs (4), enforcement and filters (4) */
	__be16 m_key_violations;
	__be16 p_key_violations;
	__be16 q_key_violations;
	u8 guid_cap;
	u8 rereg_timeout;	/* ClientReregister, 2 more, SubnetTimeOut (5) */
	u8 resp_time;		/* reserved (3), RespTimeValue (5) */
	u8 errors;		/* LocalPhyErrors (4), OverrunErrors (4) */
	__be16 max_credit_hint;
	__be32 round_trip;	/* reserved (8), LinkRoundTripLatency (24) */
	__be16 cap_mask2;
	u8 speed_ext;		/* LinkSpeedExtActive (4), -Supported (4) */
	u8 speed_ext_enabled;	/* reserved (3), LinkSpeedExtEnabled (5) */
} __packed;

/* CapabilityMask */
#define SHCA_CAP_IS_SM			0x00000002u
#define SHCA_CAP_TRAP			0x00000008u
#define SHCA_CAP_SL_MAPPING		0x00000040u
#define SHCA_CAP_SYS_IMAGE_GUID		0x00000800u
#define SHCA_CAP_CM			0x00010000u
#define SHCA_CAP_MASK_NOTICE		0x00400000u	/* trap 144: capabilities */
#define SHCA_CAP_CLIENT_REREG		0x02000000u
#define SHCA_CAP_OTHER_CHANGES_NOTICE	0x04000000u	/* trap 144: the rest */

#define SHCA_WIDTH_1X			1
#define SHCA_WIDTH_4X			2
#define SHCA_SPEED_SDR			1	/* 2.5 Gbit/s a lane */

#define SHCA_PORT_NOP			0
#define SHCA_PORT_DOWN			1
#define SHCA_PORT_INIT			2
#define SHCA_PORT_ARMED			3
#define SHCA_PORT_ACTIVE		4

#define SHCA_PHYS_NOP			0
#define SHCA_PHYS_POLLING		2
#define SHCA_PHYS_DISABLED		3
#define SHCA_PHYS_LINK_UP		5

#define SHCA_PI_REREGISTER		0x80
#define SHCA_PI_TIMEOUT_MASK		0x1f

static_assert(sizeof(struct shca_smp) == SHCA_MAD_SIZE);
static_assert(offsetof(struct shca_smp, m_key) == 24);
static_assert(offsetof(struct shca_smp, data) == 64);
static_assert(offsetof(struct shca_smp, return_path) == 192);
static_assert(sizeof(struct shca_node_info) == 64);
static_assert(offsetof(struct shca_node_info, local_port_num) == 36);
static_assert(sizeof(struct shca_switch_info) == 64);
static_assert(offsetof(struct shca_switch_info, mcast_fdb_top) == 18);
static_assert(sizeof(struct shca_port_info) == 64);
static_assert(offsetof(struct shca_port_info, speed_state) == 32);
static_assert(offsetof(struct shca_port_info, op_vls) == 43);
static_assert(offsetof(struct shca_port_info, guid_cap) == 50);

/** struct shca_notice - Notice, 13.4.8.2: what a trap carries */
struct shca_notice {
	u8 generic_type;	/* IsGeneric, Type (7) */
	u8 producer[3];		/* SHCA_NODE_* of generic ones */
	__be16 trap;
	__be16 issuer_lid;
	__be16 toggle_count;
	u8 details[54];
} __packed;

#define SHCA_NOTICE_GENERIC		0x80
#define SHCA_NOTICE_URGENT		1
#define SHCA_NOTICE_SECURITY		2
#define SHCA_NOTICE_INFO		4

#define SHCA_TRAP_LINK_STATE		128	/* of a switch's port */
#define SHCA_TRAP_LOCAL_CHANGE		144	/* capabilities, description */
#define SHCA_TRAP_BAD_M_KEY		256
#define SHCA_TRAP_BAD_P_KEY		257
#define SHCA_TRAP_BAD_Q_KEY		258

static_assert(sizeof(struct shca_notice) == 64);

static inline u8 shca_pi_state(const struct shca_port_info *pi)
{
	return pi->speed_state & 0x0f;
}

static inline u8 shca_pi_phys(const struct shca_port_info *pi)
{
	return pi->phys_down >> 4;
}

static inline void shca_pi_set_state(struct shca_port_info *pi, u8 state)
{
	pi->speed_state = (pi->speed_state & 0xf0) | state;
}

static inline void shca_pi_set_phys(struct shca_port_info *pi, u8 phys)
{
	pi->phys_down = phys << 4 | (pi->phys_down & 0x0f);
}

static inline u16 shca_pi_lid(const struct shca_port_info *pi)
{
	return be16_to_cpu(pi->lid);
}

static inline u8 shca_pi_lmc(const struct shca_port_info *pi)
{
	return pi->prot_lmc & 7;
}

/* enum ib_mtu: 1 is 256 bytes, 5 is 4096 */
static inline u8 shca_pi_mtu_cap(const struct shca_port_info *pi)
{
	return pi->init_mtu_cap & 0x0f;
}

static inline u8 shca_pi_mtu(const struct shca_port_info *pi)
{
	return pi->mtu_smsl >> 4;
}

/* Data VLs that a code of VLCap or OperationalVLs stands for; 0: no code */
static inline u8 shca_vl_count(u8 code)
{
	static const u8 count[16] = { 0, 1, 2, 4, 8, 15 };

	return count[code & 15];
}

#endif /* _SHCA_SMP_H */

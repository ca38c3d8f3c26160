// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A Device is a softhca device.
//
// The tags named out say which fields ibctl shows in lists.
type Device struct {
	// Name may be changed by "rdma dev set".
	Name string `json:"name" out:"list"`
	// Index is the device's number in the RDMA subsystem.
	Index uint32 `json:"index"`
	// Link is what the port is attached to.
	Link Link `json:"link" out:"list"`
	// Netdev is the network interface, "" if Link is LinkIB.
	Netdev string `json:"netdev" out:"list"`
	// NetdevIndex is its index in the namespace NetnsInode.
	NetdevIndex uint32 `json:"netdev_ifindex"`
	// NetnsInode is the inode of the interface's network namespace.
	NetnsInode uint64    `json:"netns_inode"`
	PortState  PortState `json:"port_state" out:"list"`
	// ActiveMTU is the largest payload of a packet, in bytes.
	ActiveMTU uint32 `json:"active_mtu" out:"list"`
	NodeGUID  GUID   `json:"node_guid" out:"list"`
	// Window is how many packets a queue pair may have in flight.
	Window uint32 `json:"window"`
	// Burst is how many packets are handed to the link at a time.
	Burst uint32 `json:"burst"`
	// LID is that of a native InfiniBand port, 0 until a subnet manager gives
	// it one. Nil on RoCE.
	LID *uint32 `json:"lid,omitempty" out:"list"`
	// SMLID is the LID of the subnet manager, 0 if none was there. Nil on RoCE.
	SMLID *uint32 `json:"sm_lid,omitempty"`
}

// A GUID identifies a device or a port.
type GUID uint64

// ParseGUID reads a GUID: 16 hexadecimal digits, in one or as String writes them, or
// behind 0x, where some of the subnet manager's tools leave out leading zeros.
func ParseGUID(s string) (GUID, error) {
	var n uint64
	if guidForm.MatchString(s) { // so it is a number
		n, _ = strconv.ParseUint(strings.ReplaceAll(strings.TrimPrefix(s, "0x"), ":", ""), 16, 64)
	}
	if n == 0 {
		return 0, fmt.Errorf("%q is no GUID; one looks like %v or 0x%x", s, exampleGUID, uint64(exampleGUID))
	}
	return GUID(n), nil
}

var guidForm = regexp.MustCompile(`^([[:xdigit:]]{16}|([[:xdigit:]]{4}:){3}[[:xdigit:]]{4}|0x[[:xdigit:]]{1,16})$`)

const exampleGUID GUID = 0x1253484300000001

// String writes g as the tools of the RDMA subsystem do.
func (g GUID) String() string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", uint16(g>>48), uint16(g>>32), uint16(g>>16), uint16(g))
}

// MarshalText makes encoding/json write g as String does.
func (g GUID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// A DeviceConfig describes a device to create.
type DeviceConfig struct {
	Name string
	// Netdev is a network interface of the caller's network namespace, for
	// LinkRoCE.
	Netdev string
	// Link is LinkRoCE by default.
	Link Link
	// GUID is that of device and port, for LinkIB; 0 lets the kernel choose.
	GUID GUID
}

// Settings are what can be changed of a device. A nil field stays as it is.
type Settings struct {
	Window *uint32
	Burst  *uint32
}

// Devices lists the devices that the caller may see.
func (c *Client) Devices() ([]Device, error) {
	return dump(c, request{op: "list devices", cmd: proto.CmdDevGet, flags: flagsDump}, decodeDevice)
}

// Device returns one device. If there is none, errors.Is(err, os.ErrNotExist).
func (c *Client) Device(name string) (Device, error) {
	return get(c, request{
		op: "show device", object: name, cmd: proto.CmdDevGet, flags: flagsGet,
		encode: func(ae *netlink.AttributeEncoder) { ae.String(proto.DevName, name) },
	}, decodeDevice)
}

// AddDevice creates a device. If the name is taken, errors.Is(err,
// os.ErrExist); if the GUID is, syscall.EADDRINUSE; without the network interface,
// os.ErrNotExist; without the privilege, os.ErrPermission.
func (c *Client) AddDevice(cfg DeviceConfig) error {
	_, err := c.execute(request{
		op: "add device", object: cfg.Name, cmd: proto.CmdDevNew, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) {
			ae.String(proto.DevName, cfg.Name)
			if cfg.Link == LinkRoCE {
				ae.String(proto.DevNetdevName, cfg.Netdev)
			}
			ae.Uint32(proto.DevLink, uint32(cfg.Link))
			if cfg.GUID != 0 {
				ae.Uint64(proto.DevNodeGUID, uint64(cfg.GUID))
			}
		},
	})
	return err
}

// DeleteDevice deletes a device, in use or not. Errors are as for Device and
// AddDevice.
func (c *Client) DeleteDevice(name string) error {
	_, err := c.execute(request{
		op: "delete device", object: name, cmd: proto.CmdDevDel, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) { ae.String(proto.DevName, name) },
	})
	return err
}

// SetDevice changes settings of a device. Errors are as for Device and
// AddDevice.
func (c *Client) SetDevice(name string, s Settings) error {
	_, err := c.execute(request{
		op: "set device", object: name, cmd: proto.CmdDevSet, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) {
			ae.String(proto.DevName, name)
			if s.Window != nil {
				ae.Uint32(proto.DevWindow, *s.Window)
			}
			if s.Burst != nil {
				ae.Uint32(proto.DevBurst, *s.Burst)
			}
		},
	})
	return err
}

func decodeDevice(ad *netlink.AttributeDecoder, d *Device) {
	switch ad.Type() {
	case proto.DevIndex:
		d.Index = ad.Uint32()
	case proto.DevName:
		d.Name = ad.String()
	case proto.DevNetdevIfindex:
		d.NetdevIndex = ad.Uint32()
	case proto.DevNetdevName:
		d.Netdev = ad.String()
	case proto.DevLink:
		d.Link = Link(ad.Uint32())
	case proto.DevPortState:
		d.PortState = PortState(ad.Uint32())
	case proto.DevActiveMTU:
		d.ActiveMTU = ad.Uint32()
	case proto.DevNodeGUID:
		d.NodeGUID = GUID(ad.Uint64())
	case proto.DevNetnsInode:
		d.NetnsInode = ad.Uint64()
	case proto.DevWindow:
		d.Window = ad.Uint32()
	case proto.DevBurst:
		d.Burst = ad.Uint32()
	case proto.DevLID:
		v := ad.Uint32()
		d.LID = &v
	case proto.DevSMLID:
		v := ad.Uint32()
		d.SMLID = &v
	}
}

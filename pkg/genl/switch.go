// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A Switch is a switch of native InfiniBand.
type Switch struct {
	Name string `json:"name" out:"list"`
	// PortCount is how many external ports it has.
	PortCount uint32 `json:"port_count" out:"list"`
	// LID is 0 until a subnet manager gives it one.
	LID  uint32 `json:"lid" out:"list"`
	GUID GUID   `json:"guid" out:"list"`
	// Ports are the external ports, by number.
	Ports []SwitchPort `json:"ports"`
}

// A SwitchPort is an external port of a switch.
type SwitchPort struct {
	Number uint32    `json:"number" out:"list"`
	State  PortState `json:"state" out:"list"`
	// MTU is the largest payload that leaves by it, in bytes.
	MTU uint32 `json:"mtu" out:"list"`
}

// A SwitchConfig describes a switch to create.
type SwitchConfig struct {
	Name string
	// Ports is how many external ports it is to have, 1 to SwitchPortsMax.
	Ports uint32
	// GUID is 0 to let the kernel choose.
	GUID GUID
}

// Switches lists the switches. It needs the privilege of AddDevice.
func (c *Client) Switches() ([]Switch, error) {
	return dump(c, request{op: "list switches", cmd: proto.CmdSwitchGet, flags: flagsDump}, decodeSwitch)
}

// Switch returns one switch. If there is none, errors.Is(err, os.ErrNotExist).
func (c *Client) Switch(name string) (Switch, error) {
	return get(c, request{
		op: "show switch", object: name, cmd: proto.CmdSwitchGet, flags: flagsGet,
		encode: func(ae *netlink.AttributeEncoder) { ae.String(proto.SwitchName, name) },
	}, decodeSwitch)
}

// AddSwitch creates a switch. If the name is taken, errors.Is(err, os.ErrExist); if
// the GUID is, syscall.EADDRINUSE.
func (c *Client) AddSwitch(cfg SwitchConfig) error {
	_, err := c.execute(request{
		op: "add switch", object: cfg.Name, cmd: proto.CmdSwitchNew, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) {
			ae.String(proto.SwitchName, cfg.Name)
			ae.Uint32(proto.SwitchPorts, cfg.Ports)
			if cfg.GUID != 0 {
				ae.Uint64(proto.SwitchGUID, uint64(cfg.GUID))
			}
		},
	})
	return err
}

// DeleteSwitch deletes a switch and pulls its cables. Errors are as for Switch.
func (c *Client) DeleteSwitch(name string) error {
	_, err := c.execute(request{
		op: "delete switch", object: name, cmd: proto.CmdSwitchDel, flags: flagsSet,
		encode: func(ae *netlink.AttributeEncoder) { ae.String(proto.SwitchName, name) },
	})
	return err
}

func decodeSwitch(ad *netlink.AttributeDecoder, s *Switch) {
	switch ad.Type() {
	case proto.SwitchName:
		s.Name = ad.String()
	case proto.SwitchPorts:
		s.PortCount = ad.Uint32()
	case proto.SwitchGUID:
		s.GUID = GUID(ad.Uint64())
	case proto.SwitchLID:
		s.LID = ad.Uint32()
	case proto.SwitchPort:
		ad.Nested(func(nad *netlink.AttributeDecoder) error {
			var p SwitchPort
			for nad.Next() {
				switch nad.Type() {
				case proto.SwitchPortNumber:
					p.Number = nad.Uint32()
				case proto.SwitchPortState:
					p.State = PortState(nad.Uint32())
				case proto.SwitchPortMTU:
					p.MTU = nad.Uint32()
				}
			}
			s.Ports = append(s.Ports, p)
			return nil
		})
	}
}

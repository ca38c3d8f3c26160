// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genlfake

import (
	"slices"
	"syscall"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

func (k *Kernel) findSwitch(name string) *genl.Switch {
	for _, s := range k.switches {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// namedSwitch looks up the switch that a request names.
func (k *Kernel) namedSwitch(r *req) (*genl.Switch, error) {
	name, err := r.needString(proto.SwitchName)
	if err != nil {
		return nil, err
	}
	if s := k.findSwitch(name); s != nil {
		return s, nil
	}
	return nil, r.refuse(syscall.ENODEV, proto.SwitchName, "there is no switch of this name")
}

// guidTaken refuses the GUID that an attribute of a request names, if a node has it.
func (k *Kernel) guidTaken(r *req, attr uint16) error {
	guid, ok := r.u64[attr]
	if !ok {
		return nil
	}
	taken := func(name string) error {
		return r.refuse(syscall.EADDRINUSE, attr, "the GUID is that of "+name+" already")
	}
	for _, s := range k.switches {
		if s.GUID == genl.GUID(guid) {
			return taken(s.Name)
		}
	}
	for _, d := range k.devices {
		if d.Link == genl.LinkIB && d.NodeGUID == genl.GUID(guid) {
			return taken(d.Name)
		}
	}
	return nil
}

func (k *Kernel) switchNew(r *req) error {
	name, err := r.needString(proto.SwitchName)
	if err != nil {
		return err
	}
	ports, ok := r.u32[proto.SwitchPorts]
	switch {
	case !ok:
		return r.refuse(syscall.EINVAL, 0, "the request lacks ports")
	case k.devices[name] != nil:
		return r.refuse(syscall.EEXIST, proto.SwitchName, "the name is taken: there is a device of this name already")
	case k.findSwitch(name) != nil:
		return r.refuse(syscall.EEXIST, proto.SwitchName, "the name is taken: there is a switch "+name+" already")
	}
	if err := k.guidTaken(r, proto.SwitchGUID); err != nil {
		return err
	}
	s := &genl.Switch{Name: name, PortCount: ports, GUID: genl.GUID(0x1253484301000000 | uint64(len(k.switches)+1))}
	if guid, ok := r.u64[proto.SwitchGUID]; ok {
		s.GUID = genl.GUID(guid)
	}
	for i := range ports {
		s.Ports = append(s.Ports, genl.SwitchPort{Number: i + 1, State: genl.PortStateDown, MTU: 4096})
	}
	k.switches = append(k.switches, s)
	k.multicast(fabricGroup, proto.CmdSwitchNewNtf, encodeSwitch(s))
	return nil
}

func (k *Kernel) switchDel(r *req) error {
	s, err := k.namedSwitch(r)
	if err != nil {
		return err
	}
	k.pull(s.Name)
	k.switches = slices.DeleteFunc(k.switches, func(o *genl.Switch) bool { return o == s })
	k.multicast(fabricGroup, proto.CmdSwitchDelNtf, encodeSwitch(s))
	return nil
}

func (k *Kernel) switchGet(r *req) ([][]byte, error) {
	if r.dump {
		var out [][]byte
		for _, s := range k.switches {
			out = append(out, encodeSwitch(s))
		}
		return out, nil
	}
	s, err := k.namedSwitch(r)
	if err != nil {
		return nil, err
	}
	return [][]byte{encodeSwitch(s)}, nil
}

func encodeSwitch(s *genl.Switch) []byte {
	return encode(func(ae *netlink.AttributeEncoder) {
		ae.String(proto.SwitchName, s.Name)
		ae.Uint32(proto.SwitchPorts, s.PortCount)
		ae.Uint64(proto.SwitchGUID, uint64(s.GUID))
		ae.Uint32(proto.SwitchLID, s.LID)
		for _, p := range s.Ports {
			ae.Nested(proto.SwitchPort, func(nae *netlink.AttributeEncoder) error {
				nae.Uint32(proto.SwitchPortNumber, p.Number)
				nae.Uint32(proto.SwitchPortState, uint32(p.State))
				nae.Uint32(proto.SwitchPortMTU, p.MTU)
				return nil
			})
		}
	})
}

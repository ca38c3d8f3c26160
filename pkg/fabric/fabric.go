// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package fabric declares native InfiniBand fabrics: which devices and switches
// a host has, and which cables join them with each other and with other hosts.
//
// A fabric is written in YAML; see Parse.
package fabric

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/softhca/softhca/pkg/genl"
)

// A Fabric is what a file declares.
type Fabric struct {
	// File is the name of the file, for errors.
	File     string
	Switches []Switch
	Devices  []Device
	Cables   []Cable
}

// A Switch is declared in line Line of the file.
type Switch struct {
	genl.SwitchConfig
	Line int
}

// A Device is declared in line Line of the file. Its link is LinkIB.
type Device struct {
	genl.DeviceConfig
	Line int
}

// A Cable joins two ports, or A with another host.
type Cable struct {
	A, B genl.Port
	// Remote is nil if B is the other end.
	Remote *genl.Remote
	Line   int
}

// String writes the cable as an error names it.
func (c Cable) String() string {
	if c.Remote != nil {
		return fmt.Sprintf("%v remote %v", c.A, c.Remote)
	}
	return fmt.Sprintf("%v %v", c.A, c.B)
}

func (c Cable) uses(p genl.Port) bool { return p.Node != "" && (c.A == p || c.B == p) }

// sameRemote says whether both have the same end at another host. A network
// namespace can have one such cable.
func (c Cable) sameRemote(o Cable) bool {
	return c.Remote != nil && o.Remote != nil && *c.Remote == *o.Remote
}

// is says whether they are the same, whichever way round.
func (c Cable) is(o Cable) bool {
	switch {
	case (c.Remote == nil) != (o.Remote == nil):
		return false
	case c.Remote != nil:
		return c.A == o.A && c.sameRemote(o)
	}
	return c.A == o.A && c.B == o.B || c.A == o.B && c.B == o.A
}

// errorf blames a line of the file.
func (f *Fabric) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", f.File, line, fmt.Errorf(format, args...))
}

// A Host is what a host has of native InfiniBand.
type Host struct {
	Switches []genl.Switch
	// Devices are all, of any link.
	Devices []genl.Device
	Cables  []genl.Cable
}

// Read finds out what the host has. It needs the privilege of AddDevice.
func Read(c *genl.Client) (h Host, err error) {
	if h.Switches, err = c.Switches(); err != nil {
		return h, err
	}
	if h.Devices, err = c.Devices(); err != nil {
		return h, err
	}
	h.Cables, err = c.Cables()
	return h, err
}

// Apply makes what is missing. What is there already stays as it is, and so does
// what the fabric does not declare. If something there contradicts the fabric,
// that is an error, found before anything is made.
//
// Cables to other hosts go through the caller's network namespace. They are compared
// with those of all namespaces, since the kernel does not tell whose a cable is.
func (f *Fabric) Apply(c *genl.Client) error {
	host, err := Read(c)
	if err != nil {
		return err
	}
	missing, err := f.missing(host)
	if err != nil {
		return err
	}
	for _, s := range missing.Switches {
		if err := c.AddSwitch(s.SwitchConfig); err != nil {
			return f.errorf(s.Line, "%w", err)
		}
	}
	for _, d := range missing.Devices {
		if err := c.AddDevice(d.DeviceConfig); err != nil {
			return f.errorf(d.Line, "%w", err)
		}
	}
	for _, cable := range missing.Cables {
		if err := plug(c, cable); err != nil {
			return f.errorf(cable.Line, "%w", err)
		}
	}
	return nil
}

func plug(c *genl.Client, cable Cable) error {
	if cable.Remote != nil {
		return c.AddRemoteCable(cable.A, *cable.Remote)
	}
	return c.AddCable(cable.A, cable.B)
}

func (f *Fabric) missing(h Host) (m Fabric, err error) {
	for _, s := range f.Switches {
		if there, err := f.hasSwitch(h, s); err != nil {
			return m, err
		} else if !there {
			m.Switches = append(m.Switches, s)
		}
	}
	for _, d := range f.Devices {
		if there, err := f.hasDevice(h, d); err != nil {
			return m, err
		} else if !there {
			m.Devices = append(m.Devices, d)
		}
	}
	for _, c := range f.Cables {
		if there, err := f.hasCable(h, c); err != nil {
			return m, err
		} else if !there {
			m.Cables = append(m.Cables, c)
		}
	}
	return m, nil
}

func (f *Fabric) hasSwitch(h Host, s Switch) (bool, error) {
	i := slices.IndexFunc(h.Switches, func(o genl.Switch) bool { return o.Name == s.Name })
	if i < 0 {
		if slices.ContainsFunc(h.Devices, func(o genl.Device) bool { return o.Name == s.Name }) {
			return false, f.errorf(s.Line, "switch %s: there is a device of this name already; delete it first", s.Name)
		}
		return false, f.guidFree(h, s.GUID, "switch", s.Name, s.Line)
	}
	o := h.Switches[i]
	if o.PortCount != s.Ports || s.GUID != 0 && o.GUID != s.GUID {
		return false, f.errorf(s.Line, "switch %s: there is one already, with %d ports and GUID %v; delete it first", o.Name, o.PortCount, o.GUID)
	}
	return true, nil
}

func (f *Fabric) hasDevice(h Host, d Device) (bool, error) {
	i := slices.IndexFunc(h.Devices, func(o genl.Device) bool { return o.Name == d.Name })
	if i < 0 {
		if slices.ContainsFunc(h.Switches, func(o genl.Switch) bool { return o.Name == d.Name }) {
			return false, f.errorf(d.Line, "device %s: there is a switch of this name already; delete it first", d.Name)
		}
		return false, f.guidFree(h, d.GUID, "device", d.Name, d.Line)
	}
	o := h.Devices[i]
	if o.Link != genl.LinkIB {
		return false, f.errorf(d.Line, "device %s: there is one already, and its link is %v; delete it first", o.Name, o.Link)
	}
	if d.GUID != 0 && o.NodeGUID != d.GUID {
		return false, f.errorf(d.Line, "device %s: there is one already, with GUID %v; delete it first", o.Name, o.NodeGUID)
	}
	return true, nil
}

// guidFree refuses the GUID of a node to be made, if the host has one with it. 0 is
// none.
func (f *Fabric) guidFree(h Host, guid genl.GUID, kind, name string, line int) error {
	var owner string
	for _, o := range h.Switches {
		if o.GUID == guid {
			owner = o.Name
		}
	}
	for _, o := range h.Devices {
		if o.Link == genl.LinkIB && o.NodeGUID == guid {
			owner = o.Name
		}
	}
	if guid == 0 || owner == "" {
		return nil
	}
	return f.errorf(line, "%s %s: the GUID %v is that of %s already", kind, name, guid, owner)
}

func (f *Fabric) hasCable(h Host, c Cable) (bool, error) {
	var there []Cable
	for _, o := range h.Cables {
		there = append(there, Cable{A: o.A, B: o.B, Remote: o.Remote})
	}
	if slices.ContainsFunc(there, c.is) {
		return true, nil
	}
	for _, have := range there {
		if have.uses(c.A) || have.uses(c.B) || have.sameRemote(c) {
			return false, f.errorf(c.Line, "cable %v: there is a cable %v already; pull it first", c, have)
		}
	}
	return false, nil
}

// Delete removes the fabric's devices and switches, and so its cables. What is
// not there does not matter, and a RoCE device of such a name is not the fabric's.
func (f *Fabric) Delete(c *genl.Client) error {
	devices, err := c.Devices()
	if err != nil {
		return err
	}
	for _, d := range f.Devices {
		if !slices.ContainsFunc(devices, func(o genl.Device) bool { return o.Name == d.Name && o.Link == genl.LinkIB }) {
			continue
		}
		if err := c.DeleteDevice(d.Name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return f.errorf(d.Line, "%w", err)
		}
	}
	for _, s := range f.Switches {
		if err := c.DeleteSwitch(s.Name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return f.errorf(s.Line, "%w", err)
		}
	}
	return nil
}

// Delete removes all native InfiniBand devices and switches of the host. What
// has gone meanwhile does not matter.
func (h Host) Delete(c *genl.Client) error {
	for _, d := range h.Devices {
		if d.Link != genl.LinkIB {
			continue
		}
		if err := c.DeleteDevice(d.Name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, s := range h.Switches {
		if err := c.DeleteSwitch(s.Name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// list joins words for a sentence.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

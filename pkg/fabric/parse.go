// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package fabric

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/softhca/softhca/internal/number"
	"github.com/softhca/softhca/pkg/genl"
	"go.yaml.in/yaml/v4"
)

// Parse reads a fabric. Errors name the file, the line and the object.
//
//	switches:
//	  sw0: {ports: 8}
//	  sw1: {ports: 8, guid: 1253:4843:0100:0001}
//	devices:
//	  shca0:
//	  shca1: {guid: 1253:4843:0000:0001}
//	cables:
//	  - [shca0/1, sw0/1]
//	  - [shca1, sw0/2]            # a device has one port
//	  - {port: sw0/8, remote: 192.0.2.7, id: 1}
//
// The last cable goes to another host, over UDP port 47911 or what udp_port
// says. Each section may be missing.
func Parse(file string, text []byte) (*Fabric, error) {
	f := &Fabric{File: file}
	doc, err := f.document(text)
	if err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 { // nothing but comments
		return f, nil
	}
	err = f.mapping(doc.Content[0], "the file", func(key, value *yaml.Node) error {
		switch key.Value {
		case "switches":
			return f.mapping(value, "switches", f.addSwitch)
		case "devices":
			return f.mapping(value, "devices", f.addDevice)
		case "cables":
			return f.addCables(value)
		}
		return f.unknown(key, "the file", "switches", "devices", "cables")
	})
	if err != nil {
		return nil, err
	}
	return f, f.check()
}

// document reads the only document of a file, which may be empty.
func (f *Fabric) document(text []byte) (*yaml.Node, error) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return &doc, nil
	}
	if err != nil {
		return nil, f.syntax(err)
	}
	err = d.Decode(&more)
	if errors.Is(err, io.EOF) {
		return &doc, nil
	}
	if err != nil {
		return nil, f.syntax(err)
	}
	return nil, f.errorf(more.Line, "here begins a second document; a file has one")
}

// syntax blames the line that the YAML parser blames.
func (f *Fabric) syntax(err error) error {
	var load *yaml.LoadError
	if errors.As(err, &load) {
		return f.errorf(load.Mark.Line, "%s", load.Message)
	}
	return fmt.Errorf("%s: %w", f.File, err)
}

func (f *Fabric) unknown(key *yaml.Node, object string, known ...string) error {
	return f.errorf(key.Line, "%s: unknown key %q; there are %s", object, key.Value, list(known))
}

// mapping calls each for every key; none, and no value, is an empty mapping.
func (f *Fabric) mapping(n *yaml.Node, object string, each func(key, value *yaml.Node) error) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return f.errorf(n.Line, "%s: this must be a mapping, lines of NAME: VALUE", object)
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return f.errorf(key.Line, "%s: this is no name", object)
		}
		if seen[key.Value] {
			return f.errorf(key.Line, "%s: %s is there twice", object, key.Value)
		}
		seen[key.Value] = true
		if err := each(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fabric) scalar(n *yaml.Node, object, key string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", f.errorf(n.Line, "%s: %s must be one value", object, key)
	}
	return n.Value, nil
}

func (f *Fabric) number(n *yaml.Node, object, key string, low, high uint64) (uint64, error) {
	text, err := f.scalar(n, object, key)
	if err != nil {
		return 0, err
	}
	v, err := number.Parse(text, 64)
	if err != nil || v < low || v > high {
		return 0, f.errorf(n.Line, "%s: %s must be a number from %d to %d, not %q", object, key, low, high, text)
	}
	return v, nil
}

func (f *Fabric) guid(n *yaml.Node, object string) (genl.GUID, error) {
	text, err := f.scalar(n, object, "guid")
	if err != nil {
		return 0, err
	}
	g, err := genl.ParseGUID(text)
	if err != nil {
		return 0, f.errorf(n.Line, "%s: %w", object, err)
	}
	return g, nil
}

func (f *Fabric) port(n *yaml.Node, object string) (genl.Port, error) {
	text, err := f.scalar(n, object, "an end")
	if err != nil {
		return genl.Port{}, err
	}
	p, err := genl.ParsePort(text)
	if err != nil {
		return p, f.errorf(n.Line, "%s: %w", object, err)
	}
	return p, nil
}

func (f *Fabric) addSwitch(key, value *yaml.Node) error {
	s := Switch{SwitchConfig: genl.SwitchConfig{Name: key.Value}, Line: key.Line}
	object := "switch " + s.Name
	err := f.mapping(value, object, func(key, value *yaml.Node) (err error) {
		switch key.Value {
		case "ports":
			n, err := f.number(value, object, "ports", 1, genl.SwitchPortsMax)
			s.Ports = uint32(n)
			return err
		case "guid":
			s.GUID, err = f.guid(value, object)
			return err
		}
		return f.unknown(key, object, "ports", "guid")
	})
	if err != nil {
		return err
	}
	if s.Ports == 0 {
		return f.errorf(s.Line, "%s: ports is missing", object)
	}
	f.Switches = append(f.Switches, s)
	return nil
}

func (f *Fabric) addDevice(key, value *yaml.Node) error {
	d := Device{DeviceConfig: genl.DeviceConfig{Name: key.Value, Link: genl.LinkIB}, Line: key.Line}
	object := "device " + d.Name
	err := f.mapping(value, object, func(key, value *yaml.Node) (err error) {
		if key.Value != "guid" {
			return f.unknown(key, object, "guid")
		}
		d.GUID, err = f.guid(value, object)
		return err
	})
	if err != nil {
		return err
	}
	f.Devices = append(f.Devices, d)
	return nil
}

func (f *Fabric) addCables(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return f.errorf(n.Line, "cables: this must be a list, lines that begin with -")
	}
	for _, item := range n.Content {
		c, err := f.cable(item)
		if err != nil {
			return err
		}
		f.Cables = append(f.Cables, c)
	}
	return nil
}

func (f *Fabric) cable(n *yaml.Node) (c Cable, err error) {
	c.Line = n.Line
	switch {
	case n.Kind == yaml.SequenceNode && len(n.Content) == 2:
		if c.A, err = f.port(n.Content[0], "cable"); err != nil {
			return c, err
		}
		c.B, err = f.port(n.Content[1], "cable")
		return c, err
	case n.Kind == yaml.MappingNode:
		return f.remoteCable(n, c)
	}
	return c, f.errorf(n.Line, "cable: this must be [PORT, PORT] or {port: PORT, remote: ADDRESS, id: NUMBER}")
}

func (f *Fabric) remoteCable(n *yaml.Node, c Cable) (Cable, error) {
	const object = "cable"
	c.Remote = &genl.Remote{Port: genl.CableUDPPort}
	var seen []string
	err := f.mapping(n, object, func(key, value *yaml.Node) (err error) {
		seen = append(seen, key.Value)
		switch key.Value {
		case "port":
			c.A, err = f.port(value, object)
			return err
		case "remote":
			text, err := f.scalar(value, object, "remote")
			if err != nil {
				return err
			}
			if c.Remote.Addr, err = netip.ParseAddr(text); err != nil {
				return f.errorf(value.Line, "%s: %q is no IP address", object, text)
			}
			return nil
		case "id":
			id, err := f.number(value, object, "id", 0, 1<<32-1)
			c.Remote.ID = uint32(id)
			return err
		case "udp_port":
			port, err := f.number(value, object, "udp_port", 1, 1<<16-1)
			c.Remote.Port = uint16(port)
			return err
		}
		return f.unknown(key, object, "port", "remote", "id", "udp_port")
	})
	if err != nil {
		return c, err
	}
	for _, need := range []string{"port", "remote", "id"} {
		if !slices.Contains(seen, need) {
			return c, f.errorf(n.Line, "%s: %s is missing", object, need)
		}
	}
	return c, nil
}

// check finds what no kernel could make.
func (f *Fabric) check() error {
	ports := make(map[string]uint32)
	guids := make(map[genl.GUID]int) // the lines they are in
	for _, s := range f.Switches {
		ports[s.Name] = s.Ports
		if err := f.once(guids, s.GUID, "switch "+s.Name, s.Line); err != nil {
			return err
		}
	}
	for _, d := range f.Devices {
		if _, twice := ports[d.Name]; twice {
			return f.errorf(d.Line, "device %s: there is a switch of this name", d.Name)
		}
		ports[d.Name] = 1
		if err := f.once(guids, d.GUID, "device "+d.Name, d.Line); err != nil {
			return err
		}
	}
	return f.checkCables(ports)
}

// once notes the GUID of an object, unless it is 0, and refuses one that was noted
// before.
func (f *Fabric) once(guids map[genl.GUID]int, guid genl.GUID, object string, line int) error {
	if guid == 0 {
		return nil
	}
	if before, twice := guids[guid]; twice {
		return f.errorf(line, "%s: the GUID %v is taken already, in line %d", object, guid, before)
	}
	guids[guid] = line
	return nil
}

// checkCables checks the cables of nodes that have so many ports.
func (f *Fabric) checkCables(ports map[string]uint32) error {
	used := make(map[genl.Port]int)
	remotes := make(map[genl.Remote]int)
	for _, c := range f.Cables {
		ends := []genl.Port{c.A}
		if c.Remote == nil {
			ends = append(ends, c.B)
		} else if before, twice := remotes[*c.Remote]; twice {
			return f.errorf(c.Line, "cable %v: there is a cable to that end already, in line %d", c, before)
		} else {
			remotes[*c.Remote] = c.Line
		}
		for _, p := range ends {
			n, ok := ports[p.Node]
			switch {
			case !ok:
				return f.errorf(c.Line, "cable %v: there is no switch and no device %s in the file", c, p.Node)
			case p.Number > n:
				return f.errorf(c.Line, "cable %v: the last port of %s is %d", c, p.Node, n)
			case used[p] != 0:
				return f.errorf(c.Line, "cable %v: %v has a cable already, in line %d", c, p, used[p])
			}
			used[p] = c.Line
		}
	}
	return nil
}

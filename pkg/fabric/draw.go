// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package fabric

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/softhca/softhca/pkg/genl"
)

// devices are those of native InfiniBand.
func (h Host) devices() []genl.Device {
	return slices.DeleteFunc(slices.Clone(h.Devices), func(d genl.Device) bool { return d.Link != genl.LinkIB })
}

// far says what is at the other end of the cable in a port, and whether the
// link is up; "" without a cable.
func (h Host) far(p genl.Port) (end string, up genl.LinkState) {
	for _, c := range h.Cables {
		switch {
		case c.A == p && c.Remote != nil:
			end = fmt.Sprintf("remote %v", c.Remote)
			if c.PeerState != nil {
				end += fmt.Sprintf(" (%v)", *c.PeerState)
			}
			return end, c.LinkState
		case c.A == p:
			return c.B.String(), c.LinkState
		case c.B == p:
			return c.A.String(), c.LinkState
		}
	}
	return "", genl.LinkStateDown
}

// Text draws what the host has: every switch with what its ports are cabled to,
// then the devices.
func (h Host) Text(w io.Writer) error {
	b := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range h.Switches {
		fmt.Fprintf(b, "switch %s\tports %d\tLID %d\tGUID %v\n", s.Name, s.PortCount, s.LID, s.GUID)
		for _, p := range s.Ports {
			if end, link := h.far(genl.Port{Node: s.Name, Number: p.Number}); end != "" {
				fmt.Fprintf(b, "  %d\t-- %s\tlink %v\t%v\n", p.Number, end, link, p.State)
			}
		}
	}
	for _, d := range h.devices() {
		lid := uint32(0)
		if d.LID != nil {
			lid = *d.LID
		}
		fmt.Fprintf(b, "device %s\t%v\tLID %d\tGUID %v\n", d.Name, d.PortState, lid, d.NodeGUID)
		if end, link := h.far(genl.Port{Node: d.Name, Number: 1}); end != "" {
			fmt.Fprintf(b, "  1\t-- %s\tlink %v\t%v\n", end, link, d.PortState)
		}
	}
	return b.Flush()
}

// Dot draws it as a graph for Graphviz.
func (h Host) Dot(w io.Writer) error {
	b := &strings.Builder{}
	b.WriteString("graph fabric {\n")
	for _, s := range h.Switches {
		fmt.Fprintf(b, "\t%q [shape=box];\n", s.Name)
	}
	for _, d := range h.devices() {
		fmt.Fprintf(b, "\t%q;\n", d.Name)
	}
	for _, c := range h.Cables {
		style := ""
		if c.LinkState != genl.LinkStateUp {
			style = ", style=dashed"
		}
		if c.Remote != nil {
			fmt.Fprintf(b, "\t%q [shape=plaintext];\n", c.Remote)
			fmt.Fprintf(b, "\t%q -- %q [taillabel=\"%d\"%s];\n", c.A.Node, c.Remote, c.A.Number, style)
			continue
		}
		fmt.Fprintf(b, "\t%q -- %q [taillabel=\"%d\", headlabel=\"%d\"%s];\n", c.A.Node, c.B.Node, c.A.Number, c.B.Number, style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// YAML writes it as a file that Parse reads and that declares all of it.
func (h Host) YAML(w io.Writer) error {
	b := &strings.Builder{}
	section := func(title string, n int) {
		if n > 0 {
			b.WriteString(title + ":\n")
		}
	}
	section("switches", len(h.Switches))
	for _, s := range h.Switches {
		fmt.Fprintf(b, "  %q: {ports: %d, guid: %q}\n", s.Name, s.PortCount, s.GUID)
	}
	section("devices", len(h.devices()))
	for _, d := range h.devices() {
		fmt.Fprintf(b, "  %q: {guid: %q}\n", d.Name, d.NodeGUID)
	}
	section("cables", len(h.Cables))
	for _, c := range h.Cables {
		if r := c.Remote; r != nil {
			fmt.Fprintf(b, "  - {port: %q, remote: %q, id: %d, udp_port: %d}\n", c.A, r.Addr, r.ID, r.Port)
			continue
		}
		fmt.Fprintf(b, "  - [%q, %q]\n", c.A, c.B)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

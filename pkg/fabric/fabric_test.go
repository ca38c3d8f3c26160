// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package fabric

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/genlfake"
)

func parse(t *testing.T, text string) *Fabric {
	t.Helper()
	f, err := Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRefused(t *testing.T) {
	const ab = "devices: {a: , b: , c: }\ncables:\n"
	for text, want := range map[string]string{
		"hubs: 1":                              `f.yaml:1: the file: unknown key "hubs"; there are switches, devices and cables`,
		"- a":                                  "f.yaml:1: the file: this must be a mapping, lines of NAME: VALUE",
		"devices:\n\ta:":                       "f.yaml:2: ",
		"devices: [a":                          "f.yaml:2: ",
		"devices:\n  a:\n  a:":                 "f.yaml:3: devices: a is there twice",
		"devices:\n  a: 1":                     "f.yaml:2: device a: this must be a mapping, lines of NAME: VALUE",
		"devices:\n  a:\n    colour: red":      `f.yaml:3: device a: unknown key "colour"; there are guid`,
		"devices:\n  a: {guid: 0}":             `f.yaml:2: device a: "0" is no GUID; one looks like `,
		"devices:\n  a: {guid: 12}":            `f.yaml:2: device a: "12" is no GUID; one looks like `,
		"devices:\n  a: {guid: 1:2:3:4}":       `f.yaml:2: device a: "1:2:3:4" is no GUID; one looks like `,
		"devices:\n  a: {guid: }":              "f.yaml:2: device a: guid must be one value",
		"devices:\n  [a]: ":                    "f.yaml:2: devices: this is no name",
		"switches:\n  s: ":                     "f.yaml:2: switch s: ports is missing",
		"switches:\n  s: {ports: 64}":          `f.yaml:2: switch s: ports must be a number from 1 to 63, not "64"`,
		"switches:\n  s: {ports: [1]}":         "f.yaml:2: switch s: ports must be one value",
		"switches:\n  s: {ports: 0b11}":        `f.yaml:2: switch s: ports must be a number from 1 to 63, not "0b11"`,
		"switches:\n  s: {ports: 077}":         `f.yaml:2: switch s: ports must be a number from 1 to 63, not "077"`,
		"switches: {a: {ports: 1}}\n" + ab:     "f.yaml:2: device a: there is a switch of this name",
		"cables: 1":                            "f.yaml:1: cables: this must be a list, lines that begin with -",
		ab + "  - [a]":                         "f.yaml:3: cable: this must be [PORT, PORT] or {port: PORT, remote: ADDRESS, id: NUMBER}",
		ab + "  - [a/0, b]":                    `f.yaml:3: cable: "a/0" is no port; one looks like shca0/1`,
		ab + "  - [a, [b]]":                    "f.yaml:3: cable: an end must be one value",
		ab + "  - [a, d]":                      "f.yaml:3: cable a/1 d/1: there is no switch and no device d in the file",
		ab + "  - [a/2, b]":                    "f.yaml:3: cable a/2 b/1: the last port of a is 1",
		ab + "  - [a, b]\n  - [c, a]":          "f.yaml:4: cable c/1 a/1: a/1 has a cable already, in line 3",
		ab + "  - [a, a]":                      "f.yaml:3: cable a/1 a/1: a/1 has a cable already, in line 3",
		ab + "  - {port: a, id: 1}":            "f.yaml:3: cable: remote is missing",
		ab + "  - {port: a, remote: 10.0.0.1}": "f.yaml:3: cable: id is missing",
		ab + "  - {remote: 10.0.0.1, id: 1}":   "f.yaml:3: cable: port is missing",
		ab + "  - {port: a, remote: x, id: 1}": `f.yaml:3: cable: "x" is no IP address`,
		ab + "  - {port: a, udp_port: 0}":      `f.yaml:3: cable: udp_port must be a number from 1 to 65535, not "0"`,
		ab + "  - {port: a, id: 4294967296}":   `f.yaml:3: cable: id must be a number from 0 to 4294967295, not "4294967296"`,
		ab + "  - {port: a, to: b}":            `f.yaml:3: cable: unknown key "to"; there are port, remote, id and udp_port`,

		"devices:\n  a:\n---\ndevices:\n  b:\n": "f.yaml:3: here begins a second document; a file has one",
		"# one\n---\na:\n---\n":                 "f.yaml:4: here begins a second document",
		"---\ndevices:\n---\n":                  "f.yaml:3: here begins a second document",
		"devices:\n---\n[a":                     "f.yaml:4: ",
		"devices:\n  a: {guid: 0000:0000:0000:0001}\n  b: {guid: 0000:0000:0000:0001}":                      "f.yaml:3: device b: the GUID 0000:0000:0000:0001 is taken already, in line 2",
		"switches:\n  a: {ports: 1, guid: 0000:0000:0000:0001}\n  b: {ports: 1, guid: 0000:0000:0000:0001}": "f.yaml:3: switch b: the GUID 0000:0000:0000:0001 is taken already, in line 2",
		"switches:\n  a: {ports: 1, guid: 0000:0000:0000:0001}\ndevices:\n  b: {guid: 0000:0000:0000:0001}": "f.yaml:4: device b: the GUID 0000:0000:0000:0001 is taken already, in line 2",
		ab + "  - {port: a, remote: 10.0.0.1, id: 1}\n  - {port: b, remote: 10.0.0.1, id: 1}":               "f.yaml:4: cable b/1 remote 10.0.0.1 id 1: there is a cable to that end already, in line 3",
	} {
		if _, err := Parse("f.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "switches:\ndevices:\ncables:\n", "{}"} {
		if f := parse(t, text); len(f.Switches)+len(f.Devices)+len(f.Cables) != 0 {
			t.Errorf("%q: got %v", text, f)
		}
	}
}

// A number is decimal whatever it begins with, and markers of documents are no documents.
func TestNumbers(t *testing.T) {
	f := parse(t, "---\nswitches: {s: {ports: 010}}\ndevices: {a: }\ncables: [{port: a, remote: 10.0.0.1, id: 010, udp_port: 0x10}]\n...\n")
	if s, r := f.Switches[0], f.Cables[0].Remote; s.Ports != 10 || r.ID != 10 || r.Port != 16 {
		t.Errorf("%d ports, id %d, UDP port %d", s.Ports, r.ID, r.Port)
	}
}

func client(t *testing.T) *genl.Client {
	t.Helper()
	c, err := genlfake.New("eth0").Client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// shown is the host's fabric as YAML.
func shown(t *testing.T, c *genl.Client) string {
	t.Helper()
	h, err := Read(c)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := h.YAML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const small = `switches:
  "sw0": {ports: 4, guid: "1253:4843:0100:0001"}
devices:
  "shca0": {guid: "1253:4843:0000:0001"}
  "shca1": {guid: "1253:4843:0000:0002"}
cables:
  - ["shca0/1", "sw0/1"]
  - ["shca1/1", "sw0/2"]
  - {port: "sw0/4", remote: "192.0.2.7", id: 1, udp_port: 47911}
`

func apply(t *testing.T, c *genl.Client, text string) {
	t.Helper()
	if err := parse(t, text).Apply(c); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, c); got != small {
		t.Errorf("got\n%s", got)
	}
}

func TestApply(t *testing.T) {
	c := client(t)
	apply(t, c, small)
	apply(t, c, small) // Nothing is missing.

	// What went is made again, and nothing else.
	if err := c.DeleteCable(genl.Port{Node: "sw0", Number: 4}); err != nil {
		t.Fatal(err)
	}
	apply(t, c, small)
	// A cable is the same whichever way round; GUIDs that are not named do not matter.
	turned := strings.Replace(small, `["shca0/1", "sw0/1"]`, "[sw0/1, shca0]", 1)
	apply(t, c, strings.Replace(turned, `, guid: "1253:4843:0100:0001"`, "", 1))
	apply(t, c, "devices: {shca0: }")
}

func TestContradiction(t *testing.T) {
	c := client(t)
	apply(t, c, small)
	if err := c.AddDevice(genl.DeviceConfig{Name: "roce", Netdev: "eth0"}); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		"ports: 4|ports: 5":                     "f.yaml:2: switch sw0: there is one already, with 4 ports and GUID 1253:4843:0100:0001; delete it first",
		"0100:0001|0100:0009":                   "f.yaml:2: switch sw0: there is one already, with 4 ports and GUID 1253:4843:0100:0001; delete it first",
		"0000:0001|0000:0009":                   "f.yaml:4: device shca0: there is one already, with GUID 1253:4843:0000:0001; delete it first",
		`"shca1/1", "sw0/2"|"shca1/1", "sw0/3"`: "f.yaml:9: cable shca1/1 sw0/3: there is a cable shca1/1 sw0/2 already; pull it first",
		"id: 1|id: 2":                           "f.yaml:10: cable sw0/4 remote 192.0.2.7 id 2: there is a cable sw0/4 remote 192.0.2.7 id 1 already; pull it first",
		"devices:|devices:\n  roce:":            "f.yaml:4: device roce: there is one already, and its link is roce; delete it first",
	} {
		from, to, _ := strings.Cut(change, "|")
		text := strings.Replace(small, from, to, 1)
		// What is missing is not made.
		text = strings.Replace(text, "cables:", "  new:\ncables:", 1)
		err := parse(t, text).Apply(c)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", change, err, want)
		}
		if got := shown(t, c); got != small {
			t.Errorf("%s: something was made:\n%s", change, got)
		}
	}
	// What only the kernel refuses is blamed on its line.
	err := parse(t, "devices:\n  bad name:\n").Apply(c)
	if err == nil || !strings.HasPrefix(err.Error(), "f.yaml:2: add device bad name: ") {
		t.Errorf("got %v", err)
	}
}

// What the file wants is taken by something of another name.
func TestTaken(t *testing.T) {
	c := client(t)
	apply(t, c, small)
	if err := c.AddDevice(genl.DeviceConfig{Name: "roce", Netdev: "eth0"}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"switches:\n  shca0: {ports: 1}":                     "f.yaml:2: switch shca0: there is a device of this name already; delete it first",
		"switches:\n  roce: {ports: 1}":                      "f.yaml:2: switch roce: there is a device of this name already; delete it first",
		"devices:\n  sw0:":                                   "f.yaml:2: device sw0: there is a switch of this name already; delete it first",
		"devices:\n  x: {guid: 1253484300000001}":            "f.yaml:2: device x: the GUID 1253:4843:0000:0001 is that of shca0 already",
		"devices:\n  x: {guid: 1253484301000001}":            "f.yaml:2: device x: the GUID 1253:4843:0100:0001 is that of sw0 already",
		"switches:\n  x: {ports: 1, guid: 1253484300000001}": "f.yaml:2: switch x: the GUID 1253:4843:0000:0001 is that of shca0 already",
		"switches:\n  x: {ports: 1, guid: 1253484301000001}": "f.yaml:2: switch x: the GUID 1253:4843:0100:0001 is that of sw0 already",
		"cables:\n  - {port: new, remote: 192.0.2.7, id: 1}": "f.yaml:2: cable new/1 remote 192.0.2.7 id 1: there is a cable sw0/4 remote 192.0.2.7 id 1 already; pull it first",
	} {
		// What is missing is not made.
		if strings.HasPrefix(text, "devices:") {
			text += "\n  new:"
		} else {
			text += "\ndevices:\n  new:"
		}
		err := parse(t, text).Apply(c)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		if got := shown(t, c); got != small {
			t.Errorf("%q: something was made:\n%s", text, got)
		}
	}
	// The GUID of a RoCE device is none of the fabric's.
	roce, err := c.Device("roce")
	if err != nil {
		t.Fatal(err)
	}
	if err := parse(t, fmt.Sprintf("devices: {x: {guid: %q}}", roce.NodeGUID)).Apply(c); err != nil {
		t.Error(err)
	}
	// Nor does it matter who else goes to that host by another port or number.
	if err := parse(t, "devices: {y: }\ncables:\n  - {port: y, remote: 192.0.2.7, id: 1, udp_port: 5}").Apply(c); err != nil {
		t.Error(err)
	}
}

func TestDelete(t *testing.T) {
	c := client(t)
	f := parse(t, small)
	apply(t, c, small)
	if err := c.AddDevice(genl.DeviceConfig{Name: "other", Link: genl.LinkIB, GUID: 9}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Delete(c); err != nil {
			t.Fatal(err)
		}
		if got, want := shown(t, c), "devices:\n  \"other\": {guid: \"0000:0000:0000:0009\"}\n"; got != want {
			t.Errorf("left:\n%s", got)
		}
	}
	if err := c.AddDevice(genl.DeviceConfig{Name: "roce", Netdev: "eth0"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Apply(c); err != nil {
		t.Fatal(err)
	}
	h, err := Read(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.Delete(c); err != nil {
			t.Fatal(err)
		}
		if got := shown(t, c); got != "" {
			t.Errorf("left:\n%s", got)
		}
	}
	if _, err := c.Device("roce"); err != nil {
		t.Errorf("a RoCE device went along: %v", err)
	}
}

// A file that names a RoCE device does not declare that one.
func TestDeleteRoCE(t *testing.T) {
	c := client(t)
	f := parse(t, "devices: {shca0: , shca1: }")
	if err := f.Apply(c); err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteDevice("shca0"); err != nil {
		t.Fatal(err)
	}
	if err := c.AddDevice(genl.DeviceConfig{Name: "shca0", Netdev: "eth0"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(c); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Device("shca0"); err != nil {
		t.Errorf("a RoCE device went along: %v", err)
	}
	if _, err := c.Device("shca1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the fabric's own device: %v", err)
	}
}

func TestDraw(t *testing.T) {
	c := client(t)
	apply(t, c, small)
	if err := c.AddDevice(genl.DeviceConfig{Name: "alone", Link: genl.LinkIB, GUID: 9}); err != nil {
		t.Fatal(err)
	}
	h, err := Read(c)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := h.Text(&b); err != nil {
		t.Fatal(err)
	}
	const text = `switch sw0 ports 4 LID 0 GUID 1253:4843:0100:0001
1 -- shca0/1 link up init
2 -- shca1/1 link up init
4 -- remote 192.0.2.7 id 1 (silent) link down down
device shca0 init LID 0 GUID 1253:4843:0000:0001
1 -- sw0/1 link up init
device shca1 init LID 0 GUID 1253:4843:0000:0002
1 -- sw0/2 link up init
device alone down LID 0 GUID 0000:0000:0000:0009
`
	if got := squeeze(b.String()); got != text {
		t.Errorf("got\n%s", got)
	}
	b.Reset()
	const dot = `graph fabric {
	"sw0" [shape=box];
	"shca0";
	"shca1";
	"alone";
	"shca0" -- "sw0" [taillabel="1", headlabel="1"];
	"shca1" -- "sw0" [taillabel="1", headlabel="2"];
	"192.0.2.7 id 1" [shape=plaintext];
	"sw0" -- "192.0.2.7 id 1" [taillabel="4", style=dashed];
}
`
	if err := h.Dot(&b); err != nil || b.String() != dot {
		t.Errorf("got %v and\n%s", err, &b)
	}
}

// squeeze makes one blank of many.
func squeeze(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}

// TestExamples: the fabrics that are shipped can be made.
func TestExamples(t *testing.T) {
	for name, want := range map[string][3]int{ // switches, devices, cables
		"back-to-back": {0, 2, 1}, "star": {1, 4, 4}, "fat-tree": {6, 64, 72}, "two-hosts-a": {1, 2, 4}, "two-hosts-b": {0, 2, 2},
	} {
		file := filepath.Join("../../docs/fabrics", name+".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(file, text)
		if err != nil {
			t.Error(err)
			continue
		}
		c := client(t)
		if err := f.Apply(c); err != nil {
			t.Error(err)
		}
		h, err := Read(c)
		if got := [3]int{len(h.Switches), len(h.Devices), len(h.Cables)}; err != nil || got != want {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	files, err := filepath.Glob("../../docs/fabrics/*")
	if err != nil || len(files) != 5 {
		t.Errorf("not all are tried: %v, %v", files, err)
	}
}

// FuzzParse: whatever the file says, there is an error or a fabric that can be
// made or is refused with its line.
func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add("a: &x {b: *x}")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Parse("f.yaml", []byte(text))
	})
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/softhca/softhca/pkg/genl"
)

// qpMetrics are the counters of queue pairs.
var qpMetrics = []struct {
	name, help string
	value      func(*genl.QP) uint64
}{
	{"tx_bytes", "Payload sent, without repetitions.", func(q *genl.QP) uint64 { return q.TXBytes }},
	{"rx_bytes", "Payload accepted.", func(q *genl.QP) uint64 { return q.RXBytes }},
	{"tx_packets", "Packets sent, repetitions included.", func(q *genl.QP) uint64 { return q.TXPackets }},
	{"rx_packets", "Packets received.", func(q *genl.QP) uint64 { return q.RXPackets }},
	{"tx_messages", "Send requests that ended well.", func(q *genl.QP) uint64 { return q.TXMessages }},
	{"rx_messages", "Receive requests that ended well.", func(q *genl.QP) uint64 { return q.RXMessages }},
	{"tx_bytes_referenced", "Payload handed to the link by reference.", func(q *genl.QP) uint64 { return q.TXBytesReferenced }},
	{"tx_bytes_copied", "Payload handed to the link as a copy.", func(q *genl.QP) uint64 { return q.TXBytesCopied }},
	{"retransmits", "Packets sent again.", func(q *genl.QP) uint64 { return q.Retransmits }},
	{"rx_rnr_naks", "Times the peer was not ready to receive.", func(q *genl.QP) uint64 { return q.RXRNRNAKs }},
	{"ack_timeouts", "Times the peer did not answer in time.", func(q *genl.QP) uint64 { return q.ACKTimeouts }},
}

// writePrometheus writes everything that counts in Prometheus' text format: each
// metric's samples together, behind its type.
func writePrometheus(out io.Writer, c *genl.Client, device string) error {
	devices, err := c.Devices()
	if err != nil {
		return err
	}
	if device != "" {
		d, err := c.Device(device)
		if err != nil {
			return err
		}
		devices = []genl.Device{d}
	}
	stats, err := c.Stats(device)
	if err != nil {
		return err
	}
	qps, err := c.QPs(genl.QPFilter{Device: device})
	if err != nil {
		return err
	}

	w := bufio.NewWriter(out)
	head(w, "softhca_device_info", "gauge", "A device, netdev, link and guid; always 1.")
	for _, d := range devices {
		sample(w, "softhca_device_info", 1, "device", d.Name, "netdev", d.Netdev, "link", d.Link.String(),
			"guid", d.NodeGUID.String())
	}
	head(w, "softhca_port_active", "gauge", "Whether the port carries traffic.")
	for _, d := range devices {
		active := uint64(0)
		if d.PortState == genl.PortStateActive {
			active = 1
		}
		sample(w, "softhca_port_active", active, "device", d.Name, "port", "1")
	}
	writeDeviceCounters(w, stats)
	for _, m := range qpMetrics {
		name := "softhca_qp_" + m.name + "_total"
		head(w, name, "counter", m.help)
		for i := range qps {
			q := &qps[i]
			sample(w, name, m.value(q), "device", q.Device, "qpn", strconv.FormatUint(uint64(q.QPN), 10),
				"type", q.Type.String(), "pid", strconv.FormatUint(uint64(q.PID), 10), "comm", q.Comm)
		}
	}
	return w.Flush()
}

func writeDeviceCounters(w io.Writer, stats []genl.DeviceStats) {
	var names []string
	for _, s := range stats {
		for _, c := range s.Counters {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	for _, n := range names {
		name := "softhca_" + n + "_total"
		head(w, name, "counter", "Counter "+n+" of a port.")
		for _, s := range stats {
			for _, c := range s.Counters {
				if c.Name == n {
					sample(w, name, c.Value, "device", s.Device, "port", "1")
				}
			}
		}
	}
}

func head(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

var promEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// sample writes a value; labels are names and values in turn. A process may have
// bytes in its name that are no UTF-8, which the format demands.
func sample(w io.Writer, name string, value uint64, labels ...string) {
	var l []string
	for i := 0; i < len(labels); i += 2 {
		text := strings.ToValidUTF8(labels[i+1], "\uFFFD")
		l = append(l, labels[i]+`="`+promEscape.Replace(text)+`"`)
	}
	fmt.Fprintf(w, "%s{%s} %d\n", name, strings.Join(l, ","), value)
}

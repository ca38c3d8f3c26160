// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/softhca/softhca/pkg/capture"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/spf13/cobra"
)

func newCapture(a *app) *cobra.Command {
	var (
		o        capture.Options
		size     string
		duration time.Duration
	)
	cmd := &cobra.Command{
		Use:   "capture DEV -w FILE.pcapng",
		Short: "Record the packets of a device",
		Long: `Record the packets of the device DEV, both ways and repeats included, for
Wireshark and tshark. The comment of each packet says which queue pair and process
sent or received it, and whether it was sent before.

It needs CAP_NET_RAW. Packets between two addresses of this host pass the loopback
interface, and are recorded too. A payload is what its buffer holds when it is
recorded; a program that writes to a buffer that is being sent shows here. Of a
device of native InfiniBand everything is recorded from the LRH on, subnet management
too; that needs CAP_NET_ADMIN.

With --file-size another file is begun whenever one is that large: FILE.00000.pcapng,
FILE.00001.pcapng and so on, of which --files are kept.`,
		Example: `  ibctl capture shca0 -w shca0.pcapng
  ibctl capture shca0 -w ring.pcapng --snap 128 --file-size 100M --files 10
  ibctl capture shca0 -w qp.pcapng --qpn 17 --duration 10s`,
		Args:              exactArgs("DEV"),
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			switch {
			case o.File == "":
				return usagef(cmd, "-w FILE.pcapng is missing")
			case o.Snap < 0 || o.Snap > capture.SnapMax:
				return usagef(cmd, "--snap is at most %d", capture.SnapMax)
			case duration < 0:
				return usagef(cmd, "--duration must not be negative")
			case o.Files < 0 || o.Files > 0 && size == "":
				return usagef(cmd, "--files goes with --file-size")
			}
			if size != "" {
				if o.FileBytes, err = parseSize(size); err != nil {
					return usagef(cmd, "--file-size: %v", err)
				}
			}
			return a.with(func(c *genl.Client) error {
				return a.capture(cmd.Context(), c, args[0], o, duration)
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.File, "write", "w", "", "the file to write")
	numberVar(fs, &o.QPN, "qpn", "only packets of this queue pair")
	numberVar(fs, &o.Snap, "snap", "bytes kept of each packet; 0 means all")
	fs.DurationVar(&duration, "duration", 0, "how long; without it, until interrupted")
	fs.StringVar(&size, "file-size", "", "size of a file of a ring, such as 100M")
	numberVar(fs, &o.Files, "files", "files of a ring that are kept; 0 means all")
	offerFlagFile(cmd, "write", "pcapng")
	a.offerQPFlags(cmd)
	return cmd
}

func (a *app) capture(ctx context.Context, c *genl.Client, device string, o capture.Options, duration time.Duration) error {
	d, err := c.Device(device)
	if err != nil {
		return err
	}
	o.Device, o.Netdev, o.NetdevIndex, o.Netns = d.Name, d.Netdev, int(d.NetdevIndex), d.NetnsInode
	o.QPs = func() ([]capture.QP, error) {
		list, err := c.QPs(genl.QPFilter{Device: device})
		var qps []capture.QP
		for _, q := range list {
			qps = append(qps, capture.QP{
				QPN: q.QPN, DestQPN: q.DestQPN, SGID: q.SGID, DGID: q.DGID,
				Type: q.Type.String(), PID: q.PID, Comm: q.Comm,
			})
		}
		return qps, err
	}
	if d.Link == genl.LinkIB {
		o.Frames = func() (capture.Frames, error) { return c.Frames() }
	}
	flags := traceFlags{duration: duration}
	o.Ready = func() { a.ready("capturing", &flags) }
	ctx, cancel := flags.until(ctx)
	defer cancel()
	r, err := a.Capture(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "%d packets written, %d lost\n", r.Packets, r.Lost)
	return nil
}

// parseSize reads a number of bytes with k, M or G behind it.
func parseSize(s string) (int64, error) {
	unit := int64(1)
	for i, letter := range []string{"k", "M", "G"} {
		if rest, ok := strings.CutSuffix(s, letter); ok {
			s, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is no size; 100M is one", s)
	}
	return n * unit, nil
}

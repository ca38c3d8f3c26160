// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gopacket/gopacket/layers"
)

// SnapMax is as long as a frame can be.
const SnapMax = 65535

// Options say what to capture. Device, File and QPs are needed, and either Netdev and
// NetdevIndex, of RoCE, or Frames, of native InfiniBand.
type Options struct {
	// Device is the device's name, Netdev and NetdevIndex its network interface,
	// and Netns the inode of the namespace of the interface or else of the device.
	Device, Netdev string
	NetdevIndex    int
	Netns          uint64
	// Frames begins to listen to the packets of native InfiniBand.
	Frames func() (Frames, error)
	// File is where to write.
	File string
	// Snap is how many bytes of a frame are kept, 0 for all. However few, the
	// headers are read before.
	Snap int
	// QPN selects the packets of a queue pair, 0 all.
	QPN uint32
	// FileBytes is the size from which on another file is begun, 0 for never;
	// Files is how many of them are kept, 0 for all.
	FileBytes int64
	Files     int
	// QPs lists the device's queue pairs; it is called again for those that come.
	QPs func() ([]QP, error)
	// Ready is called once everything that passes is captured.
	Ready func()
}

// A Result is what became of a capture.
type Result struct {
	Packets uint64
	// Lost is how many packets came faster than they were written.
	Lost uint64
}

// A source is where frames come from.
type source interface {
	// next waits for a frame until the deadline; then os.ErrDeadlineExceeded.
	next(time.Time) (frame, error)
	// lost is how many were lost since the last call.
	lost() (uint64, error)
	close() error
}

// qpsMaxAge is for how long the list of queue pairs is believed when a packet is
// for one that is not in it.
const qpsMaxAge = 100 * time.Millisecond

// Run captures until ctx ends.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.NetdevIndex <= 0 && o.Frames == nil {
		return Result{}, fmt.Errorf("capture packets of %s: it has no network interface to listen on: %w", o.Device, errors.ErrUnsupported)
	}
	if o.Snap == 0 {
		o.Snap = SnapMax
	}
	open := openSource
	if o.Frames != nil {
		open = openFrames
	}
	src, err := open(o)
	if err != nil {
		return Result{}, err
	}
	r, err := run(ctx, o, src)
	return r, errors.Join(err, src.close())
}

func run(ctx context.Context, o Options, src source) (r Result, err error) {
	t := newTable()
	qps, err := o.QPs()
	if err != nil {
		return r, err
	}
	t.set(qps)
	listed := time.Now()

	out := &files{
		name: o.File, snap: o.Snap, link: layers.LinkTypeEthernet, names: []string{o.Netdev, "lo"}, size: o.FileBytes, max: o.Files,
		comment: "Packets of the softhca device " + o.Device +
			". While they were captured, messages between two of its queue pairs were sent as packets, too, which is not so otherwise.",
	}
	if o.Frames != nil {
		out.link, out.snap, out.names = linkTypeERF, o.Snap+erfLen, []string{o.Device}
		out.comment = "Packets of the softhca device " + o.Device + ". Its cables carry no VCRC; it is 0 here."
	}
	if err := out.open(); err != nil {
		return r, err
	}
	defer func() {
		lost, lostErr := src.lost()
		r.Lost += lost
		out.lost = r.Lost
		err = errors.Join(err, lostErr, out.close())
	}()
	if o.Ready != nil {
		o.Ready()
	}
	var end time.Time
	for {
		if end.IsZero() && ctx.Err() != nil {
			end = time.Now()
		}
		// So often it is asked whether to end.
		fr, err := src.next(time.Now().Add(50 * time.Millisecond))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if !end.IsZero() {
				return r, nil
			}
			continue
		}
		if err != nil {
			return r, err
		}
		// What had passed before the end may still have waited to be read.
		if !end.IsZero() && fr.time.After(end) {
			return r, nil
		}
		p, ok := parseFrame(fr)
		if !ok {
			continue
		}
		q, _ := t.find(p)
		if q == nil && time.Since(listed) > qpsMaxAge {
			if qps, err = o.QPs(); err != nil {
				return r, err
			}
			t.set(qps)
			listed = time.Now()
			q, _ = t.find(p)
		}
		// What passes lo may be of other devices.
		if q == nil && fr.intf != 0 || o.QPN != 0 && (q == nil || q.QPN != o.QPN) {
			continue
		}
		if err := out.write(fr, t.comment(p, o.Device)); err != nil {
			return r, fmt.Errorf("write the capture: %w", err)
		}
		r.Packets++
	}
}

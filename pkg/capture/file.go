// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// A frame is what was on an interface.
type frame struct {
	data   []byte
	length int // before the source cut it
	time   time.Time
	sent   bool
	intf   int     // of the names given to newFiles
	ib     *packet // of native InfiniBand, what its headers say
}

// files writes frames to a file, or to a ring of files.
type files struct {
	name    string
	snap    int
	link    layers.LinkType
	names   []string // of interfaces
	comment string
	size    int64 // of a file; 0: one file without end
	max     int   // files kept; 0: all
	f       *os.File
	w       *pcapgo.NgWriter
	written int64
	n       int
	lost    uint64
}

// open begins a file.
func (f *files) open() (err error) {
	name := f.name
	if f.size > 0 {
		name = f.numbered(f.n)
	}
	f.f, err = os.Create(name)
	if err != nil {
		return err
	}
	options := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "ibctl capture", Comment: f.comment}}
	for i, n := range f.names {
		intf := pcapgo.NgInterface{
			Name: n, LinkType: f.link, SnapLength: uint32(f.snap), TimestampResolution: 9,
		}
		if i == 0 {
			f.w, err = pcapgo.NewNgWriterInterface(f.f, intf, options)
		} else {
			_, err = f.w.AddInterface(intf)
		}
		if err != nil {
			return errors.Join(err, f.f.Close())
		}
	}
	f.written = 0
	if f.max > 0 && f.n >= f.max {
		if err := os.Remove(f.numbered(f.n - f.max)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	f.n++
	return nil
}

// numbered is the name of a file of a ring: x.pcapng becomes x.00000.pcapng.
func (f *files) numbered(n int) string {
	ext := filepath.Ext(f.name)
	return fmt.Sprintf("%s.%05d%s", strings.TrimSuffix(f.name, ext), n, ext)
}

// write adds a frame, cut to the snap length.
func (f *files) write(fr frame, comment string) error {
	if f.size > 0 && f.written >= f.size {
		if err := f.close(); err != nil {
			return err
		}
		if err := f.open(); err != nil {
			return err
		}
	}
	direction := pcapgo.NgEpbFlagDirectionInbound
	if fr.sent {
		direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	data := fr.data[:min(len(fr.data), f.snap)]
	info := gopacket.CaptureInfo{
		Timestamp: fr.time, CaptureLength: len(data), Length: fr.length, InterfaceIndex: fr.intf,
	}
	f.written += int64(len(data) + len(comment) + 60)
	return f.w.WritePacketWithOptions(info, data, pcapgo.NgPacketOptions{
		Comments: []string{comment}, Flags: &pcapgo.NgEpbFlags{Direction: direction},
	})
}

// close ends the file, and notes in it how many frames were lost.
func (f *files) close() error {
	stats := pcapgo.NgInterfaceStatistics{
		LastUpdate: time.Now(), PacketsDropped: f.lost,
		PacketsReceived: pcapgo.NgNoValue64,
	}
	return errors.Join(f.w.WriteInterfaceStats(0, stats), f.w.Flush(), f.f.Close())
}

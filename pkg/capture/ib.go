// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package capture

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/gopacket/gopacket/layers"
	"github.com/softhca/softhca/pkg/genl"
)

// linkTypeERF is LINKTYPE_ERF of pcap. In front of each packet, which is from the LRH to
// the VCRC, is a header of that format: what Wireshark takes for InfiniBand, unlike
// LINKTYPE_INFINIBAND.
const linkTypeERF layers.LinkType = 197

const (
	erfLen        = 16
	erfInfiniBand = 21
	erfVarying    = 1 << 2 // flag: records are of various lengths

	lrhLen  = 8
	grhLen  = 40
	vcrcLen = 2
)

// Frames are packets of native InfiniBand, as *genl.Frames has them.
type Frames interface {
	Next() (genl.Frame, error)
	Close() error
}

// parseFrame reads the headers of a frame. It returns false for what is of no interest.
func parseFrame(fr frame) (packet, bool) {
	if fr.ib != nil {
		return *fr.ib, true
	}
	return parse(fr.data)
}

// parseIB reads the headers of native InfiniBand, as far as there are any: what is
// malformed is captured, too.
func parseIB(fr genl.Frame) packet {
	p, b := packet{ib: true, sent: fr.Sent, own: fr.QPN}, fr.Data
	if len(b) < lrhLen {
		return p
	}
	lid := func(b []byte) netip.Addr { return netip.AddrFrom4([4]byte{2: b[0], 3: b[1]}) }
	p.dst, p.src = lid(b[2:]), lid(b[6:])
	at := lrhLen
	if b[1]&3 == 3 { // LNH: a GRH, then a BTH
		at += grhLen
	}
	if len(b) < at+bthLen {
		return p
	}
	p.bth(b[at:])
	if !p.sent {
		p.own = p.qpn
	}
	return p
}

// An ibSource reads frames of one device, and counts the gaps.
type ibSource struct {
	frames Frames
	ch     chan genl.Frame
	done   chan struct{}
	err    error // valid once ch is closed
	snap   int

	first, last, seen uint64 // numbers, and how many were seen
	told              uint64 // lost, said so far
}

// openFrames listens in the device's network namespace.
func openFrames(o Options) (source, error) {
	s := &ibSource{ch: make(chan genl.Frame, 4096), done: make(chan struct{}), snap: o.Snap}
	err := inNetns(o.Netns, func() (err error) {
		s.frames, err = o.Frames()
		return err
	})
	if err != nil {
		return nil, err
	}
	go s.read(o.Device)
	return s, nil
}

func (s *ibSource) read(device string) {
	defer close(s.ch)
	for {
		fr, err := s.frames.Next()
		if err != nil {
			s.err = err
			return
		}
		if fr.Device != device {
			continue
		}
		select {
		case s.ch <- fr:
		case <-s.done:
			return
		}
	}
}

func (s *ibSource) next(deadline time.Time) (frame, error) {
	t := time.NewTimer(time.Until(deadline))
	defer t.Stop()
	select {
	case fr, ok := <-s.ch:
		if !ok {
			return frame{}, s.err
		}
		return s.frame(fr), nil
	case <-t.C:
		return frame{}, os.ErrDeadlineExceeded
	}
}

func (s *ibSource) frame(fr genl.Frame) frame {
	if s.seen == 0 {
		s.first = fr.Number
	}
	s.first, s.last, s.seen = min(s.first, fr.Number), max(s.last, fr.Number), s.seen+1
	p := parseIB(fr)
	packet := append(fr.Data, make([]byte, vcrcLen)...)
	kept := packet[:min(len(packet), s.snap)]
	// Seconds since 1970, and the fraction in units of 2^-32 s
	stamp := uint64(fr.Time.Unix())<<32 | uint64(fr.Time.Nanosecond())<<32/uint64(time.Second)
	data := binary.LittleEndian.AppendUint64(make([]byte, 0, erfLen+len(kept)), stamp)
	data = append(data, erfInfiniBand, erfVarying)
	data = binary.BigEndian.AppendUint16(data, uint16(erfLen+len(kept)))
	data = append(data, 0, 0) // lost: said elsewhere
	data = binary.BigEndian.AppendUint16(data, uint16(len(packet)))
	return frame{
		data: append(data, kept...), length: erfLen + len(packet), time: fr.Time,
		sent: fr.Sent, ib: &p,
	}
}

func (s *ibSource) lost() (uint64, error) {
	if s.seen == 0 {
		return 0, nil
	}
	// Two CPUs may tell theirs in another order.
	lost := s.last - s.first + 1 - s.seen
	n := lost - s.told
	s.told = lost
	return n, nil
}

func (s *ibSource) close() error {
	close(s.done)
	err := s.frames.Close()
	for range s.ch {
	}
	if s.err != nil && !errors.Is(s.err, os.ErrClosed) {
		err = errors.Join(err, s.err)
	}
	return err
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"errors"
	"os"
	"time"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A Frame is a packet at the port of a device of native InfiniBand.
type Frame struct {
	Device string
	// Sent tells what the device has sent from what has come to it.
	Sent bool
	// QPN is the queue pair that has sent it; 0 for what has come.
	QPN  uint32
	Time time.Time
	// Number counts the device's packets; a gap are packets that were lost.
	Number uint64
	// Data is from the LRH to the ICRC.
	Data []byte
}

// frameBytes is what may wait to be read.
const frameBytes = 64 << 20

// Frames receives packets.
type Frames struct{ subscription }

// Frames begins to listen to the packets of all devices of native InfiniBand that
// belong to the caller's network namespace. It needs CAP_NET_ADMIN.
func (c *Client) Frames() (*Frames, error) {
	const op = "listen for packets"
	conn, family, err := open(c.dial)
	if err != nil {
		return nil, err
	}
	err = &Error{Op: op, Message: "the kernel module has no group for it", Err: errors.ErrUnsupported}
	for _, g := range family.Groups {
		if g.Name != proto.GroupCapture {
			continue
		}
		// A small buffer costs packets, which are counted.
		if b, ok := conn.(interface{ SetReadBuffer(int) error }); ok {
			_ = b.SetReadBuffer(frameBytes)
		}
		if err = conn.JoinGroup(g.ID); err != nil {
			e := &Error{Op: op, Err: err}
			if errors.Is(err, os.ErrPermission) {
				e.Message = "it needs CAP_NET_ADMIN"
			}
			err = e
		}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Frames{subscription{op: op, conn: conn}}, nil
}

// Next waits for the next packet. After Close it returns os.ErrClosed. One goroutine
// may call it.
func (f *Frames) Next() (Frame, error) {
	for {
		msg, err := f.next()
		switch {
		case errors.Is(err, errOverrun):
			continue // the numbers tell
		case err != nil:
			return Frame{}, err
		case msg.Header.Command != proto.CmdFrameNtf:
			continue
		}
		var fr Frame
		if err := decodeOne(msg.Data, &fr, decodeFrame); err != nil {
			return Frame{}, &Error{Op: f.op, Message: "malformed message: " + err.Error(), Err: err}
		}
		return fr, nil
	}
}

func decodeFrame(ad *netlink.AttributeDecoder, f *Frame) {
	switch ad.Type() {
	case proto.FrameDev:
		f.Device = ad.String()
	case proto.FrameSent:
		f.Sent = ad.Uint32() != 0
	case proto.FrameQPN:
		f.QPN = ad.Uint32()
	case proto.FrameTime:
		f.Time = time.Unix(0, int64(ad.Uint64()))
	case proto.FrameNumber:
		f.Number = ad.Uint64()
	case proto.FrameData:
		f.Data = ad.Bytes()
	}
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genlfake

import (
	"math"
	"net/netip"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

func encode(fn func(*netlink.AttributeEncoder)) []byte {
	ae := netlink.NewAttributeEncoder()
	fn(ae)
	b, err := ae.Encode()
	if err != nil {
		panic(err) // Only an attribute of 64 KiB fails.
	}
	return b
}

func encodeDevice(d genl.Device) []byte {
	return encode(func(ae *netlink.AttributeEncoder) {
		ae.Uint32(proto.DevIndex, d.Index)
		ae.String(proto.DevName, d.Name)
		if d.Netdev != "" {
			ae.Uint32(proto.DevNetdevIfindex, d.NetdevIndex)
			ae.String(proto.DevNetdevName, d.Netdev)
			ae.Uint64(proto.DevNetnsInode, d.NetnsInode)
		}
		ae.Uint32(proto.DevLink, uint32(d.Link))
		ae.Uint32(proto.DevPortState, uint32(d.PortState))
		ae.Uint32(proto.DevActiveMTU, d.ActiveMTU)
		ae.Uint64(proto.DevNodeGUID, uint64(d.NodeGUID))
		ae.Uint32(proto.DevWindow, d.Window)
		ae.Uint32(proto.DevBurst, d.Burst)
		if d.LID != nil {
			ae.Uint32(proto.DevLID, *d.LID)
		}
		if d.SMLID != nil {
			ae.Uint32(proto.DevSMLID, *d.SMLID)
		}
	})
}

func encodeFrame(f genl.Frame) []byte {
	return encode(func(ae *netlink.AttributeEncoder) {
		sent := uint32(0)
		if f.Sent {
			sent = 1
		}
		ae.String(proto.FrameDev, f.Device)
		ae.Uint32(proto.FrameSent, sent)
		if f.QPN != 0 {
			ae.Uint32(proto.FrameQPN, f.QPN)
		}
		ae.Uint64(proto.FrameTime, uint64(f.Time.UnixNano()))
		ae.Uint64(proto.FrameNumber, f.Number)
		ae.Bytes(proto.FrameData, f.Data)
	})
}

func encodeQP(q genl.QP) []byte {
	gid := func(a netip.Addr) []byte {
		b := a.As16()
		return b[:]
	}
	return encode(func(ae *netlink.AttributeEncoder) {
		ae.String(proto.QPDev, q.Device)
		ae.Uint32(proto.QPQPN, q.QPN)
		ae.Uint32(proto.QPType, uint32(q.Type))
		ae.Uint32(proto.QPState, uint32(q.State))
		ae.Uint32(proto.QPPID, q.PID)
		ae.String(proto.QPComm, q.Comm)
		ae.Uint32(proto.QPDestQPN, q.DestQPN)
		if q.SGID.IsValid() {
			ae.Bytes(proto.QPSGID, gid(q.SGID))
		}
		if q.DGID.IsValid() {
			ae.Bytes(proto.QPDGID, gid(q.DGID))
		}
		ae.Uint32(proto.QPPathMTU, q.PathMTU)
		ae.Uint32(proto.QPSQPSN, q.SQPSN)
		ae.Uint32(proto.QPAckedPSN, q.AckedPSN)
		ae.Uint32(proto.QPRQPSN, q.RQPSN)
		ae.Uint32(proto.QPSQPosted, q.SQPosted)
		ae.Uint32(proto.QPRQPosted, q.RQPosted)
		ae.Uint32(proto.QPRetriesLeft, q.RetriesLeft)
		ae.Uint32(proto.QPRNRRetriesLeft, q.RNRRetriesLeft)
		ae.Uint64(proto.QPTXBytes, q.TXBytes)
		ae.Uint64(proto.QPRXBytes, q.RXBytes)
		ae.Uint64(proto.QPTXPackets, q.TXPackets)
		ae.Uint64(proto.QPRXPackets, q.RXPackets)
		ae.Uint64(proto.QPRetransmits, q.Retransmits)
		ae.Uint32(proto.QPErrorReason, uint32(q.ErrorReason))
		if q.ErrorOpcode != nil {
			ae.Uint32(proto.QPErrorOpcode, uint32(*q.ErrorOpcode))
		}
		if q.ErrorPSN != nil {
			ae.Uint32(proto.QPErrorPSN, *q.ErrorPSN)
		}
		ae.Uint32(proto.QPLastNAK, uint32(q.LastNAK))
		heard := uint64(math.MaxUint64)
		if q.LastHeardMS != nil {
			heard = *q.LastHeardMS
		}
		ae.Uint64(proto.QPLastHeardMS, heard)
		ae.Uint64(proto.QPTXMessages, q.TXMessages)
		ae.Uint64(proto.QPRXMessages, q.RXMessages)
		ae.Uint64(proto.QPTXBytesReferenced, q.TXBytesReferenced)
		ae.Uint64(proto.QPTXBytesCopied, q.TXBytesCopied)
		ae.Uint64(proto.QPRXRNRNaks, q.RXRNRNAKs)
		ae.Uint64(proto.QPAckTimeouts, q.ACKTimeouts)
	})
}

func encodeStats(d *device) []byte {
	return encode(func(ae *netlink.AttributeEncoder) {
		ae.String(proto.StatsDev, d.Name)
		for _, c := range d.counters {
			ae.Nested(proto.StatsStat, func(nae *netlink.AttributeEncoder) error {
				nae.String(proto.StatName, c.Name)
				nae.Uint64(proto.StatValue, c.Value)
				return nil
			})
		}
	})
}

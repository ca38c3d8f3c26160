// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A QP is a queue pair.
type QP struct {
	Device string  `json:"dev" out:"list"`
	QPN    uint32  `json:"qpn" out:"list"`
	Type   QPType  `json:"type" out:"list"`
	State  QPState `json:"state" out:"list"`
	// PID is the process that created it, 0 for the kernel and for a process
	// that the caller cannot see.
	PID  uint32 `json:"pid" out:"list"`
	Comm string `json:"comm" out:"list"`
	// DestQPN is the peer's queue pair.
	DestQPN uint32     `json:"dest_qpn" out:"list"`
	SGID    netip.Addr `json:"sgid"`
	DGID    netip.Addr `json:"dgid" out:"list"`
	// PathMTU is the largest payload of a packet, in bytes.
	PathMTU uint32 `json:"path_mtu"`
	// SQPSN is the number of the next new packet, AckedPSN that of the oldest
	// unacknowledged one.
	SQPSN    uint32 `json:"sq_psn"`
	AckedPSN uint32 `json:"acked_psn"`
	// RQPSN is the number expected in the peer's next request.
	RQPSN          uint32 `json:"rq_psn"`
	SQPosted       uint32 `json:"sq_posted"`
	RQPosted       uint32 `json:"rq_posted"`
	RetriesLeft    uint32 `json:"retries_left"`
	RNRRetriesLeft uint32 `json:"rnr_retries_left"`
	TXBytes        uint64 `json:"tx_bytes" out:"list"`
	RXBytes        uint64 `json:"rx_bytes" out:"list"`
	TXPackets      uint64 `json:"tx_packets"`
	RXPackets      uint64 `json:"rx_packets"`
	Retransmits    uint64 `json:"retransmits" out:"list"`
	// ErrorReason is why the queue pair is in error.
	ErrorReason ErrorReason `json:"error_reason" out:"list"`
	// ErrorOpcode and ErrorPSN are of the packet at which the error was found,
	// nil without such a packet.
	ErrorOpcode *Opcode `json:"error_opcode"`
	ErrorPSN    *uint32 `json:"error_psn"`
	// LastNAK is 0 when the peer has sent none.
	LastNAK Syndrome `json:"last_nak"`
	// LastHeardMS is how many milliseconds ago the last packet came from the
	// peer, nil when none ever did.
	LastHeardMS *uint64 `json:"last_heard_ms"`
	// TXMessages and RXMessages are send and receive requests that ended well.
	TXMessages uint64 `json:"tx_messages"`
	RXMessages uint64 `json:"rx_messages"`
	// TXBytesReferenced and TXBytesCopied are payload handed to the link.
	TXBytesReferenced uint64 `json:"tx_bytes_referenced"`
	TXBytesCopied     uint64 `json:"tx_bytes_copied"`
	// RXRNRNAKs is how often the peer was not ready to receive.
	RXRNRNAKs uint64 `json:"rx_rnr_naks"`
	// ACKTimeouts is how often the peer did not answer within the timeout.
	ACKTimeouts uint64 `json:"ack_timeouts"`
}

// A QPFilter selects queue pairs.
type QPFilter struct {
	// Device is the name of a device. "" means all.
	Device string
}

// QPs lists queue pairs. If there is no such device, errors.Is(err,
// os.ErrNotExist).
func (c *Client) QPs(f QPFilter) ([]QP, error) {
	return dump(c, request{
		op: "list queue pairs", object: f.Device, cmd: proto.CmdQPGet, flags: flagsDump,
		encode: func(ae *netlink.AttributeEncoder) {
			if f.Device != "" {
				ae.String(proto.QPDev, f.Device)
			}
		},
	}, decodeQP)
}

// QP returns one queue pair. If there is no such device or queue pair,
// errors.Is(err, os.ErrNotExist).
func (c *Client) QP(device string, qpn uint32) (QP, error) {
	return get(c, request{
		op: "show queue pair", object: fmt.Sprintf("%s/%d", device, qpn), cmd: proto.CmdQPGet, flags: flagsGet,
		encode: func(ae *netlink.AttributeEncoder) {
			ae.String(proto.QPDev, device)
			ae.Uint32(proto.QPQPN, qpn)
		},
	}, decodeQP)
}

func decodeQP(ad *netlink.AttributeDecoder, q *QP) {
	switch ad.Type() {
	case proto.QPDev:
		q.Device = ad.String()
	case proto.QPQPN:
		q.QPN = ad.Uint32()
	case proto.QPType:
		q.Type = QPType(ad.Uint32())
	case proto.QPState:
		q.State = QPState(ad.Uint32())
	case proto.QPPID:
		q.PID = ad.Uint32()
	case proto.QPComm:
		q.Comm = ad.String()
	case proto.QPDestQPN:
		q.DestQPN = ad.Uint32()
	case proto.QPSGID:
		ad.Do(decodeGID(&q.SGID))
	case proto.QPDGID:
		ad.Do(decodeGID(&q.DGID))
	case proto.QPPathMTU:
		q.PathMTU = ad.Uint32()
	case proto.QPSQPSN:
		q.SQPSN = ad.Uint32()
	case proto.QPAckedPSN:
		q.AckedPSN = ad.Uint32()
	case proto.QPRQPSN:
		q.RQPSN = ad.Uint32()
	case proto.QPSQPosted:
		q.SQPosted = ad.Uint32()
	case proto.QPRQPosted:
		q.RQPosted = ad.Uint32()
	case proto.QPRetriesLeft:
		q.RetriesLeft = ad.Uint32()
	case proto.QPRNRRetriesLeft:
		q.RNRRetriesLeft = ad.Uint32()
	case proto.QPTXBytes:
		q.TXBytes = ad.Uint64()
	case proto.QPRXBytes:
		q.RXBytes = ad.Uint64()
	case proto.QPTXPackets:
		q.TXPackets = ad.Uint64()
	case proto.QPRXPackets:
		q.RXPackets = ad.Uint64()
	case proto.QPRetransmits:
		q.Retransmits = ad.Uint64()
	case proto.QPTXMessages:
		q.TXMessages = ad.Uint64()
	case proto.QPRXMessages:
		q.RXMessages = ad.Uint64()
	case proto.QPTXBytesReferenced:
		q.TXBytesReferenced = ad.Uint64()
	case proto.QPTXBytesCopied:
		q.TXBytesCopied = ad.Uint64()
	case proto.QPRXRNRNaks:
		q.RXRNRNAKs = ad.Uint64()
	case proto.QPAckTimeouts:
		q.ACKTimeouts = ad.Uint64()
	case proto.QPErrorReason:
		q.ErrorReason = ErrorReason(ad.Uint32())
	case proto.QPErrorOpcode:
		op := Opcode(ad.Uint32())
		q.ErrorOpcode = &op
	case proto.QPErrorPSN:
		psn := ad.Uint32()
		q.ErrorPSN = &psn
	case proto.QPLastNAK:
		q.LastNAK = Syndrome(ad.Uint32())
	case proto.QPLastHeardMS:
		if ms := ad.Uint64(); ms != math.MaxUint64 {
			q.LastHeardMS = &ms
		}
	}
}

func decodeGID(gid *netip.Addr) func([]byte) error {
	return func(b []byte) error {
		if len(b) != 16 {
			return fmt.Errorf("a GID of %d bytes", len(b))
		}
		*gid, _ = netip.AddrFromSlice(b)
		return nil
	}
}

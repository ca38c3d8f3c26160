// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/softhca/softhca/pkg/genl"
)

// errorEvents are the events that Explain has words for.
var errorEvents = []string{
	"drop", "qp_state", "ack_timeout", "rnr_wait", "ack_receive", "ack_send", "mr_register",
	"modify_failed",
}

// modifyWords say why a queue pair could not be modified, by enum shca_why of
// provider/why.h.
var modifyWords = map[uint64]string{
	1: "The address has no GRH (ah_attr.is_global), without which nothing can be sent over Ethernet.",
	2: "The GID index (sgid_index) is not one of a GID of the port; 'ibv_devinfo -v' lists them.",
	3: "The path MTU is larger than the port's active MTU, which follows the MTU of the interface.",
	4: "The peer's address does not answer: it is wrong, has no route, or the peer is down.",
	5: "The state cannot be reached from the present one; the order is INIT, RTR, RTS.",
	6: "More READs at once are asked for than the device can do.",
}

// dropWords say why a packet was dropped, and what to look at.
var dropWords = map[string]string{
	"tx_local_drops": "a packet could not be handed to the network of this host: a firewall rule (OUTPUT), a queue that is full, " +
		"or a packet that is larger than the interface takes",
	"tx_no_route": "there is no route to the peer's address, or the interface is down; " +
		"'ip route get' with the peer's address tells more",
	"rx_bad_response":   "the peer's answer fits no request that is outstanding; one end may have the wrong PSN",
	"rx_drop_malformed": "a packet to UDP port 4791 is no RoCEv2 packet, or is cut off",
	"rx_drop_icrc":      "the ICRC is wrong: the packet was changed on its way, or its sender rewrote the buffer while it was sent",
	"rx_drop_qpn":       "there is no queue pair of the number that the packet is for; the peer may have the wrong QPN, or the queue pair is gone",
	"rx_drop_address":   "the packet's addresses are not those that the queue pair is connected with; one end may use the wrong GID",
	"rx_drop_pkey":      "the packet's P_Key is not that of the port",
	"rx_drop_qkey":      "the packet's Q_Key is not that of the queue pair",
	"rx_drop_opcode":    "the packet is of another transport than the queue pair, or of one that is not supported",
	"rx_drop_state":     "the queue pair is not in a state to receive: it is not yet in RTR, or in error",
	"rx_drop_inbox":     "more packets wait for the queue pair than there is room for",
	"rx_drop_no_rwqe":   "no receive request was posted for the datagram",
	"rx_drop_vl15":      "it came as subnet management (VL 15) and is none, or is data for QP0",
	"rx_drop_length":    "the receive request is too small for the datagram and the 40 bytes of the GRH before it",
}

// Explain says in plain words what went wrong, or "" if the event tells of nothing
// that did.
func Explain(e *Event) string {
	switch e.Name {
	case "drop":
		return explainDrop(e)
	case "qp_state":
		return explainState(e)
	case "ack_timeout":
		return fmt.Sprintf("The peer did not acknowledge packet %d in time; %s.", e.Uint("psn"),
			left(e.Uint("retries"), "the packets from there on are sent again"))
	case "rnr_wait":
		return fmt.Sprintf("The peer has no receive request posted for packet %d; trying again in %d us.",
			e.Uint("psn"), e.Uint("wait_us"))
	case "ack_receive", "ack_send":
		return explainNAK(e)
	case "mr_register":
		return explainRegister(e)
	case "modify_failed":
		return explainModify(e)
	}
	return ""
}

func left(retries uint64, then string) string {
	switch retries {
	case 0:
		return "that was the last retry"
	case 1:
		return then + ", 1 retry is left"
	}
	return fmt.Sprintf("%s, %d retries are left", then, retries)
}

func explainDrop(e *Event) string {
	reason := e.Word("reason")
	words := dropWords[reason]
	if words == "" {
		words = "a packet was dropped"
	}
	return fmt.Sprintf("%s%s (%s).", strings.ToUpper(words[:1]), words[1:], reason)
}

func explainState(e *Event) string {
	reason := genl.ErrorReason(e.Uint("reason"))
	if reason == genl.ErrorReasonNone {
		return ""
	}
	doc := reason.Doc()
	if doc == "" {
		doc = "The reason is " + reason.String() + "."
	}
	// As in the kernel, where 0xff stands for no packet.
	if op := e.Uint("opcode"); op != 0xff {
		doc += fmt.Sprintf(" It was found at packet %d, %s.", e.Uint("psn"), genl.Opcode(op))
	}
	return doc
}

func explainNAK(e *Event) string {
	const kind, nak = 0xe0, 0x60
	s := e.Uint("syndrome")
	if s&kind != nak {
		return ""
	}
	who := "The peer refused"
	if e.Name == "ack_send" {
		who = "We refused the peer's"
	}
	return fmt.Sprintf("%s packet %d: %s.", who, e.Uint("psn"), genl.Syndrome(s))
}

func explainRegister(e *Event) string {
	err := syscall.Errno(-int32(e.Uint("error")))
	if err == 0 {
		return ""
	}
	s := fmt.Sprintf("%s (%d) could not register %d bytes of memory: %s.", e.Comm, e.PID, e.Uint("length"), err)
	switch err {
	case syscall.ENOMEM:
		s += " The limit of locked memory is too low ('ulimit -l'), or memory is short."
	case syscall.EFAULT:
		s += " Not all of the range is mapped, or not with the permission that is asked for."
	case syscall.EOPNOTSUPP:
		s += " An access flag is not supported."
	}
	return s
}

func explainModify(e *Event) string {
	s := fmt.Sprintf("%s (%d) could not modify the queue pair: %s.", e.Comm, e.PID, syscall.Errno(e.Uint("error")))
	if words := modifyWords[e.Uint("why")]; words != "" {
		s += " " + words
	}
	return s
}

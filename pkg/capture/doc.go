// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package capture records the packets of a softhca device, both ways, in a pcapng
// file. Every packet carries a comment that says which queue pair and process it
// belongs to, and whether it was sent before.
//
// It listens where the packets pass: on the device's network interface, and on the
// loopback interface for those between addresses of the same host. That needs
// CAP_NET_RAW and, for a device of another network namespace, CAP_SYS_ADMIN. Packets
// of native InfiniBand pass no interface; the module tells them to those who have
// CAP_NET_ADMIN.
package capture

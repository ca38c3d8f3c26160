// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package genl configures and observes softhca devices, over the kernel
// module's generic netlink family.
//
// Reading needs no privilege and shows the devices that the caller's network
// namespace may use. Changing needs CAP_NET_ADMIN in the initial user
// namespace. A name of a network interface means the one in the caller's
// network namespace.
//
// Every refusal is an *Error, which carries the kernel's own sentence about
// what was wrong, and which errors.Is matches with os.ErrNotExist,
// os.ErrExist, os.ErrPermission and errors.ErrUnsupported. Without the kernel
// module New returns ErrNotLoaded.
//
// Package genlfake has a fake kernel, for tests of programs that use this
// package.
//
// Set NLDEBUG=level=1 to have every message written to standard error.
package genl

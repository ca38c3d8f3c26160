// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package genlfake is a softhca kernel module in memory, for tests of programs
// that use package genl.
//
// It checks requests with the policies of the protocol's description and
// refuses what the module refuses, with the same error numbers and sentences.
// Nothing moves in it: a test sets the queue pairs and counters that it wants to see.
package genlfake

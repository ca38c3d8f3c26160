// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package trace shows what softhca devices do, by eBPF programs on the module's
// tracepoints (docs/TRACING.md).
//
// Open what is wanted, read from it, close it: Latency and Flows add up in the
// kernel, Stream hands over every event. A Filter says whose events count. All
// of them need CAP_BPF and CAP_PERFMON (or root) and a kernel that has BPF; where
// it has not, errors.Is(err, ErrNotSupported). Without the module,
// errors.Is(err, ErrNotLoaded).
//
// Nothing is known of the kernel but the tracepoints' formats, which are compared
// with those that the programs were written for, so no BTF is needed.
package trace

//go:generate ../../scripts/bpf stages flow stream copies verbs

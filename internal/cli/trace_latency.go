// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/softhca/softhca/internal/output"
	"github.com/softhca/softhca/pkg/trace"
	"github.com/spf13/cobra"
)

// A latencyRow is a stage of the messages of one kind. Times are in ns.
type latencyRow struct {
	QPN      uint32       `json:"qpn" out:"list"`
	Opcode   trace.Opcode `json:"opcode" out:"list"`
	MaxBytes uint64       `json:"max_bytes" out:"list"`
	Stage    trace.Stage  `json:"stage" out:"list"`
	Count    uint64       `json:"count" out:"list"`
	Mean     nanoseconds  `json:"mean_ns" out:"list"`
	P50      nanoseconds  `json:"p50_ns" out:"list"`
	P99      nanoseconds  `json:"p99_ns" out:"list"`
	P999     nanoseconds  `json:"p999_ns" out:"list"`
	Max      nanoseconds  `json:"max_ns" out:"list"`
	// Octaves is how many took from 2^n ns to twice that, or from 0 to 32 ns.
	Octaves []octaveRow `json:"octaves"`
}

type octaveRow struct {
	From  nanoseconds `json:"from_ns"`
	Count uint64      `json:"count"`
}

// nanoseconds is a time, as a number everywhere.
type nanoseconds int64

func newTraceLatency(a *app) *cobra.Command {
	var (
		flags traceFlags
		user  bool
	)
	cmd := &cobra.Command{
		Use:   "latency [DEV]",
		Short: "Show how long the stages of messages take",
		Long: `Show how long each stage of a message takes, by queue pair, opcode and size:

  queue  from the fetch of the work request until its last packet is on the wire
  ack    until the peer has acknowledged it
  cqe    until its completion is written
  total  from fetch to completion

With --user, by probes in the provider library, also

  post   from the program's post until the kernel fetches the work request
  poll   from the completion until the program has polled it
  user   from post to poll

Receives of messages from this host have, as opcode RECV,

  deliver  from the fetch of the sender's work request until the receive's
           completion is written; with --user also poll, and user: from the
           sender's post to the receiver's poll, which is one way of a ping-pong

Other receives have poll alone. Native InfiniBand without a GRH does not tell where
a message comes from, so its receives count as those.

Times are in nanoseconds. max_bytes is the size class: messages of at most that
many bytes, and of more than half of it. The mean and the maximum are exact, the
percentiles within 6 %, below 32 ns within 2 ns; of more than 68 s they tell no more
than that. Messages that failed or were flushed do not count.`,
		Example: `  ibctl trace latency shca0 --duration 10s
  ibctl trace latency --comm ib_send_lat`,
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			owners, err := a.prepare(cmd, &flags, args)
			if err != nil {
				return err
			}
			open := a.Trace.Latency
			if user {
				open = a.Trace.LatencyUser
			}
			l, err := open(flags.filter, owners)
			if err != nil {
				return err
			}
			defer l.Close()
			a.ready("tracing", &flags)
			ctx, cancel := flags.until(cmd.Context())
			defer cancel()
			<-ctx.Done()

			list, missed, err := l.Read()
			if err != nil {
				return err
			}
			if err := errors.Join(a.sayNoRoom(l), l.Close()); err != nil {
				return err
			}
			switch {
			case missed != (trace.Missed{}):
				fmt.Fprintf(a.Stderr, "%d messages are not in these figures\n", missed.Collisions+missed.NoRoom+missed.Unseen)
			case len(list) == 0:
				fmt.Fprintln(a.Stderr, "no messages")
			}
			return a.printLatency(list)
		},
	}
	flags.add(a, cmd)
	cmd.Flags().BoolVar(&user, "user", false, "from the program's post to its poll; a probe costs it some microseconds")
	return cmd
}

func (a *app) printLatency(list []trace.Series) error {
	p := a.printer()
	var rows []latencyRow
	for i := range list {
		for st := range list[i].Stages {
			if list[i].Stages[st].Count == 0 {
				continue // not measured
			}
			rows = append(rows, latencyOf(&list[i], trace.Stage(st)))
		}
	}
	if err := p.Each(rows); err != nil || p.Format != output.Table {
		return err
	}
	all := trace.Total(list)
	for st := range all {
		if err := a.bars(trace.Stage(st), &all[st]); err != nil {
			return err
		}
	}
	return nil
}

func latencyOf(s *trace.Series, st trace.Stage) latencyRow {
	h := &s.Stages[st]
	r := latencyRow{
		QPN: s.QPN, Opcode: s.Opcode, MaxBytes: s.MaxBytes, Stage: st, Count: h.Count,
		Mean: nanoseconds(h.Mean()), P50: nanoseconds(h.Quantile(0.5)), P99: nanoseconds(h.Quantile(0.99)),
		P999: nanoseconds(h.Quantile(0.999)), Max: nanoseconds(h.Max), Octaves: []octaveRow{},
	}
	for _, o := range h.Octaves() {
		r.Octaves = append(r.Octaves, octaveRow{nanoseconds(o.From), o.Count})
	}
	return r
}

// bars draws a histogram.
func (a *app) bars(st trace.Stage, h *trace.Histogram) error {
	const width = 40
	var most uint64
	octaves := h.Octaves()
	for _, o := range octaves {
		most = max(most, o.Count)
	}
	if most == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(a.Stdout, "\n%s, all messages\n", st); err != nil {
		return err
	}
	for _, o := range octaves {
		n := int(o.Count * width / most)
		if o.Count > 0 && n == 0 {
			n = 1
		}
		line := fmt.Sprintf("%10s  %-*s  %d", round(o.From), width, strings.Repeat("#", n), o.Count)
		if _, err := fmt.Fprintln(a.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// round drops digits that nobody reads.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	case d >= time.Microsecond:
		return d.Round(10 * time.Nanosecond)
	}
	return d
}

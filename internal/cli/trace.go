// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/trace"
	"github.com/spf13/cobra"
)

// A Tracer opens what package trace has; tests put fakes there.
type Tracer struct {
	Latency, LatencyUser func(trace.Filter, []trace.Owner) (LatencySource, error)

	Flows  func(trace.Filter, []trace.Owner) (FlowSource, error)
	Stream func(trace.Filter, []trace.Owner, ...string) (EventSource, error)
	Errors func(trace.Filter, []trace.Owner) (EventSource, error)
	Copies func(f trace.Filter, o []trace.Owner, every uint32) (CopySource, error)
	Verbs  func(trace.Filter) (VerbsSource, error)
}

// A LatencySource measures latencies.
type LatencySource interface {
	Read() ([]trace.Series, trace.Missed, error)
	roomSource
	Close() error
}

// A FlowSource counts traffic.
type FlowSource interface {
	Read() ([]trace.Flow, error)
	roomSource
	Close() error
}

// An EventSource hands over events.
type EventSource interface {
	Next() (trace.Event, error)
	Stop() error
	Lost() (uint64, error)
	roomSource
	Close() error
}

// A roomSource tells how often there was no room for a queue pair.
type roomSource interface{ NoRoom() (uint64, error) }

// KernelTracer traces the kernel.
func KernelTracer() Tracer {
	return Tracer{
		Latency: func(f trace.Filter, o []trace.Owner) (LatencySource, error) {
			return opened(trace.OpenLatency(f, o))
		},
		LatencyUser: func(f trace.Filter, o []trace.Owner) (LatencySource, error) {
			return opened(trace.OpenLatencyUser(f, o))
		},
		Flows: func(f trace.Filter, o []trace.Owner) (FlowSource, error) {
			return opened(trace.OpenFlows(f, o))
		},
		Stream: func(f trace.Filter, o []trace.Owner, names ...string) (EventSource, error) {
			return opened(trace.OpenStream(f, o, names...))
		},
		Errors: func(f trace.Filter, o []trace.Owner) (EventSource, error) {
			return opened(trace.OpenErrors(f, o))
		},
		Copies: func(f trace.Filter, o []trace.Owner, every uint32) (CopySource, error) {
			return opened(trace.OpenCopies(f, o, every))
		},
		Verbs: func(f trace.Filter) (VerbsSource, error) {
			return opened(trace.OpenVerbs(f))
		},
	}
}

// opened keeps a nil pointer from becoming an interface that is not nil.
func opened[T any, P interface{ *T }](p P, err error) (P, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// traceFlags are the flags of every kind of trace.
type traceFlags struct {
	filter   trace.Filter
	duration time.Duration
}

func (f *traceFlags) add(a *app, cmd *cobra.Command) {
	fs := cmd.Flags()
	numberVar(fs, &f.filter.QPN, "qpn", "only this queue pair")
	numberVar(fs, &f.filter.PID, "pid", "only queue pairs that this process created")
	fs.StringVar(&f.filter.Comm, "comm", "", "only queue pairs of processes of this name")
	fs.DurationVar(&f.duration, "duration", 0, "how long; without it, until interrupted")
	a.offerQPFlags(cmd)
}

func newTrace(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace COMMAND",
		Short: "Show what happens on the data path",
		Long: `Show what happens on the data path, by eBPF programs on the tracepoints of the
module. They need root, and a kernel with BPF.

While nothing is traced, tracing costs nothing. Ctrl-C takes the programs out
again, under load too, and what they have told until then is still shown; a second
Ctrl-C does not wait for that. With -j there is a JSON object a line.`,
	}, newTraceLatency(a), newTraceFlow(a), newTraceCopies(a), newTraceErrors(a), newTraceTimeline(a), newTraceVerbs(a))
}

// owners lists the queue pairs there are, and whose they are.
func (a *app) owners() ([]trace.Owner, error) {
	var owners []trace.Owner
	err := a.with(func(c *genl.Client) error {
		qps, err := c.QPs(genl.QPFilter{})
		for _, q := range qps {
			owners = append(owners, trace.Owner{
				QPN: q.QPN, PID: q.PID, Comm: q.Comm, Device: q.Device, DestQPN: q.DestQPN, SGID: q.SGID, DGID: q.DGID,
			})
		}
		return err
	})
	return owners, err
}

// prepare is what each trace begins with.
func (a *app) prepare(cmd *cobra.Command, f *traceFlags, args []string) ([]trace.Owner, error) {
	if f.duration < 0 {
		return nil, usagef(cmd, "--duration must not be negative")
	}
	if len(args) > 0 {
		f.filter.Device = args[0]
		err := a.with(func(c *genl.Client) error {
			_, err := c.Device(args[0])
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return a.owners()
}

// until returns a context that ends with the duration, or when interrupted.
func (f *traceFlags) until(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.duration == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, f.duration)
}

// ready tells people and scripts that a trace or a capture has begun.
func (a *app) ready(what string, f *traceFlags) {
	end := "Ctrl-C ends it"
	if f.duration > 0 {
		end = f.duration.String()
	}
	fmt.Fprintf(a.Stderr, "%s (%s)\n", what, end)
}

// every calls fn each interval, and once more in the end.
func every(ctx context.Context, interval time.Duration, fn func() error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-tick.C:
		}
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

// follow hands over events until ctx ends and the buffer is empty, and then says
// how many were lost.
func (a *app) follow(ctx context.Context, s EventSource, fn func(*trace.Event) error) error {
	defer context.AfterFunc(ctx, func() { _ = s.Stop() })()
	for {
		e, err := s.Next()
		if errors.Is(err, os.ErrClosed) {
			break
		}
		if err != nil {
			return err
		}
		if err := fn(&e); err != nil {
			return err
		}
	}
	return errors.Join(a.sayLost(s.Lost, "events"), a.sayNoRoom(s))
}

// sayLost says how many of something were lost, if any.
func (a *app) sayLost(count func() (uint64, error), what string) error {
	lost, err := count()
	if err != nil {
		return err
	}
	if lost > 0 {
		fmt.Fprintf(a.Stderr, "%d %s were lost: they came faster than they were read\n", lost, what)
	}
	return nil
}

// sayNoRoom says how many queue pairs are not in what a trace tells, if any.
func (a *app) sayNoRoom(s roomSource) error {
	n, err := s.NoRoom()
	if err != nil {
		return err
	}
	if n > 0 {
		fmt.Fprintf(a.Stderr, "%d times there was no room for a queue pair: there are too many, and some are not traced\n", n)
	}
	return nil
}

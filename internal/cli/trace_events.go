// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/softhca/softhca/pkg/trace"
	"github.com/spf13/cobra"
)

// An errorRow is something that went wrong.
type errorRow struct {
	// Time is since the trace began.
	Time   float64 `json:"seconds" out:"list"`
	Device string  `json:"dev" out:"list"`
	QPN    uint32  `json:"qpn" out:"list"`
	PID    uint32  `json:"pid" out:"list"`
	Comm   string  `json:"comm" out:"list"`
	Event  string  `json:"event" out:"list"`
	Text   string  `json:"text" out:"list"`
}

func newTraceErrors(a *app) *cobra.Command {
	var flags traceFlags
	cmd := &cobra.Command{
		Use:   "errors [DEV]",
		Short: "Show what goes wrong, in plain words",
		Long: `Show what goes wrong as it happens, each with its reason in plain words: packets
that are dropped, acknowledges that do not come, refusals by either end, queue
pairs that go to the error state, and memory that cannot be registered.

pid and comm are of the process that created the queue pair; where a call failed, of
the one that called.`,
		Example:           "  ibctl trace errors",
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			owners, err := a.prepare(cmd, &flags, args)
			if err != nil {
				return err
			}
			s, err := a.Trace.Errors(flags.filter, owners)
			if err != nil {
				return err
			}
			defer s.Close()
			a.ready("tracing", &flags)
			ctx, cancel := flags.until(cmd.Context())
			defer cancel()
			who := ownerTable(owners)
			p := a.printer()
			var start time.Duration
			err = a.follow(ctx, s, func(e *trace.Event) error {
				if start == 0 {
					start = e.Time
				}
				who.learn(e)
				text := trace.Explain(e)
				if text == "" {
					return nil
				}
				row := errorRow{Time: (e.Time - start).Seconds(), Device: e.Device, QPN: e.QPN, Event: e.Name, Text: text}
				row.PID, row.Comm = who.blame(e)
				return p.Next(row)
			})
			if err != nil {
				return err
			}
			return s.Close()
		},
	}
	flags.add(a, cmd)
	return cmd
}

// owners is whose queue pairs are.
type owners map[uint32]trace.Owner

func ownerTable(list []trace.Owner) owners {
	o := make(owners)
	for _, q := range list {
		o[q.QPN] = q
	}
	return o
}

// learn notes a queue pair that is created.
func (o owners) learn(e *trace.Event) {
	if e.Name == "qp_create" {
		o[e.QPN] = trace.Owner{QPN: e.QPN, PID: uint32(e.Uint("pid")), Comm: e.Text("comm"), Device: e.Device}
	}
}

// blame is the process that an event is about, as far as that is known. Most events
// are told by whoever the CPU was running for.
func (o owners) blame(e *trace.Event) (pid uint32, comm string) {
	switch {
	case e.Name == "mr_register", e.Name == "modify_failed":
		return e.PID, e.Comm
	case e.QPN == 0: // no queue pair, or QP 0, which each native InfiniBand device has
		return 0, ""
	}
	q := o[e.QPN]
	return q.PID, q.Comm
}

// name is the title of a queue pair.
func (o owners) name(qpn uint32) string {
	if q, ok := o[qpn]; ok && q.Comm != "" {
		return fmt.Sprintf("QP %d %s/%d", qpn, q.Comm, q.PID)
	}
	return fmt.Sprintf("QP %d", qpn)
}

func newTraceTimeline(a *app) *cobra.Command {
	var (
		flags traceFlags
		file  string
	)
	cmd := &cobra.Command{
		Use:   "timeline [DEV] -o FILE.json",
		Short: "Write a timeline of all messages",
		Long: `Write a timeline of all messages in Chrome's trace format, which Perfetto and
chrome://tracing show: a track for each queue pair, a slice for each message, a
mark for each retry, drop and change of state.`,
		Example:           "  ibctl trace timeline shca0 -o shca0.json --duration 1s",
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if file == "" {
				return usagef(cmd, "-o FILE.json is missing")
			}
			owners, err := a.prepare(cmd, &flags, args)
			if err != nil {
				return err
			}
			names := append([]string{"qp_create"}, trace.TimelineEvents...)
			s, err := a.Trace.Stream(flags.filter, owners, names...)
			if err != nil {
				return err
			}
			defer s.Close()
			// Not before: what was in the file is lost then.
			out, err := os.Create(file)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, out.Close()) }()
			a.ready("tracing", &flags)
			ctx, cancel := flags.until(cmd.Context())
			defer cancel()
			who := ownerTable(owners)
			t := trace.NewTimeline(out, who.name)
			err = a.follow(ctx, s, func(e *trace.Event) error {
				who.learn(e)
				return t.Add(e)
			})
			if end := t.Close(); err == nil { // else it may be the same error again
				err = end
			}
			return errors.Join(err, s.Close())
		},
	}
	flags.add(a, cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "the file to write")
	offerFlagFile(cmd, "output", "json")
	return cmd
}

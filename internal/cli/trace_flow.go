// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"errors"
	"net/netip"
	"time"

	"github.com/softhca/softhca/internal/output"
	"github.com/softhca/softhca/pkg/trace"
	"github.com/spf13/cobra"
)

// A flowRow is what a queue pair has done since the trace began.
type flowRow struct {
	Device       string     `json:"dev" out:"list"`
	QPN          uint32     `json:"qpn" out:"list"`
	PID          uint32     `json:"pid" out:"list"`
	Comm         string     `json:"comm" out:"list"`
	DGID         netip.Addr `json:"dgid" out:"list"`
	DestQPN      uint32     `json:"dest_qpn" out:"list"`
	TXMessages   uint64     `json:"tx_messages" out:"list"`
	TXBytes      uint64     `json:"tx_bytes" out:"list"`
	RXMessages   uint64     `json:"rx_messages" out:"list"`
	RXBytes      uint64     `json:"rx_bytes" out:"list"`
	Retries      uint64     `json:"retries" out:"list"`
	PacketsAgain uint64     `json:"packets_again"`
	Referenced   uint64     `json:"tx_bytes_referenced"`
	Copied       uint64     `json:"tx_bytes_copied"`
	Errors       uint64     `json:"errors" out:"list"`
}

func newTraceFlow(a *app) *cobra.Command {
	var (
		flags    traceFlags
		interval time.Duration
	)
	cmd := &cobra.Command{
		Use:   "flow [DEV]",
		Short: "Show who talks to whom",
		Long: `Show who talks to whom, and how much: for each queue pair its process, its peer,
and messages, bytes and retries since the trace began, again each interval.

tx counts send requests that were acknowledged, rx receive completions. Retries
is how often the requester went back and sent again. Of more than 65536 queue pairs
those that were silent longest are left out.`,
		Example: `  ibctl trace flow
  ibctl -j trace flow shca0 --duration 1s | jq`,
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			if interval <= 0 {
				return usagef(cmd, "--interval must be more than 0")
			}
			owners, err := a.prepare(cmd, &flags, args)
			if err != nil {
				return err
			}
			f, err := a.Trace.Flows(flags.filter, owners)
			if err != nil {
				return err
			}
			defer f.Close()
			a.ready("tracing", &flags)
			ctx, cancel := flags.until(cmd.Context())
			defer cancel()
			err = every(ctx, interval, func() error { return a.showFlows(f) })
			if err != nil {
				return err
			}
			return errors.Join(a.sayNoRoom(f), f.Close())
		},
	}
	flags.add(a, cmd)
	cmd.Flags().DurationVar(&interval, "interval", time.Second, "time between two looks")
	return cmd
}

// showFlows shows what has been counted.
func (a *app) showFlows(f FlowSource) error {
	flows, err := f.Read()
	if err != nil {
		return err
	}
	var rows []flowRow
	for _, fl := range flows {
		rows = append(rows, flowOf(fl))
	}
	p := a.printer()
	if p.Format == output.Table {
		if err := a.clear("Since the trace began:", "no traffic", len(rows)); err != nil {
			return err
		}
	}
	return p.Each(rows)
}

func flowOf(f trace.Flow) flowRow {
	return flowRow{
		Device: f.Owner.Device, QPN: f.QPN, PID: f.Owner.PID, Comm: f.Owner.Comm,
		DGID: f.Owner.DGID, DestQPN: f.Owner.DestQPN,
		TXMessages: f.TXMessages, TXBytes: f.TXBytes, RXMessages: f.RXMessages, RXBytes: f.RXBytes,
		Retries: f.Retries, PacketsAgain: f.PacketsAgain, Referenced: f.Referenced, Copied: f.Copied,
		Errors: f.Errors,
	}
}

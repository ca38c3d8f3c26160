// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"errors"
	"fmt"

	"github.com/softhca/softhca/internal/output"
	"github.com/softhca/softhca/pkg/trace"
	"github.com/spf13/cobra"
)

// A copyRow is what a queue pair has handed over by one path.
type copyRow struct {
	Device     string     `json:"dev" out:"list"`
	QPN        uint32     `json:"qpn" out:"list"`
	PID        uint32     `json:"pid" out:"list"`
	Comm       string     `json:"comm" out:"list"`
	Path       trace.Path `json:"path" out:"list"`
	Packets    uint64     `json:"packets" out:"list"`
	Again      uint64     `json:"packets_again"`
	Referenced uint64     `json:"bytes_referenced" out:"list"`
	Copied     uint64     `json:"bytes_copied" out:"list"`
	// The samples
	Messages    uint64 `json:"sampled_messages" out:"list"`
	Bytes       uint64 `json:"sampled_bytes"`
	InPlace     uint64 `json:"in_place_bytes" out:"list"`
	Elsewhere   uint64 `json:"elsewhere_bytes" out:"list"`
	NotCompared uint64 `json:"not_compared" out:"list"`
}

func newTraceCopies(a *app) *cobra.Command {
	var (
		flags traceFlags
		every uint32
	)
	cmd := &cobra.Command{
		Use:   "copies [DEV]",
		Short: "Show which bytes are copied, and prove which are not",
		Long: fmt.Sprintf(`Show how many payload bytes were handed over by reference and how many as a copy, by
queue pair and path: the wire, or the local path between two queue pairs of one
device, which copies once in all.

The proof does not ask the module. For samples it takes the page frames of the
message's buffer from the process's pagemap, and those of the packets where the
kernel hands them to a network device (net:net_dev_start_xmit). in_place_bytes lie in
the buffer's own page frames; elsewhere_bytes do not, so somebody copied them.

Samples are messages with one buffer of at most %d MiB: the --every-th of those, or
as many as cost little, less than a hundred in a second. Not compared are those that
failed, whose process or memory was gone when it was looked at, or that were
registered for another address than their own. The kernel must tell its types (BTF:
/sys/kernel/btf/vmlinux).`, trace.MaxSample>>20),
		Example: `  ibctl trace copies --duration 10s
  ibctl trace copies shca0 --every 1`,
		Args:              optionalArg,
		ValidArgsFunction: a.completeDevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			owners, err := a.prepare(cmd, &flags, args)
			if err != nil {
				return err
			}
			c, err := a.Trace.Copies(flags.filter, owners, every)
			if err != nil {
				return err
			}
			defer c.Close()
			a.ready("tracing", &flags)
			ctx, cancel := flags.until(cmd.Context())
			defer cancel()
			<-ctx.Done()

			if err := c.Stop(); err != nil {
				return err
			}
			list, err := c.Read()
			if err != nil {
				return err
			}
			if err := errors.Join(a.sayLost(c.Lost, "records of samples"), a.sayNoRoom(c)); err != nil {
				return err
			}
			if err := c.Close(); err != nil {
				return err
			}
			return a.printCopies(list)
		},
	}
	flags.add(a, cmd)
	numberVar(cmd.Flags(), &every, "every", "which messages are samples: 1 each, 2 every second, ...; 0 as many as cost little")
	return cmd
}

func (a *app) printCopies(list []trace.CopyCount) error {
	p := a.printer()
	rows := make([]copyRow, 0, len(list))
	for _, c := range list {
		rows = append(rows, copyRow{
			Device: c.Owner.Device, QPN: c.QPN, PID: c.Owner.PID, Comm: c.Owner.Comm, Path: c.Path,
			Packets: c.Packets, Again: c.Again, Referenced: c.Referenced, Copied: c.Copied,
			Messages: c.Proof.Messages, Bytes: c.Proof.Bytes, InPlace: c.Proof.InPlace,
			Elsewhere: c.Proof.Elsewhere, NotCompared: c.Proof.NotCompared,
		})
	}
	if err := p.Each(rows); err != nil || p.Format != output.Table {
		return err
	}
	_, err := fmt.Fprintln(a.Stdout, "\n"+verdict(trace.TotalProof(list)))
	return err
}

// verdict says what samples prove.
func verdict(p trace.Proof) string {
	switch {
	case p.Messages == 0:
		return "No sample was compared, so nothing is proved."
	case p.Elsewhere == 0:
		return fmt.Sprintf("%d sampled messages, %d bytes: every byte left this host from the page frames of the program's own buffer.",
			p.Messages, p.Bytes)
	}
	return fmt.Sprintf("%d sampled messages: %d of %d bytes left this host from the page frames of the program's own buffer, %d were copied before.",
		p.Messages, p.InPlace, p.Bytes, p.Elsewhere)
}

// A CopySource counts copies.
type CopySource interface {
	Read() ([]trace.CopyCount, error)
	Stop() error
	Lost() (uint64, error)
	roomSource
	Close() error
}

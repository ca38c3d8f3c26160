// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/softhca/softhca/pkg/trace"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// A verbsRow is an operation of the control path.
type verbsRow struct {
	// Time is since the trace began.
	Time     float64     `json:"seconds" out:"list"`
	Device   string      `json:"dev" out:"list"`
	PID      uint32      `json:"pid" out:"list"`
	Comm     string      `json:"comm" out:"list"`
	Op       string      `json:"op" out:"list"`
	QPN      uint32      `json:"qpn" out:"list"`
	Duration nanoseconds `json:"ns" out:"list"`
	Errno    int         `json:"errno"`
	Error    string      `json:"error" out:"list"`
	Function string      `json:"function" out:"list"`
}

// A VerbsSource hands over operations.
type VerbsSource interface {
	Next() (trace.VerbsOp, error)
	Missing() []string
	Stop() error
	Lost() (uint64, error)
	Close() error
}

// rdmaDevices is where the kernel lists RDMA devices; tests put it elsewhere.
var rdmaDevices = "/sys/class/infiniband"

func newTraceVerbs(a *app) *cobra.Command {
	var flags traceFlags
	cmd := &cobra.Command{
		Use:   "verbs [DEV]",
		Short: "Show control-path operations of any RDMA device",
		Long: `Show operations of the control path of any RDMA device, whatever its driver, as they
end: queue pairs, completion queues, protection domains, memory regions, address
handles, shared receive queues and more that are created, modified, queried and
destroyed, with how long each took and its error.

Programs call by ib_uverbs; kernel consumers, and the end of a process, by ib_core.
An operation within another is part of that one. The process is the one that calls.
The kernel must tell its types (BTF: /sys/kernel/btf). Functions that it does not
have are named, and what they do is not seen.`,
		Example: `  ibctl trace verbs
  ibctl -j trace verbs mlx5_0 --comm myprogram`,
		Args:              optionalArg,
		ValidArgsFunction: completeRDMADevices,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.duration < 0 {
				return usagef(cmd, "--duration must not be negative")
			}
			if len(args) > 0 {
				flags.filter.Device = args[0]
				if _, err := os.Stat(filepath.Join(rdmaDevices, args[0])); err != nil {
					return fmt.Errorf("there is no RDMA device %s; 'rdma link' lists them", args[0])
				}
			}
			v, err := a.Trace.Verbs(flags.filter)
			if err != nil {
				return err
			}
			defer v.Close()
			a.ready("tracing", &flags)
			if missing := v.Missing(); len(missing) > 0 {
				fmt.Fprintf(a.Stderr, "not on this kernel, so not seen: %s\n", strings.Join(missing, ", "))
			}
			ctx, cancel := flags.until(cmd.Context())
			defer cancel()
			if err := a.followVerbs(ctx, v); err != nil {
				return err
			}
			return v.Close()
		},
	}
	fs := cmd.Flags()
	numberVar(fs, &flags.filter.PID, "pid", "only what this process does")
	fs.StringVar(&flags.filter.Comm, "comm", "", "only what processes of this name do")
	fs.DurationVar(&flags.duration, "duration", 0, "how long; without it, until interrupted")
	return cmd
}

// followVerbs prints operations until ctx ends and the buffer is empty.
func (a *app) followVerbs(ctx context.Context, v VerbsSource) error {
	defer context.AfterFunc(ctx, func() { _ = v.Stop() })()
	p := a.printer()
	var start time.Duration
	for {
		o, err := v.Next()
		if errors.Is(err, os.ErrClosed) {
			return a.sayLost(v.Lost, "operations")
		}
		if err != nil {
			return err
		}
		if start == 0 {
			start = o.Time - o.Duration
		}
		row := verbsRow{
			Time: (o.Time - start).Seconds(), Device: o.Device, PID: o.PID, Comm: o.Comm, Op: o.Op, QPN: o.QPN,
			Duration: nanoseconds(o.Duration), Errno: int(o.Err), Function: o.Function,
		}
		if o.Err != 0 {
			row.Error = errnoName(o.Err)
		}
		if err := p.Next(row); err != nil {
			return err
		}
	}
}

// kernelErrnos are those that no program sees (the kernel's include/linux/errno.h) but
// that calls within the kernel return.
var kernelErrnos = map[syscall.Errno]string{
	512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND", 515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK",
	517: "EPROBE_DEFER", 524: "ENOTSUPP",
}

// errnoName is the name of an error, or its number.
func errnoName(e syscall.Errno) string {
	return cmp.Or(unix.ErrnoName(e), kernelErrnos[e], strconv.Itoa(int(e)))
}

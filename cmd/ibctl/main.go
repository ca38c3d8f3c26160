// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Command ibctl configures and observes softhca devices.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/softhca/softhca/internal/cli"
	"github.com/softhca/softhca/pkg/capture"
	"github.com/softhca/softhca/pkg/genl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.Env{
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: cli.IsTerminal(os.Stdout),
		Connect:  genl.New,
		Trace:    cli.KernelTracer(),
		Capture:  capture.Run,
	})
	stop()
	os.Exit(code)
}

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

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. A second
// one ends the program as if nobody had asked for it.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

func main() {
	ctx, stop := untilSignal()
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

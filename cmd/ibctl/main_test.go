// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const child = "IBCTL_TEST_STUBBORN"

// TestMain makes a child of this test a program that does not end when asked to.
func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	ctx, _ := untilSignal()
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println("asked")
	time.Sleep(time.Minute)
}

// The first Ctrl-C asks the program to end, another one ends it.
func TestSecondSignal(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"ready", "asked"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, want %q: %v", lines.Text(), want, lines.Err())
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
				t.Errorf("ended with %v", err)
			}
			return
		case <-tick.C:
			_ = cmd.Process.Signal(os.Interrupt) // The second one may have come too early.
		}
	}
	t.Error("it does not end")
	_ = cmd.Process.Kill()
	<-ended
}

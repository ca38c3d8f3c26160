// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/softhca/softhca/internal/output"
	"github.com/softhca/softhca/pkg/capture"
	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/genlfake"
	"github.com/spf13/cobra"
)

// TestScripts runs ibctl against a fake kernel with the network interfaces eth0
// and eth1. The scripts know these commands besides the usual ones:
//
//	ibctl ARGS...         run it; "!" wants any exit code but 0
//	exits CODE ARGS...    run it and want this exit code
//	terminal ARGS...      run it as on a terminal
//	kernel ACTION ARGS... change the kernel behind its back
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Values["kernel"] = genlfake.New("eth0", "eth1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ibctl": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := run(ts, false, args); (code != 0) != neg {
					ts.Fatalf("exit code %d", code)
				}
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				if code := run(ts, false, args[1:]); code != want {
					ts.Fatalf("exit code %d, want %d", code, want)
				}
			},
			"terminal": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := run(ts, true, args); (code != 0) != neg {
					ts.Fatalf("exit code %d", code)
				}
			},
			"kernel": change,
		},
	})
}

// begun is what a trace or a capture says first.
var begun = regexp.MustCompile(`^(tracing|capturing) \(`)

func run(ts *testscript.TestScript, terminal bool, args []string) int {
	for i, a := range args { // Arguments that name files are relative to the script.
		if strings.HasPrefix(a, "./") {
			args[i] = ts.MkAbs(a)
		}
	}
	var stderr bytes.Buffer
	code := Main(context.Background(), args, Env{
		Stdout: ts.Stdout(), Stderr: io.MultiWriter(ts.Stderr(), &stderr), Terminal: terminal,
		Connect: ts.Value("kernel").(*genlfake.Kernel).Client,
		Trace:   fakeTracer,
		Capture: func(ctx context.Context, o capture.Options) (capture.Result, error) {
			qps, err := o.QPs()
			fmt.Fprintln(ts.Stdout(), o.Device, o.Netdev, o.QPN, o.Snap, o.FileBytes, o.Files, len(qps))
			o.Ready()
			<-ctx.Done()
			return capture.Result{Packets: 7, Lost: 2}, err
		},
	})
	// A failure is one line, and nothing else is said on standard error, but by a
	// trace, which tells when it has begun, or if there is no command at all.
	n := strings.Count(stderr.String(), "\n")
	if begun.MatchString(stderr.String()) || strings.Join(args, "") == strings.Repeat("-j", len(args)) {
		return code
	}
	if code != 0 && n != 1 || code == 0 && n != 0 && !strings.HasPrefix(args[0], "__complete") {
		ts.Fatalf("exit code %d and %d lines on standard error:\n%s", code, n, &stderr)
	}
	return code
}

func change(ts *testscript.TestScript, _ bool, args []string) {
	k := ts.Value("kernel").(*genlfake.Kernel)
	number := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 10, 64)
		ts.Check(err)
		return n
	}
	switch args[0] {
	case "unload":
		k.SetLoaded(false)
	case "user":
		k.SetAdmin(false)
	case "counter": // DEV NAME VALUE
		ts.Check(k.SetCounter(args[1], args[2], number(args[3])))
	case "port": // DEV STATE
		var s genl.PortState
		ts.Check(s.UnmarshalText([]byte(args[2])))
		ts.Check(k.SetPortState(args[1], s))
	case "qp": // FILE with JSON
		var q struct {
			genl.QP
			Opcode, NAK *uint8
		}
		// Opcodes and syndromes have names in JSON only one way.
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &q))
		if q.Opcode != nil {
			op := genl.Opcode(*q.Opcode)
			q.ErrorOpcode = &op
		}
		if q.NAK != nil {
			q.LastNAK = genl.Syndrome(*q.NAK)
		}
		ts.Check(k.SetQP(q.QP))
	default:
		ts.Fatalf("unknown action %q", args[0])
	}
}

// A writer tells when something was written.
type writer struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	wrote chan struct{}
}

func newWriter() *writer { return &writer{wrote: make(chan struct{}, 1)} }

func (w *writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.wrote <- struct{}{}:
	default: // Nobody looks; who does will see it.
	}
	return w.buf.Write(b)
}

func (w *writer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// TestMonitor: events come as they happen, and an interrupt is a good end.
func TestMonitor(t *testing.T) {
	k := genlfake.New("eth0")
	c, err := k.Client()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	connected := make(chan struct{}, 1)
	out := newWriter()
	done := make(chan int)
	go func() {
		done <- Main(ctx, []string{"-j", "monitor"}, Env{
			Stdout: out, Stderr: io.Discard,
			Connect: func() (*genl.Client, error) { connected <- struct{}{}; return k.Client() },
		})
	}()
	<-connected
	// The monitor may not listen yet: repeat until it says something.
	for n := 0; ; n++ {
		name := fmt.Sprintf("shca%d", n)
		if err := c.AddDevice(genl.DeviceConfig{Name: name, Netdev: "eth0"}); err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteDevice(name); err != nil {
			t.Fatal(err)
		}
		if out.String() != "" {
			break
		}
	}
	<-out.wrote
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	for line := range strings.Lines(out.String()) {
		var e struct {
			Time, Event, Name string
			Netdev            string `json:"netdev"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Event != "new" && e.Event != "del" || e.Netdev != "eth0" || e.Time == "" {
			t.Errorf("event %s", line)
		}
	}
}

// TestMonitorRows: an event has the fields of its object, and a table titles for
// each kind of object.
func TestMonitorRows(t *testing.T) {
	events := []genl.Event{
		{Type: genl.EventCableDel, Cable: &genl.Cable{A: genl.Port{Node: "shca0", Number: 1}, B: genl.Port{Node: "sw0", Number: 2}}},
		{Type: genl.EventSwitchNew, Switch: &genl.Switch{Name: "sw0", PortCount: 4, GUID: 1}},
		{Type: genl.EventNew, Device: genl.Device{Name: "shca0", Link: genl.LinkIB}},
	}
	for format, want := range map[output.Format]string{
		output.Columns: "cable-del shca0/1 sw0/2 down - -\nswitch-new sw0 4 0 0000:0000:0000:0001\nnew shca0 ib ",
		output.Table:   "TIME EVENT A B LINK_STATE REMOTE PEER_STATE\ncable-del shca0/1 sw0/2 down - -\nTIME EVENT NAME PORT_COUNT LID GUID\nswitch-new ",
	} {
		var b, got strings.Builder
		p := output.Printer{W: &b, Format: format}
		for _, e := range events {
			if err := p.Next(row(e)); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.Lines(b.String()) {
			words := strings.Fields(line)
			if words[0] != "TIME" {
				words = words[1:]
			}
			got.WriteString(strings.Join(words, " ") + "\n")
		}
		if !strings.HasPrefix(got.String(), want) {
			t.Errorf("format %d: got\n%s\nwant\n%s", format, &got, want)
		}
	}
}

// TestWatch: the first look only sets the base, later ones show what changed.
func TestWatch(t *testing.T) {
	k := genlfake.New("eth0")
	c, err := k.Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddDevice(genl.DeviceConfig{Name: "shca0", Netdev: "eth0"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	out := newWriter()
	done := make(chan int)
	go func() {
		done <- Main(ctx, []string{"stats", "--watch", "--interval", "1ms"}, Env{
			Stdout: out, Stderr: io.Discard, Connect: k.Client,
		})
	}()
	for n := uint64(1); out.String() == ""; n++ {
		if err := k.SetCounter("shca0", "tx_packets", n); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	for line := range strings.Lines(out.String()) {
		f := strings.Split(line, "\t")
		if len(f) != 4 || f[0] != "shca0" || f[1] != "tx_packets" {
			t.Errorf("line %q", line)
		}
	}
}

// TestPrometheusInfo: what is said of a device is what its labels have, no more and no
// less.
func TestPrometheusInfo(t *testing.T) {
	k := genlfake.New("eth0")
	c, err := k.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.AddDevice(genl.DeviceConfig{Name: "shca0", Netdev: "eth0"}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := writePrometheus(&b, c, ""); err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) string {
		m := regexp.MustCompile(`(?m)^` + pattern + `$`).FindStringSubmatch(b.String())
		if m == nil {
			t.Fatalf("no %s in\n%s", pattern, &b)
		}
		return m[1]
	}
	help := find(`# HELP softhca_device_info (.*)`)
	var labels []string
	for _, m := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(find(`softhca_device_info\{(.*)\} 1`), -1) {
		labels = append(labels, m[1])
	}
	if want := "A " + list(labels) + "; always 1."; help != want {
		t.Errorf("it is said to be %q, want %q", help, want)
	}
}

// TestEveryCommand: each has a manual page, a sentence and an example, and
// refuses what it does not know with exit code 2.
func TestEveryCommand(t *testing.T) {
	dir := t.TempDir()
	if code := Main(context.Background(), []string{"man", dir}, Env{Stdout: io.Discard, Stderr: os.Stderr}); code != 0 {
		t.Fatalf("man: exit code %d", code)
	}

	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if !cmd.IsAvailableCommand() && cmd.HasParent() || strings.HasPrefix(path, "ibctl completion") || path == "ibctl help" {
			return
		}
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(path, " ", "-")+".8"))
		if err != nil {
			t.Error(err)
		} else if !bytes.Contains(page, []byte(".SH SYNOPSIS")) {
			t.Errorf("%s: no synopsis in the manual page", path)
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short help %q", path, cmd.Short)
		}
		if !cmd.HasSubCommands() && cmd.Example == "" {
			t.Errorf("%s: no example", path)
		}
		args := append(strings.Fields(path)[1:], "--no-such-flag")
		connect := func() (*genl.Client, error) { return nil, errors.New("must not be called") }
		if code := Main(context.Background(), args, Env{Stdout: io.Discard, Stderr: io.Discard, Connect: connect}); code != 2 {
			t.Errorf("%s: exit code %d", path, code)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&app{}))
}

// TestMain makes a child of this test a program that says on standard error whether its
// standard output is a terminal.
func TestMain(m *testing.M) {
	if os.Getenv("IBCTL_TEST_TERMINAL") == "" {
		os.Exit(m.Run())
	}
	fmt.Fprint(os.Stderr, IsTerminal(os.Stdout))
}

func TestIsTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsTerminal(f) {
		t.Error("a file is a terminal")
	}
	// Whatever it is, a program's standard output has the name /dev/stdout.
	for name, want := range map[string]string{os.DevNull: "false", "/dev/zero": "false", "/dev/ptmx": "true"} {
		dev, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		var said bytes.Buffer
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "IBCTL_TEST_TERMINAL=1")
		cmd.Stdout, cmd.Stderr = dev, &said
		if err := cmd.Run(); err != nil || said.String() != want {
			t.Errorf("%s is a terminal: %s, %v; want %s", name, &said, err, want)
		}
	}
}

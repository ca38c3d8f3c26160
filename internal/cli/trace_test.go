// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"bytes"
	"io"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/softhca/softhca/pkg/genl/genlfake"
	"github.com/softhca/softhca/pkg/trace"
)

// fakeTracer has one series, one flow and some events, and lost two. Queue pair 5 does
// nothing, and a filter for queue pair 404 cannot be traced.
var fakeTracer = Tracer{
	Latency: func(f trace.Filter, _ []trace.Owner) (LatencySource, error) {
		if f.QPN == 5 {
			return idleLatency{}, nil
		}
		return fakeLatency{trace.StageTotal}, fakeRefusal(f)
	},
	LatencyUser: func(f trace.Filter, _ []trace.Owner) (LatencySource, error) {
		return fakeLatency{trace.StageUser}, fakeRefusal(f)
	},
	Flows: func(f trace.Filter, _ []trace.Owner) (FlowSource, error) {
		if f.QPN == 5 {
			return idleFlows{}, nil
		}
		return fakeFlows{}, fakeRefusal(f)
	},
	Stream: func(f trace.Filter, _ []trace.Owner, _ ...string) (EventSource, error) {
		return fakeStream(), fakeRefusal(f)
	},
	Errors: func(f trace.Filter, _ []trace.Owner) (EventSource, error) {
		return fakeStream(), fakeRefusal(f)
	},
	Copies: func(f trace.Filter, _ []trace.Owner, every uint32) (CopySource, error) {
		return fakeCopies{every}, fakeRefusal(f)
	},
	Verbs: func(f trace.Filter) (VerbsSource, error) {
		return &fakeVerbs{ops: []trace.VerbsOp{
			{Time: time.Second, Duration: time.Second / 2, Op: "create PD", Function: "ib_uverbs_alloc_pd", Device: "rxe0", PID: 42, Comm: "app"},
			{Time: 2 * time.Second, Duration: 2000, Op: "modify QP", Function: "ib_modify_qp", Device: "rxe0", QPN: 17, Err: syscall.EINVAL},
			{Time: 3 * time.Second, Op: "create QP", Function: "ib_create_qp_kernel", Err: 524},
			{Time: 3 * time.Second, Op: "create CQ", Function: "__ib_alloc_cq", Err: 4000},
		}}, nil
	},
}

func fakeStream() *fakeEvents {
	return &fakeEvents{events: []trace.Event{
		{Time: time.Second, Name: "qp_create", Device: "shca0", QPN: 17},
		{Time: 2 * time.Second, Name: "ack_timeout", Device: "shca0", QPN: 17},
		{Time: 2 * time.Second, Name: "send_fetch", Device: "shca0", QPN: 17},
		{Time: 2*time.Second + 5000, Name: "send_done", Device: "shca0", QPN: 17},
		// Found while these programs happened to run
		{Time: 3 * time.Second, Name: "drop", Device: "shca0", PID: 4711, Comm: "innocent"},
		{Time: 3 * time.Second, Name: "drop", Device: "shca0", QPN: 99, PID: 4711, Comm: "innocent"},
		// What this one did itself
		{Time: 4 * time.Second, Name: "modify_failed", Device: "shca0", QPN: 99, PID: 43, Comm: "clumsy"},
	}}
}

// endlessEvents never ends by itself.
type endlessEvents struct{ fakeEvents }

func (endlessEvents) Next() (trace.Event, error) {
	return trace.Event{Time: time.Second, Name: "ack_timeout", Device: "shca0", QPN: 17}, nil
}

// A timeline that cannot be written ends at once, not when somebody looks.
func TestTimelineFull(t *testing.T) {
	tracer := fakeTracer
	tracer.Stream = func(trace.Filter, []trace.Owner, ...string) (EventSource, error) { return new(endlessEvents), nil }
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- Main(t.Context(), []string{"trace", "timeline", "-o", "/dev/full"}, Env{
			Stdout: io.Discard, Stderr: &stderr, Trace: tracer, Connect: genlfake.New().Client,
		})
	}()
	select {
	case code := <-ended:
		if code != 1 || !strings.HasSuffix(stderr.String(), "\nibctl: write the timeline: write /dev/full: no space left on device\n") {
			t.Errorf("exit code %d: %s", code, &stderr)
		}
	case <-time.After(10 * time.Second):
		t.Error("no end")
	}
}

// The process of an error is who asked, or whose the queue pair is; never who was
// interrupted.
func TestBlame(t *testing.T) {
	who := ownerTable([]trace.Owner{{QPN: 0, PID: 1, Comm: "ib_core"}, {QPN: 17, PID: 42, Comm: "app"}})
	for _, c := range []struct {
		event string
		qpn   uint32
		pid   uint32
		comm  string
	}{
		{"drop", 17, 42, "app"},
		{"drop", 18, 0, ""},
		{"drop", 0, 0, ""},
		{"mr_register", 0, 4711, "running"},
		{"modify_failed", 17, 4711, "running"},
	} {
		pid, comm := who.blame(&trace.Event{Name: c.event, QPN: c.qpn, PID: 4711, Comm: "running"})
		if pid != c.pid || comm != c.comm {
			t.Errorf("%s of queue pair %d: %d %q, want %d %q", c.event, c.qpn, pid, comm, c.pid, c.comm)
		}
	}
}

func fakeRefusal(f trace.Filter) error {
	if f.QPN == 404 {
		return trace.ErrNotLoaded
	}
	return nil
}

type fakeLatency struct{ stage trace.Stage }

func (l fakeLatency) Read() ([]trace.Series, trace.Missed, error) {
	s := trace.Series{QPN: 17, Opcode: 2, MaxBytes: 64}
	s.Stages[l.stage] = trace.Histogram{Count: 4, Sum: 4000, Max: 1500}
	return []trace.Series{s}, trace.Missed{Collisions: 1, NoRoom: 2, Unseen: 4}, nil
}

func (l fakeLatency) NoRoom() (uint64, error) { return 0, nil }
func (l fakeLatency) Close() error            { return nil }

type idleLatency struct{ fakeLatency }

func (idleLatency) Read() ([]trace.Series, trace.Missed, error) { return nil, trace.Missed{}, nil }

type fakeFlows struct{}

func (fakeFlows) Read() ([]trace.Flow, error) {
	return []trace.Flow{{
		QPN: 17, Owner: trace.Owner{QPN: 17, PID: 42, Comm: "app", Device: "shca0", DestQPN: 5, DGID: netip.MustParseAddr("::ffff:10.0.0.2")},
		Traffic: trace.Traffic{TXMessages: 3, TXBytes: 192, Retries: 1},
	}}, nil
}

type idleFlows struct{ fakeFlows }

func (idleFlows) Read() ([]trace.Flow, error) { return nil, nil }

func (fakeFlows) NoRoom() (uint64, error) { return 4, nil }
func (fakeFlows) Close() error            { return nil }

type fakeEvents struct{ events []trace.Event }

func (f *fakeEvents) Next() (trace.Event, error) {
	if len(f.events) == 0 {
		return trace.Event{}, os.ErrClosed
	}
	e := f.events[0]
	f.events = f.events[1:]
	return e, nil
}

// fakeCopies has the figures of one queue pair; with every second message a sample, one
// page was copied.
type fakeCopies struct{ every uint32 }

func (f fakeCopies) Read() ([]trace.CopyCount, error) {
	c := trace.CopyCount{QPN: 17, Path: trace.PathWire, Owner: trace.Owner{QPN: 17, PID: 42, Comm: "app", Device: "shca0"}}
	c.Packets, c.Referenced, c.Copied = 16, 65536, 64
	if f.every > 0 {
		c.Proof = trace.Proof{Messages: 1, Bytes: 65536, InPlace: 65536}
	}
	if f.every == 2 {
		c.Proof.InPlace, c.Proof.Elsewhere = 61440, 4096
	}
	return []trace.CopyCount{c}, nil
}

func (fakeCopies) Stop() error             { return nil }
func (fakeCopies) Lost() (uint64, error)   { return 3, nil }
func (fakeCopies) NoRoom() (uint64, error) { return 4, nil }
func (fakeCopies) Close() error            { return nil }

type fakeVerbs struct{ ops []trace.VerbsOp }

func (f *fakeVerbs) Next() (trace.VerbsOp, error) {
	if len(f.ops) == 0 {
		return trace.VerbsOp{}, os.ErrClosed
	}
	o := f.ops[0]
	f.ops = f.ops[1:]
	return o, nil
}

func (f *fakeVerbs) Missing() []string     { return []string{"ib_alloc_mr"} }
func (f *fakeVerbs) Stop() error           { return nil }
func (f *fakeVerbs) Lost() (uint64, error) { return 0, nil }
func (f *fakeVerbs) Close() error          { return nil }

func (f *fakeEvents) Stop() error             { return nil }
func (f *fakeEvents) Lost() (uint64, error)   { return 2, nil }
func (f *fakeEvents) NoRoom() (uint64, error) { return 4, nil }
func (f *fakeEvents) Close() error            { return nil }

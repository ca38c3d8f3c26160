// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/softhca/softhca/pkg/genl"
)

// formatOf makes the text that tracefs has of an event.
func formatOf(event string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nID: 430\nformat:\n", event)
	b.WriteString("\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n")
	for _, f := range fieldsOf(event) {
		typ, array := "u32", ""
		if f.size == 16 {
			typ, array = "char", "[16]"
		}
		fmt.Fprintf(&b, "\tfield:%s %s%s;\toffset:%d;\tsize:%d;\tsigned:0;\n", typ, f.name, array, f.offset, f.size)
	}
	b.WriteString("\nprint fmt: \"x=%s\", __print_symbolic(REC->reason, { 24, \"tx_local_drops\" }, " +
		"{ 29, \"rx_drop_qpn\" }, { -1, \"?\" }), __print_symbolic(REC->from, { 3, \"RTS\" }), " +
		"__print_symbolic(REC->to, { 3, \"RTS\" }, { 6, \"ERR\" })\n")
	return b.String()
}

// fakeTracefs makes a tracefs with all events, and lets the package use it.
func fakeTracefs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for event := range events {
		writeFormat(t, dir, event, formatOf(event))
	}
	old := tracefs
	tracefs = []string{dir}
	t.Cleanup(func() { tracefs = old })
	return dir
}

func writeFormat(t *testing.T, dir, event, text string) {
	t.Helper()
	file := filepath.Join(dir, "events/softhca", event, "format")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFormat(t *testing.T) {
	dir := fakeTracefs(t)
	for event := range events {
		if _, err := readFormat(event); err != nil {
			t.Errorf("%s: %v", event, err)
		}
	}
	f, err := readFormat("drop")
	if err != nil {
		t.Fatal(err)
	}
	if f.id != 430 {
		t.Errorf("ID %d", f.id)
	}
	if got := f.words["reason"][29]; got != "rx_drop_qpn" {
		t.Errorf("word of reason 29: %q", got)
	}

	moved := strings.Replace(formatOf("cqe"), "offset:32;", "offset:36;", 1)
	writeFormat(t, dir, "cqe", moved)
	if _, err := readFormat("cqe"); !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "wr_id") {
		t.Errorf("a field that moved: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "events/softhca")); err != nil {
		t.Fatal(err)
	}
	if _, err := readFormat("cqe"); !errors.Is(err, ErrNotLoaded) {
		t.Errorf("without the module: %v", err)
	}
	tracefs = []string{filepath.Join(dir, "nothing")}
	if _, err := readFormat("cqe"); !errors.Is(err, ErrNotSupported) {
		t.Errorf("without tracefs: %v", err)
	}
}

// The programs, the layouts and the list of kinds must agree.
func TestPrograms(t *testing.T) {
	load := map[string]func() (*ebpf.CollectionSpec, error){"stages": loadStages, "flow": loadFlow, "stream": loadStream, "copies": loadCopies}
	for name, fn := range load {
		spec, err := fn()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range spec.Programs {
			if _, ok := events[eventOf(p)]; !ok && p.Type == ebpf.TracePoint {
				t.Errorf("%s: %s is for %s", name, p.Name, p.AttachTo)
			}
		}
		if err := (Filter{Device: "shca0", QPN: 17, PID: 1, Comm: "x"}).apply(spec); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if spec.Programs["on_qp_create"] == nil {
			t.Errorf("%s has no on_qp_create", name)
		}
	}

	src, err := os.ReadFile("bpf/stream.bpf.c")
	if err != nil {
		t.Fatal(err)
	}
	var inC []string
	for _, m := range regexp.MustCompile(`(?m)^\tKIND_(\w+),$`).FindAllStringSubmatch(string(src), -1) {
		inC = append(inC, strings.ToLower(m[1]))
	}
	if strings.Join(inC, " ") != strings.Join(kinds, " ") {
		t.Errorf("kinds in C: %v\nkinds in Go: %v", inC, kinds)
	}
	sizes := make(map[string]int)
	for _, m := range regexp.MustCompile(`STREAM\((\w+), KIND_(\w+), (\d+)\)`).FindAllStringSubmatch(string(src), -1) {
		if strings.ToLower(m[2]) != m[1] {
			t.Errorf("%s is of kind %s", m[1], m[2])
		}
		sizes[m[1]], _ = strconv.Atoi(m[3])
	}
	for _, m := range regexp.MustCompile(`emit\(e, KIND_(\w+), (\d+)\)`).FindAllStringSubmatch(string(src), -1) {
		sizes[strings.ToLower(m[1])], _ = strconv.Atoi(m[2])
	}
	for _, k := range kinds {
		if want := bodyBytes(k); sizes[k] != want && k != "modify_failed" {
			t.Errorf("%s: %d bytes in C, %d here", k, sizes[k], want)
		}
	}
	var why []string
	src, err = os.ReadFile("../../provider/why.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\tSHCA_WHY_(\w+)`).FindAllStringSubmatch(string(src), -1) {
		why = append(why, m[1])
	}
	if len(why) != len(modifyWords)+1 || why[3] != "MTU" || why[6] != "READS" {
		t.Errorf("provider/why.h has %v, there are %d words", why, len(modifyWords))
	}
	stages, err := loadStages()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := stages.Maps["series"].ValueSize, uint32(binary.Size(seriesValue{})); got != want {
		t.Errorf("struct series: %d bytes in C, %d here", got, want)
	}
	if got, want := stages.Maps["missed"].ValueSize, uint32(binary.Size(Missed{})); got != want {
		t.Errorf("struct missed: %d bytes in C, %d here", got, want)
	}
	flow, err := loadFlow()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := flow.Maps["flows"].ValueSize, uint32(binary.Size(Traffic{})); got != want {
		t.Errorf("struct flow: %d bytes in C, %d here", got, want)
	}
	if got, want := flow.Maps["peers"].ValueSize, uint32(binary.Size(peerValue{})); got != want {
		t.Errorf("struct peer: %d bytes in C, %d here", got, want)
	}
	if got, want := stages.Maps["peers"].ValueSize, uint32(binary.Size(localPeerValue{})); got != want {
		t.Errorf("struct peer of peers.h: %d bytes in C, %d here", got, want)
	}
	if got, want := flow.Maps["owners"].ValueSize, uint32(binary.Size(ownerValue{})); got != want {
		t.Errorf("struct owner: %d bytes in C, %d here", got, want)
	}
}

// A raw tracepoint has no system in its name, so it must not be another's.
func TestRawName(t *testing.T) {
	dir := fakeTracefs(t)
	if err := oursAlone("cqe"); err != nil {
		t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "events/mlx9/cqe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := oursAlone("cqe"); !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "mlx9:cqe") {
		t.Errorf("another's: %v", err)
	}
}

// A raw tracepoint's arguments are those of TP_ARGS; the programs rely on their being
// the event's fields, in order.
func TestRawArguments(t *testing.T) {
	args := make(map[string]string)
	files, err := filepath.Glob("../../kmod/base/trace_*.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?s)TRACE_EVENT\((\w+),.*?TP_ARGS\(([^)]*)\)`).FindAllStringSubmatch(string(src), -1) {
			args[m[1]] = strings.Join(strings.Fields(strings.ReplaceAll(m[2], ",", " ")), " ")
		}
	}
	raw := 0
	for _, fn := range []func() (*ebpf.CollectionSpec, error){loadStages, loadFlow, loadStream, loadCopies} {
		spec, err := fn()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range spec.Programs {
			if p.Type != ebpf.RawTracepoint {
				continue
			}
			raw++
			var fields []string
			for _, f := range fieldsOf(eventOf(p)) {
				fields = append(fields, f.name)
			}
			if want := strings.Join(fields, " "); args[eventOf(p)] != want {
				t.Errorf("%s has the arguments %q and the fields %q", eventOf(p), args[eventOf(p)], want)
			}
		}
	}
	if raw < 10 {
		t.Errorf("only %d programs on raw tracepoints", raw)
	}
	src, err := os.ReadFile("bpf/events.h")
	if err != nil {
		t.Fatal(err)
	}
	enums := map[string]string{
		"FETCH": "send_fetch", "WIRE": "send_wire", "DONE": "send_done", "RECV": "recv_done", "CQE": "cqe", "BURST": "burst", "ACK": "ack_send",
	}
	for _, m := range regexp.MustCompile(`enum \{ (\w+?)_\w+ = 2,[^}]*\}`).FindAllStringSubmatch(string(src), -1) {
		got := strings.ToLower(strings.ReplaceAll(strings.Join(regexp.MustCompile(m[1]+`_\w+`).FindAllString(m[0], -1), " "), m[1]+"_", ""))
		if want := strings.TrimPrefix(args[enums[m[1]]], "dev qpn "); got != want || want == "" {
			t.Errorf("the arguments of %s: %q in C, %q in the kernel", enums[m[1]], got, want)
		}
		delete(enums, m[1])
	}
	if len(enums) > 0 {
		t.Errorf("not in events.h: %v", enums)
	}
}

// The probes are those of a library that the compiler has made.
func TestProbesOf(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	lib := filepath.Join(t.TempDir(), "lib.so")
	src := "#include \"probe.h\"\nint f(int a, long b)\n{ SHCA_PROBE(post_send, a, b, 3, 4); SHCA_PROBE(poll_cq, b, a, 3, 5); " +
		"SHCA_PROBE(poll_cq, b, a, 4, 5); return a; }\n"
	cmd := exec.Command(cc, "-O2", "-shared", "-fPIC", "-I../../provider", "-o", lib, "-x", "c", "-")
	cmd.Stdin = strings.NewReader(src)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	for probe, want := range map[string]int{"post_send": 1, "poll_cq": 2, "other": 0} {
		at, err := probesOf(lib, "softhca", probe)
		if err != nil || len(at) != want {
			t.Errorf("%s: at %x, %v; want %d", probe, at, err, want)
		}
		for _, a := range at {
			if text[a] != 0x90 {
				t.Errorf("%s: byte 0x%02x at 0x%x is no nop", probe, text[a], a)
			}
		}
	}
	if _, err := probesOf("trace_test.go", "softhca", "post_send"); err == nil {
		t.Error("a text has probes")
	}
}

func TestHistogram(t *testing.T) {
	var h Histogram
	put := func(ns uint64, n uint64) {
		// The same as bucket_of() of bpf/stages.bpf.c.
		b := int(ns >> (lowBits - subBits))
		if ns >= 1<<lowBits {
			l := bits.Len64(ns) - 1
			b = (l-lowBits+1)*sub + int(ns>>(l-subBits))&(sub-1)
		}
		if lo, hi := lowest(b), lowest(b+1); float64(ns) < lo || float64(ns) >= hi {
			t.Fatalf("%d ns is in the bucket from %g to %g", ns, lo, hi)
		}
		h.n[b] += n
		h.Count += n
		h.Sum += time.Duration(ns * n)
		h.Max = max(h.Max, time.Duration(ns))
	}
	if h.Quantile(0.5) != 0 || h.Mean() != 0 || len(h.Octaves()) != 0 {
		t.Error("an empty histogram has values")
	}
	put(1000, 900)
	put(10_000, 90)
	put(1_000_000, 10)
	if got := h.Mean(); got != 11_800 {
		t.Errorf("mean %d", got)
	}
	for q, want := range map[float64]float64{0.5: 1000, 0.9: 1000, 0.95: 10_000, 0.99: 10_000, 0.999: 1_000_000, 1: 1_000_000} {
		if got := float64(h.Quantile(q)); got < want*0.94 || got > want*1.06 {
			t.Errorf("quantile %g: %g, want %g", q, got, want)
		}
	}
	var n uint64
	for _, o := range h.Octaves() {
		n += o.Count
	}
	if o := h.Octaves(); n != 1000 || o[0] != (Octave{512, 900}) || o[len(o)-1].Count != 10 {
		t.Errorf("octaves %v", o)
	}
	for ns := uint64(0); ns < 300; ns++ {
		put(ns, 1)
	}
	put(1<<35+1, 1)
	put(1<<36-1, 1)

	// Short times are as right as long ones.
	for _, ns := range []uint64{1, 3, 31, 32, 63, 100, 128, 136, 1000} {
		h = Histogram{}
		put(ns, 100)
		// Those that took longer do not hide it.
		put(1<<20, 100)
		got, want := float64(h.Quantile(0.25)), float64(ns)
		if got < want*0.94 && got < want-2 || got > want*1.06 && got > want+2 {
			t.Errorf("all take %d ns, the quantile is %g", ns, got)
		}
		if o := h.Octaves()[0]; uint64(o.From) > ns || o.Count != 100 {
			t.Errorf("all take %d ns, the first octave is %v", ns, o)
		}
	}
}

// The histograms in C are as here.
func TestBuckets(t *testing.T) {
	src, err := os.ReadFile("bpf/stages.bpf.c")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"SUB_BITS": subBits, "LOW_BITS": lowBits, "OCTAVES": buckets / sub} {
		m := regexp.MustCompile(`#define ` + name + `\s+(\d+)`).FindStringSubmatch(string(src))
		if m == nil || m[1] != strconv.Itoa(want) {
			t.Errorf("%s is %v in C, %d here", name, m, want)
		}
	}
}

// A fakeRing hands out records.
type fakeRing struct {
	records [][]byte
	err     error
}

func (r *fakeRing) Read() (ringbuf.Record, error) {
	if len(r.records) == 0 {
		return ringbuf.Record{}, r.err
	}
	b := r.records[0]
	r.records = r.records[1:]
	return ringbuf.Record{RawSample: b}, nil
}

func (r *fakeRing) Flush() error { return nil }
func (r *fakeRing) Close() error { return nil }

// record makes a record as bpf/stream.bpf.c does.
func record(t *testing.T, at time.Duration, event string, values map[string]any) []byte {
	t.Helper()
	b := make([]byte, recordHead+64)
	binary.LittleEndian.PutUint64(b, uint64(at))
	kind := -1
	for i, k := range kinds {
		if k == event {
			kind = i
		}
	}
	binary.LittleEndian.PutUint32(b[8:], uint32(kind))
	binary.LittleEndian.PutUint32(b[12:], 4711)
	copy(b[16:], "worker")
	for _, f := range fieldsOf(event) {
		at := b[recordHead+f.offset-commonBytes:]
		switch v := values[f.name].(type) {
		case nil:
		case string:
			copy(at[:f.size], v)
		case int:
			if f.size == 8 {
				binary.LittleEndian.PutUint64(at, uint64(v))
			} else {
				binary.LittleEndian.PutUint32(at, uint32(v))
			}
		default:
			t.Fatalf("%s: a %T", f.name, v)
		}
		delete(values, f.name)
	}
	if len(values) > 0 {
		t.Fatalf("%s has no fields %v", event, values)
	}
	return b
}

func newFakeStream(t *testing.T, records ...[]byte) *Stream {
	t.Helper()
	fakeTracefs(t)
	formats := make(map[string]format)
	for event := range events {
		f, err := readFormat(event)
		if err != nil {
			t.Fatal(err)
		}
		formats[event] = f
	}
	return newStream(&session{formats: formats}, &fakeRing{records, ringbuf.ErrFlushed}, func() (uint64, error) { return 3, nil })
}

// A busyRing is never empty until the programs that fill it are detached, which is to
// close it as a link.
type busyRing struct {
	record            []byte
	detached, flushed atomic.Bool
}

func (r *busyRing) Read() (ringbuf.Record, error) {
	for r.detached.Load() {
		if r.flushed.Load() {
			return ringbuf.Record{}, ringbuf.ErrFlushed
		}
		time.Sleep(time.Millisecond)
	}
	return ringbuf.Record{RawSample: r.record}, nil
}

func (r *busyRing) Flush() error { r.flushed.Store(true); return nil }
func (r *busyRing) Close() error { r.detached.Store(true); return nil }

// Under load a trace ends when it is told to, not when the load does.
func TestStopUnderLoad(t *testing.T) {
	r := &busyRing{record: record(t, 5, "drop", map[string]any{})}
	st := newStream(&session{attached: attached{links: []io.Closer{r}}}, r, nil)
	ends(t, "events", st.Stop, func() error { _, err := st.Next(); return err })

	r = &busyRing{record: make([]byte, binary.Size(verbsRecord{}))}
	v := &Verbs{attached: attached{links: []io.Closer{r}}, r: r}
	ends(t, "operations", v.Stop, func() error { _, err := v.Next(); return err })

	r = &busyRing{record: make([]byte, binary.Size(sampleHead{}))}
	r.record[0] = sampleWire
	c := newCopies(r)
	c.s = &session{attached: attached{links: []io.Closer{r}}}
	go c.run()
	ends(t, "samples", c.Stop, func() error {
		<-c.done
		return cmp.Or(c.err, os.ErrClosed)
	})
}

// ends wants next to return os.ErrClosed within a second after stop.
func ends(t *testing.T, what string, stop, next func() error) {
	t.Helper()
	end := make(chan error, 1)
	go func() {
		for {
			if err := next(); err != nil {
				end <- err
				return
			}
		}
	}()
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	select {
	case err := <-end:
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
		if err := <-stopped; err != nil {
			t.Errorf("%s: stop: %v", what, err)
		}
	case <-time.After(time.Second):
		t.Errorf("%s: no end", what)
	}
}

func TestStream(t *testing.T) {
	st := newFakeStream(t,
		record(t, 5, "drop", map[string]any{"dev": "shca0", "qpn": 17, "psn": 99, "opcode": 0xff, "reason": 29}),
		[]byte("short"),
		binary.LittleEndian.AppendUint32(make([]byte, 8), 77),
	)
	e, err := st.Next()
	if err != nil {
		t.Fatal(err)
	}
	if e.Time != 5 || e.Name != "drop" || e.PID != 4711 || e.Comm != "worker" || e.Device != "shca0" || e.QPN != 17 ||
		e.Uint("psn") != 99 || e.Word("reason") != "rx_drop_qpn" || e.Uint("nothing") != 0 {
		t.Errorf("decoded as %+v", e)
	}
	for range 2 {
		if _, err := st.Next(); err == nil || errors.Is(err, os.ErrClosed) {
			t.Errorf("a record that makes no sense: %v", err)
		}
	}
	if _, err := st.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the end: %v", err)
	}
	if n, err := st.Lost(); n != 3 || err != nil {
		t.Errorf("lost: %d, %v", n, err)
	}
	if err := errors.Join(st.Stop(), st.Close()); err != nil {
		t.Error(err)
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		event  string
		values map[string]any
		want   string // "" for nothing to say
	}{
		{"drop", map[string]any{"reason": 29}, "There is no queue pair of the number"},
		{"drop", map[string]any{"reason": 999}, "A packet was dropped"},
		{"qp_state", map[string]any{"reason": int(genl.ErrorReasonRetryExceeded), "opcode": 0xff}, "did not acknowledge"},
		{"qp_state", map[string]any{"reason": int(genl.ErrorReasonRemoteAccess), "opcode": 0x11, "psn": 7}, "packet 7, RC_ACKNOWLEDGE"},
		{"qp_state", map[string]any{"to": 3, "opcode": 0xff}, ""},
		{"ack_timeout", map[string]any{"psn": 3, "retries": 0}, "that was the last retry"},
		{"ack_timeout", map[string]any{"psn": 3, "retries": 1}, "1 retry is left"},
		{"ack_timeout", map[string]any{"psn": 3, "retries": 7}, "7 retries are left"},
		{"rnr_wait", map[string]any{"psn": 3, "wait_us": 640}, "no receive request posted for packet 3; trying again in 640 us"},
		{"ack_receive", map[string]any{"syndrome": 0x62, "psn": 8}, "The peer refused packet 8: NAK, remote access error."},
		{"ack_send", map[string]any{"syndrome": 0x61, "psn": 8}, "We refused the peer's packet 8: NAK, invalid request."},
		{"ack_receive", map[string]any{"syndrome": 0x1f}, ""},
		{"ack_receive", map[string]any{"syndrome": 0x25}, ""},
		{"mr_register", map[string]any{"length": 4096, "error": -12}, "worker (4711) could not register 4096 bytes of memory"},
		{"mr_register", map[string]any{"length": 4096, "error": -12}, "ulimit -l"},
		{"mr_register", map[string]any{"length": 4096}, ""},
		{"modify_failed", map[string]any{"why": 3, "error": 22}, "worker (4711) could not modify the queue pair: invalid argument. The path MTU"},
		{"modify_failed", map[string]any{"error": 22}, "invalid argument."},
		{"send_done", nil, ""},
	} {
		what := fmt.Sprint(c.event, c.values)
		e, err := newFakeStream(t, record(t, 1, c.event, c.values)).Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := Explain(&e); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// Every reason that the kernel counts drops by has words.
func TestDropWords(t *testing.T) {
	src, err := os.ReadFile("../../kmod/base/stats.h")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(src), "#define SHCA_DROPS(x)")
	list, _, _ = strings.Cut(list, "\n\n")
	names := regexp.MustCompile(`x\((\w+)\)`).FindAllStringSubmatch(list, -1)
	if len(names) < 10 {
		t.Fatalf("only %d reasons found", len(names))
	}
	for _, m := range names {
		if dropWords[m[1]] == "" {
			t.Errorf("no words for %s", m[1])
		}
	}
	if len(dropWords) != len(names) {
		t.Errorf("%d words for %d reasons", len(dropWords), len(names))
	}
}

func TestTimeline(t *testing.T) {
	us := time.Microsecond
	st := newFakeStream(t,
		record(t, 10*us, "send_fetch", map[string]any{"dev": "shca0", "qpn": 17, "index": 0, "opcode": 2, "length": 64}),
		record(t, 11*us, "send_fetch", map[string]any{"dev": "shca0", "qpn": 17, "index": 1, "opcode": 0, "length": 65536}),
		record(t, 12*us, "send_wire", map[string]any{"dev": "shca0", "qpn": 17, "index": 0}),
		record(t, 15*us, "send_done", map[string]any{"dev": "shca0", "qpn": 17, "index": 0}),
		record(t, 16*us, "go_back", map[string]any{"dev": "shca0", "qpn": 17, "psn": 5}),
		record(t, 20*us, "send_done", map[string]any{"dev": "shca0", "qpn": 17, "index": 1}),
		record(t, 21*us, "send_done", map[string]any{"dev": "shca0", "qpn": 17, "index": 9}),
		record(t, 30*us, "qp_state", map[string]any{"dev": "shca1", "qpn": 18, "from": 3, "to": 6}),
	)
	var b bytes.Buffer
	tl := NewTimeline(&b, func(qpn uint32) string { return fmt.Sprint("QP ", qpn) })
	for {
		e, err := st.Next()
		if errors.Is(err, os.ErrClosed) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := tl.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := tl.Close(); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []chromeEvent }
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	var got []string
	for _, e := range file.TraceEvents {
		switch e.Phase {
		case "X":
			got = append(got, fmt.Sprintf("%d/%d %s %g+%g", e.PID, e.TID, e.Name, e.Time, *e.Dur))
		case "i":
			got = append(got, fmt.Sprintf("%d/%d %s %g", e.PID, e.TID, e.Name, e.Time))
		case "M":
			got = append(got, fmt.Sprintf("%d/%d %s %v", e.PID, e.TID, e.Name, e.Args))
		}
	}
	want := []string{
		"1/0 process_name map[name:shca0]",
		"1/1 thread_name map[name:QP 17]", "1/1 thread_sort_index map[sort_index:17]",
		"1/1 SEND 64 10+5", "1/1 to the wire 10+2", "1/1 until acknowledged 12+3",
		"1/1 back to 5 16",
		"1/2 thread_name map[name:QP 17]", "1/2 thread_sort_index map[sort_index:17]",
		"1/2 WRITE 65536 11+9",
		"2/0 process_name map[name:shca1]",
		"2/3 thread_name map[name:QP 18]", "2/3 thread_sort_index map[sort_index:18]",
		"2/3 RTS to ERR 30",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

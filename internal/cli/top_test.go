// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/softhca/softhca/pkg/genl"
)

// counters are what the queue pairs have counted at each look.
func fakeSampler(looks ...[]genl.QP) *sampler {
	return &sampler{read: func() ([]genl.QP, error) {
		if len(looks) == 0 {
			return nil, errors.New("gone")
		}
		qps := looks[0]
		looks = looks[1:]
		return qps, nil
	}}
}

func topLooks() [][]genl.QP {
	qp := func(dev string, qpn, pid uint32, comm string, n uint64) genl.QP {
		return genl.QP{
			Device: dev, QPN: qpn, PID: pid, Comm: comm, TXPackets: n, RXPackets: n,
			TXBytes: 1000 * n, RXBytes: n, TXMessages: n, Retransmits: n / 2,
		}
	}
	return [][]genl.QP{
		{qp("shca0", 17, 42, "app", 100), qp("shca0", 18, 42, "app", 100), qp("shca1", 19, 7, "db", 100)},
		{qp("shca0", 17, 42, "app", 300), qp("shca0", 18, 42, "app", 20), qp("shca1", 19, 7, "db", 100_100), qp("shca1", 20, 7, "db", 50)},
		{qp("shca1", 19, 7, "db", 100_100)},
	}
}

func TestSampler(t *testing.T) {
	s := fakeSampler(topLooks()...)
	start := time.Now()
	rows, err := s.sample(start)
	if err != nil || len(rows) != 3 || rows[0].TXBytes != 0 {
		t.Fatalf("the first look: %+v, %v", rows, err)
	}
	rows, err = s.sample(start.Add(2 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	// Changed; another of the same number; changed; new.
	for i, want := range []uint64{100, 10, 50_000, 25} {
		if r := rows[i]; r.TXMessages != want || r.TXBytes != 1000*want || r.Retransmits != (want+1)/2 {
			t.Errorf("row %d: %+v, want %d messages", i, r, want)
		}
	}
	for _, c := range []struct {
		view topView
		want string
	}{
		{topView{group: "qp"}, "shca1/19/7/db=50000 shca0/17/42/app=100 shca1/20/7/db=25 shca0/18/42/app=10"},
		{topView{group: "process"}, "/0/7/db=50025 /0/42/app=110"},
		{topView{group: "device", filter: "shca0"}, "shca0/0/0/=110"},
		{topView{group: "qp", sort: topColumn("retransmits"), filter: "app"}, "shca0/17/42/app=100 shca0/18/42/app=10"},
	} {
		var got []string
		for _, r := range c.view.arrange(rows) {
			got = append(got, strings.ReplaceAll(strings.Join([]string{r.Device, text(r.QPN), text(r.PID), r.Comm}, "/")+"="+text(r.TXMessages), " ", ""))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.view, g, c.want)
		}
	}
}

func text[T uint32 | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }

func TestScreen(t *testing.T) {
	m := &screen{sampler: fakeSampler(topLooks()...), view: topView{group: "qp"}, interval: time.Second, height: 12, width: 100}
	m.look(time.Now())
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			msg := tea.KeyPressMsg{Text: k}
			switch k {
			case "enter":
				msg = tea.KeyPressMsg{Code: tea.KeyEnter}
			case "esc":
				msg = tea.KeyPressMsg{Code: tea.KeyEscape}
			case "backspace":
				msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
			default:
				msg.Code = []rune(k)[0]
			}
			m.Update(msg)
		}
	}
	shows := func(want string) {
		t.Helper()
		if got := ansi.Strip(m.View().Content); !strings.Contains(got, want) {
			t.Errorf("the screen lacks %q:\n%s", want, got)
		}
	}
	lacks := func(text string) {
		t.Helper()
		if got := ansi.Strip(m.View().Content); strings.Contains(got, text) {
			t.Errorf("the screen has %q:\n%s", text, got)
		}
	}
	m.Update(tickMsg(time.Now().Add(time.Second)))
	shows("TX B/S*")
	shows("shca1  19   7    db")
	press("s", "s")
	shows("TX MSG/S*")
	press("g")
	shows("PID  COMM  QPS")
	press("g", "g", "/", "a", "p", "x", "backspace", "p", "enter")
	shows(`with "app"`)
	lacks("shca1")
	press("/", "z", "esc")
	shows(`with "app"`)
	press("f")
	shows("FROZEN")
	m.Update(tickMsg(time.Now().Add(2 * time.Second)))
	shows("shca0  17")
	press("f")
	lacks("FROZEN")

	m.Update(tea.WindowSizeMsg{Width: 20, Height: 6})
	for _, l := range strings.Split(m.View().Content, "\n") {
		if ansi.StringWidth(l) > 20 {
			t.Errorf("a line of %d columns: %q", ansi.StringWidth(l), l)
		}
	}
	if n := strings.Count(m.View().Content, "\n"); n >= 6 {
		t.Errorf("%d lines", n+1)
	}
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil {
		t.Error("q does not leave")
	}
	// What goes wrong ends it.
	if _, cmd := m.Update(tickMsg(time.Now())); cmd == nil || m.err == nil {
		t.Errorf("an error: %v", m.err)
	}
}

// panicking is a screen with a mistake in it, which shows where it is told to.
type panicking struct{ at string }

func (p *panicking) Init() tea.Cmd {
	return func() tea.Msg { return tickMsg(time.Now()) }
}

func (p *panicking) Update(tea.Msg) (tea.Model, tea.Cmd) {
	if p.at == "update" {
		panic("a mistake")
	}
	return p, nil
}

func (p *panicking) View() tea.View {
	if p.at == "view" {
		panic("a mistake")
	}
	return tea.NewView("")
}

// An end that nobody has asked for is a failure.
func TestScreenEnds(t *testing.T) {
	a := &app{Env: Env{Stdout: new(bytes.Buffer)}}
	options := []tea.ProgramOption{tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutSignalHandler()}
	for _, at := range []string{"view", "update"} {
		if err := runScreen(t.Context(), &panicking{at: at}, options...); !errors.Is(err, tea.ErrProgramPanic) {
			t.Errorf("a panic in %s: %v", at, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := runScreen(ctx, &panicking{}, options...); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	// What is wrong from the beginning is said without a screen.
	if err := a.screen(t.Context(), fakeSampler(), topView{group: "qp"}, time.Second); err == nil || err.Error() != "gone" {
		t.Errorf("no such device: %v", err)
	}
	if out := a.Stdout.(*bytes.Buffer); out.Len() > 0 {
		t.Errorf("there was a screen: %q", out)
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 9999: "9999", 10_000: "10.0k", 99_949: "99.9k", 99_950: "100k", 999_499: "999k", 999_500: "1.00M",
		1_234_567: "1.23M", 18_446_744_073_709_551_615: "18.4E",
	} {
		if got := short(n); got != want {
			t.Errorf("%d is written %s, not %s", n, got, want)
		}
	}
}

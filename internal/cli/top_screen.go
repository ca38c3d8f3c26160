// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// A screen is the state of "ibctl top" on a terminal.
type screen struct {
	sampler  *sampler
	view     topView
	interval time.Duration
	rows     []topRow
	frozen   bool
	typing   bool
	before   string // the filter before typing
	height   int
	width    int
	err      error
}

type tickMsg time.Time

// screen shows rates on a terminal until the user leaves.
func (a *app) screen(ctx context.Context, s *sampler, view topView, interval time.Duration) error {
	m := &screen{sampler: s, view: view, interval: interval, height: 24, width: 80}
	// What is wrong from the beginning is said without a screen.
	if m.look(time.Now()); m.err != nil {
		return m.err
	}
	if err := runScreen(ctx, m, tea.WithOutput(a.Stdout)); err != nil {
		return err
	}
	return m.err
}

// runScreen shows a model until it ends, or until the user or ctx ends it.
func runScreen(ctx context.Context, m tea.Model, options ...tea.ProgramOption) error {
	_, err := tea.NewProgram(m, append(options, tea.WithContext(ctx))...).Run()
	// ErrProgramKilled says little: it is in every error, that of a panic as well.
	if err == nil || ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return fmt.Errorf("use the terminal: %w", err)
}

func (m *screen) Init() tea.Cmd { return m.tick() }

func (m *screen) tick() tea.Cmd {
	return tea.Tick(m.interval, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// look takes a sample. While the screen is frozen the old rows stay.
func (m *screen) look(now time.Time) {
	rows, err := m.sampler.sample(now)
	if err != nil {
		m.err = err
		return
	}
	if !m.frozen {
		m.rows = rows
	}
}

// Update is called by bubbletea with whatever happens.
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.height, m.width = msg.Height, msg.Width
	case tickMsg:
		m.look(time.Time(msg))
		if m.err != nil {
			return m, tea.Quit
		}
		return m, m.tick()
	case tea.KeyPressMsg:
		if m.typing {
			m.typeKey(msg)
			return m, nil
		}
		switch msg.String() {
		case "q", "esc", "ctrl+c":
			return m, tea.Quit
		case "g":
			i := slices.Index(topGroups, m.view.group)
			m.view.group = topGroups[(i+1)%len(topGroups)]
		case "s":
			m.view.sort = (m.view.sort + 1) % len(topColumns)
		case "f", "space":
			m.frozen = !m.frozen
		case "/":
			m.typing, m.before, m.view.filter = true, m.view.filter, ""
		}
	}
	return m, nil
}

// typeKey is a key of the filter's text.
func (m *screen) typeKey(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		m.typing = false
	case "esc", "ctrl+c":
		m.typing, m.view.filter = false, m.before
	case "backspace":
		if r := []rune(m.view.filter); len(r) > 0 {
			m.view.filter = string(r[:len(r)-1])
		}
	default:
		m.view.filter += msg.Text
	}
}

// View is what the screen shows.
func (m *screen) View() tea.View {
	v := tea.NewView(m.render())
	v.AltScreen = true
	return v
}

func (m *screen) render() string {
	rows := m.view.arrange(m.rows)
	state := fmt.Sprintf("by %s, every %s", m.view.group, m.interval)
	if m.frozen {
		state += ", FROZEN"
	}
	if m.typing || m.view.filter != "" {
		state += fmt.Sprintf(", with %q", m.view.filter)
	}
	lines := []string{"ibctl top: " + state, ""}
	lines = append(lines, m.table(rows)...)
	if room := max(m.height-1, 3); len(lines) > room {
		lines = append(lines[:room-1], fmt.Sprintf("... %d more", len(lines)-room+1))
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	help := "g group  s sort  / filter  f freeze  q leave"
	if m.typing {
		help = "filter: " + m.view.filter + "_   Enter keeps it, Esc takes it back"
	}
	lines = append(lines, help)
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, m.width, "")
	}
	return strings.Join(lines, "\n")
}

// table is titles and rows; the column that is sorted by stands out.
func (m *screen) table(rows []topRow) []string {
	var titles []string
	switch m.view.group {
	case "qp":
		titles = []string{"DEV", "QPN", "PID", "COMM"}
	case "process":
		titles = []string{"PID", "COMM", "QPS"}
	default:
		titles = []string{"DEV", "QPS"}
	}
	names := len(titles)
	for i, c := range topColumns {
		t := c.title
		if i == m.view.sort {
			t += "*"
		}
		titles = append(titles, t)
	}
	cells := [][]string{titles}
	for i := range rows {
		cells = append(cells, m.cells(&rows[i]))
	}
	width := make([]int, len(titles))
	for _, line := range cells {
		for i, c := range line {
			width[i] = max(width[i], ansi.StringWidth(c))
		}
	}
	var lines []string
	for n, line := range cells {
		var b strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", width[i]-ansi.StringWidth(c))
			if i < names {
				b.WriteString(c + pad + "  ")
			} else {
				b.WriteString(pad + c + "  ")
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if n == 0 {
			text = lipgloss.NewStyle().Bold(true).Render(text)
		}
		lines = append(lines, text)
	}
	return lines
}

func (m *screen) cells(r *topRow) []string {
	var c []string
	num := func(n uint64) string { return strconv.FormatUint(n, 10) }
	comm := strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, r.Comm)
	switch m.view.group {
	case "qp":
		c = []string{r.Device, num(uint64(r.QPN)), num(uint64(r.PID)), comm}
	case "process":
		c = []string{num(uint64(r.PID)), comm, num(r.QPs)}
	default:
		c = []string{r.Device, num(r.QPs)}
	}
	for _, col := range topColumns {
		c = append(c, short(col.value(r)))
	}
	return c
}

// short writes a number with three digits and a letter.
func short(n uint64) string {
	if n < 10_000 {
		return strconv.FormatUint(n, 10)
	}
	f, i := float64(n), -1
	for f >= 999.5 && i < len("kMGTPE")-1 {
		f /= 1000
		i++
	}
	digits := 0
	switch {
	case f < 9.995:
		digits = 2
	case f < 99.95:
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + string("kMGTPE"[i])
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package picture makes the pictures of docs/pictures from what was recorded in a
// guest: a terminal's screen, and a timeline. scripts/pictures records and calls it.
package picture

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// tabStop is how far apart the stops of a tabulator are.
const tabStop = 8

// A cell is a character of a screen.
type cell struct {
	r    rune
	bold bool
}

// A Screen is what a terminal shows. It knows the control sequences that ibctl top
// uses, and fails on any other, lest a picture be wrong.
type Screen struct {
	rows, cols int
	cells      [][]cell
	x, y       int
	top, end   int // rows that scroll: from top until before end
	bold       bool
	last       rune
}

// NewScreen is an empty screen.
func NewScreen(rows, cols int) *Screen {
	s := &Screen{rows: rows, cols: cols, end: rows}
	s.clear()
	return s
}

func (s *Screen) clear() {
	s.cells = make([][]cell, s.rows)
	for i := range s.cells {
		s.cells[i] = make([]cell, s.cols)
		s.erase(i, 0, s.cols)
	}
}

// scroll moves the rows that scroll by one, up or down.
func (s *Screen) scroll(down bool) {
	rows := s.cells[s.top:s.end]
	if down {
		copy(rows[1:], rows)
		rows[0] = make([]cell, s.cols)
		s.erase(s.top, 0, s.cols)
		return
	}
	copy(rows, rows[1:])
	rows[len(rows)-1] = make([]cell, s.cols)
	s.erase(s.end-1, 0, s.cols)
}

func (s *Screen) erase(row, from, to int) {
	for i := from; i < min(to, s.cols); i++ {
		s.cells[row][i] = cell{r: ' '}
	}
}

// Play shows what a program has written, as script(1) records it, until the program
// leaves the alternate screen.
func (s *Screen) Play(record []byte) error {
	r := bytes.NewReader(record)
	for {
		c, _, err := r.ReadRune()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case c == 0x1b:
			done, err := s.escape(r)
			if done || err != nil {
				return err
			}
		case c == '\r':
			s.x = 0
		case c == '\n':
			if s.y == s.end-1 {
				s.scroll(false)
			} else {
				s.y = min(s.y+1, s.rows-1)
			}
		case c == '\b':
			s.x = max(s.x-1, 0)
		case c == '\t':
			s.tab(1)
		case c >= ' ':
			s.put(c)
		}
	}
}

// tab moves to the n-th next stop of the tabulator, or to the -n-th one back.
func (s *Screen) tab(n int) {
	stop := s.x / tabStop
	if n < 0 && s.x%tabStop > 0 {
		stop++
	}
	s.x = min(max((stop+n)*tabStop, 0), s.cols-1)
}

func (s *Screen) put(c rune) {
	if s.x < s.cols {
		s.cells[s.y][s.x] = cell{c, s.bold}
		s.x++
	}
	s.last = c
}

// escape executes a sequence; done means that the program leaves.
func (s *Screen) escape(r *bytes.Reader) (done bool, err error) {
	c, _, err := r.ReadRune()
	if err != nil {
		return false, nil
	}
	switch c {
	case '[':
	case ']', 'P', '_': // a string that sets no character, until BEL or ESC \
		for prev := rune(0); ; {
			c, _, err := r.ReadRune()
			if err != nil || c == 0x07 || prev == 0x1b && c == '\\' {
				return false, nil
			}
			prev = c
		}
	case '(', ')':
		_, _, _ = r.ReadRune()
		return false, nil
	case '7', '8', '=', '>':
		return false, nil
	case 'M':
		if s.y == s.top {
			s.scroll(true)
		} else {
			s.y = max(s.y-1, 0)
		}
		return false, nil
	default:
		return false, fmt.Errorf("unknown sequence: ESC %q", c)
	}
	var params strings.Builder
	for {
		c, _, err = r.ReadRune()
		if err != nil {
			return false, nil
		}
		if c >= 0x40 && c <= 0x7e {
			break
		}
		params.WriteRune(c)
	}
	return s.control(params.String(), c)
}

// numbers are the parameters, def where one is missing.
func numbers(params string, def int) []int {
	var list []int
	for _, p := range strings.Split(params, ";") {
		n, err := strconv.Atoi(p)
		if err != nil {
			n = def
		}
		list = append(list, n)
	}
	return list
}

func (s *Screen) control(params string, final rune) (done bool, err error) {
	if strings.ContainsAny(params, "?<=>$ !") { // modes and questions
		return final == 'l' && params == "?1049", nil
	}
	n := numbers(params, 1)
	switch final {
	case 'A':
		s.y = max(s.y-n[0], 0)
	case 'B', 'e':
		s.y = min(s.y+n[0], s.rows-1)
	case 'C', 'a':
		s.x = min(s.x+n[0], s.cols-1)
	case 'D':
		s.x = max(s.x-n[0], 0)
	case 'I':
		s.tab(n[0])
	case 'Z':
		s.tab(-n[0])
	case 'G', '`':
		s.x = min(n[0], s.cols) - 1
	case 'd':
		s.y = min(n[0], s.rows) - 1
	case 'H', 'f':
		n = append(n, 1)
		s.y, s.x = min(n[0], s.rows)-1, min(n[1], s.cols)-1
	case 'J':
		switch numbers(params, 0)[0] {
		case 0:
			s.erase(s.y, s.x, s.cols)
			for i := s.y + 1; i < s.rows; i++ {
				s.erase(i, 0, s.cols)
			}
		case 2:
			s.clear()
		default:
			return false, fmt.Errorf("unknown sequence: CSI %s J", params)
		}
	case 'K':
		switch numbers(params, 0)[0] {
		case 0:
			s.erase(s.y, s.x, s.cols)
		case 1:
			s.erase(s.y, 0, s.x+1)
		case 2:
			s.erase(s.y, 0, s.cols)
		}
	case 'X':
		s.erase(s.y, s.x, s.x+n[0])
	case 'b':
		for range n[0] {
			s.put(s.last)
		}
	case 'P':
		line := s.cells[s.y]
		end := min(s.x+n[0], s.cols)
		copy(line[s.x:], line[end:])
		s.erase(s.y, s.cols-(end-s.x), s.cols)
	case '@':
		line := s.cells[s.y]
		copy(line[min(s.x+n[0], s.cols):], line[s.x:])
		s.erase(s.y, s.x, s.x+n[0])
	case 'm':
		for _, p := range numbers(params, 0) {
			switch p {
			case 0, 22:
				s.bold = false
			case 1:
				s.bold = true
			}
		}
	case 'r':
		n = append(n, s.rows)
		top, end := n[0]-1, n[1]
		if params == "" {
			top, end = 0, s.rows
		}
		if top < 0 || end > s.rows || top >= end {
			return false, fmt.Errorf("rows that cannot scroll: CSI %s r", params)
		}
		s.top, s.end, s.x, s.y = top, end, 0, 0
	case 'h', 'l', 'n', 'c', 't', 'q', 'u', 's':
	default:
		return false, fmt.Errorf("unknown sequence: CSI %s %c", params, final)
	}
	return false, nil
}

// Text is a row without the blanks at its end.
func (s *Screen) Text(row int) string {
	var b strings.Builder
	for _, c := range s.cells[row] {
		b.WriteRune(c.r)
	}
	return strings.TrimRight(b.String(), " ")
}

// SVG draws the screen.
func (s *Screen) SVG(w io.Writer, title string) error {
	const width, height, margin, bar = 8.4, 18, 14, 30
	d := newDrawing(float64(s.cols)*width+2*margin, float64(s.rows*height+bar+2*margin), title)
	d.rect(0, 0, d.w, d.h, "#1e1e24", "")
	d.rect(0, 0, d.w, bar, "#33333c", "")
	d.text(margin, 20, "#c8c8d0", "", title)
	for y, line := range s.cells {
		for from := 0; from < len(line); {
			to := from
			for to < len(line) && line[to].bold == line[from].bold {
				to++
			}
			var b strings.Builder
			for _, c := range line[from:to] {
				b.WriteRune(c.r)
			}
			if text := strings.TrimRight(b.String(), " "); strings.TrimSpace(text) != "" {
				style := ""
				if line[from].bold {
					style = "font-weight:bold"
				}
				d.fixed(margin+float64(from)*width, float64(bar+margin+height*y+13), float64(len([]rune(text)))*width, "#e6e6ea", style, text)
			}
			from = to
		}
	}
	return d.write(w)
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package picture

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// wellFormed reads a picture as XML.
func wellFormed(t *testing.T, b []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
}

func TestScreen(t *testing.T) {
	s := NewScreen(4, 20)
	record := "\x1b[?1049h\x1b[2J\x1b[H\x1b]0;title\x07\x1b[1mbold\x1b[m <plain>\r\n" + // row 0
		"12345\x1b[3D\x1b[Kx\x1b[3b" + // row 1: 12xxxx
		"\x1b[3;5Hfive\x1b[1G1" + // row 2
		"\x1b[4dlast\x1b[2Xgone\x1b[3P" +
		"\x1b[?1049l after"
	if err := s.Play([]byte(record)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"bold <plain>", "12xxxx", "1   five", " lastgone"} {
		if got := s.Text(i); got != want {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
	if !s.cells[0][0].bold || s.cells[0][5].bold {
		t.Error("what is bold")
	}
	var b bytes.Buffer
	if err := s.SVG(&b, "a & b"); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes())
	if !strings.Contains(b.String(), "&lt;plain&gt;") || !strings.Contains(b.String(), "font-weight:bold") {
		t.Errorf("%s", &b)
	}
	s = NewScreen(1, 20)
	if err := s.Play([]byte("a\tb\x1b[Zc\x1b[2Zd\x1b[2Ie")); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Text(0), "d       c       e"; got != want {
		t.Errorf("tabulators: %q, want %q", got, want)
	}
	s = NewScreen(4, 5)
	if err := s.Play([]byte("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1bMx\x1b[r\x1b[4;1H\ne")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"x", "b", "d", "e"} {
		if got := s.Text(i); got != want {
			t.Errorf("scrolled, row %d: %q, want %q", i, got, want)
		}
	}
	if err := s.Play([]byte("\x1b[3;2r")); err == nil {
		t.Error("rows that cannot scroll are taken")
	}
	if err := s.Play([]byte("\x1b[5y")); err == nil {
		t.Error("an unknown sequence is taken")
	}
}

func TestTimeline(t *testing.T) {
	const file = `{"traceEvents":[
{"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"shca0"}},
{"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":1,"args":{"name":"QP 17 app/42"}},
{"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":2,"args":{"name":"QP 18 other/43"}},
{"name":"WRITE 4096","ph":"X","ts":1000,"dur":500,"pid":1,"tid":1,"args":{"bytes":4096}},
{"name":"to the wire","ph":"X","ts":1000,"dur":100,"pid":1,"tid":1},
{"name":"timeout","ph":"i","ts":1200,"pid":1,"tid":1},
{"name":"SEND 64","ph":"X","ts":9000,"dur":500,"pid":1,"tid":2}]}`
	tl, err := ReadTimeline(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tl.SVG(&b, 0, 1000); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes())
	for _, want := range []string{"shca0  QP 17 app/42", ">WRITE 4096<", "WRITE 4096: 500.0", "timeout at 200.0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "QP 18") {
		t.Error("a track without anything is drawn")
	}
	if err := tl.SVG(&b, 20000, 30000); err == nil {
		t.Error("nothing is drawn")
	}
	for _, bad := range []string{"", "{", `{"traceEvents":[]}`} {
		if _, err := ReadTimeline(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

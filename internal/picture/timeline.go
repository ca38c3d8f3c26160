// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package picture

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An event is an entry of Chrome's trace format; times are in microseconds.
type event struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Time  float64        `json:"ts"`
	Dur   float64        `json:"dur"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args"`
}

type trackID struct{ pid, tid int }

// A Timeline is what `ibctl trace timeline` has written.
type Timeline struct {
	events []event
	name   map[trackID]string
	tracks []trackID
}

// ReadTimeline reads a file in Chrome's trace format.
func ReadTimeline(r io.Reader) (*Timeline, error) {
	var file struct {
		Events []event `json:"traceEvents"`
	}
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return nil, fmt.Errorf("read the timeline: %w", err)
	}
	t := &Timeline{name: make(map[trackID]string)}
	device := make(map[int]string)
	for _, e := range file.Events {
		id := trackID{e.PID, e.TID}
		name, _ := e.Args["name"].(string)
		switch {
		case e.Phase == "M" && e.Name == "process_name":
			device[e.PID] = name
		case e.Phase == "M" && e.Name == "thread_name":
			t.name[id] = name
			t.tracks = append(t.tracks, id)
		case e.Phase != "M":
			t.events = append(t.events, e)
		}
	}
	for id, name := range t.name {
		t.name[id] = device[id.pid] + "  " + name
	}
	slices.SortStableFunc(t.events, func(a, b event) int { return cmp.Compare(a.Time, b.Time) })
	if len(t.events) == 0 {
		return nil, errors.New("read the timeline: nothing happens in it")
	}
	return t, nil
}

// colours of slices, by the first word of the name
var colours = map[string]string{
	"SEND": "#7aa2f7", "WRITE": "#9ece6a", "READ": "#e0af68", "to": "#bb9af7", "until": "#565f89",
}

func colour(name string) string {
	word, _, _ := strings.Cut(name, " ")
	if c, ok := colours[word]; ok {
		return c
	}
	return "#a9b1d6"
}

// SVG draws the part of the timeline from one time to another, in microseconds since
// the first event: a slice for each message, below it the way to the wire and the
// time until the acknowledge, and marks.
func (t *Timeline) SVG(w io.Writer, from, to float64) error {
	const width, margin, label, row, top = 1100, 14, 250, 62, 50
	start := t.events[0].Time
	var used []trackID
	for _, id := range t.tracks {
		if slices.ContainsFunc(t.events, func(e event) bool {
			return trackID{e.PID, e.TID} == id && e.Time-start < to && e.Time+e.Dur-start > from
		}) {
			used = append(used, id)
		}
	}
	if len(used) == 0 {
		return errors.New("draw the timeline: nothing happens in that time")
	}
	title := fmt.Sprintf("ibctl trace timeline: %.0f µs from %.0f µs on", to-from, from)
	d := newDrawing(width, float64(top+row*len(used)+margin), title)
	d.rect(0, 0, d.w, d.h, "#1a1b26", "")
	d.text(margin, 22, "#c0caf5", "font-size:13px", title)
	at := func(us float64) float64 { return label + (us-start-from)/(to-from)*(width-label-margin) }
	for i := range 11 {
		us := from + (to-from)*float64(i)/10
		x := at(start + us)
		d.line(x, top-8, x, d.h-margin, "#2f334d")
		d.text(x+2, top-10, "#737aa2", "font-size:10px", fmt.Sprintf("%.0f", us))
	}
	for i, id := range used {
		y := float64(top + row*i)
		d.text(margin, y+24, "#c0caf5", "font-size:12px", t.name[id])
		for _, e := range t.events {
			if (trackID{e.PID, e.TID}) != id || e.Time-start >= to || e.Time+e.Dur-start <= from {
				continue
			}
			if e.Phase != "X" {
				d.mark(at(e.Time), y+8, "#f7768e", fmt.Sprintf("%s at %.1f µs", e.Name, e.Time-start))
				continue
			}
			x1, x2 := max(at(e.Time), label), min(at(e.Time+e.Dur), width-margin)
			lane := y + 10
			word, _, _ := strings.Cut(e.Name, " ")
			if word == "to" || word == "until" {
				lane = y + 32
			}
			d.rect(x1, lane, max(x2-x1, 1), 20, colour(e.Name), fmt.Sprintf("%s: %.1f µs", e.Name, e.Dur))
			if name := e.Name; float64(len(name))*6.6 < x2-x1-4 {
				d.text(x1+3, lane+14, "#1a1b26", "font-size:11px", name)
			}
		}
	}
	return d.write(w)
}

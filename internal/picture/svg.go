// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package picture

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// A drawing is an SVG that is being made.
type drawing struct {
	w, h float64
	b    strings.Builder
}

func newDrawing(w, h float64, title string) *drawing {
	d := &drawing{w: w, h: h}
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">`+"\n",
		w, h, w, h)
	fmt.Fprintf(&d.b, "<title>%s</title>\n", escaped(title))
	return d
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

// rect is a rectangle; tip is shown when one points at it.
func (d *drawing) rect(x, y, w, h float64, fill, tip string) {
	fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"`, x, y, w, h, fill)
	if tip == "" {
		d.b.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&d.b, "><title>%s</title></rect>\n", escaped(tip))
}

func (d *drawing) text(x, y float64, fill, style, text string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" fill="%s" style="%s">%s</text>`+"\n", x, y, fill, style, escaped(text))
}

// fixed is a text of a known width, whatever the font.
func (d *drawing) fixed(x, y, w float64, fill, style, text string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" fill="%s" style="%s" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve">%s</text>`+"\n",
		x, y, fill, style, w, escaped(text))
}

func (d *drawing) line(x1, y1, x2, y2 float64, stroke string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, stroke)
}

// mark is a triangle that points at x, y.
func (d *drawing) mark(x, y float64, fill, tip string) {
	fmt.Fprintf(&d.b, `<path d="M%.1f %.1fl-5 -9h10z" fill="%s"><title>%s</title></path>`+"\n", x, y, fill, escaped(tip))
}

func (d *drawing) write(w io.Writer) error {
	_, err := io.WriteString(w, d.b.String()+"</svg>\n")
	return err
}

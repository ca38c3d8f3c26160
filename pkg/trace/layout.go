// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// events are the tracepoints that the programs read, as field/bytes behind the
// eight bytes that every event begins with. bpf/events.h says the same in C.
var events = map[string]string{
	"send_fetch":  "dev/16 qpn/4 index/4 wr_id/8 opcode/4 flags/4 length/4 packets/4 addr/8 num_sge/4",
	"send_wire":   "dev/16 qpn/4 index/4 psn/4 length/4 packets/4",
	"send_done":   "dev/16 qpn/4 index/4 wr_id/8 opcode/4 status/4 length/4 cqe/4",
	"recv_done":   "dev/16 qpn/4 index/4 wr_id/8 status/4 length/4 psn/4",
	"cqe":         "dev/16 qpn/4 cq/4 wr_id/8 opcode/4 status/4 length/4 reason/4 index/4",
	"burst":       "dev/16 qpn/4 psn/4 opcode/4 packets/4 again/4 referenced/4 copied/4 path/4 error/4",
	"drop":        "dev/16 qpn/4 psn/4 opcode/4 reason/4",
	"ack_send":    "dev/16 qpn/4 psn/4 syndrome/4 msn/4",
	"ack_receive": "dev/16 qpn/4 psn/4 syndrome/4",
	"ack_timeout": "dev/16 qpn/4 psn/4 retries/4",
	"rnr_wait":    "dev/16 qpn/4 psn/4 wait_us/4 retries/4",
	"go_back":     "dev/16 qpn/4 psn/4 from/4",
	"qp_create":   "dev/16 qpn/4 type/4 pid/4 comm/16",
	"qp_connect":  "dev/16 qpn/4 dest_qpn/4 mtu/4 sgid/16 dgid/16",
	"qp_state":    "dev/16 qpn/4 from/4 to/4 reason/4 opcode/4 psn/4",
	"qp_destroy":  "dev/16 qpn/4",
	"mr_register": "dev/16 key/4 access/4 addr/8 length/8 error/4",
	// Of the provider, by bpf/stream.bpf.c.
	"modify_failed": "dev/16 qpn/4 why/4 error/4",
}

const commonBytes = 8

// A field is where a value lies in an event.
type field struct {
	name         string
	offset, size int
}

// fieldsOf is the layout of an event, with the alignment of C.
func fieldsOf(event string) []field {
	var fields []field
	at := commonBytes
	for _, f := range strings.Fields(events[event]) {
		name, size, _ := strings.Cut(f, "/")
		n, _ := strconv.Atoi(size)
		if n <= 8 {
			at = (at + n - 1) / n * n
		}
		fields = append(fields, field{name, at, n})
		at += n
	}
	return fields
}

// bodyBytes is how much of an event follows the common bytes.
func bodyBytes(event string) int {
	fields := fieldsOf(event)
	last := fields[len(fields)-1]
	return last.offset + last.size - commonBytes
}

// A format is what tracefs says of an event.
type format struct {
	// id is the number of the event.
	id     uint64
	fields map[string]field
	// words are the names of the values of a field.
	words map[string]map[uint64]string
}

var (
	formatField = regexp.MustCompile(`^\s*field:.*?\b(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);`)
	formatWords = regexp.MustCompile(`__print_symbolic\(REC->(\w+), ((?:\{ [^}]* \}(?:, )?)+)\)`)
	formatWord  = regexp.MustCompile(`\{ (-?\w+), "([^"]*)" \}`)
)

func parseFormat(text []byte) format {
	f := format{fields: make(map[string]field), words: make(map[string]map[uint64]string)}
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		if id, ok := strings.CutPrefix(line, "ID: "); ok {
			f.id, _ = strconv.ParseUint(id, 10, 64)
		}
		if m := formatField.FindStringSubmatch(line); m != nil {
			offset, _ := strconv.Atoi(m[2])
			size, _ := strconv.Atoi(m[3])
			f.fields[m[1]] = field{m[1], offset, size}
		}
		if !strings.HasPrefix(line, "print fmt:") {
			continue
		}
		for _, m := range formatWords.FindAllStringSubmatch(line, -1) {
			words := make(map[uint64]string)
			for _, w := range formatWord.FindAllStringSubmatch(m[2], -1) {
				if n, err := strconv.ParseUint(w[1], 0, 64); err == nil {
					words[n] = w[2]
				}
			}
			f.words[m[1]] = words
		}
	}
	return f
}

// check compares what the kernel says with what the programs expect.
func (f format) check(event string) error {
	for _, want := range fieldsOf(event) {
		if got, ok := f.fields[want.name]; !ok || got != want {
			return fmt.Errorf("the tracepoint softhca:%s has another layout than this program knows (field %s): module and program are of different versions: %w",
				event, want.name, ErrNotSupported)
		}
	}
	return nil
}

// tracefs is where the kernel shows its tracepoints; tests put it elsewhere.
var tracefs = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// readFormat reads and checks the format of an event.
func readFormat(event string) (format, error) {
	var f format
	if _, ok := events[event]; !ok {
		return f, fmt.Errorf("softhca:%s: not a tracepoint that this package knows", event)
	}
	for _, dir := range tracefs {
		text, err := os.ReadFile(filepath.Join(dir, "events/softhca", event, "format"))
		switch {
		case err == nil:
			f = parseFormat(text)
			return f, f.check(event)
		case errors.Is(err, os.ErrPermission):
			return f, fmt.Errorf("read the tracepoints: %w; this needs root", err)
		}
	}
	for _, dir := range tracefs {
		if _, err := os.Stat(filepath.Join(dir, "events")); err == nil {
			return f, fmt.Errorf("there is no tracepoint softhca:%s: %w", event, ErrNotLoaded)
		}
	}
	return f, fmt.Errorf("tracefs is not mounted (mount -t tracefs tracefs %s): %w", tracefs[0], ErrNotSupported)
}

// value reads a field of the body of an event.
func (f field) value(body []byte) uint64 {
	at := f.offset - commonBytes
	switch {
	case at+f.size > len(body):
		return 0
	case f.size == 4:
		return uint64(binary.LittleEndian.Uint32(body[at:]))
	case f.size == 8:
		return binary.LittleEndian.Uint64(body[at:])
	}
	return 0
}

// text reads a field that is an array of characters.
func (f field) text(body []byte) string {
	at := f.offset - commonBytes
	if at+f.size > len(body) {
		return ""
	}
	return cString(body[at : at+f.size])
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package nlgen

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// Source is the netlink-spec file, relative to the root of the repository.
const Source = "docs/netlink/softhca.yaml"

//go:embed templates
var templates embed.FS

// outputs are the generated files, relative to the root of the repository, and
// their templates.
var outputs = map[string]string{
	"kmod/uapi/softhca-netlink.h":             "uapi.h.tmpl",
	"kmod/ctl/netlink_gen.h":                  "netlink_gen.h.tmpl",
	"kmod/ctl/netlink_gen.c":                  "netlink_gen.c.tmpl",
	"pkg/genl/zz_generated.go":                "genl.go.tmpl",
	"pkg/genl/internal/proto/zz_generated.go": "proto.go.tmpl",
	"docs/netlink/softhca.md":                 "protocol.md.tmpl",
}

// Load reads the spec of the repository at root.
func Load(root string) (*Spec, error) {
	b, err := os.ReadFile(filepath.Join(root, Source))
	if err != nil {
		return nil, err
	}
	s, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Source, err)
	}
	return s, nil
}

// Generate makes all outputs from the spec, by path relative to the root of
// the repository.
func Generate(s *Spec) (map[string][]byte, error) {
	t := template.New("").Funcs(template.FuncMap{
		"source":   func() string { return Source },
		"c":        cName,
		"C":        func(name string) string { return strings.ToUpper(cName(name)) },
		"Go":       goName,
		"comment":  comment,
		"policy":   s.policy,
		"words":    s.words,
		"max":      s.max,
		"number":   s.Number,
		"requests": s.Request,
		"last":     func(a []*Attr) *Attr { return a[len(a)-1] },
		"join":     strings.Join,
		"ops": func() (ops []*Op) {
			for _, o := range s.Operations.List {
				if !o.Notification() {
					ops = append(ops, o)
				}
			}
			return ops
		},
		"add": func(a, b int) int { return a + b },
	})
	t, err := t.ParseFS(templates, "templates/*")
	if err != nil {
		return nil, err
	}

	files := make(map[string][]byte)
	for path, name := range outputs {
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, name, s); err != nil {
			return nil, err
		}
		files[path] = b.Bytes()
		if strings.HasSuffix(path, ".go") {
			if files[path], err = format.Source(b.Bytes()); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return files, nil
}

// policy is the initialiser of an attribute's struct nla_policy.
func (s *Spec) policy(a *Attr) (string, error) {
	c := func(limit string) string { // A constant's name, or a number.
		if s.Def(limit) != nil {
			return strings.ToUpper(s.Name + "_" + cName(limit))
		}
		return limit
	}
	typ := "NLA_" + strings.ToUpper(a.Type)
	switch {
	case a.Enum != "":
		return fmt.Sprintf("NLA_POLICY_MAX(%s, %s_MAX)", typ, strings.ToUpper(s.Name+"_"+cName(a.Enum))), nil
	case a.Type == "string":
		return fmt.Sprintf("{ .type = NLA_NUL_STRING, .len = %s }", c(a.Checks.MaxLen)), nil
	case a.Checks.Max != "":
		return fmt.Sprintf("NLA_POLICY_RANGE(%s, %s, %s)", typ, c(a.Checks.Min), c(a.Checks.Max)), nil
	case a.Type == "u32" || a.Type == "u64":
		return fmt.Sprintf("{ .type = %s }", typ), nil
	}
	return "", fmt.Errorf("%s: type %q in a request", a.Name, a.Type)
}

// max is the largest value of an integer attribute, 0 without a limit.
func (s *Spec) max(a *Attr) int {
	if a.Enum != "" {
		return s.Def(a.Enum).Max()
	}
	n, _ := s.Number(a.Checks.Max)
	return n
}

// words says what values an attribute may have, after "must be".
func (s *Spec) words(a *Attr) string {
	n := func(check string) int {
		v, _ := s.Number(check)
		return v
	}
	switch c := a.Checks; {
	case a.Enum != "":
		var names []string
		for _, e := range s.Def(a.Enum).Entries {
			names = append(names, e.Name)
		}
		return "one of " + strings.Join(names, ", ")
	case c.Max != "":
		return fmt.Sprintf("%d to %d", n(c.Min), n(c.Max))
	case c.MaxLen != "":
		return fmt.Sprintf("at most %d bytes", n(c.MaxLen))
	case c.ExactLen != "":
		return fmt.Sprintf("%d bytes", n(c.ExactLen))
	case a.Nested != "":
		return "of set " + a.Nested
	}
	return ""
}

func cName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// initialisms are the parts of names that Go does not write as Xxx.
var initialisms = map[string]string{
	"cq": "CQ", "gsi": "GSI", "guid": "GUID", "ib": "IB", "mtu": "MTU", "mw": "MW",
	"id": "ID", "udp": "UDP", "ms": "MS", "nak": "NAK", "op": "Op", "pid": "PID", "psn": "PSN", "qp": "QP", "qpn": "QPN",
	"rc": "RC", "rnr": "RNR", "roce": "RoCE", "rq": "RQ", "rtr": "RTR", "rts": "RTS",
	"rx": "RX", "lid": "LID", "sm": "SM", "smi": "SMI", "sq": "SQ", "sqd": "SQD", "sqe": "SQE", "tx": "TX",
	"uc": "UC", "ud": "UD", "sgid": "SGID", "dgid": "DGID",
}

func goName(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		if up, ok := initialisms[part]; ok {
			b.WriteString(up)
		} else if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// width is the number of columns of a line whose tabs all stand in front.
func width(line string) int { return len(line) + 7*strings.Count(line, "\t") }

// comment wraps text at 80 columns. The first line starts with first, the
// others with next.
func comment(first, next, text string) string {
	var b strings.Builder
	line := first
	for i, word := range strings.Fields(text) {
		if i > 0 && width(line)+1+len(word) > 80 {
			b.WriteString(line + "\n")
			line = next + word
			continue
		}
		if i > 0 || first != "" && !strings.HasSuffix(first, " ") {
			line += " "
		}
		line += word
	}
	return b.String() + line
}

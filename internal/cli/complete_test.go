// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/genlfake"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionKernel has something of everything: shca1/1 and sw0/2 are cabled.
func completionKernel(t *testing.T) *genlfake.Kernel {
	t.Helper()
	k := genlfake.New("eth0")
	c, err := k.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, err := range []error{
		c.AddDevice(genl.DeviceConfig{Name: "shca0", Netdev: "eth0"}),
		c.AddDevice(genl.DeviceConfig{Name: "shca1", Link: genl.LinkIB}),
		c.AddDevice(genl.DeviceConfig{Name: "shca2", Link: genl.LinkIB}),
		c.AddSwitch(genl.SwitchConfig{Name: "sw0", Ports: 3}),
		c.AddCable(genl.Port{Node: "shca1", Number: 1}, genl.Port{Node: "sw0", Number: 2}),
		k.SetQP(genl.QP{Device: "shca0", QPN: 17, PID: 42, Comm: "app"}),
		k.SetQP(genl.QP{Device: "shca0", QPN: 18, PID: 42, Comm: "app"}),
		k.SetQP(genl.QP{Device: "shca1", QPN: 19}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	old := rdmaDevices
	rdmaDevices = t.TempDir()
	t.Cleanup(func() { rdmaDevices = old })
	if err := os.Mkdir(filepath.Join(rdmaDevices, "rxe0"), 0o755); err != nil {
		t.Fatal(err)
	}
	return k
}

// offered is what the shell would offer behind these words, and what it is told to do
// with it: ":4" to add no files, ":8" to take the words as endings of files, ":16" to
// offer directories.
func offered(t *testing.T, k *genlfake.Kernel, words ...string) (names []string, directive string) {
	t.Helper()
	var out bytes.Buffer
	code := Main(t.Context(), append([]string{"__completeNoDesc"}, words...), Env{Stdout: &out, Stderr: io.Discard, Connect: k.Client})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if code != 0 {
		t.Errorf("%v: exit code %d", words, code)
	}
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestComplete(t *testing.T) {
	k := completionKernel(t)
	for words, want := range map[string]string{
		"qp show ":                         "shca0 shca1 shca2 :4",
		"qp show shca0 ":                   "17 18 :4",
		"qp show shca0 17 ":                ":4",
		"dev del shca0 ":                   ":4",
		"dev list ":                        ":4",
		"dev add new0 link ":               "roce ib :4",
		"switch add ":                      ":4",
		"switch add sw1 ":                  "ports guid :4",
		"switch add sw1 ports ":            ":4",
		"switch add sw1 ports 8 ":          "guid :4",
		"switch show ":                     "sw0 :4",
		"cable add ":                       "shca2/1 sw0/1 sw0/3 :4",
		"cable add sw0/1 ":                 "shca2/1 sw0/3 remote :4",
		"cable add sw0/1 shca2/1 ":         ":4",
		"cable add sw0/1 remote ":          ":4",
		"cable add sw0/1 remote 10.0.0.1 ": "id port :4",
		"cable del ":                       "shca1/1 sw0/2 :4",
		"fabric apply ":                    "yaml yml :8",
		"fabric delete ":                   "yaml yml :8",
		"fabric apply x.yaml ":             ":4",
		"fabric show -o ":                  "text dot yaml :4",
		"man ":                             ":16",
		"top --by ":                        "qp process device :4",
		"top --sort rx":                    "tx_bytes rx_bytes tx_messages rx_messages retransmits rnr_naks tx_bytes_copied :4",
		"top --interval ":                  ":4",
		"trace verbs ":                     "rxe0 :4",
		"trace verbs rxe0 ":                ":4",
		"trace flow --qpn ":                "17 18 19 :4",
		"trace flow shca1 --qpn ":          "19 :4",
		"trace flow --comm ":               "app :4",
		"trace flow --pid ":                "42 :4",
		"trace timeline -o ":               "json :8",
		"capture shca0 -w ":                "pcapng :8",
		"help trace fl":                    "latency flow copies errors timeline verbs :4",
		"help nosuch ":                     ":4",
		"completion ":                      "bash fish powershell zsh :4",
		"completion bash ":                 ":4",
	} {
		names, directive := offered(t, k, strings.Split(words, " ")...)
		got := strings.Join(append(names, directive), " ")
		if sorted(got) != sorted(want) {
			t.Errorf("%q: offered %s, want %s", words, got, want)
		}
	}
	// Without the module there is nothing to offer, and no file instead.
	k.SetLoaded(false)
	for _, words := range []string{"dev show ", "qp show shca0 ", "cable add ", "switch del ", "trace flow --qpn "} {
		if names, directive := offered(t, k, strings.Split(words, " ")...); len(names) > 0 || directive != ":4" {
			t.Errorf("%q without the module: offered %v %s", words, names, directive)
		}
	}
}

func sorted(words string) string {
	f := strings.Fields(words)
	slices.Sort(f)
	return strings.Join(f, " ")
}

// Every command with arguments offers something for the first of them that is not a
// name to be given, and no flag offers just any file.
func TestEveryCompletion(t *testing.T) {
	k := completionKernel(t)
	named := map[string]string{"ibctl dev add": "new0", "ibctl switch add": "new0"}
	argument := regexp.MustCompile(`\b[A-Z]{2,}\b|\bA\b`)
	checked := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		path := cmd.CommandPath()
		words := strings.Fields(path)[1:]
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return // needs no value
			}
			checked++
			if names, directive := offered(t, k, append(words, "--"+f.Name, "")...); directive == ":0" {
				t.Errorf("%s --%s offers any file: %v", path, f.Name, names)
			}
		})
		if cmd.HasSubCommands() || !cmd.IsAvailableCommand() || !argument.MatchString(cmd.Use) {
			return
		}
		if name := named[path]; name != "" {
			words = append(words, name)
		}
		checked++
		names, directive := offered(t, k, append(words, "")...)
		if directive == ":0" || directive == ":4" && len(names) == 0 {
			t.Errorf("%s offers %v %s", path, names, directive)
		}
	}
	walk(newRoot(&app{}))
	if checked < 50 {
		t.Errorf("only %d things checked", checked)
	}
}

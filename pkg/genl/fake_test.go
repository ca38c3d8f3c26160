// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl_test

import (
	"testing"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/genlfake"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// TestFakeSpec: the fake kernel speaks the protocol of the spec, and does all
// that the real one is asked to do.
func TestFakeSpec(t *testing.T) {
	k := genlfake.New("eth0", "eth1")
	c, seen := genl.Checked(t, k.Dial)
	addDevice(t, c, "shca0", "eth0")
	for _, qp := range []genl.QP{sampleQP(), {Device: "shca0", QPN: 1}} {
		if err := k.SetQP(qp); err != nil {
			t.Fatal(err)
		}
	}
	genl.ReadAll(t, c)
	genl.Exercise(t, c, "eth1")
	for _, cmd := range []uint8{
		proto.CmdDevGet, proto.CmdQPGet, proto.CmdStatsGet,
		proto.CmdDevNewNtf, proto.CmdDevSetNtf, proto.CmdDevDelNtf,
	} {
		if seen[cmd] == 0 {
			t.Errorf("command %d was never seen", cmd)
		}
	}
}

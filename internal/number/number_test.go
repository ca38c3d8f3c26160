// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package number

import "testing"

func TestParse(t *testing.T) {
	for s, want := range map[string]uint64{
		"0": 0, "17": 17, "017": 17, "08": 8, "0x17": 0x17, "0Xff": 255, "0x00ff": 255, "4294967295": 1<<32 - 1,
	} {
		if got, err := Parse(s, 32); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "x", "0x", "0x0x1", "0o17", "0b1", "1_0", "-1", "+1", " 1", "1 ", "0x-1", "0x1_0", "17x", "ff", "4294967296", "0x100000000",
	} {
		if got, err := Parse(s, 32); err == nil {
			t.Errorf("%q is %d", s, got)
		}
	}
	if n, err := Parse("18446744073709551615", 64); err != nil || n != 1<<64-1 {
		t.Errorf("the largest: %d, %v", n, err)
	}
	if _, err := Parse("x", 64); err == nil || err.Error() != `"x" is no number from 0 to 18446744073709551615` {
		t.Error(err)
	}
}

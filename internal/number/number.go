// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

// Package number reads numbers as people write them: 017 is seventeen. The rules of
// strconv for base 0 are those of Go, and of YAML 1.1, which have octal numbers.
package number

import (
	"fmt"
	"strconv"
)

// Parse reads a decimal number, or a hexadecimal one behind 0x, below 2^bits.
func Parse(s string, bits int) (uint64, error) {
	digits, base := s, 10
	if len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") {
		digits, base = s[2:], 16
	}
	n, err := strconv.ParseUint(digits, base, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is no number from 0 to %d", s, uint64(1)<<bits-1)
	}
	return n, nil
}

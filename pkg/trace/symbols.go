// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package trace

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A symbol is a line of /proc/kallsyms.
type symbol struct {
	name, module string
	addr         uint64
}

// kallsyms is where the kernel lists its symbols; tests put it elsewhere.
var kallsyms = "/proc/kallsyms"

// kernelSymbols lists the symbols of the kernel and of the RDMA modules. That takes the
// kernel a while.
func kernelSymbols() ([]symbol, error) {
	f, err := os.Open(kallsyms)
	if err != nil {
		return nil, fmt.Errorf("read the kernel's symbols: %w", err)
	}
	defer f.Close()
	var list []symbol
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		fields := strings.Fields(sc.Text())
		if len(fields) < 3 {
			continue
		}
		s := symbol{name: fields[2]}
		if len(fields) > 3 {
			s.module = strings.Trim(fields[3], "[]")
		}
		if s.module != "" && !strings.HasPrefix(s.module, "ib_") {
			continue
		}
		if s.addr, err = strconv.ParseUint(fields[0], 16, 64); err != nil {
			continue
		}
		list = append(list, s)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read the kernel's symbols: %w", err)
	}
	return list, nil
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

//go:build !linux

package capture

import (
	"errors"
	"fmt"
)

func openSource(Options) (source, error) {
	return nil, fmt.Errorf("capture packets: %w", errors.ErrUnsupported)
}

func inNetns(_ uint64, fn func() error) error { return fn() }

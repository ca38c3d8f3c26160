// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

//go:build !linux

package genl

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

func dial() (proto.Conn, error) {
	return nil, fmt.Errorf("softhca devices exist on Linux, not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

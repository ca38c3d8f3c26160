// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

func dial() (proto.Conn, error) {
	return genetlink.Dial(&netlink.Config{Strict: true})
}

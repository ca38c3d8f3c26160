// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"github.com/mdlayher/netlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// DeviceStats are the counters of a device, in the kernel's order.
type DeviceStats struct {
	Device   string
	Counters []Counter
}

// A Counter counts from the moment the device was added.
type Counter struct {
	Name  string
	Value uint64
}

// Stats returns the counters of one device, or of all devices if device is "".
// If there is no such device, errors.Is(err, os.ErrNotExist).
func (c *Client) Stats(device string) ([]DeviceStats, error) {
	r := request{op: "read counters", object: device, cmd: proto.CmdStatsGet, flags: flagsDump}
	if device == "" {
		return dump(c, r, decodeStats)
	}
	r.flags = flagsGet
	r.encode = func(ae *netlink.AttributeEncoder) { ae.String(proto.StatsDev, device) }
	s, err := get(c, r, decodeStats)
	if err != nil {
		return nil, err
	}
	return []DeviceStats{s}, nil
}

func decodeStats(ad *netlink.AttributeDecoder, s *DeviceStats) {
	switch ad.Type() {
	case proto.StatsDev:
		s.Device = ad.String()
	case proto.StatsStat:
		var counter Counter
		ad.Nested(func(nad *netlink.AttributeDecoder) error {
			for nad.Next() {
				switch nad.Type() {
				case proto.StatName:
					counter.Name = nad.String()
				case proto.StatValue:
					counter.Value = nad.Uint64()
				}
			}
			return nil
		})
		s.Counters = append(s.Counters, counter)
	}
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genlfake

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/softhca/softhca/pkg/genl"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// A Kernel is a fake kernel. It is safe for concurrent use.
type Kernel struct {
	mu       sync.Mutex
	absent   bool
	user     bool
	netdevs  map[string]uint32
	devices  map[string]*device
	switches []*genl.Switch
	cables   []genl.Cable
	index    uint32
	monitors map[*conn][]uint32
}

type device struct {
	genl.Device
	qps      map[uint32]genl.QP
	counters []genl.Counter
}

// New makes a kernel with the module loaded, the given network interfaces and
// no devices. Whoever calls is an administrator.
func New(netdevs ...string) *Kernel {
	k := &Kernel{
		netdevs:  make(map[string]uint32),
		devices:  make(map[string]*device),
		monitors: make(map[*conn][]uint32),
	}
	for i, name := range netdevs {
		k.netdevs[name] = uint32(i + 2) // 1 is lo.
	}
	return k
}

// Client makes a client of this kernel, as genl.New does of the real one.
func (k *Kernel) Client() (*genl.Client, error) {
	c, err := proto.NewClient(k.Dial)
	if err != nil {
		return nil, err
	}
	return c.(*genl.Client), nil
}

// Dial opens a connection, for the tests of package genl itself. Others cannot
// name what it returns and call Client.
func (k *Kernel) Dial() (proto.Conn, error) { return newConn(k), nil }

// SetLoaded says whether the module is loaded. It is at first.
func (k *Kernel) SetLoaded(loaded bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.absent = !loaded
}

// SetAdmin says whether callers have CAP_NET_ADMIN in the initial user
// namespace. They have at first.
func (k *Kernel) SetAdmin(admin bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.user = !admin
}

// SetPortState changes the state of a device's port, as pulling the cable does.
func (k *Kernel) SetPortState(dev string, s genl.PortState) error {
	return k.update(dev, func(d *device) {
		d.PortState = s
		k.notify(proto.CmdDevSetNtf, d)
	})
}

// SetQP creates or replaces a queue pair of the device that it names.
func (k *Kernel) SetQP(qp genl.QP) error {
	return k.update(qp.Device, func(d *device) { d.qps[qp.QPN] = qp })
}

// SetCounter sets one of a device's counters.
func (k *Kernel) SetCounter(dev, name string, value uint64) error {
	return k.update(dev, func(d *device) {
		for i := range d.counters {
			if d.counters[i].Name == name {
				d.counters[i].Value = value
				return
			}
		}
		d.counters = append(d.counters, genl.Counter{Name: name, Value: value})
	})
}

// SendFrame tells of a packet.
func (k *Kernel) SendFrame(f genl.Frame) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.multicast(captureGroup, proto.CmdFrameNtf, encodeFrame(f))
}

// Overrun loses an event of every monitor, as a slow reader makes the kernel do.
func (k *Kernel) Overrun() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.monitors {
		c.push(event{err: syscall.ENOBUFS})
	}
}

func (k *Kernel) update(dev string, fn func(*device)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.devices[dev]
	if d == nil {
		return fmt.Errorf("genlfake: no device %q", dev)
	}
	fn(d)
	return nil
}

// sorted lists the devices by index, as the kernel does.
func (k *Kernel) sorted() []*device {
	return slices.SortedFunc(maps.Values(k.devices), func(a, b *device) int { return cmp.Compare(a.Index, b.Index) })
}

func (d *device) sortedQPs() []genl.QP {
	return slices.SortedFunc(maps.Values(d.qps), func(a, b genl.QP) int { return cmp.Compare(a.QPN, b.QPN) })
}

// find looks up the device that a request names.
func (k *Kernel) find(r *req, attr uint16) (*device, error) {
	name, err := r.needString(attr)
	if err != nil {
		return nil, err
	}
	if d := k.devices[name]; d != nil {
		return d, nil
	}
	return nil, r.refuse(syscall.ENODEV, attr, "there is no softhca device of this name")
}

func (k *Kernel) devNew(r *req) error {
	name, err := r.needString(proto.DevName)
	if err != nil {
		return err
	}
	d := genl.Device{
		Name: name, Index: k.index, Link: genl.Link(r.u32[proto.DevLink]),
		Window: genl.WindowDefault, Burst: genl.BurstDefault,
	}
	if d.Link == genl.LinkIB {
		err = k.devNewIB(r, &d)
	} else {
		err = k.devNewRoCE(r, &d)
	}
	if err != nil {
		return err
	}
	bad := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '/' || r == '%' }
	switch {
	case name == "":
		return r.refuse(syscall.EINVAL, proto.DevName, "a device needs a name")
	case strings.ContainsFunc(name, bad):
		return r.refuse(syscall.EINVAL, proto.DevName, "the name may consist of printable ASCII characters other than blank, / and %")
	case name == "." || name == "..":
		return r.refuse(syscall.EINVAL, proto.DevName, name+" cannot be a device's name")
	}
	for _, other := range k.devices {
		if d.Netdev != "" && d.Netdev == other.Netdev {
			return r.refuse(syscall.EBUSY, proto.DevNetdevName, d.Netdev+" is in use by the device "+other.Name+" already")
		}
	}
	if k.findSwitch(name) != nil {
		return r.refuse(syscall.EEXIST, proto.DevName, "the name is taken: there is a switch of this name already")
	}
	if k.devices[name] != nil {
		return r.refuse(syscall.EEXIST, proto.DevName, "the name is taken: there is an RDMA device "+name+" already")
	}

	k.index++
	k.devices[name] = &device{
		Device: d,
		qps:    make(map[uint32]genl.QP),
		counters: []genl.Counter{
			{Name: "tx_packets"}, {Name: "tx_bytes"}, {Name: "rx_packets"}, {Name: "rx_bytes"},
		},
	}
	k.notify(proto.CmdDevNewNtf, k.devices[name])
	return nil
}

func (k *Kernel) devNewRoCE(r *req, d *genl.Device) error {
	netdev, err := r.needString(proto.DevNetdevName)
	if err != nil {
		return err
	}
	ifindex, ok := k.netdevs[netdev]
	if !ok {
		return r.refuse(syscall.ENODEV, proto.DevNetdevName, "there is no network interface of this name in your network namespace")
	}
	d.Netdev, d.NetdevIndex, d.NetnsInode = netdev, ifindex, 4026531840
	d.PortState, d.ActiveMTU = genl.PortStateActive, 1024
	d.NodeGUID = genl.GUID(0x020000fffe000000 | uint64(ifindex))
	return nil
}

func (k *Kernel) devNewIB(r *req, d *genl.Device) error {
	if _, ok := r.str[proto.DevNetdevName]; ok {
		return r.refuse(syscall.EINVAL, proto.DevNetdevName, "a device of link type ib has no network interface, but a port for a cable")
	}
	if err := k.guidTaken(r, proto.DevNodeGUID); err != nil {
		return err
	}
	d.PortState, d.ActiveMTU = genl.PortStateDown, 4096
	d.NodeGUID = genl.GUID(0x1253484300000000 | uint64(k.index+1))
	if guid, ok := r.u64[proto.DevNodeGUID]; ok {
		d.NodeGUID = genl.GUID(guid)
	}
	d.LID, d.SMLID = new(uint32), new(uint32)
	return nil
}

func (k *Kernel) devDel(r *req) error {
	d, err := k.find(r, proto.DevName)
	if err != nil {
		return err
	}
	delete(k.devices, d.Name)
	k.pull(d.Name)
	k.notify(proto.CmdDevDelNtf, d)
	return nil
}

func (k *Kernel) devSet(r *req) error {
	d, err := k.find(r, proto.DevName)
	if err != nil {
		return err
	}
	window, hasWindow := r.u32[proto.DevWindow]
	burst, hasBurst := r.u32[proto.DevBurst]
	if !hasWindow && !hasBurst {
		return r.refuse(syscall.EINVAL, 0, "the request names nothing to set")
	}
	if hasWindow {
		d.Window = window
	}
	if hasBurst {
		d.Burst = burst
	}
	k.notify(proto.CmdDevSetNtf, d)
	return nil
}

func (k *Kernel) qpGet(r *req) ([][]byte, error) {
	if r.dump {
		var out [][]byte
		want, filter := r.str[proto.QPDev]
		if filter {
			if _, err := k.find(r, proto.QPDev); err != nil {
				return nil, err
			}
		}
		for _, d := range k.sorted() {
			for _, qp := range d.sortedQPs() {
				if !filter || want == d.Name {
					out = append(out, encodeQP(qp))
				}
			}
		}
		return out, nil
	}
	d, err := k.find(r, proto.QPDev)
	if err != nil {
		return nil, err
	}
	qpn, ok := r.u32[proto.QPQPN]
	if !ok {
		return nil, r.refuse(syscall.EINVAL, 0, "the request lacks qpn")
	}
	qp, ok := d.qps[qpn]
	if !ok {
		return nil, r.refuse(syscall.ENOENT, proto.QPQPN, "the device has no queue pair of this number")
	}
	return [][]byte{encodeQP(qp)}, nil
}

func (k *Kernel) devGet(r *req) ([][]byte, error) {
	if r.dump {
		var out [][]byte
		for _, d := range k.sorted() {
			out = append(out, encodeDevice(d.Device))
		}
		return out, nil
	}
	d, err := k.find(r, proto.DevName)
	if err != nil {
		return nil, err
	}
	return [][]byte{encodeDevice(d.Device)}, nil
}

func (k *Kernel) statsGet(r *req) ([][]byte, error) {
	if r.dump {
		var out [][]byte
		for _, d := range k.sorted() {
			out = append(out, encodeStats(d))
		}
		return out, nil
	}
	d, err := k.find(r, proto.StatsDev)
	if err != nil {
		return nil, err
	}
	return [][]byte{encodeStats(d)}, nil
}

func (k *Kernel) notify(cmd uint8, d *device) {
	k.multicast(monitorGroup, cmd, encodeDevice(d.Device))
}

func (k *Kernel) multicast(group uint32, cmd uint8, data []byte) {
	for c, groups := range k.monitors {
		if slices.Contains(groups, group) {
			c.push(event{cmd: cmd, data: data})
		}
	}
}

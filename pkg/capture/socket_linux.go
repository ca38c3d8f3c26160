// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// bufferBytes is what may wait to be read.
const bufferBytes = 64 << 20

// sockets are packet sockets, on the network interface and on lo.
type sockets struct {
	fd   []int
	buf  []byte
	oob  []byte
	turn int
}

// openSource opens the sockets in the device's network namespace.
func openSource(o Options) (source, error) {
	s := &sockets{buf: make([]byte, SnapMax+1), oob: make([]byte, 256)}
	err := inNetns(o.Netns, func() error {
		for _, index := range []int{o.NetdevIndex, loIndex()} {
			fd, err := openSocket(index, o.Snap)
			if err != nil {
				return fmt.Errorf("listen on the interface of %s: %w", o.Device, err)
			}
			s.fd = append(s.fd, fd)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func loIndex() int {
	if lo, err := net.InterfaceByName("lo"); err == nil {
		return lo.Index
	}
	return 1
}

// inNetns calls fn in the network namespace of that inode.
func inNetns(inode uint64, fn func() error) error {
	const self = "/proc/thread-self/ns/net"
	runtime.LockOSThread()
	var st unix.Stat_t
	if err := unix.Stat(self, &st); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("find the own network namespace: %w", err)
	}
	if inode == 0 || st.Ino == inode {
		defer runtime.UnlockOSThread()
		return fn()
	}
	home, err := os.Open(self)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	there, err := findNetns(inode)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter the network namespace of the device: %w", err)
	}
	err = fn()
	// A thread that cannot go home stays locked, and ends with its goroutine.
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, fmt.Errorf("return to the own network namespace: %w", back))
	}
	runtime.UnlockOSThread()
	return err
}

// findNetns opens a namespace by its inode: one with a name, or a process'.
func findNetns(inode uint64) (*os.File, error) {
	for _, pattern := range []string{"/run/netns/*", "/proc/[0-9]*/ns/net"} {
		names, _ := filepath.Glob(pattern) // The pattern is right.
		for _, name := range names {
			var st unix.Stat_t
			if unix.Stat(name, &st) == nil && st.Ino == inode {
				return os.Open(name)
			}
		}
	}
	return nil, fmt.Errorf("no process and no name leads to the network namespace %d of the device", inode)
}

// filter keeps what goes to the UDP port of RoCEv2, up to snap bytes, and all
// headers however small that is. It reads no VLAN tag, because the kernel takes it
// off first.
func filter(snap int) ([]bpf.RawInstruction, error) {
	return bpf.Assemble([]bpf.Instruction{
		/* 0 */ bpf.LoadAbsolute{Off: 12, Size: 2},
		/* 1 */ bpf.JumpIf{Cond: bpf.JumpEqual, Val: etherIPv4, SkipFalse: 5},
		/* 2 */ bpf.LoadAbsolute{Off: etherLen + 9, Size: 1},
		/* 3 */ bpf.JumpIf{Cond: bpf.JumpEqual, Val: protoUDP, SkipFalse: 9},
		/* 4 */ bpf.LoadMemShift{Off: etherLen},
		/* 5 */ bpf.LoadIndirect{Off: etherLen + 2, Size: 2},
		/* 6 */ bpf.Jump{Skip: 4},
		/* 7 */ bpf.JumpIf{Cond: bpf.JumpEqual, Val: etherIPv6, SkipFalse: 5},
		/* 8 */ bpf.LoadAbsolute{Off: etherLen + 6, Size: 1},
		/* 9 */ bpf.JumpIf{Cond: bpf.JumpEqual, Val: protoUDP, SkipFalse: 3},
		/* 10 */ bpf.LoadAbsolute{Off: etherLen + 40 + 2, Size: 2},
		/* 11 */ bpf.JumpIf{Cond: bpf.JumpEqual, Val: rocePort, SkipFalse: 1},
		/* 12 */ bpf.RetConstant{Val: uint32(max(snap, headersMax))},
		/* 13 */ bpf.RetConstant{},
	})
}

func openSocket(index, snap int) (int, error) {
	// No protocol yet, so that nothing comes before the filter is there.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	prog, err := filter(snap)
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	code := make([]unix.SockFilter, len(prog))
	for i, p := range prog {
		code[i] = unix.SockFilter{Code: p.Op, Jt: p.Jt, Jf: p.Jf, K: p.K}
	}
	err = errors.Join(
		unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
	)
	// A small buffer costs packets, which are counted.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bufferBytes) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bufferBytes)
	}
	if err == nil {
		// All protocols: packets that are sent are shown to nobody else.
		all := uint16(unix.ETH_P_ALL)
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all<<8 | all>>8, Ifindex: index})
	}
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

func (s *sockets) next(deadline time.Time) (frame, error) {
	for {
		for range s.fd {
			i := s.turn
			s.turn = (s.turn + 1) % len(s.fd)
			fr, err := s.read(i)
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, errSkip) {
				continue
			}
			return fr, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return frame{}, os.ErrDeadlineExceeded
		}
		fds := make([]unix.PollFd, len(s.fd))
		for i, fd := range s.fd {
			fds[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		}
		if _, err := unix.Poll(fds, int(left.Milliseconds())+1); err != nil && !errors.Is(err, unix.EINTR) {
			return frame{}, fmt.Errorf("wait for packets: %w", err)
		}
	}
}

// errSkip is a frame that does not count.
var errSkip = errors.New("skip")

func (s *sockets) read(i int) (frame, error) {
	n, oobn, _, from, err := unix.Recvmsg(s.fd[i], s.buf, s.oob, 0)
	if err != nil {
		// The interface went down; whoever waits will see it come back.
		if errors.Is(err, unix.ENETDOWN) {
			return frame{}, errSkip
		}
		return frame{}, err
	}
	fr := frame{data: s.buf[:n], length: n, time: time.Now(), intf: i}
	ll, ok := from.(*unix.SockaddrLinklayer)
	if !ok {
		return frame{}, errSkip
	}
	fr.sent = ll.Pkttype == unix.PACKET_OUTGOING
	// On lo each packet is sent and received; once is enough.
	if i > 0 && !fr.sent {
		return frame{}, errSkip
	}
	msgs, err := unix.ParseSocketControlMessage(s.oob[:oobn])
	if err != nil {
		return frame{}, fmt.Errorf("read a packet: %w", err)
	}
	for _, m := range msgs {
		switch {
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16:
			fr.time = time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
		case m.Header.Level == unix.SOL_PACKET && m.Header.Type == unix.PACKET_AUXDATA &&
			len(m.Data) >= int(unsafe.Sizeof(unix.TpacketAuxdata{})):
			fr.auxdata(m.Data)
		}
	}
	return fr, nil
}

// auxdata takes the length of the whole frame, and puts a VLAN tag back.
func (fr *frame) auxdata(b []byte) {
	const statusVLAN = 1 << 4
	status := binary.NativeEndian.Uint32(b)
	fr.length = max(int(binary.NativeEndian.Uint32(b[4:])), len(fr.data))
	if status&statusVLAN == 0 || len(fr.data) < etherLen {
		return
	}
	tagged := append([]byte(nil), fr.data[:12]...)
	tagged = binary.BigEndian.AppendUint16(tagged, etherVLAN)
	tagged = binary.BigEndian.AppendUint16(tagged, binary.NativeEndian.Uint16(b[16:]))
	fr.data = append(tagged, fr.data[12:]...)
	fr.length += vlanLen
}

func (s *sockets) lost() (uint64, error) {
	var sum uint64
	for _, fd := range s.fd {
		st, err := unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
		if err != nil {
			return 0, fmt.Errorf("read how many packets were lost: %w", err)
		}
		sum += uint64(st.Drops)
	}
	return sum, nil
}

func (s *sockets) close() error {
	var errs []error
	for _, fd := range s.fd {
		errs = append(errs, unix.Close(fd))
	}
	s.fd = nil
	return errors.Join(errs...)
}

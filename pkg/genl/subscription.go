// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

package genl

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mdlayher/genetlink"
	"github.com/softhca/softhca/pkg/genl/internal/proto"
)

// errOverrun is that the kernel dropped messages, since the reader was too slow.
var errOverrun = errors.New("messages were dropped")

// A subscription receives what the kernel multicasts.
type subscription struct {
	op        string // what it is for, in errors
	conn      proto.Conn
	queue     []genetlink.Message
	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error
}

// next waits for the next message. After Close it returns os.ErrClosed. One goroutine
// may call it.
func (s *subscription) next() (msg genetlink.Message, err error) {
	for len(s.queue) == 0 {
		msgs, _, err := s.conn.Receive()
		switch {
		case s.closed.Load():
			return msg, os.ErrClosed
		case errors.Is(err, syscall.ENOBUFS):
			return msg, errOverrun
		case err != nil:
			return msg, &Error{Op: s.op, Err: err}
		}
		s.queue = msgs
	}
	msg, s.queue = s.queue[0], s.queue[1:]
	return msg, nil
}

// Close ends it. It may be called from any goroutine.
func (s *subscription) Close() error {
	s.closeOnce.Do(func() {
		s.closed.Store(true)
		s.closeErr = s.conn.Close()
	})
	return s.closeErr
}

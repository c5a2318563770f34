package xmain

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// timedConn sets a deadline for each write, because http.Server.WriteTimeout limits a
// whole response. A client that stops reading does not block its handler, and a download
// has no time limit while it makes progress.
//
// A deadline that the server sets, or a handler with http.ResponseController, replaces
// the deadline of each write.
type timedConn struct {
	net.Conn
	timeout time.Duration

	mu          sync.Mutex
	hasDeadline bool // the server or a handler has set a deadline
	hijacked    bool
}

// withWriteTimeout returns c with a timeout for each write. A timeout of 0 disables it. A
// *tls.Conn is returned unchanged, because net/http depends on its type.
func withWriteTimeout(c net.Conn, timeout time.Duration) net.Conn {
	if _, secure := c.(*tls.Conn); secure || timeout <= 0 {
		return c
	}
	return &timedConn{Conn: c, timeout: timeout}
}

// Write implements net.Conn. It fails if the kernel accepts no byte within the timeout.
//
// A kernel reports a connection as writable only if much of its buffer is free, which may
// take long for a slow client. Each attempt therefore has half of the timeout, and Write
// retries after the first attempt without progress.
func (c *timedConn) Write(p []byte) (n int, err error) {
	for stalled := false; ; {
		timed := c.renew()
		written, err := c.Conn.Write(p[n:])
		n += written
		if !timed || !errors.Is(err, os.ErrDeadlineExceeded) || stalled && written == 0 ||
			c.disabled() {
			return n, err
		}
		stalled = written == 0
	}
}

// renew sets the deadline of the next write. It returns false if another deadline
// applies.
func (c *timedConn) renew() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasDeadline || c.hijacked {
		return false
	}
	return c.Conn.SetWriteDeadline(time.Now().Add(c.timeout/2)) == nil
}

func (c *timedConn) disabled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hasDeadline || c.hijacked
}

// setHijacked disables the timeout for a handler that has hijacked the connection.
func (c *timedConn) setHijacked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hijacked = true
}

// SetWriteDeadline implements net.Conn.
func (c *timedConn) SetWriteDeadline(t time.Time) error {
	return c.setDeadline(t, c.Conn.SetWriteDeadline)
}

// SetDeadline implements net.Conn.
func (c *timedConn) SetDeadline(t time.Time) error { return c.setDeadline(t, c.Conn.SetDeadline) }

func (c *timedConn) setDeadline(t time.Time, set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hasDeadline = !t.IsZero()
	return set(t)
}

// CloseWrite is used by net/http to close a connection with an unread request body.
func (c *timedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// ReadFrom implements io.ReaderFrom, so that a hijacked connection can use sendfile and
// splice. Responses do not use them, because the kernel would not report progress, which
// renews the timeout.
func (c *timedConn) ReadFrom(r io.Reader) (int64, error) {
	if c.disabled() {
		return io.Copy(c.Conn, r)
	}
	return io.Copy(writeOnly{c}, r)
}

// writeOnly hides the other methods of a connection from io.Copy.
type writeOnly struct{ io.Writer }

// NetConn returns the accepted connection, like the method of tls.Conn. Its writes have
// no timeout.
func (c *timedConn) NetConn() net.Conn { return c.Conn }

// SyscallConn implements syscall.Conn.
func (c *timedConn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// acceptedConn returns the connection that the listener accepted.
func acceptedConn(c net.Conn) net.Conn {
	if t, ok := c.(*timedConn); ok {
		return t.Conn
	}
	return c
}

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

// timedConn closes the gap that http.Server.WriteTimeout leaves for long responses: each
// write has a deadline of its own, so that a client which stops reading does not hold a
// handler, and a download may take as long as it makes progress.
//
// A deadline that the server or a handler sets, by http.ResponseController, replaces it.
type timedConn struct {
	net.Conn
	timeout time.Duration

	mu       sync.Mutex
	own      bool // a deadline was set
	hijacked bool
}

// withWriteTimeout returns c with a timeout of its writes; 0 is none. net/http has to see
// a connection of TLS itself, so that one stays as it is.
func withWriteTimeout(c net.Conn, timeout time.Duration) net.Conn {
	if _, secure := c.(*tls.Conn); secure || timeout <= 0 {
		return c
	}
	return &timedConn{Conn: c, timeout: timeout}
}

// Write implements net.Conn. It fails if not a single byte was accepted for the timeout.
//
// A kernel reports a connection as writable only if much of its buffer is free, which can
// take a slow client long. So the first half of the timeout that passes without a byte is
// followed by another write.
func (c *timedConn) Write(p []byte) (n int, err error) {
	for stalled := false; ; {
		timed := c.renew()
		written, err := c.Conn.Write(p[n:])
		n += written
		if !timed || !errors.Is(err, os.ErrDeadlineExceeded) || stalled && written == 0 ||
			c.replaced() {
			return n, err
		}
		stalled = written == 0
	}
}

// renew sets the deadline of the next write, unless another one is set.
func (c *timedConn) renew() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own || c.hijacked {
		return false
	}
	return c.Conn.SetWriteDeadline(time.Now().Add(c.timeout/2)) == nil
}

func (c *timedConn) replaced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own || c.hijacked
}

// release ends the timeout, for a handler that has hijacked the connection.
func (c *timedConn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hijacked = true
}

// SetWriteDeadline implements net.Conn.
func (c *timedConn) SetWriteDeadline(t time.Time) error {
	return c.replace(t, c.Conn.SetWriteDeadline)
}

// SetDeadline implements net.Conn.
func (c *timedConn) SetDeadline(t time.Time) error { return c.replace(t, c.Conn.SetDeadline) }

func (c *timedConn) replace(t time.Time, set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own = !t.IsZero()
	return set(t)
}

// CloseWrite lets net/http end a connection whose request it has not read completely.
func (c *timedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return errors.ErrUnsupported
}

// ReadFrom implements io.ReaderFrom, so that a hijacked connection can use sendfile and
// splice. A response cannot: the kernel would not report progress, with which the timeout
// begins anew.
func (c *timedConn) ReadFrom(r io.Reader) (int64, error) {
	if c.replaced() {
		return io.Copy(c.Conn, r)
	}
	return io.Copy(writeOnly{c}, r)
}

// writeOnly hides the other methods of a connection from io.Copy.
type writeOnly struct{ io.Writer }

// NetConn returns the connection that was accepted, as the method of tls.Conn does. Its
// writes have no timeout.
func (c *timedConn) NetConn() net.Conn { return c.Conn }

// SyscallConn implements syscall.Conn.
func (c *timedConn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// accepted returns the connection that was accepted.
func accepted(c net.Conn) net.Conn {
	if t, ok := c.(*timedConn); ok {
		return t.Conn
	}
	return c
}

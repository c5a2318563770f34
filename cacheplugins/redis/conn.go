package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// dialer makes the connections of a client.
type dialer struct {
	tls   *tls.Config // nil where nothing is encrypted
	calls *calls
}

// dialError is the error of a connection that was not made, so that no command went
// through it.
type dialError struct{ error }

// Unwrap returns the cause.
func (e *dialError) Unwrap() error { return e.error }

// dial connects, and encrypts where that is wanted.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	direct := net.Dialer{Timeout: dialTimeout}
	raw, err := direct.DialContext(ctx, network, address)
	if err != nil {
		return nil, &dialError{err}
	}
	c := &conn{Conn: raw, calls: d.calls}
	if d.tls == nil {
		return c, nil
	}
	config := d.tls.Clone()
	if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
		_ = raw.Close()
		return nil, &dialError{err}
	}
	encrypted := tls.Client(c, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &dialError{fmt.Errorf("TLS with %s: %w", address, err)}
	}
	return encrypted, nil
}

// patience is how long a call takes before its reads and writes also wait for the end of
// its context. Few take as long, and those that do not pay nothing for it.
const patience = 10 * time.Millisecond

// conn is a connection on which reading and writing end when the call that they are for
// is cancelled. The client itself knows deadlines only.
type conn struct {
	net.Conn
	calls         *calls
	reads, writes atomic.Pointer[call] // those for which the deadlines were set
	stuck         atomic.Bool          // a write has failed
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	c.reads.Store(nil)
	c.writes.Store(nil)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	return limit(&c.reads, c.calls.find(t), t, c.Conn.SetReadDeadline)
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	return limit(&c.writes, c.calls.find(t), t, c.Conn.SetWriteDeadline)
}

// limit remembers the call and sets its deadline, or the end of the patience where that
// is earlier.
func limit(kept *atomic.Pointer[call], found *call, t time.Time, set func(time.Time) error) error {
	kept.Store(found)
	if found != nil && found.patience.Before(t) {
		t = found.patience
	}
	return set(t)
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && late(err) {
		if call := c.reads.Load(); call != nil {
			return call.wait(c.Conn.SetReadDeadline, func() (int, error) { return c.Conn.Read(p) })
		}
	}
	return n, err
}

// Write implements net.Conn. After it has failed it fails at once: crypto/tls says
// good-bye when it closes a connection, and would wait for that.
func (c *conn) Write(p []byte) (n int, err error) {
	if c.stuck.Load() {
		return 0, net.ErrClosed
	}
	n, err = c.Conn.Write(p)
	if late(err) {
		if call := c.writes.Load(); call != nil {
			var more int
			more, err = call.wait(c.Conn.SetWriteDeadline,
				func() (int, error) { return c.Conn.Write(p[n:]) })
			n += more
		}
	}
	if err != nil {
		c.stuck.Store(true)
	}
	return n, err
}

func late(err error) bool { return err != nil && errors.Is(err, os.ErrDeadlineExceeded) }

// wait does what was not possible within the patience, until the call's deadline or until
// it is cancelled.
func (c *call) wait(set func(time.Time) error, do func() (int, error)) (int, error) {
	if err := set(c.deadline()); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(c.Context, func() {
		defer close(ended)
		_ = set(time.Unix(1, 0))
	})
	n, err := do()
	if !stop() {
		<-ended // it must not reach into the next call
		return n, err
	}
	_ = set(c.patience) // it has passed, so what else belongs to the same answer waits like this
	return n, err
}

// SyscallConn implements syscall.Conn: the client looks whether the server has closed a
// connection before it takes it.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if under, ok := c.Conn.(syscall.Conn); ok {
		return under.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

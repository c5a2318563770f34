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

// dialer dials the connections of a client.
type dialer struct {
	tls   *tls.Config // nil without TLS
	calls *calls
}

// dialError is a failure to connect, so that no command was sent.
type dialError struct{ error }

// Unwrap returns the cause.
func (e *dialError) Unwrap() error { return e.error }

// dial connects, with TLS if configured.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	netDialer := net.Dialer{Timeout: dialTimeout}
	raw, err := netDialer.DialContext(ctx, network, address)
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

// cancelDelay is the duration after which reads and writes of a call also watch for
// cancellation. Most calls finish earlier and avoid the cost.
const cancelDelay = 10 * time.Millisecond

// conn is a connection whose reads and writes return when their call is canceled. The
// client itself supports deadlines only.
type conn struct {
	net.Conn
	calls         *calls
	reads, writes atomic.Pointer[call] // the calls of the current deadlines
	writeFailed   atomic.Bool
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

// limit stores the call and sets its deadline, or cancelAfter if that is earlier.
func limit(
	current *atomic.Pointer[call], found *call, t time.Time, set func(time.Time) error,
) error {
	current.Store(found)
	if found != nil && found.cancelAfter.Before(t) {
		t = found.cancelAfter
	}
	return set(t)
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && isTimeout(err) {
		if call := c.reads.Load(); call != nil {
			return call.wait(c.Conn.SetReadDeadline, func() (int, error) { return c.Conn.Read(p) })
		}
	}
	return n, err
}

// Write implements net.Conn. After an error it always fails, so that crypto/tls does not
// block on its close notification.
func (c *conn) Write(p []byte) (n int, err error) {
	if c.writeFailed.Load() {
		return 0, net.ErrClosed
	}
	n, err = c.Conn.Write(p)
	if isTimeout(err) {
		if call := c.writes.Load(); call != nil {
			var more int
			more, err = call.wait(c.Conn.SetWriteDeadline,
				func() (int, error) { return c.Conn.Write(p[n:]) })
			n += more
		}
	}
	if err != nil {
		c.writeFailed.Store(true)
	}
	return n, err
}

func isTimeout(err error) bool { return err != nil && errors.Is(err, os.ErrDeadlineExceeded) }

// wait repeats do until the call's deadline or its cancellation.
func (c *call) wait(set func(time.Time) error, do func() (int, error)) (int, error) {
	if err := set(c.deadline()); err != nil {
		return 0, err
	}
	canceled := make(chan struct{})
	stop := context.AfterFunc(c.Context, func() {
		defer close(canceled)
		_ = set(time.Unix(1, 0))
	})
	n, err := do()
	if !stop() {
		<-canceled // the past deadline must not affect the next call
		return n, err
	}
	_ = set(c.cancelAfter) // in the past: further reads of the same reply also use wait
	return n, err
}

// SyscallConn implements syscall.Conn. The client uses it to check whether the server has
// closed an idle connection.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if inner, ok := c.Conn.(syscall.Conn); ok {
		return inner.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

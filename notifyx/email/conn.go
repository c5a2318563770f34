package email

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// maxReply limits the bytes read in one step, including handshakes. Replies have a few
// hundred bytes.
const maxReply = 256 << 10

// errReplySize reports an oversized reply.
var errReplySize = errors.New("the reply is too long")

// expiredDeadline makes reads and writes fail immediately.
var expiredDeadline = time.Unix(1, 0)

// limitedConn is a connection that limits the time and the bytes read of each step, and
// that is bound to a context. It sets its own deadlines and ignores those of callers.
type limitedConn struct {
	net.Conn

	mu       sync.Mutex
	ctx      context.Context // of the current call, or of the client for an idle connection
	unbind   func() bool
	readable int  // remaining bytes of the step
	unsent   bool // a write failed, so the server did not receive everything
}

// bind makes the cancellation of ctx fail reads and writes. It replaces the previous
// binding.
func (c *limitedConn) bind(ctx context.Context) {
	if c.unbind != nil {
		c.unbind()
	}
	c.mu.Lock()
	c.ctx = ctx
	c.mu.Unlock()
	c.unbind = context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ctx == ctx {
			_ = c.Conn.SetDeadline(expiredDeadline) // a closed connection needs no deadline
		}
	})
}

// startStep sets the limits of the next step.
func (c *limitedConn) startStep(timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readable = maxReply
	deadline := time.Now().Add(timeout)
	if c.ctx.Err() != nil {
		deadline = expiredDeadline
	}
	_ = c.Conn.SetDeadline(deadline) // a closed connection needs no deadline
}

// Read implements net.Conn.
func (c *limitedConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	remaining := c.readable
	c.mu.Unlock()
	if remaining <= 0 {
		return 0, errReplySize
	}
	n, err := c.Conn.Read(p[:min(len(p), remaining)])
	c.mu.Lock()
	c.readable -= n
	c.mu.Unlock()
	return n, err
}

// Write implements net.Conn.
func (c *limitedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.mu.Lock()
		c.unsent = true
		c.mu.Unlock()
	}
	return n, err
}

// local reports whether the remote address is a loopback address.
func (c *limitedConn) local() bool {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// sent reports whether every write succeeded.
func (c *limitedConn) sent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.unsent
}

// SetDeadline implements net.Conn and does nothing.
func (*limitedConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn and does nothing.
func (*limitedConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn and does nothing.
func (*limitedConn) SetWriteDeadline(time.Time) error { return nil }

// Close implements net.Conn and removes the binding.
func (c *limitedConn) Close() error {
	if c.unbind != nil {
		c.unbind()
	}
	return c.Conn.Close()
}

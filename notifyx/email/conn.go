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

// past is an expired deadline.
var past = time.Unix(1, 0)

// guard is a connection that limits the time and the bytes read of each step, and that is
// bound to a context. It sets its own deadlines and ignores those of callers.
type guard struct {
	net.Conn

	mu       sync.Mutex
	ctx      context.Context // context of the current user
	unbind   func() bool
	readable int  // remaining bytes of the step
	unsent   bool // a write failed, so the server did not receive everything
}

// bind makes the cancellation of ctx fail reads and writes. It replaces the previous
// binding.
func (g *guard) bind(ctx context.Context) {
	if g.unbind != nil {
		g.unbind()
	}
	g.mu.Lock()
	g.ctx = ctx
	g.mu.Unlock()
	g.unbind = context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.ctx == ctx {
			_ = g.Conn.SetDeadline(past) // a closed connection needs no deadline
		}
	})
}

// startStep sets the limits of the next step.
func (g *guard) startStep(timeout time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readable = maxReply
	deadline := time.Now().Add(timeout)
	if g.ctx.Err() != nil {
		deadline = past
	}
	_ = g.Conn.SetDeadline(deadline) // a closed connection needs no deadline
}

// Read implements net.Conn.
func (g *guard) Read(p []byte) (int, error) {
	g.mu.Lock()
	room := g.readable
	g.mu.Unlock()
	if room <= 0 {
		return 0, errReplySize
	}
	n, err := g.Conn.Read(p[:min(len(p), room)])
	g.mu.Lock()
	g.readable -= n
	g.mu.Unlock()
	return n, err
}

// Write implements net.Conn.
func (g *guard) Write(p []byte) (int, error) {
	n, err := g.Conn.Write(p)
	if err != nil {
		g.mu.Lock()
		g.unsent = true
		g.mu.Unlock()
	}
	return n, err
}

// local reports whether the remote address is a loopback address.
func (g *guard) local() bool {
	tcp, ok := g.RemoteAddr().(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// sent reports whether every write succeeded.
func (g *guard) sent() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.unsent
}

// SetDeadline implements net.Conn and does nothing.
func (*guard) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn and does nothing.
func (*guard) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn and does nothing.
func (*guard) SetWriteDeadline(time.Time) error { return nil }

// Close implements net.Conn and removes the binding.
func (g *guard) Close() error {
	if g.unbind != nil {
		g.unbind()
	}
	return g.Conn.Close()
}

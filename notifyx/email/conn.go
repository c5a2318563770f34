package email

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// maxAnswer bounds what is read in one step, handshakes included. Answers have a few
// hundred bytes.
const maxAnswer = 256 << 10

// errAnswerSize reports a server that answers without end.
var errAnswerSize = errors.New("the answer is too long")

// past is a deadline that has gone by.
var past = time.Unix(1, 0)

// guard is a connection whose steps are bounded: each in time and in what it reads, all
// of them by the context that it is bound to. It sets its deadlines itself and ignores
// those of others.
type guard struct {
	net.Conn

	mu       sync.Mutex
	ctx      context.Context // of whoever uses the connection at the moment
	unbind   func() bool
	readable int  // bytes that the step may still read
	unsent   bool // a write has failed, so that the other side has not got all
}

// bind lets the end of ctx end every read and write. The previous binding ends.
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
			_ = g.Conn.SetDeadline(past) // a connection that is closed needs none
		}
	})
}

// begin gives the next step its time.
func (g *guard) begin(timeout time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readable = maxAnswer
	deadline := time.Now().Add(timeout)
	if g.ctx.Err() != nil {
		deadline = past
	}
	_ = g.Conn.SetDeadline(deadline) // a connection that is closed needs none
}

// Read implements net.Conn.
func (g *guard) Read(p []byte) (int, error) {
	g.mu.Lock()
	room := g.readable
	g.mu.Unlock()
	if room <= 0 {
		return 0, errAnswerSize
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

// local reports whether the other side is this machine.
func (g *guard) local() bool {
	tcp, ok := g.RemoteAddr().(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// sent reports whether every write has been handed over completely.
func (g *guard) sent() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.unsent
}

// SetDeadline implements net.Conn and does nothing, as the other two.
func (*guard) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (*guard) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn.
func (*guard) SetWriteDeadline(time.Time) error { return nil }

// Close implements net.Conn. A binding ends.
func (g *guard) Close() error {
	if g.unbind != nil {
		g.unbind()
	}
	return g.Conn.Close()
}

package runner

import (
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// maxPending limits the time of handshakes that are pending when shutdown starts.
const maxPending = time.Second

// pendingConns is a listener that tracks connections before the end of their handshake.
// GracefulStop waits for these connections first, even if their clients send nothing.
type pendingConns struct {
	net.Listener
	limiter *limiter

	mu      sync.Mutex
	pending map[*pendingConn]struct{}
	closing bool
}

func newPendingConns(listener net.Listener, l *limiter) *pendingConns {
	return &pendingConns{Listener: listener, limiter: l, pending: map[*pendingConn]struct{}{}}
}

// Accept implements net.Listener.
func (a *pendingConns) Accept() (net.Conn, error) {
	conn, from, err := a.acceptWithinLimit()
	if err != nil {
		return nil, err
	}
	c := &pendingConn{Conn: conn, conns: a, local: &localAddr{conn.LocalAddr(), from}}
	if !a.track(c) {
		_ = c.Close() // the handshake then fails
	}
	if file, ok := conn.(syscall.Conn); ok {
		return &socket{pendingConn: c, file: file}, nil
	}
	return c, nil
}

// acceptWithinLimit accepts the next connection and closes those above the limit.
func (a *pendingConns) acceptWithinLimit() (net.Conn, *source, error) {
	for {
		conn, err := a.Listener.Accept()
		if err != nil {
			return nil, nil, err
		}
		if from := a.limiter.enter(); from != nil {
			return conn, from, nil
		}
		_ = conn.Close()
	}
}

// track adds a connection and reports whether it may start its handshake.
func (a *pendingConns) track(c *pendingConn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closing {
		a.pending[c] = struct{}{}
	}
	return !a.closing
}

// closePending closes the connections that have not finished their handshake.
func (a *pendingConns) closePending() {
	a.mu.Lock()
	a.closing = true
	pending := slices.Collect(maps.Keys(a.pending))
	a.mu.Unlock()
	for _, c := range pending {
		_ = c.Conn.Close() // the server closes c
	}
}

func (a *pendingConns) untrack(c *pendingConn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, c)
}

// pendingConn is a connection that pendingConns tracks.
type pendingConn struct {
	net.Conn
	conns *pendingConns
	local *localAddr
	leave sync.Once
}

// Read implements net.Conn.
func (c *pendingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.local.source.received(n)
	return n, err
}

// LocalAddr implements net.Conn.
func (c *pendingConn) LocalAddr() net.Addr { return c.local }

// SetDeadline implements net.Conn. grpc-go clears the deadline after the handshake.
func (c *pendingConn) SetDeadline(t time.Time) error {
	if t.IsZero() {
		c.conns.untrack(c)
	}
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *pendingConn) Close() error {
	c.conns.untrack(c)
	c.leave.Do(func() { c.conns.limiter.leave(c.local.source) })
	return c.Conn.Close()
}

// NetConn returns the underlying connection, like tls.Conn, for credentials that need its
// type.
func (c *pendingConn) NetConn() net.Conn { return c.Conn }

// socket is a pendingConn with a file descriptor, used by credentials and channelz.
type socket struct {
	*pendingConn
	file syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return s.file.SyscallConn() }

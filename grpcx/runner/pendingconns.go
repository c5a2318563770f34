package runner

import (
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// maxPending bounds how long a connection that was just accepted is given for its
// handshake once the stop has begun.
const maxPending = time.Second

// pendingConns is a listener that knows which of its connections have not shaken hands
// yet. At the stop grpc-go waits for these before all else, also for one that never says
// a word, and cuts off nothing meanwhile.
type pendingConns struct {
	net.Listener
	intake *intake

	mu        sync.Mutex
	pending   map[*pendingConn]struct{}
	dismissed bool
}

func newPendingConns(l net.Listener, in *intake) *pendingConns {
	return &pendingConns{Listener: l, intake: in, pending: map[*pendingConn]struct{}{}}
}

// Accept implements net.Listener.
func (a *pendingConns) Accept() (net.Conn, error) {
	conn, from, err := a.admit()
	if err != nil {
		return nil, err
	}
	c := &pendingConn{Conn: conn, at: a, local: &localAddr{conn.LocalAddr(), from}}
	if !a.expect(c) {
		_ = c.Close() // of which the handshake hears
	}
	if file, ok := conn.(syscall.Conn); ok {
		return &socket{pendingConn: c, file: file}, nil
	}
	return c, nil
}

// admit accepts the next connection, and closes those beyond the limit.
func (a *pendingConns) admit() (net.Conn, *source, error) {
	for {
		conn, err := a.Listener.Accept()
		if err != nil {
			return nil, nil, err
		}
		if from := a.intake.enter(); from != nil {
			return conn, from, nil
		}
		_ = conn.Close()
	}
}

// expect notes a connection, and returns whether it may still shake hands.
func (a *pendingConns) expect(c *pendingConn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.dismissed {
		a.pending[c] = struct{}{}
	}
	return !a.dismissed
}

// dismiss closes the connections that have not shaken hands.
func (a *pendingConns) dismiss() {
	a.mu.Lock()
	a.dismissed = true
	left := slices.Collect(maps.Keys(a.pending))
	a.mu.Unlock()
	for _, c := range left {
		_ = c.Conn.Close() // the server closes c
	}
}

func (a *pendingConns) arrived(c *pendingConn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, c)
}

// pendingConn is one connection, of whatever kind.
type pendingConn struct {
	net.Conn
	at    *pendingConns
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

// SetDeadline implements net.Conn. grpc-go sets a deadline for the handshake and takes it
// away when that is over.
func (c *pendingConn) SetDeadline(t time.Time) error {
	if t.IsZero() {
		c.at.arrived(c)
	}
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *pendingConn) Close() error {
	c.at.arrived(c)
	c.leave.Do(func() { c.at.intake.leave(c.local.source) })
	return c.Conn.Close()
}

// NetConn returns the connection itself, as that of a tls.Conn does, for credentials that
// know its type.
func (c *pendingConn) NetConn() net.Conn { return c.Conn }

// socket is an pendingConn with a file descriptor, which credentials ask for the peer,
// and channelz for its options.
type socket struct {
	*pendingConn
	file syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return s.file.SyscallConn() }

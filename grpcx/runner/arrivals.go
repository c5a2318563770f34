package runner

import (
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// maxArrival bounds how long a connection that was just accepted is given for its handshake once the stop has begun.
const maxArrival = time.Second

// arrivals is a listener that knows which of its connections have not shaken hands yet. At the stop grpc-go waits for these
// before all else, also for one that never says a word, and cuts off nothing meanwhile.
type arrivals struct {
	net.Listener
	intake *intake

	mu        sync.Mutex
	arriving  map[*arrival]struct{}
	dismissed bool
}

func newArrivals(l net.Listener, in *intake) *arrivals {
	return &arrivals{Listener: l, intake: in, arriving: map[*arrival]struct{}{}}
}

// Accept implements net.Listener.
func (a *arrivals) Accept() (net.Conn, error) {
	conn, from, err := a.admit()
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		setUserTimeout(tcp, pingTimeout)
	}
	c := &arrival{Conn: conn, at: a, from: from, frames: frames{source: from}}
	if !a.expect(c) {
		_ = c.Close() // of which the handshake hears
	}
	if file, ok := conn.(syscall.Conn); ok {
		return &socket{arrival: c, file: file}, nil
	}
	return c, nil
}

// admit accepts the next connection, and closes those beyond the limit.
func (a *arrivals) admit() (net.Conn, *source, error) {
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
func (a *arrivals) expect(c *arrival) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.dismissed {
		a.arriving[c] = struct{}{}
	}
	return !a.dismissed
}

// dismiss closes the connections that have not shaken hands.
func (a *arrivals) dismiss() {
	a.mu.Lock()
	a.dismissed = true
	left := slices.Collect(maps.Keys(a.arriving))
	a.mu.Unlock()
	for _, c := range left {
		_ = c.Conn.Close() // the server closes c
	}
}

func (a *arrivals) arrived(c *arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.arriving, c)
}

// arrival is one connection, of whatever kind.
type arrival struct {
	net.Conn
	at    *arrivals
	from  *source
	leave sync.Once

	frames frames
}

func (c *arrival) origin() *source { return c.from }

// Read implements net.Conn.
func (c *arrival) Read(b []byte) (int, error) {
	n, err := c.frames.read(c.Conn, b)
	if n > 0 {
		c.from.received(n)
	}
	return n, err
}

// RemoteAddr implements net.Conn. grpc-go asks for it once, for the peer of all calls.
func (c *arrival) RemoteAddr() net.Addr {
	addr := c.Conn.RemoteAddr()
	c.at.intake.name(c.from, addr)
	return addr
}

// SetDeadline implements net.Conn. grpc-go sets a deadline for the handshake and takes it away when that is over.
func (c *arrival) SetDeadline(t time.Time) error {
	if t.IsZero() {
		c.at.arrived(c)
	}
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *arrival) Close() error {
	c.at.arrived(c)
	c.leave.Do(func() { c.at.intake.leave(c.from) })
	return c.Conn.Close()
}

// NetConn returns the connection itself, as that of a tls.Conn does, for credentials that know its type.
func (c *arrival) NetConn() net.Conn { return c.Conn }

// socket is an arrival with a file descriptor, which credentials ask for the peer, and channelz for its options.
type socket struct {
	*arrival
	file syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return s.file.SyscallConn() }

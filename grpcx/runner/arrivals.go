package runner

import (
	"net"
	"sync"
	"time"
)

// maxArrival bounds how long a connection that was just accepted is given for its handshake once the stop has begun.
const maxArrival = time.Second

// arrivals is a listener that knows which of its TCP connections have not shaken hands yet. At the stop grpc-go waits for
// these before all else, also for one that never says a word, and cuts off nothing meanwhile.
type arrivals struct {
	net.Listener

	mu        sync.Mutex
	arriving  map[*arrival]struct{}
	dismissed bool
}

func newArrivals(l net.Listener) *arrivals {
	return &arrivals{Listener: l, arriving: map[*arrival]struct{}{}}
}

// Accept implements net.Listener.
func (a *arrivals) Accept() (net.Conn, error) {
	conn, err := a.Listener.Accept()
	tcp, ok := conn.(*net.TCPConn)
	if err != nil || !ok {
		return conn, err
	}
	setUserTimeout(tcp, pingTimeout)
	c := &arrival{TCPConn: tcp, at: a}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dismissed {
		_ = tcp.Close() // of which the handshake hears
		return c, nil
	}
	a.arriving[c] = struct{}{}
	return c, nil
}

// dismiss closes the connections that have not shaken hands.
func (a *arrivals) dismiss() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dismissed = true
	for c := range a.arriving {
		_ = c.TCPConn.Close()
	}
}

func (a *arrivals) arrived(c *arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.arriving, c)
}

// arrival is one connection.
type arrival struct {
	*net.TCPConn
	at *arrivals
}

// SetDeadline implements net.Conn. grpc-go sets a deadline for the handshake and takes it away when that is over.
func (c *arrival) SetDeadline(t time.Time) error {
	if t.IsZero() {
		c.at.arrived(c)
	}
	return c.TCPConn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *arrival) Close() error {
	c.at.arrived(c)
	return c.TCPConn.Close()
}

package xmain

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/internal/startup"
)

const (
	// quietPeriod is how long no connection may arrive until the accept queue counts as empty.
	// A handshake that has started takes a round trip.
	quietPeriod = 20 * time.Millisecond

	// maxQueueTime bounds the time in which the accept queue is emptied.
	maxQueueTime = 10 * quietPeriod
)

// listen opens the address of the service.
func listen(ctx context.Context, s startup.Settings) (*listener, error) {
	if s.Listener != nil {
		return newListener(s.Listener, s.WriteTimeout), nil
	}
	var c net.ListenConfig
	c.SetMultipathTCP(false) // on by default, and ignoreNew has no effect on it (Linux: net/mptcp/sockopt.c)
	l, err := c.Listen(ctx, "tcp", s.Address)
	if err != nil {
		return nil, fmt.Errorf("xmain: PLINTH_HOST and PLINTH_PORT: cannot listen on %s: %w", s.Address, err)
	}
	return newListener(l, s.WriteTimeout), nil
}

// listener is a net.Listener that empties its accept queue before it is closed. The kernel
// resets the connections that are still in the queue of a closed listener.
type listener struct {
	net.Listener
	writeTimeout time.Duration // of the connections

	once   sync.Once
	dry    sync.Once
	empty  chan struct{} // closed when Accept has returned everything
	closed chan struct{} // closed by Close

	accepted atomic.Int64

	mu      sync.Mutex
	refuses bool
	last    []net.Conn // from the accept queue
	err     error      // of the inner Close
}

func newListener(l net.Listener, writeTimeout time.Duration) *listener {
	return &listener{Listener: l, writeTimeout: writeTimeout, empty: make(chan struct{}), closed: make(chan struct{})}
}

// Accept implements net.Listener, for one goroutine. After refuse it returns the connections
// of the accept queue, and then blocks until Close.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
		return withWriteTimeout(c, l.writeTimeout), nil
	}
	c, refuses := l.next()
	switch {
	case c != nil:
		return withWriteTimeout(c, l.writeTimeout), nil
	case !refuses:
		return nil, err
	}
	l.dry.Do(func() { close(l.empty) })
	<-l.closed
	return nil, net.ErrClosed
}

// next returns a connection of the accept queue. It waits for refuse to empty that.
func (l *listener) next() (c net.Conn, refuses bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) > 0 {
		c, l.last = l.last[0], l.last[1:]
	}
	return c, l.refuses
}

// refuse refuses new connections from now on. It returns when Accept has returned all that
// were in the queue and is called again, or when ctx ends.
func (l *listener) refuse(ctx context.Context) {
	l.mu.Lock()
	if !l.refuses {
		l.refuses = true
		ignoreNew(l.Listener)
		l.last = l.acceptQueue()
		l.err = l.Listener.Close()
	}
	l.mu.Unlock()
	select {
	case <-l.empty:
	case <-ctx.Done():
	}
}

// acceptQueue accepts until no connection has arrived for the quiet period, neither here nor
// in a call of Accept that had started before.
func (l *listener) acceptQueue() (queue []net.Conn) {
	inner, ok := l.Listener.(interface{ SetDeadline(t time.Time) error })
	if !ok {
		return nil
	}
	for end := time.Now().Add(maxQueueTime); time.Now().Before(end); {
		before := l.accepted.Load()
		if inner.SetDeadline(time.Now().Add(quietPeriod)) != nil {
			return queue
		}
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
			queue = append(queue, c)
		case l.accepted.Load() == before:
			return queue
		}
	}
	return queue
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses {
		return l.err
	}
	l.refuses = true
	l.err = l.Listener.Close()
	return l.err
}

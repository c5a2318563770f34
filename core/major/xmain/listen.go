package xmain

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/major/xreg"
)

// listen opens the address of the service.
func listen(ctx context.Context, s xreg.Settings) (*listener, error) {
	if s.Listener != nil {
		return newListener(s.Listener, s.WriteTimeout), nil
	}
	var c net.ListenConfig
	c.SetMultipathTCP(false) // which Go has on by default, and in which pending cannot keep the promise of a listener
	l, err := c.Listen(ctx, "tcp", s.Address)
	if err != nil {
		return nil, fmt.Errorf("xmain: PLINTH_HOST and PLINTH_PORT: cannot listen on %s: %w", s.Address, err)
	}
	return newListener(l, s.WriteTimeout), nil
}

// listener is a net.Listener that can refuse new connections before it is closed. Then no connection is lost that the
// kernel has completed and nobody has accepted yet, which would otherwise be reset.
type listener struct {
	net.Listener
	writeTimeout time.Duration // of the connections

	once   sync.Once
	dry    sync.Once
	empty  chan struct{} // closed when Accept has returned everything
	closed chan struct{} // closed by Close

	mu      sync.Mutex
	refuses bool
	last    []net.Conn // from the kernel's queue
	err     error      // of the inner Close
}

func newListener(l net.Listener, writeTimeout time.Duration) *listener {
	return &listener{Listener: l, writeTimeout: writeTimeout, empty: make(chan struct{}), closed: make(chan struct{})}
}

// Accept implements net.Listener, for one goroutine. Once new connections are refused it returns those that were waiting,
// and then none until Close.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
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

// next takes a connection that was waiting.
func (l *listener) next() (c net.Conn, refuses bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) > 0 {
		c, l.last = l.last[0], l.last[1:]
	}
	return c, l.refuses
}

// refuse refuses new connections from now on, and returns when whoever calls Accept has taken all that were waiting and
// come back for more, or when ctx ends.
func (l *listener) refuse(ctx context.Context) {
	l.mu.Lock()
	if !l.refuses {
		l.refuses = true
		l.last = pending(l.Listener)
		l.err = l.Listener.Close()
	}
	l.mu.Unlock()
	select {
	case <-l.empty:
	case <-ctx.Done():
	}
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

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

	refusing      atomic.Pointer[time.Time] // until when the queue is emptied; nil before refuse
	empty, closed context.Context           // end when Accept has returned everything, and with Close
	setEmpty      context.CancelFunc
	setClosed     context.CancelFunc
	closeInner    func() error // once
}

func newListener(l net.Listener, writeTimeout time.Duration) *listener {
	own := &listener{Listener: l, writeTimeout: writeTimeout, closeInner: sync.OnceValue(l.Close)}
	own.empty, own.setEmpty = context.WithCancel(context.Background())
	own.closed, own.setClosed = context.WithCancel(context.Background())
	return own
}

// Accept implements net.Listener, for one goroutine. After refuse it returns the connections
// of the accept queue, and then blocks until Close.
func (l *listener) Accept() (net.Conn, error) {
	l.awaitQuiet()
	c, err := l.Listener.Accept()
	switch {
	case err == nil:
		return withWriteTimeout(c, l.writeTimeout), nil
	case l.refusing.Load() == nil:
		return nil, err
	}
	_ = l.closeInner() // Close returns the error
	l.setEmpty()
	<-l.closed.Done()
	return nil, net.ErrClosed
}

// refuse refuses new connections from now on. It returns when Accept has returned all that
// were in the queue and is called again, or when ctx ends.
func (l *listener) refuse(ctx context.Context) {
	l.refusing.Store(new(time.Now().Add(maxQueueTime)))
	ignoreNew(l.Listener)
	l.awaitQuiet()
	select {
	case <-l.empty.Done():
	case <-ctx.Done():
	}
}

// awaitQuiet makes a call of Accept fail, after refuse, when no connection arrives for the quiet period.
func (l *listener) awaitQuiet() {
	end := l.refusing.Load()
	if end == nil {
		return
	}
	deadline := time.Now().Add(quietPeriod)
	if end.Before(deadline) {
		deadline = *end
	}
	if inner, ok := l.Listener.(interface{ SetDeadline(t time.Time) error }); !ok || inner.SetDeadline(deadline) != nil {
		_ = l.closeInner() // Close returns the error
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.setClosed()
	return l.closeInner()
}

package xmain

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/internal/startup"
)

const (
	// quietPeriod is the time without a new connection after which the accept queue is
	// considered drained. A handshake in progress needs one round trip.
	quietPeriod = 20 * time.Millisecond

	// maxQueueTime is the maximum time for emptying the accept queue.
	maxQueueTime = 10 * quietPeriod
)

func listen(ctx context.Context, s startup.Settings) (*listener, error) {
	if s.Listener != nil {
		return newListener(s.Listener, s.WriteTimeout), nil
	}
	var c net.ListenConfig
	// MPTCP is on by default; dropSYN has no effect on it (Linux: net/mptcp/sockopt.c)
	c.SetMultipathTCP(false)
	l, err := c.Listen(ctx, "tcp", s.Address)
	if err != nil {
		return nil, fmt.Errorf("xmain: PLINTH_HOST and PLINTH_PORT: cannot listen on %s: %w",
			s.Address, err)
	}
	return newListener(l, s.WriteTimeout), nil
}

// listener is a net.Listener that empties its accept queue before it closes. The kernel
// resets connections that are still in the queue of a closed listener.
type listener struct {
	net.Listener
	writeTimeout time.Duration // of accepted connections

	drainUntil atomic.Pointer[time.Time] // deadline of the drain; nil before stopAccepting
	drained    context.Context           // done when the queue is empty
	setDrained context.CancelFunc
	close      func() error // closes Listener once
}

func newListener(l net.Listener, writeTimeout time.Duration) *listener {
	wrapped := &listener{Listener: l, writeTimeout: writeTimeout, close: sync.OnceValue(l.Close)}
	wrapped.drained, wrapped.setDrained = context.WithCancel(context.Background())
	return wrapped
}

// errStoppedAccepting is returned by Accept when the queue is empty. http.Server.Serve
// treats it as a normal shutdown.
var errStoppedAccepting = fmt.Errorf("%w: %w", http.ErrServerClosed, net.ErrClosed)

// Accept implements net.Listener. Only one goroutine may call it. After stopAccepting it
// returns the queued connections and then closes the listener.
func (l *listener) Accept() (net.Conn, error) {
	l.awaitQuiet()
	c, err := l.Listener.Accept()
	switch {
	case err == nil:
		return withWriteTimeout(c, l.writeTimeout), nil
	case l.drainUntil.Load() == nil:
		return nil, err
	}
	_ = l.close() // Close returns the error
	l.setDrained()
	return nil, errStoppedAccepting
}

// stopAccepting stops accepting new connections. It returns when Accept has returned all
// queued connections, or when ctx is done.
func (l *listener) stopAccepting(ctx context.Context) {
	l.drainUntil.Store(new(time.Now().Add(maxQueueTime)))
	dropSYN(l.Listener)
	l.awaitQuiet()
	select {
	case <-l.drained.Done():
	case <-ctx.Done():
	}
}

// awaitQuiet sets the deadline of the next Accept after stopAccepting, so that Accept
// fails if no connection arrives within the quiet period.
func (l *listener) awaitQuiet() {
	end := l.drainUntil.Load()
	if end == nil {
		return
	}
	deadline := time.Now().Add(quietPeriod)
	if end.Before(deadline) {
		deadline = *end
	}
	if inner, ok := l.Listener.(interface{ SetDeadline(t time.Time) error }); !ok ||
		inner.SetDeadline(deadline) != nil {
		_ = l.close() // Close returns the error
	}
}

// Close implements net.Listener. Repeated calls return the result of the first.
func (l *listener) Close() error { return l.close() }

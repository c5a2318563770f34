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
	// quietPeriod is how long no connection may arrive until the accept queue counts as
	// empty. A handshake that has started takes a round trip.
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
	// on by default, and ignoreNew has no effect on it (Linux: net/mptcp/sockopt.c)
	c.SetMultipathTCP(false)
	l, err := c.Listen(ctx, "tcp", s.Address)
	if err != nil {
		return nil, fmt.Errorf("xmain: PLINTH_HOST and PLINTH_PORT: cannot listen on %s: %w",
			s.Address, err)
	}
	return newListener(l, s.WriteTimeout), nil
}

// listener is a net.Listener that empties its accept queue before it is closed. The
// kernel resets the connections that are still in the queue of a closed listener.
type listener struct {
	net.Listener
	writeTimeout time.Duration // of the connections

	refusing atomic.Pointer[time.Time] // until when the queue is emptied; nil before refuse
	empty    context.Context           // ends when Accept has returned everything
	setEmpty context.CancelFunc
	close    func() error // of the Listener, once
}

func newListener(l net.Listener, writeTimeout time.Duration) *listener {
	own := &listener{Listener: l, writeTimeout: writeTimeout, close: sync.OnceValue(l.Close)}
	own.empty, own.setEmpty = context.WithCancel(context.Background())
	return own
}

// errRefused is the error of Accept when the queue is empty. For http.Server.Serve it is
// the end, not a failure.
var errRefused = fmt.Errorf("%w: %w", http.ErrServerClosed, net.ErrClosed)

// Accept implements net.Listener, for one goroutine. After refuse it returns the
// connections of the accept queue, and then closes the listener.
func (l *listener) Accept() (net.Conn, error) {
	l.awaitQuiet()
	c, err := l.Listener.Accept()
	switch {
	case err == nil:
		return withWriteTimeout(c, l.writeTimeout), nil
	case l.refusing.Load() == nil:
		return nil, err
	}
	_ = l.close() // Close returns the error
	l.setEmpty()
	return nil, errRefused
}

// refuse refuses new connections from now on. It returns when Accept has returned all
// that were in the queue and is called again, or when ctx ends.
func (l *listener) refuse(ctx context.Context) {
	l.refusing.Store(new(time.Now().Add(maxQueueTime)))
	ignoreNew(l.Listener)
	l.awaitQuiet()
	select {
	case <-l.empty.Done():
	case <-ctx.Done():
	}
}

// awaitQuiet makes a call of Accept fail, after refuse, when no connection arrives for
// the quiet period.
func (l *listener) awaitQuiet() {
	end := l.refusing.Load()
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

// Close implements net.Listener. Further calls return what the first one returned.
func (l *listener) Close() error { return l.close() }

package xmain

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// inFlight counts requests or connections, and waits until there are none.
type inFlight struct {
	n       atomic.Int64
	waiting atomic.Bool
	none    chan struct{} // has a value when n was 0
}

func newInFlight() *inFlight { return &inFlight{none: make(chan struct{}, 1)} }

func (f *inFlight) enter() { f.n.Add(1) }

func (f *inFlight) leave() {
	if f.n.Add(-1) == 0 && f.waiting.Load() {
		select {
		case f.none <- struct{}{}:
		default:
		}
	}
}

// wait returns when n is 0, or n when ctx ends.
func (f *inFlight) wait(ctx context.Context) (left int64) {
	f.waiting.Store(true)
	for f.n.Load() > 0 {
		select {
		case <-f.none:
		case <-ctx.Done():
			return f.n.Load()
		}
	}
	return 0
}

// pendingConns counts the connections whose first request has not reached its handler. net/http
// drops a request that it reads while it shuts down, so the stop waits for these first.
type pendingConns struct {
	inFlight *inFlight
	streams  *streams
	conns    sync.Map // net.Conn to *pendingConn
}

// pendingConn is one connection. It is pending until arrive or its end.
type pendingConn struct {
	inFlight *inFlight
	arrived  atomic.Bool
	hijacked atomic.Bool // by the handler that runs
	request  openRequest // the one that it carries, if it is no HTTP/2 connection
}

func (a *pendingConn) arrive() {
	if a.arrived.CompareAndSwap(false, true) {
		a.inFlight.leave()
	}
}

// pendingConnKey finds the pendingConn in the context of a connection.
type pendingConnKey struct{}

// watch makes the server tell of its connections, next to what the application has it tell, which gets the
// connections as they were accepted.
func (a *pendingConns) watch(s *http.Server) {
	connContext, connState := s.ConnContext, s.ConnState
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, accepted(c))
		}
		arr := &pendingConn{inFlight: a.inFlight}
		arr.request.conn = c
		ctx, arr.request.cancel = context.WithCancelCause(ctx)
		a.inFlight.enter()
		a.conns.Store(c, arr)
		ctx = xhelper.WithStreamReport(ctx, func() { a.streams.add(&arr.request) })
		return context.WithValue(ctx, pendingConnKey{}, arr)
	}
	s.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			a.end(c, state == http.StateHijacked)
		}
		if connState != nil {
			connState(accepted(c), state)
		}
	}
}

// end is called when a connection is closed, or hijacked: then its writes are the handler's, without a timeout.
func (a *pendingConns) end(c net.Conn, hijacked bool) {
	v, ok := a.conns.LoadAndDelete(c)
	if !ok {
		return
	}
	arr := v.(*pendingConn) //nolint:forcetypeassert // nothing else is stored
	arr.arrive()
	arr.hijacked.Store(hijacked)
	if !hijacked {
		arr.request.cancel(nil)
	} else if t, ok := c.(*timedConn); ok {
		t.release()
	}
}

// leave is called when a handler has returned. The context of a hijacked connection ends with it.
func (a *pendingConn) leave() {
	if a.hijacked.Load() {
		a.request.cancel(nil)
	}
}

// connOf returns the connection of a request.
func connOf(req *http.Request) *pendingConn {
	return req.Context().Value(pendingConnKey{}).(*pendingConn) //nolint:forcetypeassert // set for every connection
}

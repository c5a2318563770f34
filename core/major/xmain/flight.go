package xmain

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// flight counts what is under way.
type flight struct {
	n       atomic.Int64
	waiting atomic.Bool
	landed  chan struct{}
}

func newFlight() *flight { return &flight{landed: make(chan struct{}, 1)} }

func (f *flight) enter() { f.n.Add(1) }

func (f *flight) leave() {
	if f.n.Add(-1) == 0 && f.waiting.Load() {
		select {
		case f.landed <- struct{}{}:
		default:
		}
	}
}

// wait returns when nothing is under way, or with how much is when ctx ends.
func (f *flight) wait(ctx context.Context) (left int64) {
	f.waiting.Store(true)
	for f.n.Load() > 0 {
		select {
		case <-f.landed:
		case <-ctx.Done():
			return f.n.Load()
		}
	}
	return 0
}

// arrivals counts the connections whose first request has not reached its handler. net/http drops a request that it
// reads while it shuts down; so these are waited for first.
type arrivals struct {
	flight  *flight
	streams *streams
	conns   sync.Map // net.Conn to *arrival
}

// arrival is one connection; it lands once.
type arrival struct {
	flight   *flight
	landed   atomic.Bool
	hijacked atomic.Bool // by the handler that runs
	request  inflight    // the one that it carries, if it is no HTTP/2 connection
}

func (a *arrival) land() {
	if a.landed.CompareAndSwap(false, true) {
		a.flight.leave()
	}
}

// arrivalKey finds the arrival in the context of a connection.
type arrivalKey struct{}

// watch makes the server tell of its connections, beside what the application has it tell.
func (a *arrivals) watch(s *http.Server) {
	connContext, connState := s.ConnContext, s.ConnState
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, c)
		}
		arr := &arrival{flight: a.flight}
		arr.request.conn = c
		ctx, arr.request.cancel = context.WithCancelCause(ctx)
		a.flight.enter()
		a.conns.Store(c, arr)
		ctx = xhelper.WithStreamReport(ctx, func() { a.streams.add(&arr.request) })
		return context.WithValue(ctx, arrivalKey{}, arr)
	}
	s.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			if v, ok := a.conns.LoadAndDelete(c); ok {
				arr := v.(*arrival) //nolint:forcetypeassert // nothing else is stored
				arr.land()
				if arr.hijacked.Store(state == http.StateHijacked); state == http.StateClosed {
					arr.request.cancel(nil)
				}
			}
		}
		if connState != nil {
			connState(c, state)
		}
	}
}

// leave is called when a handler has returned. The context of a hijacked connection ends with it.
func (a *arrival) leave() {
	if a.hijacked.Load() {
		a.request.cancel(nil)
	}
}

// arrivalOf returns the connection of a request.
func arrivalOf(req *http.Request) *arrival {
	return req.Context().Value(arrivalKey{}).(*arrival) //nolint:forcetypeassert // set for every connection
}

package xmain

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// streamGrace is how long a stream whose context has ended has before its connection is closed,
// and then before the stop goes on without it.
const streamGrace = time.Second

// errStreamEnd is the cause with which the contexts of streams end.
var errStreamEnd = errors.New("the drain delay is over")

// The states of an openRequest.
const (
	requestEnded int32 = iota
	requestOrdinary
	requestStream
)

// openRequest is the request that a connection carries, or one of those of an HTTP/2 connection.
type openRequest struct {
	state  atomic.Int32
	cancel context.CancelCauseFunc // ends its context
	conn   net.Conn                // nil for HTTP/2, whose connection has other requests too
}

// streams are the requests in flight that have no end of their own: a stop ends them instead of
// waiting for them. A request is an ordinary one until it is known to be a stream.
type streams struct {
	ordinary, inFlight *inFlight

	mu     sync.Mutex
	open   map[*openRequest]struct{}
	ended  bool // end was called
	closed bool // and its grace is over
}

func newStreams(ordinary *inFlight) *streams {
	return &streams{ordinary: ordinary, inFlight: newInFlight(), open: map[*openRequest]struct{}{}}
}

// enter counts a request, which is an ordinary one so far.
func (s *streams) enter(q *openRequest) {
	q.state.Store(requestOrdinary)
	s.ordinary.enter()
}

// leave is called when the handler has returned.
func (s *streams) leave(q *openRequest) {
	if q.state.Swap(requestEnded) != requestStream {
		s.ordinary.leave()
		return
	}
	s.mu.Lock()
	delete(s.open, q)
	s.mu.Unlock()
	s.inFlight.leave()
}

// add makes a request in flight a stream.
func (s *streams) add(q *openRequest) {
	s.mu.Lock() // until q is in open, so that leave cannot come between
	if !q.state.CompareAndSwap(requestOrdinary, requestStream) {
		s.mu.Unlock()
		return
	}
	s.inFlight.enter()
	s.ordinary.leave()
	s.open[q] = struct{}{}
	ended, closed := s.ended, s.closed
	s.mu.Unlock()
	if ended {
		q.cancel(cut(errStreamEnd))
	}
	if closed {
		q.close()
	}
}

// end ends the contexts of all streams, also of those that begin later, and closes the connections of
// those that go on.
func (s *streams) end(ctx context.Context) {
	for _, q := range s.mark(&s.ended) {
		q.cancel(cut(errStreamEnd))
	}
	grace, cancel := context.WithTimeout(ctx, streamGrace)
	defer cancel()
	if s.inFlight.wait(grace) == 0 {
		return
	}
	for _, q := range s.mark(&s.closed) {
		q.close()
	}
}

// mark sets one of the flags and returns the streams that have begun before.
func (s *streams) mark(flag *bool) []*openRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	*flag = true
	list := make([]*openRequest, 0, len(s.open))
	for q := range s.open {
		list = append(list, q)
	}
	return list
}

// close closes the connection of a stream, for a handler that does not look at its context.
func (q *openRequest) close() {
	if q.conn != nil {
		_ = q.conn.Close()
	}
}

// asksForEvents reports whether a client opens a stream of server-sent events, as browsers do. The
// response may start with the first event, so a stop must know before.
func asksForEvents(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get("Accept") == "text/event-stream"
}

// begin counts a request and makes it known to xhelper, which finds out whether it is a stream. The
// result is to be called when the handler has returned.
func (s *streams) begin(req *http.Request, a *pendingConn) (*http.Request, func()) {
	q, end := &a.request, func() {}
	if req.ProtoMajor > 1 {
		ctx, cancel := context.WithCancelCause(req.Context())
		q = &openRequest{cancel: cancel}
		req = req.WithContext(xhelper.WithStreamReport(ctx, func() { s.add(q) }))
		end = func() { cancel(nil) }
	}
	s.enter(q)
	if asksForEvents(req) {
		s.add(q)
	}
	return req, func() { s.leave(q); end() }
}

package xmain

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

const (
	// streamGrace is how long a stream whose context has ended has before its connection
	// is closed, and then before the stop goes on without it.
	streamGrace = time.Second

	// pollInterval is how often a stop looks whether anything is in flight, as
	// http.Server.Shutdown does.
	pollInterval = 2 * time.Millisecond
)

// errStreamEnd is the cause with which the contexts of streams end.
var errStreamEnd = errors.New("the drain delay is over")

// traffic is what the HTTP server has in flight. A request is an ordinary one until it is
// known to be a stream: one that has no end of its own, so that a stop ends it instead of
// waiting for it.
//
// A connection is pending until its first request has reached the handler. net/http drops
// a request that it reads while it shuts down, so the stop waits for these connections
// first.
type traffic struct {
	requests, streams, pending atomic.Int64

	conns sync.Map // net.Conn to *connection

	// end with the contexts and with the connections of streams
	ending, closing          context.Context
	endStreams, closeStreams context.CancelFunc
}

func newTraffic() *traffic {
	t := &traffic{}
	t.ending, t.endStreams = context.WithCancel(context.Background())
	t.closing, t.closeStreams = context.WithCancel(context.Background())
	return t
}

// wait returns when n is 0, or n when ctx ends.
func wait(ctx context.Context, n *atomic.Int64) (left int64) {
	for n.Load() > 0 {
		if xretry.Sleep(ctx, pollInterval) != nil {
			return n.Load()
		}
	}
	return 0
}

// request is the request that a connection carries, or one of those of an HTTP/2
// connection.
type request struct {
	cancel context.CancelCauseFunc // ends its context
	conn   net.Conn                // nil for HTTP/2, whose connection has other requests too

	mu     sync.Mutex
	open   bool
	forget func() // of a stream: a stop ends it no longer
}

// enter counts a request, and makes it known to xhelper, which finds out whether it is a
// stream. The caller calls leave when the handler has returned.
func (t *traffic) enter(c *connection, req *http.Request) (*http.Request, *request) {
	q := &c.request
	if req.ProtoMajor > 1 {
		q = new(request)
		req = req.WithContext(t.adopt(req.Context(), q))
	}
	t.requests.Add(1)
	q.mu.Lock()
	q.open = true
	q.mu.Unlock()
	t.arrive(c)
	if asksForEvents(req) {
		t.stream(q)
	}
	return req, q
}

// adopt returns a context for q that tells when it becomes a stream.
func (t *traffic) adopt(ctx context.Context, q *request) context.Context {
	ctx, q.cancel = context.WithCancelCause(ctx)
	return xhelper.WithStreamReport(ctx, func() { t.stream(q) })
}

// leave ends what enter has begun. The context of a hijacked connection ends with its
// handler.
func (t *traffic) leave(c *connection, q *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = false
	if q.forget != nil {
		q.forget()
		q.forget = nil
		t.streams.Add(-1)
	} else {
		t.requests.Add(-1)
	}
	if q.conn == nil || c.hijacked.Load() {
		q.cancel(nil)
	}
}

// stream makes an open request a stream. If a stop has already ended the others, it ends
// this one too.
func (t *traffic) stream(q *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open || q.forget != nil {
		return
	}
	t.streams.Add(1)
	t.requests.Add(-1)
	keepContext := context.AfterFunc(t.ending, func() { q.cancel(cut(errStreamEnd)) })
	keepConn := context.AfterFunc(t.closing, q.close)
	q.forget = func() {
		keepContext()
		keepConn()
	}
}

// close closes the connection of a stream, for a handler that does not look at its
// context.
func (q *request) close() {
	if q.conn != nil {
		_ = q.conn.Close()
	}
}

// stopStreams ends the contexts of all streams, also of those that begin later, and
// closes the connections of those that go on.
func (t *traffic) stopStreams(ctx context.Context) {
	t.endStreams()
	grace, cancel := context.WithTimeout(ctx, streamGrace)
	defer cancel()
	if wait(grace, &t.streams) > 0 {
		t.closeStreams()
	}
}

// asksForEvents reports whether a client opens a stream of server-sent events, as
// browsers do. The response may start with the first event, so a stop must know before.
func asksForEvents(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get("Accept") == "text/event-stream"
}

// connection is one connection of the server.
type connection struct {
	request  request // the one that it carries, if it is no HTTP/2 connection
	arrived  sync.Once
	hijacked atomic.Bool // by the handler that runs
}

// connectionKey finds the connection in its context.
type connectionKey struct{}

// connectionOf returns the connection of a request.
func connectionOf(req *http.Request) *connection {
	return req.Context().Value(connectionKey{}).(*connection) //nolint:forcetypeassert // set for every connection
}

// arrive ends the time in which a connection is pending.
func (t *traffic) arrive(c *connection) { c.arrived.Do(func() { t.pending.Add(-1) }) }

// watch makes the server tell of its connections, next to what the application has it
// tell, which gets the connections as they were accepted.
func (t *traffic) watch(s *http.Server) {
	connContext, connState := s.ConnContext, s.ConnState
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, accepted(c))
		}
		own := &connection{request: request{conn: c}}
		t.pending.Add(1)
		t.conns.Store(c, own)
		return context.WithValue(t.adopt(ctx, &own.request), connectionKey{}, own)
	}
	s.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			t.disconnect(c, state == http.StateHijacked)
		}
		if connState != nil {
			connState(accepted(c), state)
		}
	}
}

// disconnect is called when a connection is closed, or hijacked: then its writes are the
// handler's, without a timeout.
func (t *traffic) disconnect(c net.Conn, hijacked bool) {
	v, _ := t.conns.LoadAndDelete(c)
	own, ok := v.(*connection)
	if !ok {
		return // closed before it was served
	}
	t.arrive(own)
	own.hijacked.Store(hijacked)
	if !hijacked {
		own.request.cancel(nil)
	} else if timed, ok := c.(*timedConn); ok {
		timed.release()
	}
}

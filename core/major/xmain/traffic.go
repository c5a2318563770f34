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
	// streamGrace is how long a stream has to return after its context is canceled, and
	// again after its connection is closed.
	streamGrace = time.Second

	// pollInterval is the interval for checking in-flight requests, similar to
	// http.Server.Shutdown.
	pollInterval = 2 * time.Millisecond
)

// errStreamEnd is the cancellation cause of streams.
var errStreamEnd = errors.New("the drain delay has passed")

// traffic tracks the in-flight requests and streams of the HTTP server. A shutdown waits
// for ordinary requests but stops streams, which may be endless.
//
// A connection is pending until its first request reaches the handler. net/http drops a
// request that it reads during Shutdown, so the shutdown first waits for pending
// connections.
type traffic struct {
	requests, streams, pending atomic.Int64

	conns sync.Map // net.Conn to *connection

	// done when stream contexts are canceled and stream connections closed
	canceledCtx, closedCtx      context.Context
	cancelStreams, closeStreams context.CancelFunc
}

func newTraffic() *traffic {
	t := &traffic{}
	t.canceledCtx, t.cancelStreams = context.WithCancel(context.Background())
	t.closedCtx, t.closeStreams = context.WithCancel(context.Background())
	return t
}

// waitZero waits until n is 0. It returns the value of n if ctx is done first.
func waitZero(ctx context.Context, n *atomic.Int64) (left int64) {
	for n.Load() > 0 {
		if xretry.Sleep(ctx, pollInterval) != nil {
			return n.Load()
		}
	}
	return 0
}

// request is the current request of an HTTP/1 connection, or one request of an HTTP/2
// connection.
type request struct {
	cancel context.CancelCauseFunc // cancels its context
	conn   net.Conn                // nil for HTTP/2, which shares the connection

	mu         sync.Mutex
	open       bool
	unregister func() // set for streams: stops the AfterFuncs of markStream
}

// enter counts a request. xhelper reports if it becomes a stream. The caller must call
// leave when the handler returns.
func (t *traffic) enter(c *connection, req *http.Request) (*http.Request, *request) {
	q := &c.request
	if req.ProtoMajor > 1 {
		q = new(request)
		req = req.WithContext(t.withStreamReport(req.Context(), q))
	}
	t.requests.Add(1)
	q.mu.Lock()
	q.open = true
	q.mu.Unlock()
	t.markActive(c)
	if acceptsEventStream(req) {
		t.markStream(q)
	}
	return req, q
}

// withStreamReport returns a context for q that reports when q becomes a stream.
func (t *traffic) withStreamReport(ctx context.Context, q *request) context.Context {
	ctx, q.cancel = context.WithCancelCause(ctx)
	return xhelper.WithStreamReport(ctx, func() { t.markStream(q) })
}

// leave reverts enter. It also cancels the context of an HTTP/2 request or a hijacked
// connection.
func (t *traffic) leave(c *connection, q *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = false
	if q.unregister != nil {
		q.unregister()
		q.unregister = nil
		t.streams.Add(-1)
	} else {
		t.requests.Add(-1)
	}
	if q.conn == nil || c.hijacked.Load() {
		q.cancel(nil)
	}
}

// markStream counts an open request as a stream. If streams are already being stopped, it
// cancels this one too.
func (t *traffic) markStream(q *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open || q.unregister != nil {
		return
	}
	t.streams.Add(1)
	t.requests.Add(-1)
	stopCancel := context.AfterFunc(t.canceledCtx, func() { q.cancel(stoppingError(errStreamEnd)) })
	stopClose := context.AfterFunc(t.closedCtx, q.close)
	q.unregister = func() {
		stopCancel()
		stopClose()
	}
}

// close closes the connection of a stream whose handler ignores its context.
func (q *request) close() {
	if q.conn != nil {
		_ = q.conn.Close()
	}
}

// stopStreams cancels the contexts of all current and future streams. It closes the
// connections of those that do not return within streamGrace.
func (t *traffic) stopStreams(ctx context.Context) {
	t.cancelStreams()
	graceCtx, cancel := context.WithTimeout(ctx, streamGrace)
	defer cancel()
	if waitZero(graceCtx, &t.streams) > 0 {
		t.closeStreams()
	}
}

// acceptsEventStream reports whether the client requests server-sent events, as browsers
// do. The handler may write nothing until the first event, so such a request counts as a
// stream from the start.
func acceptsEventStream(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get("Accept") == "text/event-stream"
}

// connection is one connection of the server.
type connection struct {
	request  request // unused for HTTP/2
	active   sync.Once
	hijacked atomic.Bool // by the running handler
}

// connectionKey is the context key of the connection.
type connectionKey struct{}

func connectionOf(req *http.Request) *connection {
	return req.Context().Value(connectionKey{}).(*connection) //nolint:forcetypeassert // set for every connection
}

// markActive marks the connection as no longer pending.
func (t *traffic) markActive(c *connection) { c.active.Do(func() { t.pending.Add(-1) }) }

// trackConnections registers the connections of s. It also calls the application's
// ConnContext and ConnState, with the connections that the listener accepted.
func (t *traffic) trackConnections(s *http.Server) {
	connContext, connState := s.ConnContext, s.ConnState
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, acceptedConn(c))
		}
		tracked := &connection{request: request{conn: c}}
		t.pending.Add(1)
		t.conns.Store(c, tracked)
		return context.WithValue(t.withStreamReport(ctx, &tracked.request), connectionKey{},
			tracked)
	}
	s.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			t.disconnect(c, state == http.StateHijacked)
		}
		if connState != nil {
			connState(acceptedConn(c), state)
		}
	}
}

// disconnect removes a connection that was closed or hijacked. The writes of a hijacked
// connection have no timeout.
func (t *traffic) disconnect(c net.Conn, hijacked bool) {
	v, _ := t.conns.LoadAndDelete(c)
	tracked, ok := v.(*connection)
	if !ok {
		return // closed before it was served
	}
	t.markActive(tracked)
	tracked.hijacked.Store(hijacked)
	if !hijacked {
		tracked.request.cancel(nil)
	} else if timed, ok := c.(*timedConn); ok {
		timed.setHijacked()
	}
}

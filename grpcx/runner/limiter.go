package runner

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// warnEvery is the minimum interval between two warnings about one limit.
const warnEvery = 10 * time.Second

// limiter limits the resources that clients use before an interceptor runs: the arrival
// time and the bytes of incomplete request messages, and the number of connections.
//
// grpc-go reads a request into memory before it runs the first interceptor, grants each
// call a window for its whole message, and reports neither calls nor bytes. The limiter
// therefore parses the frames of each connection and charges the connection with its
// incomplete messages; see frames.
//
// If grpc.Creds encrypts a connection, the limiter sees only the start of a call (a tap),
// its first interceptor, and the number of bytes. It then charges the bytes received
// since the oldest waiting call started, at most the maximum message size for each
// waiting call.
type limiter struct {
	maxBytes       int64         // 0: no limit
	maxConnections int64         // 0: no limit
	timeout        time.Duration // 0: no limit
	log            *xlog.LogNamedLogger

	used      atomic.Int64 // the sum of all charges
	open      atomic.Int64 // connections
	canceling sync.Mutex   // locked while calls are canceled

	mu      sync.Mutex
	sources map[*source]struct{}

	other    *source   // for calls of unknown connections
	unparsed sync.Once // warning about connections whose frames cannot be parsed

	connectionWarning, bytesWarning throttle
}

func newLimiter(c *config, limits limitVariables) *limiter {
	l := &limiter{
		maxBytes:       limits.MaxInflightBytes,
		maxConnections: int64(limits.MaxConnections),
		timeout:        limits.FirstMessageTimeout,
		log:            c.log,
		sources:        map[*source]struct{}{},
	}
	l.other = newSource(l)
	return l
}

// enter registers a connection. It returns nil if too many are open.
func (l *limiter) enter() *source {
	if n := l.open.Add(1); l.maxConnections > 0 && n > l.maxConnections {
		l.open.Add(-1)
		if l.connectionWarning.allow() {
			l.log.Warn(context.Background(), "connection rejected: too many open connections",
				slog.Int64("limit", l.maxConnections),
				slog.String("raise", "GRPC_MAX_CONNECTIONS"))
		}
		return nil
	}
	s := newSource(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources[s] = struct{}{}
	return s
}

func (l *limiter) leave(s *source) {
	l.open.Add(-1)
	l.mu.Lock()
	delete(l.sources, s)
	l.mu.Unlock()
	s.close()
}

// localAddr is the local address of a connection with its source. A tap has access to the
// addresses of a connection only.
type localAddr struct {
	net.Addr
	source *source
}

// tap registers a call when its header arrives.
func (l *limiter) tap(ctx context.Context, _ *tap.Info) (context.Context, error) {
	from := l.other
	if p, ok := peer.FromContext(ctx); ok {
		if local, ok := p.LocalAddr.(*localAddr); ok {
			from = local.source
		}
	}
	switch {
	case !from.parsed.Load():
		l.unparsed.Do(func() {
			l.log.Warn(ctx, "incomplete messages are limited approximately: "+
				"use runner.WithCredentials instead of grpc.Creds")
		})
	case from.header.last:
		return ctx, nil // no message follows
	}
	return from.add(ctx), nil
}

// cancelExcess cancels calls of the connection with the largest charge while the charges
// exceed the limit, until they are an eighth below it. It waits until the calls release
// their messages; otherwise a client could send faster than its calls end.
func (l *limiter) cancelExcess() {
	l.canceling.Lock()
	defer l.canceling.Unlock()
	l.refresh()
	if l.used.Load() <= l.maxBytes {
		return
	}
	var canceled []*incoming
	for l.used.Load() > l.maxBytes-l.maxBytes/8 {
		c := l.cancelOne()
		if c == nil {
			break
		}
		canceled = append(canceled, c)
	}
	if len(canceled) > 0 && l.bytesWarning.allow() {
		l.log.Warn(context.Background(), "calls canceled: too many bytes of incomplete messages",
			slog.Int("calls", len(canceled)), slog.Int64("limit", l.maxBytes),
			slog.String("raise", "GRPC_MAX_INFLIGHT_BYTES"))
	}
	await(canceled)
}

// refresh removes the calls that the server has closed.
func (l *limiter) refresh() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.sources {
		s.refresh()
	}
}

// cancelOne cancels the call with the largest incomplete message of the connection with
// the largest charge. It returns nil if no call is found.
func (l *limiter) cancelOne() *incoming {
	l.mu.Lock()
	defer l.mu.Unlock()
	var largest *source
	for s := range l.sources {
		if largest == nil || s.charged.Load() > largest.charged.Load() {
			largest = s
		}
	}
	if largest == nil {
		return nil
	}
	return largest.cancelLargest()
}

// unary returns an interceptor that marks the request message as arrived and calls next.
func (l *limiter) unary(next grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo,
		handler grpc.UnaryHandler,
	) (any, error) {
		arrived(ctx)
		return next(ctx, req, info, handler)
	}
}

// stream is the streaming counterpart of unary. For client streams the timeout stops when
// the interceptors start, because the client may send later and the handler decides when
// to receive.
func (l *limiter) stream(next grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo,
		handler grpc.StreamHandler,
	) error {
		if info.IsClientStream {
			arrived(ss.Context())
		} else {
			ss = &request{ServerStream: ss}
		}
		return next(srv, ss, info, handler)
	}
}

// request is the stream of a call with a single request.
type request struct{ grpc.ServerStream }

// RecvMsg implements grpc.ServerStream.
func (r *request) RecvMsg(m any) error {
	err := r.ServerStream.RecvMsg(m)
	arrived(r.Context())
	return err
}

// throttle limits the rate of a warning.
type throttle struct{ last atomic.Int64 }

func (t *throttle) allow() bool {
	last, now := t.last.Load(), time.Now().UnixNano()
	return now-last >= int64(warnEvery) && t.last.CompareAndSwap(last, now)
}

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
// If grpc.Creds encrypts a connection, the limiter sees only the start of a
// call (a tap), its first interceptor, and the number of bytes. It then charges the bytes
// received since the oldest waiting call started, at most the maximum message size for
// each waiting call.
type limiter struct {
	maxBytes       int64         // 0: no limit
	maxConnections int64         // 0: no limit
	timeout        time.Duration // 0: no limit
	log            *xlog.LogNamedLogger

	used      atomic.Int64 // the sum of all charges
	open      atomic.Int64 // connections
	canceling sync.Mutex   // held while calls are canceled

	mu      sync.Mutex
	sources map[*source]struct{}

	other    *source   // for calls of unknown connections
	unparsed sync.Once // warning about connections whose frames cannot be parsed

	full, excess occasional
}

func newLimiter(c *config, limits limitVariables) *limiter {
	in := &limiter{
		maxBytes: limits.MaxInflightBytes, maxConnections: int64(limits.MaxConnections),
		timeout: limits.FirstMessageTimeout,
		log:     c.log, sources: map[*source]struct{}{},
	}
	in.other = newSource(in)
	return in
}

// enter registers a connection. It returns nil if there are too many.
func (in *limiter) enter() *source {
	if n := in.open.Add(1); in.maxConnections > 0 && n > in.maxConnections {
		in.open.Add(-1)
		if in.full.now() {
			in.log.Warn(context.Background(), "connection rejected: too many open connections",
				slog.Int64("limit", in.maxConnections),
				slog.String("raise", "GRPC_MAX_CONNECTIONS"))
		}
		return nil
	}
	s := newSource(in)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sources[s] = struct{}{}
	return s
}

func (in *limiter) leave(s *source) {
	in.open.Add(-1)
	in.mu.Lock()
	delete(in.sources, s)
	in.mu.Unlock()
	s.close()
}

// localAddr is the local address of a connection with its source. A tap has access to the
// addresses of a connection only.
type localAddr struct {
	net.Addr
	source *source
}

// tap registers a call when its header arrives.
func (in *limiter) tap(ctx context.Context, _ *tap.Info) (context.Context, error) {
	from := in.other
	if p, ok := peer.FromContext(ctx); ok {
		if local, ok := p.LocalAddr.(*localAddr); ok {
			from = local.source
		}
	}
	switch {
	case !from.parsed.Load():
		in.unparsed.Do(func() {
			in.log.Warn(ctx, "incomplete messages are limited approximately: use runner.WithCredentials instead of grpc.Creds")
		})
	case from.header.last:
		return ctx, nil // no message follows
	}
	return from.add(ctx), nil
}

// cancelExcess cancels calls of the connection with the largest charge while the charges
// exceed the limit, until they are an eighth below it. It waits until the calls release
// their messages; otherwise a client could send faster than its calls end.
func (in *limiter) cancelExcess() {
	in.canceling.Lock()
	defer in.canceling.Unlock()
	in.refresh()
	if in.used.Load() <= in.maxBytes {
		return
	}
	var canceled []*incoming
	for in.used.Load() > in.maxBytes-in.maxBytes/8 {
		c := in.cancelOne()
		if c == nil {
			break
		}
		canceled = append(canceled, c)
	}
	if len(canceled) > 0 && in.excess.now() {
		in.log.Warn(context.Background(), "calls canceled: too many bytes of incomplete messages",
			slog.Int("calls", len(canceled)),
			slog.Int64("limit", in.maxBytes), slog.String("raise", "GRPC_MAX_INFLIGHT_BYTES"))
	}
	await(canceled)
}

// refresh removes the calls that the server has closed.
func (in *limiter) refresh() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.sources {
		s.refresh()
	}
}

// cancelOne cancels the call with the largest incomplete message of the connection with
// the largest charge. It returns nil if no call is found.
func (in *limiter) cancelOne() *incoming {
	in.mu.Lock()
	defer in.mu.Unlock()
	var most *source
	for s := range in.sources {
		if most == nil || s.charged.Load() > most.charged.Load() {
			most = s
		}
	}
	if most == nil {
		return nil
	}
	return most.cancelLargest()
}

// unary returns an interceptor that marks the request message as arrived and calls next.
func (in *limiter) unary(next grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
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
func (in *limiter) stream(next grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
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

// occasional limits the rate of a warning.
type occasional struct{ last atomic.Int64 }

func (o *occasional) now() bool {
	last, now := o.last.Load(), time.Now().UnixNano()
	return now-last >= int64(warnEvery) && o.last.CompareAndSwap(last, now)
}

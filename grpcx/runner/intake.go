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

// warnEvery is the shortest time between two warnings about the same limit.
const warnEvery = 10 * time.Second

// intake bounds what clients make the server store before a handler or an interceptor
// sees their calls: the time and the bytes of request messages that have not arrived
// completely, and the number of connections.
//
// grpc-go reads a request into memory before it runs the first interceptor, grants each
// call a window for its whole message as soon as it reads the message's length, and
// reports neither the calls nor the bytes that wait. So the intake follows the frames of
// a connection, and charges it with its unfinished messages: see frames.
//
// If grpc.Creds encrypts a connection, the intake sees the start of a call (a tap), its
// first interceptor, and the number of bytes. It then charges the connection with the
// bytes received since its oldest call without a first message started, but with no more
// than the largest message for each of these calls.
type intake struct {
	maxBytes       int64         // 0 is no limit
	maxConnections int64         // 0 is no limit
	timeout        time.Duration // 0 is no limit
	log            *xlog.LogNamedLogger

	used      atomic.Int64 // the sum of all charges
	open      atomic.Int64 // connections
	relieving sync.Mutex   // held while calls are ended

	mu      sync.Mutex
	sources map[*source]struct{}

	other *source   // of the calls whose connection is unknown
	blind sync.Once // warns of connections whose frames cannot be followed

	full, excess occasional
}

func newIntake(c *config, limits limitVariables) *intake {
	in := &intake{
		maxBytes: limits.MaxInflightBytes, maxConnections: int64(limits.MaxConnections),
		timeout: limits.FirstMessageTimeout,
		log:     c.log, sources: map[*source]struct{}{},
	}
	in.other = newSource(in)
	return in
}

// enter registers a connection, and returns nil if there are too many.
func (in *intake) enter() *source {
	if n := in.open.Add(1); in.maxConnections > 0 && n > in.maxConnections {
		in.open.Add(-1)
		if in.full.now() {
			in.log.Warn(context.Background(), "connection closed: too many are open",
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

// leave removes a connection.
func (in *intake) leave(s *source) {
	in.open.Add(-1)
	in.mu.Lock()
	delete(in.sources, s)
	in.mu.Unlock()
	s.close()
}

// localAddr is the address of a connection on this side, by which a tap finds its source:
// a tap sees nothing else of a connection that no handler needs as it is.
type localAddr struct {
	net.Addr
	source *source
}

// tap registers a call when its header has arrived.
func (in *intake) tap(ctx context.Context, _ *tap.Info) (context.Context, error) {
	from := in.other
	if p, ok := peer.FromContext(ctx); ok {
		if local, ok := p.LocalAddr.(*localAddr); ok {
			from = local.source
		}
	}
	switch {
	case !from.followed.Load():
		in.blind.Do(func() {
			in.log.Warn(ctx, "unfinished messages are bounded roughly: give the credentials to runner.WithCredentials instead of grpc.Creds")
		})
	case from.header.last:
		return ctx, nil // no message comes
	}
	return from.add(ctx), nil
}

// relieve ends calls of the connection with the largest charge if the charges exceed the
// limit, until the rest is an eighth below it. It returns when they have released their
// messages, since a client could otherwise send faster than its calls end.
func (in *intake) relieve() {
	in.relieving.Lock()
	defer in.relieving.Unlock()
	in.refresh()
	if in.used.Load() <= in.maxBytes {
		return
	}
	var ended []*incoming
	for in.used.Load() > in.maxBytes-in.maxBytes/8 {
		c := in.endOne()
		if c == nil {
			break
		}
		ended = append(ended, c)
	}
	if len(ended) > 0 && in.excess.now() {
		in.log.Warn(context.Background(), "calls ended: too many bytes of unfinished messages",
			slog.Int("calls", len(ended)),
			slog.Int64("limit", in.maxBytes), slog.String("raise", "GRPC_MAX_INFLIGHT_BYTES"))
	}
	await(ended)
}

// refresh forgets the calls that the server has closed.
func (in *intake) refresh() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.sources {
		s.refresh()
	}
}

// endOne ends the call with the largest unfinished message of the connection with the
// largest charge. It returns nil if there is none.
func (in *intake) endOne() *incoming {
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
	return most.endLargest()
}

// unary returns next as an interceptor that marks the message of a call as arrived.
func (in *intake) unary(next grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo,
		handler grpc.UnaryHandler,
	) (any, error) {
		arrived(ctx)
		return next(ctx, req, info, handler)
	}
}

// stream is unary for streams. The timeout does not apply to a call with a stream of
// requests from the start of its interceptors on: its client may have nothing to say yet,
// and its handler decides when to receive.
func (in *intake) stream(next grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
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

// request is the stream of a call with one request.
type request struct{ grpc.ServerStream }

// RecvMsg implements grpc.ServerStream.
func (r *request) RecvMsg(m any) error {
	err := r.ServerStream.RecvMsg(m)
	arrived(r.Context())
	return err
}

// occasional limits how often a warning is logged.
type occasional struct{ last atomic.Int64 }

func (o *occasional) now() bool {
	last, now := o.last.Load(), time.Now().UnixNano()
	return now-last >= int64(warnEvery) && o.last.CompareAndSwap(last, now)
}

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

// intake bounds what clients make the server store before a handler or an interceptor sees
// their calls: the time and the bytes of request messages that have not arrived completely,
// and the number of connections.
//
// grpc-go reads a request into memory before it runs the first interceptor, grants each call
// a window for its whole message as soon as it reads the message's length, and reports neither
// the calls nor the bytes that wait. So the intake follows the frames of a connection, and
// charges it with its unfinished messages: see frames.
//
// If grpc-go encrypts a connection, the intake sees the start of a call (a tap), its first
// interceptor, and the number of bytes. It then charges the connection with the bytes received
// since its oldest request without a complete message started, but with no more than the
// largest message for each of them. A call with a stream of requests is not charged there.
type intake struct {
	maxBytes       int64         // 0 is no limit
	maxMessage     int64         // the largest request
	maxConnections int64         // 0 is no limit
	timeout        time.Duration // 0 is no limit
	log            *xlog.LogNamedLogger

	used  atomic.Int64 // the sum of all charges
	open  atomic.Int64 // connections
	other *source      // of the calls whose connection is unknown

	mu      sync.Mutex
	sources map[*source]struct{}
	byAddr  map[net.Addr]*source // by a pointer that RemoteAddr has returned, for that is what a tap sees of a connection

	full, excess occasional
}

func newIntake(c *config) *intake {
	in := &intake{
		maxBytes: c.maxInflightBytes, maxMessage: int64(c.maxMessage), maxConnections: int64(c.maxConnections),
		timeout: c.firstMessage, log: c.log, sources: map[*source]struct{}{}, byAddr: map[net.Addr]*source{},
	}
	in.other = &source{intake: in}
	return in
}

// enter registers a connection, and returns nil if there are too many.
func (in *intake) enter() *source {
	if n := in.open.Add(1); in.maxConnections > 0 && n > in.maxConnections {
		in.open.Add(-1)
		if in.full.now() {
			in.log.Warn(context.Background(), "connection closed: too many are open",
				slog.Int64("limit", in.maxConnections), slog.String("raise", "GRPC_MAX_CONNECTIONS"))
		}
		return nil
	}
	s := &source{intake: in}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sources[s] = struct{}{}
	return s
}

// name notes an address under which a tap finds a connection. Other kinds of addresses are
// values, which several connections share.
func (in *intake) name(s *source, addr net.Addr) {
	switch addr.(type) {
	case *net.TCPAddr, *net.UnixAddr:
	default:
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, open := in.sources[s]; open && in.byAddr[addr] != s {
		in.byAddr[addr] = s
		s.addrs = append(s.addrs, addr)
	}
}

// leave removes a connection.
func (in *intake) leave(s *source) {
	in.open.Add(-1)
	in.mu.Lock()
	delete(in.sources, s)
	for _, addr := range s.addrs {
		delete(in.byAddr, addr)
	}
	in.mu.Unlock()
	s.close()
}

// tap registers a call when its header has arrived.
func (in *intake) tap(ctx context.Context, _ *tap.Info) (context.Context, error) {
	s := in.other
	if p, ok := peer.FromContext(ctx); ok {
		if known := in.find(p.Addr); known != nil {
			s = known
		}
	}
	c := &incoming{source: s, began: time.Now(), stream: ctx}
	c.Context, c.cancel = context.WithCancel(ctx)
	s.add(c)
	return c, nil
}

func (in *intake) find(addr net.Addr) *source {
	switch addr.(type) {
	case *net.TCPAddr, *net.UnixAddr:
		in.mu.Lock()
		defer in.mu.Unlock()
		return in.byAddr[addr]
	}
	return nil
}

// relieve ends calls of the connection with the largest charge if the charges exceed the
// limit, until the rest is an eighth below it. It returns the ended calls that have not
// released their messages.
func (in *intake) relieve() (ending []*incoming) {
	in.mu.Lock()
	defer in.mu.Unlock()
	var rest int64
	for s := range in.sources {
		ending = append(ending, s.refresh()...)
		rest += s.rest()
	}
	if rest <= in.maxBytes {
		return ending
	}
	ended := 0
	for rest > in.maxBytes-in.maxBytes/8 {
		s := in.largest()
		if s == nil {
			break
		}
		before := s.rest()
		c := s.endOne()
		if c == nil {
			break
		}
		rest -= before - s.rest()
		ending = append(ending, c)
		ended++
	}
	if ended > 0 && in.excess.now() {
		in.log.Warn(context.Background(), "calls ended: too many bytes of unfinished messages", slog.Int("calls", ended),
			slog.Int64("limit", in.maxBytes), slog.String("raise", "GRPC_MAX_INFLIGHT_BYTES"))
	}
	return ending
}

// largest returns the connection with the largest charge, without ended calls. mu is locked.
func (in *intake) largest() *source {
	var most *source
	for s := range in.sources {
		if most == nil || s.rest() > most.rest() {
			most = s
		}
	}
	return most
}

// unary returns next as an interceptor that marks the message of a call as arrived.
func (in *intake) unary(next grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		arrived(ctx)
		return next(ctx, req, info, handler)
	}
}

// stream is unary for streams. The timeout does not apply to a call with a stream of requests
// from the start of its interceptors on: its client may have nothing to say yet, and its
// handler decides when to receive.
func (in *intake) stream(next grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
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

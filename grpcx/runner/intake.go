package runner

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
)

// warnEvery is the shortest time between two warnings about the same limit.
const warnEvery = 10 * time.Second

// intake bounds what clients make the server store before a handler or an interceptor sees
// their calls: the time and the bytes of request messages that have not arrived completely,
// and the number of connections.
//
// grpc-go reads a request into memory before it runs the first interceptor, grants each call
// a window for its whole message, and reports neither the calls nor the bytes that wait. What
// a server can observe is the start of a call (a tap), its first interceptor, and the bytes of
// a connection. So a connection is charged with the bytes that it received since its oldest
// unfinished message started, but with no more than the largest message for each of them.
type intake struct {
	maxBytes       int64         // 0 is no limit
	maxMessage     int64         // the largest request
	maxConnections int64         // 0 is no limit
	timeout        time.Duration // 0 is no limit
	log            *xLog.LogNamedLogger

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
				slog.Int64("limit", in.maxConnections), slog.String("raise", xEnv.GrpcMaxConnections.String()))
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
	c := &incoming{source: s, began: time.Now()}
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

// relieve ends calls of the connection with the largest charge, oldest first, until the
// charges are within the limit.
func (in *intake) relieve() {
	in.mu.Lock()
	defer in.mu.Unlock()
	ended := 0
	for in.used.Load() > in.maxBytes {
		var largest *source
		for s := range in.sources {
			if largest == nil || s.charged.Load() > largest.charged.Load() {
				largest = s
			}
		}
		if largest == nil || !largest.endOldest() {
			break
		}
		ended++
	}
	if ended > 0 && in.excess.now() {
		in.log.Warn(context.Background(), "calls ended: too many bytes of unfinished messages", slog.Int("calls", ended),
			slog.Int64("limit", in.maxBytes), slog.String("raise", xEnv.GrpcMaxInflightBytes.String()))
	}
}

// unary returns next as an interceptor that marks the message of a call as arrived.
func (in *intake) unary(next grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		arrived(ctx)
		return next(ctx, req, info, handler)
	}
}

// stream is unary for streams. A call with a stream of requests leaves the intake when its
// interceptors start: its client may have nothing to say yet, and its handler decides when to
// receive.
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

// source is a connection with the calls whose request has not arrived.
type source struct {
	*intake
	addrs   []net.Addr   // keys of intake.byAddr
	charged atomic.Int64 // bytes that are part of used; written with mu locked

	mu    sync.Mutex
	read  int64
	calls []*incoming // oldest first
	timer *time.Timer // of the oldest call's end; nil until the first call
	armed bool
	gone  bool
}

// incoming is the context of a call from its header on.
type incoming struct {
	context.Context
	cancel context.CancelFunc
	source *source
	start  int64 // what the connection had read
	began  time.Time
	ended  atomic.Bool // because its message did not arrive
}

type incomingKey struct{}

// Value implements context.Context.
func (c *incoming) Value(key any) any {
	if key == (incomingKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Err implements context.Context. grpc-go makes the call's status of it.
func (c *incoming) Err() error {
	if c.ended.Load() {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

// arrived removes a call from the intake.
func arrived(ctx context.Context) {
	if c, ok := ctx.Value(incomingKey{}).(*incoming); ok {
		c.source.remove(c)
	}
}

func (s *source) add(c *incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == cap(s.calls) { // calls that their client has canceled are still here
		s.calls = slices.DeleteFunc(s.calls, func(c *incoming) bool { return c.Err() != nil })
	}
	c.start = s.read
	s.calls = append(s.calls, c)
	if s.timeout == 0 || s.armed || s.gone {
		return
	}
	s.armed = true
	if s.timer == nil {
		s.timer = time.AfterFunc(s.timeout, s.expire)
	} else {
		s.timer.Reset(s.timeout)
	}
}

func (s *source) remove(c *incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.calls, c); i >= 0 {
		s.calls = slices.Delete(s.calls, i, i+1)
		s.charge()
	}
}

// received counts bytes of the connection.
func (s *source) received(n int) {
	s.mu.Lock()
	s.read += int64(n)
	s.charge()
	s.mu.Unlock()
	if s.maxBytes > 0 && s.used.Load() > s.maxBytes {
		s.relieve()
	}
}

// charge computes what the connection is charged with. mu is locked.
func (s *source) charge() {
	for len(s.calls) > 0 && s.calls[0].Err() != nil {
		s.calls = slices.Delete(s.calls, 0, 1)
	}
	var bytes int64
	if len(s.calls) > 0 {
		bytes = min(s.read-s.calls[0].start, int64(len(s.calls))*s.maxMessage)
	}
	s.used.Add(bytes - s.charged.Swap(bytes))
}

// endOldest ends the oldest call, and returns false if there is none.
func (s *source) endOldest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return false
	}
	s.calls[0].end()
	s.charge()
	return true
}

// expire ends the calls whose time is over.
func (s *source) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, c := range s.calls {
		if c.Err() != nil {
			continue // its client has canceled it
		}
		if left := s.timeout - now.Sub(c.began); left > 0 {
			s.charge()
			s.timer.Reset(left)
			return
		}
		c.end()
	}
	s.charge()
	s.armed = false
}

// close ends the charge of a closed connection, whose calls grpc-go ends.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.calls = nil
	s.charge()
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (c *incoming) end() {
	c.ended.Store(true)
	c.cancel()
}

// occasional limits how often a warning is logged.
type occasional struct{ last atomic.Int64 }

func (o *occasional) now() bool {
	last, now := o.last.Load(), time.Now().UnixNano()
	return now-last >= int64(warnEvery) && o.last.CompareAndSwap(last, now)
}

// Package call is what the unary and the stream interceptors share: the state of one
// call, and what is done around it.
//
// An interceptor is a set of parts, mounted by Unary or Stream: the public interceptors
// have one part each, the runner's has all of them and costs one interceptor. The parts
// know of each other through the context, so that a part which is mounted a second time
// around the same call does nothing; the knowledge lies in the context and in nothing
// that changes, so that an interceptor in between may call the next one again, also at
// the same time.
//
// Whatever order the parts are mounted in, an error that leaves one is a gRPC status (see
// package rpcstatus).
package call

import (
	"cmp"
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// Part is a set of the things that an interceptor does for a call.
type Part uint16

// The parts, outermost first.
const (
	// Trace gives the call its id and writes it to the trailer.
	Trace Part = 1 << iota
	// Context lets the call see what the application's context carries.
	Context
	// Access writes the line of the access log.
	Access
	// Recover turns a panic into an error.
	Recover
	// Middleware runs the chain of the call's service.
	Middleware
	// Validate checks requests.
	Validate
	// Respond completes the response of a unary call.
	Respond
	// Answer refuses to take no response for one, whoever stands inside.
	Answer

	// Outer are the parts that stand outside an application's interceptors.
	Outer = Trace | Context | Access | Recover | Answer
	// Inner are those that stand inside them. There is a Recover too, for the goroutines
	// of those in between.
	Inner = Recover | Middleware | Validate | Respond | Answer
)

// Config is what the parts need. The zero value is ready to use.
type Config struct {
	// App is the application's context, for Context.
	App context.Context
	// Log takes the lines of Access. It is the logger GRPC where nil.
	Log *xlog.LogNamedLogger
	// Registry holds the chains of Middleware. Where nil it is that of the outermost
	// interceptor of the call, and where that has none the default one: so a Middleware
	// that an application lists itself runs the chains of the server.
	Registry *middleware.Registry
	// Checks are those of Validate, after the request's own.
	Checks []validation.Check
	// InFlight counts the calls, where it is not nil.
	InFlight *InFlight
}

// server is a Config made ready.
type server struct {
	Config
	parts Part
	debug bool
	check validation.Check // asks the request itself, and then Checks
}

func newServer(parts Part, c Config) *server {
	s := &server{Config: c, parts: parts, debug: xctxutil.IsDebug(c.App)}
	s.check = validation.Join(append([]validation.Check{validation.Methods}, c.Checks...)...)
	if s.Log == nil {
		s.Log = xlog.WithName(xlog.NamedGRPC)
	}
	return s
}

// exchange is one call. It is never reused: the call's context, which is part of it, may
// outlive it.
type exchange struct {
	request xctx.Request
	origin  layer
	info    any // of grpc: its address is the call's identity

	registry *middleware.Registry // of the interceptor that has begun the call; it may be nil

	preparing sync.Mutex
	prepared  Part // what the request has been given; once, for its readers take no lock
}

// layer is the context of a call from one interceptor inwards.
type layer struct {
	context.Context
	call  *exchange
	parts Part // mounted so far
}

type layerKey struct{}

// Value implements context.Context.
func (l *layer) Value(key any) any {
	if key == (layerKey{}) {
		return l
	}
	return l.Context.Value(key)
}

// turn is one interceptor's turn at a call; package xhelper has the same server and
// exchange.
type turn struct {
	*server
	call     *exchange
	parts    Part // that are this turn's
	returned bool
	counted  bool // in InFlight
}

// enter returns the turn of an interceptor, and the context from there inwards. It begins
// the call where no interceptor has: info, which grpc makes for each call, tells it from
// a call around it, whose context a caller in the same process may have passed on.
func (s *server) enter(ctx context.Context, info any) (turn, context.Context) {
	outer, _ := ctx.Value(layerKey{}).(*layer)
	if outer == nil || outer.call.info != info {
		return s.begin(ctx, info)
	}
	t := turn{server: s, call: outer.call, parts: s.parts &^ outer.parts}
	if t.parts != 0 {
		t.count()
	}
	// an interceptor in between may have started a goroutine, out of the outer one's
	// reach
	t.parts |= s.parts & Recover
	if len(s.Checks) > 0 {
		t.parts |= s.parts & Validate // checks of its own
	}
	if t.parts == 0 {
		return t, ctx
	}
	t.prepareOnce(ctx)
	return t, &layer{Context: ctx, call: outer.call, parts: outer.parts | t.parts}
}

// begin begins a call.
func (s *server) begin(ctx context.Context, info any) (turn, context.Context) {
	c := &exchange{info: info, registry: s.Registry}
	c.origin = layer{Context: ctx, call: c, parts: s.parts}
	c.request.Begin(&c.origin, nil)
	c.request.SetDebug(s.debug)
	c.prepared = s.parts
	t := turn{server: s, call: c, parts: s.parts}
	t.prepare(ctx, t.parts)
	t.count()
	return t, &c.request
}

// prepare gives the call's request what the parts have for it.
func (t *turn) prepare(ctx context.Context, parts Part) {
	if parts&Trace != 0 {
		identify(ctx, &t.call.request)
	}
	if parts&Context != 0 && t.App != nil {
		t.call.request.SetBase(t.App) // the application's, beside the call's own
		t.call.request.SetDebug(t.debug)
	}
}

// prepareOnce is prepare for a call that has begun: an interceptor outside this one may
// be calling it twice at the same time.
func (t *turn) prepareOnce(ctx context.Context) {
	if t.parts&(Trace|Context) == 0 {
		return
	}
	c := t.call
	c.preparing.Lock()
	defer c.preparing.Unlock()
	t.prepare(ctx, t.parts&^c.prepared)
	c.prepared |= t.parts
}

// chains returns the registry of the service middleware.
func (t *turn) chains() *middleware.Registry {
	return cmp.Or(t.Registry, t.call.registry, middleware.Default)
}

func (t *turn) count() {
	if t.InFlight != nil {
		t.counted = true
		t.InFlight.enter(t.call.info)
	}
}

// streamKind says which side of a stream streams, in the words of the access log.
func streamKind(info *grpc.StreamServerInfo) string {
	switch {
	case info.IsClientStream && info.IsServerStream:
		return "bidi"
	case info.IsClientStream:
		return "client"
	default:
		return "server"
	}
}

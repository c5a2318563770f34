// Package call implements the unary and stream server interceptors.
//
// An interceptor has a set of features. Each public interceptor has one feature; the
// runner's interceptor has all of them. The features mounted so far are stored in the
// context, so a feature that is mounted twice runs once per call. This state is
// immutable, so an interceptor in between may call the next handler repeatedly, even
// concurrently.
//
// In any order of the features, each error that an interceptor returns is a gRPC status
// (see package rpcstatus).
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

// Features is a set of features of an interceptor.
type Features uint16

// The features, outermost first.
const (
	// Trace assigns the request ID and sends it in the trailer.
	Trace Features = 1 << iota
	// Context exposes the values of the application's context.
	Context
	// Access writes the access log.
	Access
	// Recover converts panics to errors.
	Recover
	// Middleware runs the middleware of the service.
	Middleware
	// Validate validates requests.
	Validate
	// Respond completes the envelope of a unary response.
	Respond
	// RequireResponse rejects unary calls that return neither a response nor an error.
	RequireResponse

	// Outer contains the features outside the application's interceptors.
	Outer = Trace | Context | Access | Recover | RequireResponse
	// Inner contains the features inside the application's interceptors. It includes
	// Recover, because those interceptors may start goroutines.
	Inner = Recover | Middleware | Validate | Respond | RequireResponse
)

// Config configures the features. The zero value is ready to use.
type Config struct {
	// App is the application's context, used by Context. It may be nil.
	App context.Context
	// Log is the access log. The default is the logger GRPC.
	Log *xlog.LogNamedLogger
	// Registry contains the middleware chains. The default is the registry of the
	// outermost interceptor of the call, or else middleware.Default.
	Registry *middleware.Registry
	// Checks run after the validation methods of the request.
	Checks []validation.Check
	// InFlight counts the calls if it is not nil.
	InFlight *InFlight
}

// server is an initialized Config.
type server struct {
	Config
	features Features
	debug    bool
	check    validation.Check // the methods of the request, then Checks
}

func newServer(features Features, c Config) *server {
	s := &server{Config: c, features: features, debug: xctxutil.IsDebug(c.App)}
	s.check = validation.Join(append([]validation.Check{validation.Methods}, c.Checks...)...)
	if s.Log == nil {
		s.Log = xlog.WithName(xlog.NamedGRPC)
	}
	return s
}

// exchange is one call. It must not be reused: the call's context is part of it and may
// outlive the call.
type exchange struct {
	request xctx.Request
	origin  layer
	info    any // from grpc; its address identifies the call

	registry *middleware.Registry // of the outermost interceptor; may be nil

	preparing sync.Mutex
	// features applied to request; each is applied once, because readers of request do
	// not lock
	prepared Features
}

// layer is the context of a call inside one interceptor.
type layer struct {
	context.Context
	call     *exchange
	features Features // mounted so far
}

type layerKey struct{}

// Value implements context.Context.
func (l *layer) Value(key any) any {
	if key == (layerKey{}) {
		return l
	}
	return l.Context.Value(key)
}

// invocation is the handling of a call by one interceptor. Package xhelper contains the
// corresponding types server and exchange for HTTP.
type invocation struct {
	*server
	call     *exchange
	features Features // features that this interceptor runs
	returned bool
	counted  bool // counted in InFlight
}

// enter starts the handling of a call and returns the context for the next handler. It
// creates the exchange in the outermost interceptor. grpc allocates an info for each
// call, so info distinguishes the call from an enclosing call of the same process.
func (s *server) enter(ctx context.Context, info any) (invocation, context.Context) {
	outer, _ := ctx.Value(layerKey{}).(*layer)
	if outer == nil || outer.call.info != info {
		return s.start(ctx, info)
	}
	t := invocation{server: s, call: outer.call, features: s.features &^ outer.features}
	if t.features != 0 {
		t.count()
	}
	// An interceptor in between may have started a goroutine.
	t.features |= s.features & Recover
	if len(s.Checks) > 0 {
		t.features |= s.features & Validate // its own checks
	}
	if t.features == 0 {
		return t, ctx
	}
	t.prepareOnce(ctx)
	return t, &layer{Context: ctx, call: outer.call, features: outer.features | t.features}
}

// start creates the exchange of a call.
func (s *server) start(ctx context.Context, info any) (invocation, context.Context) {
	c := &exchange{info: info, registry: s.Registry}
	c.origin = layer{Context: ctx, call: c, features: s.features}
	c.request.Begin(&c.origin, nil)
	c.request.SetDebug(s.debug)
	c.prepared = s.features
	t := invocation{server: s, call: c, features: s.features}
	t.prepare(ctx, t.features)
	t.count()
	return t, &c.request
}

// prepare applies features to the call's request.
func (t *invocation) prepare(ctx context.Context, features Features) {
	if features&Trace != 0 {
		identify(ctx, &t.call.request)
	}
	if features&Context != 0 && t.App != nil {
		t.call.request.SetBase(t.App) // adds the values of the application to those of the call
		t.call.request.SetDebug(t.debug)
	}
}

// prepareOnce calls prepare for an existing exchange. An outer interceptor may invoke
// this one concurrently.
func (t *invocation) prepareOnce(ctx context.Context) {
	if t.features&(Trace|Context) == 0 {
		return
	}
	c := t.call
	c.preparing.Lock()
	defer c.preparing.Unlock()
	t.prepare(ctx, t.features&^c.prepared)
	c.prepared |= t.features
}

// chains returns the registry of the middleware chains.
func (t *invocation) chains() *middleware.Registry {
	return cmp.Or(t.Registry, t.call.registry, middleware.Default)
}

func (t *invocation) count() {
	if t.InFlight != nil {
		t.counted = true
		t.InFlight.enter(t.call.info)
	}
}

// streamKind returns the direction of a stream for the access log.
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

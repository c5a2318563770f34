package middleware

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
)

// middleware is one of either kind.
type middleware interface {
	grpc.UnaryServerInterceptor | grpc.StreamServerInterceptor
}

// chains holds the middlewares of one kind by service. Writers replace the whole table,
// so that readers need no lock.
type chains[M middleware] struct {
	writing sync.Mutex
	table   atomic.Pointer[map[string]chain[M]]
}

// chain holds the middlewares of a service, at least one, and all of them as one. It
// never changes.
type chain[M middleware] struct {
	parts []M
	whole M
}

// use appends middlewares to those of a service. nest makes one middleware of two.
func (c *chains[M]) use(service string, more []M, nest func(outer, inner M) M) {
	if len(more) == 0 {
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	table := make(map[string]chain[M])
	if old := c.table.Load(); old != nil {
		maps.Copy(table, *old)
	}
	parts := slices.Concat(table[service].parts, more)
	whole := parts[len(parts)-1]
	for _, outer := range slices.Backward(parts[:len(parts)-1]) {
		whole = nest(outer, whole)
	}
	table[service] = chain[M]{parts: parts, whole: whole}
	c.table.Store(&table)
}

// parts returns a copy of a service's middlewares.
func (c *chains[M]) parts(service string) []M { return slices.Clone(c.of(service).parts) }

// whole returns a service's middlewares as one.
func (c *chains[M]) whole(service string) M { return c.of(service).whole }

// of returns the chain of a service, the zero value where it has none.
func (c *chains[M]) of(service string) chain[M] {
	table := c.table.Load()
	if table == nil {
		return chain[M]{}
	}
	return (*table)[service]
}

// nestUnary returns a middleware that runs inner within outer. Each call of outer gets a
// handler of its own that does not change, which is why outer may call it repeatedly, and
// keep it.
func nestUnary(outer, inner grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo,
		handler grpc.UnaryHandler,
	) (any, error) {
		return outer(ctx, request, info, func(ctx context.Context, request any) (any, error) {
			return inner(ctx, request, info, handler)
		})
	}
}

// nestStream is nestUnary for streams.
func nestStream(outer, inner grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
		handler grpc.StreamHandler,
	) error {
		return outer(service, stream, info, func(service any, stream grpc.ServerStream) error {
			return inner(service, stream, info, handler)
		})
	}
}

// nils returns the position of the first middleware that is nil, counted from 1, or 0.
func nils[M middleware](chain []M) int {
	return 1 + slices.IndexFunc(chain, func(m M) bool { return m == nil })
}

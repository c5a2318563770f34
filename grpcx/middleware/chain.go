package middleware

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
)

type middleware interface {
	grpc.UnaryServerInterceptor | grpc.StreamServerInterceptor
}

// chains contains the middleware of one kind by service. Writers replace the table, so
// readers do not lock.
type chains[M middleware] struct {
	writing sync.Mutex
	table   atomic.Pointer[map[string]chain[M]]
}

// chain contains the middleware of one service, at least one. It is immutable.
type chain[M middleware] struct {
	list     []M
	composed M // all of list as one
}

// use appends middleware to a service. nest composes two middleware into one.
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
	list := slices.Concat(table[service].list, more)
	composed := list[len(list)-1]
	for _, outer := range slices.Backward(list[:len(list)-1]) {
		composed = nest(outer, composed)
	}
	table[service] = chain[M]{list: list, composed: composed}
	c.table.Store(&table)
}

func (c *chains[M]) list(service string) []M { return slices.Clone(c.of(service).list) }

func (c *chains[M]) composed(service string) M { return c.of(service).composed }

// of returns the chain of a service, or the zero value.
func (c *chains[M]) of(service string) chain[M] {
	table := c.table.Load()
	if table == nil {
		return chain[M]{}
	}
	return (*table)[service]
}

// nestUnary returns a middleware that runs inner inside outer. Each call of outer
// receives a new immutable handler, so outer may retain it and call it repeatedly.
func nestUnary(outer, inner grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo,
		handler grpc.UnaryHandler,
	) (any, error) {
		return outer(ctx, request, info, func(ctx context.Context, request any) (any, error) {
			return inner(ctx, request, info, handler)
		})
	}
}

// nestStream is the streaming counterpart of nestUnary.
func nestStream(outer, inner grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
		handler grpc.StreamHandler,
	) error {
		return outer(service, stream, info, func(service any, stream grpc.ServerStream) error {
			return inner(service, stream, info, handler)
		})
	}
}

// firstNil returns the position of the first nil middleware, counted from 1, or 0.
func firstNil[M middleware](chain []M) int {
	return 1 + slices.IndexFunc(chain, func(m M) bool { return m == nil })
}

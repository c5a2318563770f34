package runner

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"google.golang.org/grpc"
)

// warnOfOpenMethods logs a warning for each service with unary and streaming methods but
// middleware for one kind only. Authentication for one kind leaves the other unprotected.
// It is not an error, because the middleware may be intended for one kind.
func (c *config) warnOfOpenMethods(ctx context.Context, services map[string]grpc.ServiceInfo) {
	for _, service := range slices.Sorted(maps.Keys(services)) {
		unary, stream := kinds(services[service].Methods)
		guardsUnary := c.registry.Unary(service) != nil
		guardsStream := c.registry.Stream(service) != nil
		if !unary || !stream || guardsUnary == guardsStream {
			continue
		}
		open, use := "streams", "middleware.UseStream"
		if guardsStream {
			open, use = "unary methods", "middleware.UseUnary"
		}
		c.log.Warn(ctx, "middleware covers one kind of methods only",
			slog.String("service", service), slog.String("open", open),
			slog.String("use", use+", or middleware.Guard for both kinds"))
	}
}

// kinds reports whether methods contain unary and streaming methods.
func kinds(methods []grpc.MethodInfo) (unary, stream bool) {
	isStream := func(m grpc.MethodInfo) bool { return m.IsClientStream || m.IsServerStream }
	isUnary := func(m grpc.MethodInfo) bool { return !isStream(m) }
	return slices.ContainsFunc(methods, isUnary), slices.ContainsFunc(methods, isStream)
}

package runner

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"google.golang.org/grpc"
)

// warnOfOpenMethods warns of each service that has methods of both kinds and middlewares
// for one of them only: whoever mounts an authentication for the unary methods leaves the
// streams open, and the reverse. It is no error, since a middleware may be meant for one
// kind.
func (c *config) warnOfOpenMethods(ctx context.Context, services map[string]grpc.ServiceInfo) {
	for _, service := range slices.Sorted(maps.Keys(services)) {
		unary, stream := kinds(services[service].Methods)
		guardsUnary, guardsStream := c.registry.Unary(service) != nil,
			c.registry.Stream(service) != nil
		if !unary || !stream || guardsUnary == guardsStream {
			continue
		}
		open, use := "streams", "middleware.UseStream"
		if guardsStream {
			open, use = "unary methods", "middleware.UseUnary"
		}
		c.log.Warn(ctx, "a service has middlewares for one kind of its methods only",
			slog.String("service", service),
			slog.String("open", open), slog.String("use",
				use+"; middleware.Guard makes one function a middleware of either kind"))
	}
}

// kinds returns which kinds of methods there are.
func kinds(methods []grpc.MethodInfo) (unary, stream bool) {
	isStream := func(m grpc.MethodInfo) bool { return m.IsClientStream || m.IsServerStream }
	isUnary := func(m grpc.MethodInfo) bool { return !isStream(m) }
	return slices.ContainsFunc(methods, isUnary), slices.ContainsFunc(methods, isStream)
}

package xoption

import (
	"context"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhelper"
)

// WithRoute registers routes after all nodes have started. It may be repeated.
func WithRoute(register func(ctx context.Context, engine *gin.Engine)) Option {
	return requireArg("WithRoute", register != nil,
		func(p *startup.Plan) { p.Routes = append(p.Routes, register) })
}

// WithEngine configures the engine before the routes are registered, for example with
// middleware for all routes, template functions or form limits. Recovery, request IDs,
// the access log and error responses are already installed.
func WithEngine(change func(*gin.Engine)) Option {
	return requireArg("WithEngine", change != nil,
		func(p *startup.Plan) { p.Engine = append(p.Engine, change) })
}

// WithInspect makes Register only register the routes, call inspect and exit: with code
// 0, or 1 if inspect returns an error. Nothing is opened, so the context of the routes
// has no database, cache or node. Use it for a command that needs the routes, such as the
// generator of a document.
func WithInspect(inspect func(*gin.Engine) error) Option {
	return requireArg("WithInspect", inspect != nil,
		registerOnly("WithInspect", func(p *startup.Plan) { p.Inspect = inspect }))
}

// WithServe configures the request middleware: request IDs, the access log, and the size
// and time limits for all requests or for single routes.
func WithServe(change func(*xhelper.Config)) Option {
	return requireArg("WithServe", change != nil,
		setting(func(s *startup.Settings) { change(&s.Serve) }))
}

// WithProfile sets the profile of the response envelope and overrides PLINTH_ENVELOPE. A
// route may select another profile.
func WithProfile(profile xbase.Profile) Option {
	return setting(func(s *startup.Settings) { s.Serve.Profile = profile })
}

// WithErrorMapper maps the application's errors to error codes. The mappers run before
// those of the framework and apply to the whole process. They are removed when the
// application is closed.
func WithErrorMapper(mappers ...xerror.Mapper) Option {
	return func(p *startup.Plan) { p.Mappers = append(p.Mappers, mappers...) }
}

// WithTrustedProxies trusts the X-Forwarded-For header of these addresses and CIDR
// ranges, and overrides PLINTH_TRUSTED_PROXIES. Without arguments it trusts no proxy.
func WithTrustedProxies(proxies ...string) Option {
	return setting(func(s *startup.Settings) {
		s.TrustedProxies, s.Serve.TrustProxies = proxies, len(proxies) > 0
	})
}

// WithHealth serves the liveness probe /healthz and the readiness probe /readyz. The
// probes bypass the middleware: they have no request ID and no access log.
func WithHealth() Option { return WithHealthPaths("/healthz", "/readyz") }

// WithHealthPaths is like WithHealth with other paths.
func WithHealthPaths(live, ready string) Option {
	for _, route := range []string{live, ready} {
		if !path.IsAbs(route) || strings.ContainsAny(route, ":*") {
			return invalid("WithHealthPaths: %q is not a plain absolute path", route)
		}
	}
	if live == ready {
		return invalid("WithHealthPaths: both paths are %q", live)
	}
	return func(p *startup.Plan) { p.LivePath, p.ReadyPath = live, ready }
}

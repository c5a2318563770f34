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

// WithRoute registers routes once all nodes have started. It may be given more than once.
func WithRoute(register func(ctx context.Context, engine *gin.Engine)) Option {
	return given("WithRoute", register != nil,
		func(p *startup.Plan) { p.Routes = append(p.Routes, register) })
}

// WithEngine changes the engine before the routes are registered: middleware for all of
// them, template functions, limits of forms. Recovery, request ids, the access log and
// error responses are already there.
func WithEngine(change func(*gin.Engine)) Option {
	return given("WithEngine",
		change != nil, func(p *startup.Plan) { p.Engine = append(p.Engine, change) })
}

// WithServe changes the configuration of the request middleware: request ids, the access
// log, the limits of bodies and of time, for all requests and for single routes.
func WithServe(change func(*xhelper.Config)) Option {
	return given("WithServe", change != nil,
		setting(func(s *startup.Settings) { change(&s.Serve) }))
}

// WithProfile answers in this profile of the envelope, whatever PLINTH_ENVELOPE says. A
// route may choose another.
func WithProfile(profile xbase.Profile) Option {
	return setting(func(s *startup.Settings) { s.Serve.Profile = profile })
}

// WithErrorMapper maps the application's errors onto codes; its mappers are asked before
// the framework's. The registry is the process's: the mappers leave it when the
// application is closed.
func WithErrorMapper(mappers ...xerror.Mapper) Option {
	return func(p *startup.Plan) { p.Mappers = append(p.Mappers, mappers...) }
}

// WithTrustedProxies believes the X-Forwarded-For of these addresses and CIDR ranges,
// whatever PLINTH_TRUSTED_PROXIES says; without an argument, of nobody.
func WithTrustedProxies(proxies ...string) Option {
	return setting(func(s *startup.Settings) {
		s.TrustedProxies, s.Serve.TrustProxies = proxies, len(proxies) > 0
	})
}

// WithHealth serves /healthz (alive) and /readyz (ready). Both answer outside the
// middleware: they have no request id and no line in the access log.
func WithHealth() Option { return WithHealthPaths("/healthz", "/readyz") }

// WithHealthPaths is WithHealth with other paths.
func WithHealthPaths(live, ready string) Option {
	for _, route := range []string{live, ready} {
		if !path.IsAbs(route) || strings.ContainsAny(route, ":*") {
			return wrong("WithHealthPaths: %q is not a plain absolute path", route)
		}
	}
	if live == ready {
		return wrong("WithHealthPaths: both paths are %q", live)
	}
	return func(p *startup.Plan) { p.LivePath, p.ReadyPath = live, ready }
}

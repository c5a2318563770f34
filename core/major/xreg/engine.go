package xreg

import (
	"errors"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/internal/probe"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/core/major/xroute"
)

// setUpGin configures gin's process-wide mode and validator.
var setUpGin = sync.OnceFunc(func() {
	if gin.Mode() == gin.DebugMode {
		gin.SetMode(gin.ReleaseMode) // the banner lists the routes
	}
	binding.Validator = xvalid.GinBinding{} // xvalid builds its engine on first use
})

// newEngine creates the engine with the middleware of every route. The middleware is
// loaded through a pointer, so that later options also apply to existing routes.
func (r *Reg) newEngine() {
	setUpGin()
	e := gin.New()
	e.ContextWithFallback = true
	e.HandleMethodNotAllowed = true
	// gin redirects outside the middleware: without request ID, access log and envelope
	e.RedirectTrailingSlash = false
	e.RedirectFixedPath = false
	_ = e.SetTrustedProxies(nil) // nil is never an error
	// gin also trusts X-Real-IP by default. A proxy that sets only X-Forwarded-For would
	// forward the client's X-Real-IP.
	e.RemoteIPHeaders = []string{string(xhttp.XForwardedFor)}
	r.bare = e.Group("/")
	e.Use(routeHeadAsGet(e), func(c *gin.Context) { (*r.serve.Load())(c) })
	e.NoRoute(xroute.NoRoute)
	e.NoMethod(xroute.NoMethod)
	r.Serve = e
}

// build installs the request middleware of the current settings. It then applies the
// engine changes of p and registers its health routes and its routes. The error joins the
// errors of the developer in the routes.
func (r *Reg) build(p *startup.Plan) error {
	settings := r.Settings()
	_ = r.Serve.SetTrustedProxies(settings.TrustedProxies) // checkProxies reports the errors
	handler := xhelper.Serve(settings.Serve)
	r.serve.Store(&handler)
	for _, change := range p.Engine {
		change(r.Serve)
	}
	if p.LivePath != "" {
		r.addHealth(p)
	}
	for _, register := range p.Routes {
		register(r.Init.Ctx, r.Serve)
	}
	return checkRoutes(r.Serve)
}

// checkRoutes returns the errors of the developer in typed handlers.
func checkRoutes(e *gin.Engine) error {
	var errs []error
	for _, route := range probe.Routes(e) {
		errs = append(errs, route.Err)
	}
	return errors.Join(errs...)
}

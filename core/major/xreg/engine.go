package xreg

import (
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xvalid"
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
	binding.Validator = xvalid.GinBinding{} // built on first use
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
	// Not X-Real-IP, which gin also trusts: a proxy that sets only X-Forwarded-For would
	// pass on the client's X-Real-IP.
	e.RemoteIPHeaders = []string{string(xhttp.XForwardedFor)}
	r.bare = e.Group("/")
	e.Use(answerHead(e), func(c *gin.Context) { (*r.serve.Load())(c) })
	e.NoRoute(xroute.NoRoute)
	e.NoMethod(xroute.NoMethod)
	r.Serve = e
}

// build sets the middleware of all options and applies the engine changes, health routes
// and routes of p.
func (r *Reg) build(p *startup.Plan) {
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
}

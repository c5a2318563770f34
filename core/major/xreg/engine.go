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

// setUpGin sets what gin keeps for the whole process: its mode, which makes it print, and
// its validator.
var setUpGin = sync.OnceFunc(func() {
	if gin.Mode() == gin.DebugMode {
		gin.SetMode(gin.ReleaseMode) // the banner lists the routes instead
	}
	binding.Validator = xvalid.GinBinding{} // which builds nothing until it is asked
})

// newEngine makes the engine with the middleware that every route has. The middleware is
// reached through a pointer, so that options which come later change it for the routes
// that exist already.
func (r *Reg) newEngine() {
	setUpGin()
	e := gin.New()
	e.ContextWithFallback = true
	e.HandleMethodNotAllowed = true
	// gin answers such a redirect past all middleware: without an id, a log line, an
	// envelope
	e.RedirectTrailingSlash = false
	e.RedirectFixedPath = false
	_ = e.SetTrustedProxies(nil) // nil is no error
	// Not X-Real-IP, which gin believes as well: a proxy that sets only the other header
	// passes on what a client put there.
	e.RemoteIPHeaders = []string{string(xhttp.XForwardedFor)}
	r.bare = e.Group("/")
	e.Use(answerHead(e), func(c *gin.Context) { (*r.serve.Load())(c) })
	e.NoRoute(xroute.NoRoute)
	e.NoMethod(xroute.NoMethod)
	r.Serve = e
}

// build makes the middleware of all options, and adds p's changes of the engine, health
// and routes.
func (r *Reg) build(p *startup.Plan) {
	settings := r.Settings()
	_ = r.Serve.SetTrustedProxies(settings.TrustedProxies) // checkProxies has reported its errors
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

package xreg

import (
	"fmt"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xValid "github.com/plinthgo/plinth/core/common/xvalid"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xHelper "github.com/plinthgo/plinth/core/major/xhelper"
	xHttp "github.com/plinthgo/plinth/core/major/xhttp"
	xRoute "github.com/plinthgo/plinth/core/major/xroute"
)

// ginOnce guards what gin keeps for the whole process: its mode, which makes it print, and its validator.
var ginOnce sync.Once

func setUpGin() {
	if gin.Mode() == gin.DebugMode {
		gin.SetMode(gin.ReleaseMode) // the banner lists the routes instead
	}
	binding.Validator = xValid.GinValidator() // which builds nothing until it is asked
}

// newEngine makes the engine with the middleware that every route has. The middleware is reached through a pointer, so
// that options which come later change it for the routes that exist already.
func (r *Reg) newEngine() {
	ginOnce.Do(setUpGin)
	e := gin.New()
	e.ContextWithFallback = true
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false // gin answers such a redirect past all middleware: without an id, a log line, an envelope
	e.RedirectFixedPath = false
	_ = e.SetTrustedProxies(nil) // nil is no error
	// Not X-Real-IP, which gin believes as well: a proxy that sets only the other header passes on what a
	// client put there.
	e.RemoteIPHeaders = []string{string(xHttp.XForwardedFor)}
	r.bare = e.Group("/")
	e.Use(answerHead(e), func(c *gin.Context) { (*r.serve.Load())(c) })
	e.NoRoute(xRoute.NoRoute)
	e.NoMethod(xRoute.NoMethod)
	r.Serve = e
}

// build carries out the plan's part of the engine: middleware, proxies, changes, health, routes.
func (r *Reg) build(done progress) error {
	proxies, err := trustedProxies(r.plan)
	if err != nil {
		return err
	}
	if err := r.Serve.SetTrustedProxies(proxies); err != nil {
		return fmt.Errorf("xreg: trusted proxies: %w", err)
	}
	handler := xHelper.Serve(r.serveConfig(len(proxies)))
	r.serve.Store(&handler)
	for _, change := range r.plan.Engine[done.engine:] {
		change(r.Serve)
	}
	if r.plan.Health != nil && done.health == nil {
		r.addHealth(*r.plan.Health)
	}
	for _, register := range r.plan.Routes[done.routes:] {
		register(r.Init.Ctx, r.Serve)
	}
	return nil
}

// serveConfig is the configuration of the request middleware: environment first, then the plan.
func (r *Reg) serveConfig(proxies int) xHelper.Config {
	exclude, _ := excludeURLs() // checked with the environment
	c := xHelper.Config{
		Base:                 r.Init.Ctx,
		EnableInput:          xEnv.Bool(xEnv.ContextEnableInput),
		ExcludeURLs:          exclude,
		MaxBodyBytes:         xEnv.Int64(xEnv.MaxBodyBytes),
		MaxInflightBodyBytes: xEnv.Int64(xEnv.MaxInflightBodyBytes),
		RequestTimeout:       unlimited(xEnv.Duration(xEnv.RequestTimeout)),
		Debug:                r.settings.Debug,
		Profile:              r.settings.Profile,
		TrustProxies:         proxies > 0,
		Log:                  xLog.WithName(xLog.NamedHTTP),
	}
	if c.MaxBodyBytes == 0 {
		c.MaxBodyBytes = -1 // no limit: for the middleware 0 is its default
	}
	if c.MaxInflightBodyBytes == 0 {
		c.MaxInflightBodyBytes = -1
	}
	for _, change := range r.plan.Serve {
		change(&c)
	}
	return c
}

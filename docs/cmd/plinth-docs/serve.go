package main

import (
	"context"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/docs"
)

// gcPercent is how much the heap grows before it is collected.
const gcPercent = 40

// serve shows the site over HTTP, as any service on this base: with request ids, an
// access log, /healthz, and a stop that finishes what is in flight.
func serve(ctx context.Context, c *call) error {
	if err := c.noArguments(); err != nil {
		return err
	}
	host, port, err := readAddr(ctx, c.addr)
	if err != nil {
		return err
	}
	if c.baseURL == "" {
		c.baseURL = reachedAt(host, port)
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	reg, err := xreg.New(context.WithoutCancel(ctx), nil, options(site, c)...)
	if err != nil {
		return err
	}
	task := func(ctx context.Context, _ ...any) {
		holdLittle() // not before: it takes a part of the start
		watch(ctx, site)
	}
	// reg has the context
	return blame(c.addr, xmain.Run(reg, xlog.WithName(xlog.NamedMAIN), nil, task))
}

// holdLittle gives back what reading and indexing took, which is several times of what
// serving does, and collects earlier from then on: a page is made once, so there is
// little to collect. GOGC decides where it is set.
func holdLittle() {
	if _, set := xenv.GetEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory()
}

// options describe the service.
func options(site *docs.Site, c *call) []xoption.Option {
	opts := []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.AppName: "plinth-docs", "LOG_DIR": "none",
			// no id is made: none has to be leased
			xenv.SnowflakeDatacenterID: "0", xenv.SnowflakeNodeID: "0",
		}),
		xoption.WithoutEnvFile(), // the folder it starts in may be that of another service
		xoption.WithAddress(c.addr),
		xoption.WithHealth(),
		xoption.WithServer(func(s *http.Server) {
			s.RegisterOnShutdown(func() { _ = site.Close() })
		}),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) { mount(engine, site) }),
	}
	if c.dir != "" {
		// somebody writes at it, and no balancer stands before it
		opts = append(opts, xoption.WithDrainDelay(0))
	}
	return opts
}

// mount gives the site every address that the engine has no route for.
func mount(engine *gin.Engine, site http.Handler) {
	engine.NoRoute(func(c *gin.Context) {
		c.Status(http.StatusOK) // gin has set 404
		site.ServeHTTP(c.Writer, c.Request)
	})
}

// watch follows the changes of a folder, and keeps serving where that is not possible.
func watch(ctx context.Context, site *docs.Site) {
	if err := site.Watch(ctx); err != nil {
		xlog.Warn(ctx, err.Error())
	}
}

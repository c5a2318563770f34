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

// gcPercent is the GOGC value after startup.
const gcPercent = 40

// serve serves the site as a Plinth service, with request IDs, an access log, /healthz
// and graceful shutdown.
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
		reduceMemory() // after startup, to keep startup short
		watch(ctx, site)
	}
	// reg contains the context
	return withFlag(c.addr, xmain.Run(reg, xlog.WithName(xlog.NamedMAIN), nil, task))
}

// reduceMemory releases the memory used for indexing, which is several times the memory
// needed for serving, and lowers GOGC. Pages are cached, so there is little garbage. It
// does not override GOGC of the environment.
func reduceMemory() {
	if _, set := xenv.GetEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory()
}

// options returns the options of the service.
func options(site *docs.Site, c *call) []xoption.Option {
	opts := []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.AppName: "plinth-docs", "LOG_DIR": "none",
			// no IDs are generated, so no node ID is leased
			xenv.SnowflakeDatacenterID: "0", xenv.SnowflakeNodeID: "0",
		}),
		xoption.WithoutEnvFile(), // the working directory may belong to another service
		xoption.WithAddress(c.addr),
		xoption.WithHealth(),
		xoption.WithServer(func(s *http.Server) {
			s.RegisterOnShutdown(func() { _ = site.Close() })
		}),
		xoption.WithRoute(func(_ context.Context, engine *gin.Engine) { mount(engine, site) }),
	}
	if c.dir != "" {
		// local preview without a load balancer
		opts = append(opts, xoption.WithDrainDelay(0))
	}
	return opts
}

// mount serves all addresses without a route by the site.
func mount(engine *gin.Engine, site http.Handler) {
	engine.NoRoute(func(c *gin.Context) {
		c.Status(http.StatusOK) // gin has set 404
		site.ServeHTTP(c.Writer, c.Request)
	})
}

// watch reloads a directory on changes. The site continues to serve if that fails.
func watch(ctx context.Context, site *docs.Site) {
	if err := site.Watch(ctx); err != nil {
		xlog.Warn(ctx, err.Error())
	}
}

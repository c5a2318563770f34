package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/middlewares/server/recovery"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
)

// serveHertz mounts a hand-written ID and access log, because the middleware for hertz is
// in third-party modules.
func serveHertz(l net.Listener, log io.Writer) (stop func()) {
	hlog.SetOutput(discard{})
	h := server.New(server.WithListener(l), server.WithDisablePrintRoute(true))
	if log != nil {
		h.Use(hertzID, hertzAccess(zerolog.New(log).With().Timestamp().Logger()),
			recovery.Recovery())
	}
	h.GET("/user/:id", func(_ context.Context, c *app.RequestContext) {
		c.JSON(http.StatusOK, found(c.GetString("request_id")))
	})
	return runServer(h.Run, func() error {
		// Shutdown closes open connections at the deadline and returns its error.
		if err := h.Close(); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	})
}

func hertzID(ctx context.Context, c *app.RequestContext) {
	id := string(c.GetHeader("X-Request-UUID"))
	if id == "" {
		id = uuid.NewString()
	}
	c.Set("request_id", id)
	c.Header("X-Request-UUID", id)
	c.Next(context.WithValue(ctx, handKey{}, id))
}

func hertzAccess(log zerolog.Logger) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		start := time.Now()
		c.Next(ctx)
		log.Info().Str("request_id", c.GetString("request_id")).
			Bytes("method", c.Method()).Bytes("path", c.Path()).Str("route", c.FullPath()).
			Int("status", c.Response.StatusCode()).Int("size", len(c.Response.Body())).
			Dur("duration", time.Since(start)).Str("ip", c.ClientIP()).Msg("request")
	}
}

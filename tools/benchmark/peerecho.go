package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"

	labstack "github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"
)

func serveEcho(l net.Listener, log io.Writer) (stop func()) {
	e := labstack.New()
	e.Logger = slog.New(slog.DiscardHandler)
	if log != nil {
		e.Logger = slog.New(slog.NewJSONHandler(log, nil))
		e.Use(middleware.RequestID(), middleware.RequestLogger(), middleware.Recover())
	}
	e.GET("/user/:id", func(c *labstack.Context) error {
		return c.JSON(http.StatusOK, found(c.Response().Header().Get(labstack.HeaderXRequestID)))
	})
	return serveHandler(l, e)
}

package main

import (
	"io"
	"net"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/logger"
	fiberrecover "github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/gofiber/fiber/v3/middleware/requestid"
)

func serveFiber(l net.Listener, log io.Writer) (stop func()) {
	app := fiber.New()
	if log != nil {
		app.Use(requestid.New(), logger.New(logger.Config{Stream: log}), fiberrecover.New())
	}
	app.Get("/user/:id", func(c fiber.Ctx) error { return c.JSON(found(requestid.FromContext(c))) })
	return runServer(func() error {
		return app.Listener(l, fiber.ListenConfig{DisableStartupMessage: true})
	}, app.Shutdown)
}

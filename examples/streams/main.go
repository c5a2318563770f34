// Command streams serves server-sent events and WebSockets with third-party libraries. On
// shutdown their contexts are canceled after the drain delay, and the exit code is 0.
//
//	curl -N localhost:1118/events
package main

import (
	"context"
	"io"
	"time"

	coder "github.com/coder/websocket"
	"github.com/gin-gonic/gin"
	gorilla "github.com/gorilla/websocket"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil)
}

func routes(_ context.Context, e *gin.Engine) {
	e.GET("/events", events)
	e.GET("/echo", echo)
	e.GET("/echo/gorilla", echoGorilla)
}

// events sends the current time as server-sent events with gin.
func events(c *gin.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	c.Stream(func(io.Writer) bool {
		select {
		case now := <-ticker.C:
			c.SSEvent("time", now.UTC().Format(time.RFC3339Nano))
			return true
		case <-c.Request.Context().Done():
			return false
		}
	})
}

// echo returns messages with coder/websocket until the context is canceled.
func echo(c *gin.Context) {
	conn, err := coder.Accept(c.Writer, c.Request, nil)
	if err != nil {
		return // Accept has responded
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		kind, message, err := conn.Read(c.Request.Context())
		if err != nil {
			return
		}
		if err := conn.Write(c.Request.Context(), kind, message); err != nil {
			return
		}
	}
}

// echoGorilla returns messages with gorilla/websocket, which does not support contexts,
// until its connection is closed.
func echoGorilla(c *gin.Context) {
	conn, err := (&gorilla.Upgrader{}).Upgrade(c.Writer, c.Request, nil)
	if err != nil {
		return // Upgrade has responded
	}
	defer func() { _ = conn.Close() }()
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			return
		}
		if err := conn.WriteMessage(kind, message); err != nil {
			return
		}
	}
}

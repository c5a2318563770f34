package main

import (
	"io"
	"net"
	"net/http"

	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/service"
	"github.com/zeromicro/go-zero/core/trace"
	"github.com/zeromicro/go-zero/rest"
	"github.com/zeromicro/go-zero/rest/httpx"
)

// serveGoZero mounts the middleware of go-zero. Its request ID is the trace ID.
func serveGoZero(l net.Listener, log io.Writer) (stop func()) {
	logx.Reset()
	logx.SetWriter(logx.NewWriter(discard{}))
	logx.DisableStat()
	server := rest.MustNewServer(rest.RestConf{
		ServiceConf: service.ServiceConf{
			Name: "user",
			Log:  logx.LogConf{Mode: "console", Level: "info", Encoding: "json"},
		},
		Host: "127.0.0.1", MaxBytes: 4 << 20, MaxConns: 10_000,
		Middlewares: rest.MiddlewaresConf{Trace: log != nil, Log: log != nil, Recover: log != nil},
	})
	server.AddRoute(rest.Route{
		Method: http.MethodGet, Path: "/user/:id",
		Handler: func(w http.ResponseWriter, r *http.Request) {
			httpx.OkJsonCtx(r.Context(), w, found(trace.TraceIDFromContext(r.Context())))
		},
	})
	// go-zero accepts no listener, and Start does not return before the process exits.
	// Therefore the server is closed before it listens, and its handler is served on l.
	handlers := make(chan http.Handler, 1)
	go server.StartWithOpts(func(s *http.Server) {
		handlers <- s.Handler
		_ = s.Close()
	})
	return serveHandler(l, <-handlers)
}

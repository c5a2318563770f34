package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"
)

// A framework serves GET /user/{id} with the envelope and the user, as Plinth does. If
// log is not nil, serve also mounts a request ID, recovery from panics and an access log
// that writes to log. It uses the middleware of the framework if that exists.
type framework struct {
	name  string
	serve func(l net.Listener, log io.Writer) (stop func())
}

// frameworks are in the order of the table.
var frameworks = []framework{
	{"gin", serveGin},
	{"echo", serveEcho},
	{"fiber", serveFiber},
	{"hertz", serveHertz},
	{"kratos", serveKratos},
	{"go-zero", serveGoZero},
}

// peers compares our full stack with each framework, over one connection.
func peers() []comparison {
	var all []comparison
	ours := requestsTo(servePlinth, discard{})
	for _, f := range frameworks {
		all = append(all,
			comparison{
				name: "full stack", peer: f.name + ", bare",
				allocs: -1, ours: ours, theirs: requestsTo(f.serve, nil),
			},
			comparison{
				name: "full stack", peer: f.name + " with id, recovery, log",
				allocs: -1, ours: ours, theirs: requestsTo(f.serve, discard{}),
			},
		)
	}
	return all
}

// requestsTo measures requests to a new server over one connection.
func requestsTo(serve func(net.Listener, io.Writer) func(), log io.Writer) func(*testing.B) {
	return func(b *testing.B) {
		l := listen(b.Context())
		stop := serve(l, log)
		defer stop()
		sendRequests(b, l.Addr().String())
	}
}

func listen(ctx context.Context) net.Listener {
	return must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
}

// serveHandler serves with net/http, as gin and echo do.
func serveHandler(l net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h} //nolint:gosec // the only client is this process
	return runServer(func() error { return server.Serve(l) }, server.Close)
}

// runServer starts a server. stop calls shutDown and waits until serve returns.
func runServer(serve, shutDown func() error) (stop func()) {
	done := make(chan error, 1)
	go func() { done <- serve() }()
	return func() {
		err := shutDown()
		if err := errors.Join(err, <-done); err != nil && !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}
}

func servePlinth(l net.Listener, _ io.Writer) (stop func()) {
	return serveHandler(l, plinthUsers())
}

func serveGin(l net.Listener, log io.Writer) (stop func()) {
	if log != nil {
		return serveHandler(l, handWritten(ginUsers))
	}
	bare := gin.New()
	ginUsers(bare)
	return serveHandler(l, bare)
}

// discard discards all output. Loggers recognize io.Discard and skip formatting, but not
// this type.
type discard struct{}

// Write implements io.Writer.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

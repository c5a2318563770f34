package main

import (
	"context"
	"io"
	"net"
	"net/http"

	kratoslog "github.com/go-kratos/kratos/v3/log"
	"github.com/go-kratos/kratos/v3/middleware/logging"
	"github.com/go-kratos/kratos/v3/middleware/recovery"
	kratos "github.com/go-kratos/kratos/v3/transport/http"
	"github.com/google/uuid"
)

// serveKratos mounts a hand-written ID, because kratos has only the trace ID.
func serveKratos(l net.Listener, log io.Writer) (stop func()) {
	logger := kratoslog.NewLogger(kratoslog.NewHandler(kratoslog.WithWriter(discard{}),
		kratoslog.WithFormat(kratoslog.FormatJSON)))
	kratoslog.SetDefault(logger)
	options := []kratos.ServerOption{kratos.Listener(l)}
	if log != nil {
		options = append(options, kratos.Filter(kratosID),
			kratos.Middleware(recovery.Recovery(), logging.Server(logger)))
	}
	server := kratos.NewServer(options...)
	server.Route("/").GET("/user/{id}", func(c kratos.Context) error {
		kratos.SetOperation(c, "/user.v1.User/Get")
		response, err := c.Middleware(func(ctx context.Context, _ any) (any, error) {
			id, _ := ctx.Value(handKey{}).(string)
			return found(id), nil
		})(c, nil)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, response)
	})
	return runServer(func() error { return server.Start(context.Background()) }, server.Close)
}

func kratosID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-UUID")
		if id == "" {
			id = uuid.NewString()
		}
		w.Header().Set("X-Request-UUID", id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), handKey{}, id)))
	})
}

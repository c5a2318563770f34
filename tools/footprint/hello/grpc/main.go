// Program grpc is a gRPC service on grpcx without HTTP, with interceptors, health checks,
// reflection and graceful shutdown.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/plinthgo/plinth/grpcx/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runner.Serve(ctx); err != nil {
		panic(err)
	}
}

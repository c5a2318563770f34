// Program baregrpc is grpc-go with its health service and without Plinth. It is the
// baseline of program grpc.
package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", ":1119")
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	if err := server.Serve(listener); err != nil {
		panic(err)
	}
}

// Program gingrpc is gin with one route and grpc-go with its health service, without
// Plinth. It is the baseline of program coregrpc.
package main

import (
	"context"
	"net"

	"github.com/gin-gonic/gin"
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
	go func() {
		if err := server.Serve(listener); err != nil {
			panic(err)
		}
	}()
	engine := gin.New()
	engine.GET("/ping", func(c *gin.Context) { c.JSON(200, gin.H{"message": "pong"}) })
	if err := engine.Run(); err != nil {
		panic(err)
	}
}

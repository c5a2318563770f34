package service

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/examples/grpc/userv1"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// guard registers the authentication for the user service only, so the health service
// needs no credentials. It runs once, because tests start several servers with the
// default registry.
var guard = sync.OnceFunc(func() {
	unary, stream := middleware.Guard(authenticate)
	middleware.UseUnary(userv1.UserService_ServiceDesc, unary)
	middleware.UseStream(userv1.UserService_ServiceDesc, stream)
})

// Register registers the services.
func Register(_ context.Context, registrar grpc.ServiceRegistrar) {
	guard()
	userv1.RegisterUserServiceServer(registrar, users{})
}

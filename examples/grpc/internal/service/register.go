package service

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/examples/grpc/userv1"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// guard puts the authentication before every method of the user service, and of no other:
// health stays open. The registry is the process's, in which tests start several servers.
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

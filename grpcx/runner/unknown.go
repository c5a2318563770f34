package runner

import (
	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// unknown answers calls of services and methods that are not there. By itself grpc-go
// answers these outside the interceptors: without an id, an envelope and a line of the
// access log.
func unknown(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return xerror.New(xerror.MethodNotAllowed, xerror.ErrMessage("there is no method "+method))
}

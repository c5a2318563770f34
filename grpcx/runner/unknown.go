package runner

import (
	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// unknown handles calls of unknown services and methods. grpc-go's default runs outside
// the interceptors: without a request ID, an envelope and an access log line.
func unknown(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return xerror.New(xerror.MethodNotAllowed, xerror.ErrMessage("unknown method "+method))
}

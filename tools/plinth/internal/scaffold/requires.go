//go:build services

package scaffold

// New services import these packages, but this program does not. This file is never
// built. It makes go mod tidy retain their modules in go.mod, which defines the versions
// for new services.
import (
	_ "github.com/gin-gonic/gin"
	_ "google.golang.org/grpc"
	_ "google.golang.org/grpc/test/bufconn"
	_ "google.golang.org/protobuf/types/known/timestamppb"

	_ "github.com/plinthgo/plinth/asyncx/outbox"
	_ "github.com/plinthgo/plinth/cronx/runner"
	_ "github.com/plinthgo/plinth/grpcx/client"
	_ "github.com/plinthgo/plinth/grpcx/result"
	_ "github.com/plinthgo/plinth/grpcx/runner"
	_ "github.com/plinthgo/plinth/notifyx/email"
	_ "github.com/plinthgo/plinth/openapix"
)

//go:build services

package scaffold

// The packages that new services import, and this program does not. Nothing builds this
// file: it keeps their modules in go.mod, whose versions new services begin with.
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
)

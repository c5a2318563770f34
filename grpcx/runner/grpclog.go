package runner

import (
	"bytes"
	"context"
	"io"
	"log/slog"

	"google.golang.org/grpc/grpclog"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// severity is the variable of grpc-go that says what it logs by itself; who sets it wants
// grpc-go's own lines.
const severity xenv.EnvKey = "GRPC_GO_LOG_SEVERITY_LEVEL"

// grpc-go has errors that no interceptor sees, such as of a response that cannot be
// encoded. It writes them to a logger of the process, which may be replaced only before
// it is used: when the program starts.
var _ = bridged()

func bridged() bool {
	if _, own := xenv.GetEnv(severity); !own {
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, errorLines{}))
	}
	return true
}

// errorLines takes grpc-go's lines from ERROR on.
type errorLines struct{}

// Write implements io.Writer. A line begins with date, time and severity.
func (errorLines) Write(line []byte) (int, error) {
	text := line
	for _, mark := range []string{"ERROR: ", "FATAL: "} {
		if _, rest, ok := bytes.Cut(line, []byte(mark)); ok {
			text = rest
			break
		}
	}
	xlog.WithName(xlog.NamedGRPC).Error(context.Background(), "grpc-go",
		slog.String("error", rpcstatus.TruncateForLog(string(bytes.TrimSpace(text)))))
	return len(line), nil
}

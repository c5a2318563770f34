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

// severity is the environment variable that enables grpc-go's own logger. If it is set,
// the runner does not replace that logger.
const severity xenv.EnvKey = "GRPC_GO_LOG_SEVERITY_LEVEL"

// grpc-go logs errors that no interceptor receives, such as a response that cannot be
// encoded, to a global logger. SetLoggerV2 must be called before grpc-go is used.
var _ = setGRPCLogger()

func setGRPCLogger() bool {
	if _, isSet := xenv.GetEnv(severity); !isSet {
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, errorLines{}))
	}
	return true
}

// errorLines logs the error lines of grpc-go.
type errorLines struct{}

// Write implements io.Writer. A line starts with date, time and severity.
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

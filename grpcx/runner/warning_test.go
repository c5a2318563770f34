package runner_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/runner"
)

func TestServe_MiddlewareWarning(t *testing.T) {
	const warning = "middleware covers one kind of methods only"
	n := &events{}
	service := pb.TestService_ServiceDesc
	unaryOnly, streamsOnly := service, service
	unaryOnly.Streams, streamsOnly.Methods = nil, nil
	for _, tc := range []struct {
		name          string
		desc          *grpc.ServiceDesc
		unary, stream bool
		open, use     string
	}{
		{name: "none", desc: &service},
		{name: "both", desc: &service, unary: true, stream: true},
		{name: "unary only", desc: &service, unary: true, open: "streams", use: "UseStream"},
		{
			name: "streams only", desc: &service, stream: true,
			open: "unary methods", use: "UseUnary",
		},
		{name: "unary only, without streaming methods", desc: &unaryOnly, unary: true},
		{name: "streams only, without unary methods", desc: &streamsOnly, stream: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := calltest.Record(t)
			r := &middleware.Registry{}
			if tc.unary {
				r.UseUnary(&service, n.unary("m"))
			}
			if tc.stream {
				r.UseStream(&service, n.stream("m"))
			}
			ctx, cancel := context.WithCancel(t.Context())
			err := runner.Serve(ctx, runner.WithListener(listen(t)), runner.WithMiddleware(r),
				runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
					r.RegisterService(tc.desc, &calltest.Service{})
					cancel() // the warning is logged at startup
				}))
			if err != nil {
				t.Error(err)
			}
			if tc.open == "" {
				if lines := log.Lines(warning); len(lines) != 0 {
					t.Errorf("lines = %v, want no warning", lines)
				}
				return
			}
			line := log.Only(warning)
			use, _ := line["use"].(string)
			if line["level"] != "warn" || line["service"] != serviceName ||
				line["open"] != tc.open ||
				!strings.Contains(use, tc.use) || !strings.Contains(use, "middleware.Guard") {
				t.Errorf("line = %v, want %s open and %s", line, tc.open, tc.use)
			}
		})
	}
}

package unary_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/interceptor/unary"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// current is the middleware of the default registry, which cannot be unregistered.
var current atomic.Pointer[grpc.UnaryServerInterceptor]

func TestMain(m *testing.M) {
	middleware.UseUnary(pb.TestService_ServiceDesc, func(ctx context.Context, req any,
		info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
	) (any, error) {
		if does := current.Load(); does != nil {
			return (*does)(ctx, req, info, next)
		}
		return next(ctx, req)
	})
	goleak.VerifyTestMain(m)
}

// use sets the middleware until the test finishes.
func use(t *testing.T, m grpc.UnaryServerInterceptor) {
	t.Helper()
	current.Store(&m)
	t.Cleanup(func() { current.Store(nil) })
}

// documented is the documented chain.
func documented(
	app context.Context, log *xlog.LogNamedLogger, checks ...validation.Check,
) []grpc.UnaryServerInterceptor {
	return []grpc.UnaryServerInterceptor{
		unary.Trace(), unary.InitContext(app), unary.AccessLog(log), unary.Recover(),
		unary.Middleware(), unary.Validate(checks...), unary.ResponseBuilder(),
	}
}

type handler = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error)

// invoke calls a server with this chain and handler once.
func invoke(
	t *testing.T, chain []grpc.UnaryServerInterceptor, h handler, pairs ...string,
) (*pb.TestResponse, metadata.MD, error) {
	t.Helper()
	client := pb.NewTestServiceClient(calltest.Serve(t, &calltest.Service{OnUnary: h},
		grpc.ChainUnaryInterceptor(chain...)))
	var trailer metadata.MD
	response, err := client.Unary(metadata.AppendToOutgoingContext(t.Context(), pairs...),
		&pb.TestRequest{Text: "hello"}, grpc.Trailer(&trailer))
	return response, trailer, err
}

func detail(err error) *generate.BaseResponse {
	for _, d := range status.Convert(err).Details() {
		if b, ok := d.(*generate.BaseResponse); ok {
			return b
		}
	}
	return nil
}

func TestChain(t *testing.T) {
	app := context.WithValue(t.Context(), xctx.RegNodeKey, "nodes")
	for _, tc := range []struct {
		name   string
		h      handler
		reject error
		code   codes.Code
		output string
	}{
		{name: "success", output: "Success"},
		{name: "error", h: func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
			return nil, xerror.New(xerror.NotFound, "")
		}, code: codes.NotFound, output: "NOT_FOUND"},
		{name: "panic", h: func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
			panic("secret")
		}, code: codes.Internal, output: "SERVER_INTERNAL_ERROR"},
		{name: "nothing", h: func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
			return nil, nil
		}, code: codes.Internal, output: "DEVELOPER_ERROR"},
		{
			name: "rejected", reject: errors.New("secret"), code: codes.Internal,
			output: "SERVER_INTERNAL_ERROR",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := calltest.Record(t)
			var steps []string
			use(t, func(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
				next grpc.UnaryHandler,
			) (any, error) {
				if ctx.Value(xctx.RegNodeKey) == "nodes" {
					steps = append(steps, "middleware")
				}
				return next(ctx, req)
			})
			check := func(context.Context, any) error {
				steps = append(steps, "check")
				return tc.reject
			}
			// uses the test's context
			response, trailer,
				err := invoke(t, documented(app, nil, check), tc.h, "x_request_uuid", "abc")
			b := response.GetBaseResponse()
			if err != nil {
				b = detail(err)
			}
			if status.Code(err) != tc.code || b.GetOutput() != tc.output ||
				b.GetContext() != "abc" {
				t.Errorf("got %v, %v", response, err)
			}
			if got := trailer.Get("x_request_uuid"); len(got) != 1 || got[0] != "abc" ||
				strings.Join(steps, " ") != "middleware check" {
				t.Errorf("trailer = %v, steps = %q", trailer, steps)
			}
			if line := log.Only("call"); line["request_id"] != "abc" || err != nil &&
				strings.Contains(err.Error(), "secret") {
				t.Errorf("line = %v, err = %v", line, err)
			}
		})
	}
}

func TestInterceptors(t *testing.T) {
	fails := func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
		return nil, xerror.New(xerror.NotFound, "")
	}
	panics := func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) { panic("secret") }
	var seen any
	looks := func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
		seen = ctx.Value(xctx.RegNodeKey)
		return &pb.TestResponse{}, nil
	}
	rejects := func(context.Context, any) error { return xerror.New(xerror.Forbidden, "") }
	app := context.WithValue(t.Context(), xctx.RegNodeKey, "nodes")
	for _, tc := range []struct {
		name  string
		part  grpc.UnaryServerInterceptor
		h     handler
		code  codes.Code
		holds func(response *pb.TestResponse, trailer metadata.MD, log *calltest.Log) bool
	}{
		{
			name: "Trace", part: unary.Trace(),
			holds: func(_ *pb.TestResponse, trailer metadata.MD, _ *calltest.Log) bool {
				return len(trailer.Get("x_request_uuid")) == 1
			},
		},
		{
			name: "Trace of an error", part: unary.Trace(), h: fails, code: codes.NotFound,
			holds: func(_ *pb.TestResponse, trailer metadata.MD, _ *calltest.Log) bool {
				return len(trailer.Get("x_request_uuid")) == 1
			},
		},
		{
			name: "InitContext", part: unary.InitContext(app), h: looks,
			holds: func(_ *pb.TestResponse, trailer metadata.MD, _ *calltest.Log) bool {
				return seen == "nodes" && len(trailer.Get("x_request_uuid")) == 0
			},
		},
		{
			name: "InitContext of an error",
			part: unary.InitContext(app), h: fails, code: codes.NotFound,
		},
		{
			name: "AccessLog", part: unary.AccessLog(nil),
			holds: func(_ *pb.TestResponse, _ metadata.MD, log *calltest.Log) bool {
				return log.Only("call")["status"] == "OK"
			},
		},
		{
			name: "AccessLog of an error",
			part: unary.AccessLog(nil), h: fails, code: codes.NotFound,
			holds: func(_ *pb.TestResponse, _ metadata.MD, log *calltest.Log) bool {
				return log.Only("call")["status"] == "NOT_FOUND"
			},
		},
		{
			name: "Recover", part: unary.Recover(), h: panics, code: codes.Internal,
			holds: func(_ *pb.TestResponse, _ metadata.MD, log *calltest.Log) bool {
				return log.Only("panic")["panic"] == "secret"
			},
		},
		{
			name: "Middleware", part: unary.Middleware(),
			holds: func(response *pb.TestResponse, _ metadata.MD, _ *calltest.Log) bool {
				return response.GetText() == "from the middleware" &&
					response.GetBaseResponse() == nil
			},
		},
		{name: "Validate", part: unary.Validate(rejects), code: codes.PermissionDenied},
		{
			name: "ResponseBuilder", part: unary.ResponseBuilder(),
			holds: func(response *pb.TestResponse, _ metadata.MD, _ *calltest.Log) bool {
				return response.GetBaseResponse().GetCode() == 200
			},
		},
		{
			name: "ResponseBuilder of an error",
			part: unary.ResponseBuilder(), h: fails, code: codes.NotFound,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := calltest.Record(t)
			use(t, func(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
				next grpc.UnaryHandler,
			) (any, error) {
				if _, err := next(ctx, req); err != nil {
					return nil, err
				}
				return &pb.TestResponse{Text: "from the middleware"}, nil
			})
			response, trailer, err := invoke(t, []grpc.UnaryServerInterceptor{tc.part}, tc.h)
			if status.Code(err) != tc.code || tc.holds != nil && !tc.holds(response, trailer, log) {
				t.Errorf("got %v, %v, %v, log:\n%s", response, trailer, err, log)
			}
		})
	}
}

func TestAccessLog(t *testing.T) {
	rest := calltest.Record(t)
	own, engine := calltest.NewLog(t)
	if _, _, err := invoke(t, documented(t.Context(), engine.WithName("MINE")), nil); err != nil {
		t.Fatal(err)
	}
	if own.Only("call")["name"] != "MINE" || rest.String() != "" {
		t.Errorf("custom log:\n%s\ndefault log:\n%s", own, rest)
	}
}

func TestInitContext_Debug(t *testing.T) {
	for _, debug := range []bool{false, true} {
		t.Chdir(t.TempDir()) // no .env and no log files
		t.Setenv("LOG_DIR", "none")
		t.Setenv("SNOWFLAKE_DATACENTER_ID", "1")
		t.Setenv("SNOWFLAKE_NODE_ID", "1")
		reg, err := xreg.New(t.Context(), nil, xoption.WithDebug(debug))
		if err != nil {
			t.Fatal(err)
		}
		calltest.Record(t)
		response, _, err := invoke(t, documented(reg.Init.Ctx, nil), nil)
		if err != nil || (response.GetBaseResponse().Overhead != nil) != debug {
			t.Errorf("debug %t: got %v, %v", debug, response, err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestInterceptors_WithoutServer(t *testing.T) {
	calltest.Record(t)
	info := &grpc.UnaryServerInfo{FullMethod: pb.TestService_Unary_FullMethodName}
	for _, part := range documented(context.Background(), nil) {
		response, err := part(t.Context(), &pb.TestRequest{}, info,
			func(context.Context, any) (any, error) { return &pb.WithoutEnvelope{}, nil })
		if _, ok := response.(*pb.WithoutEnvelope); !ok || err != nil {
			t.Errorf("got %v, %v", response, err)
		}
	}
}

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
		if m := current.Load(); m != nil {
			return (*m)(ctx, req, info, next)
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

// documentedChain returns the chain of the package comment.
func documentedChain(
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
		{
			name: "error", code: codes.NotFound, output: "NOT_FOUND",
			h: func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
				return nil, xerror.New(xerror.NotFound, "")
			},
		},
		{
			name: "panic", code: codes.Internal, output: "SERVER_INTERNAL_ERROR",
			h: func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
				panic("secret")
			},
		},
		{
			name: "no response", code: codes.Internal, output: "DEVELOPER_ERROR",
			h: func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
				return nil, nil
			},
		},
		{
			name: "rejected", reject: errors.New("secret"),
			code: codes.Internal, output: "SERVER_INTERNAL_ERROR",
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
			chain := documentedChain(app, nil, check)
			response, trailer, err := invoke(t, chain, tc.h, "x_request_uuid", "abc")
			b := response.GetBaseResponse()
			if err != nil {
				b = detail(err)
			}
			if status.Code(err) != tc.code || b.GetOutput() != tc.output ||
				b.GetContext() != "abc" {
				t.Errorf("response = %v, error = %v; want %v and %s",
					response, err, tc.code, tc.output)
			}
			if got := trailer.Get("x_request_uuid"); len(got) != 1 || got[0] != "abc" ||
				strings.Join(steps, " ") != "middleware check" {
				t.Errorf("trailer = %v, steps = %q", trailer, steps)
			}
			if line := log.Only("call"); line["request_id"] != "abc" ||
				err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("line = %v, err = %v", line, err)
			}
		})
	}
}

func TestInterceptors(t *testing.T) {
	fail := func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
		return nil, xerror.New(xerror.NotFound, "")
	}
	panics := func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) { panic("secret") }
	var seen any
	readContext := func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
		seen = ctx.Value(xctx.RegNodeKey)
		return &pb.TestResponse{}, nil
	}
	reject := func(context.Context, any) error { return xerror.New(xerror.Forbidden, "") }
	app := context.WithValue(t.Context(), xctx.RegNodeKey, "nodes")
	for _, tc := range []struct {
		name        string
		interceptor grpc.UnaryServerInterceptor
		h           handler
		code        codes.Code
		check       func(response *pb.TestResponse, trailer metadata.MD, log *calltest.Log) bool
	}{
		{
			name: "Trace", interceptor: unary.Trace(),
			check: func(_ *pb.TestResponse, trailer metadata.MD, _ *calltest.Log) bool {
				return len(trailer.Get("x_request_uuid")) == 1
			},
		},
		{
			name: "Trace of an error", interceptor: unary.Trace(), h: fail, code: codes.NotFound,
			check: func(_ *pb.TestResponse, trailer metadata.MD, _ *calltest.Log) bool {
				return len(trailer.Get("x_request_uuid")) == 1
			},
		},
		{
			name: "InitContext", interceptor: unary.InitContext(app), h: readContext,
			check: func(_ *pb.TestResponse, trailer metadata.MD, _ *calltest.Log) bool {
				return seen == "nodes" && len(trailer.Get("x_request_uuid")) == 0
			},
		},
		{
			name:        "InitContext of an error",
			interceptor: unary.InitContext(app), h: fail, code: codes.NotFound,
		},
		{
			name: "AccessLog", interceptor: unary.AccessLog(nil),
			check: func(_ *pb.TestResponse, _ metadata.MD, log *calltest.Log) bool {
				return log.Only("call")["status"] == "OK"
			},
		},
		{
			name:        "AccessLog of an error",
			interceptor: unary.AccessLog(nil), h: fail, code: codes.NotFound,
			check: func(_ *pb.TestResponse, _ metadata.MD, log *calltest.Log) bool {
				return log.Only("call")["status"] == "NOT_FOUND"
			},
		},
		{
			name: "Recover", interceptor: unary.Recover(), h: panics, code: codes.Internal,
			check: func(_ *pb.TestResponse, _ metadata.MD, log *calltest.Log) bool {
				return log.Only("panic")["panic"] == "secret"
			},
		},
		{
			name: "Middleware", interceptor: unary.Middleware(),
			check: func(response *pb.TestResponse, _ metadata.MD, _ *calltest.Log) bool {
				return response.GetText() == "from the middleware" &&
					response.GetBaseResponse() == nil
			},
		},
		{name: "Validate", interceptor: unary.Validate(reject), code: codes.PermissionDenied},
		{
			name: "ResponseBuilder", interceptor: unary.ResponseBuilder(),
			check: func(response *pb.TestResponse, _ metadata.MD, _ *calltest.Log) bool {
				return response.GetBaseResponse().GetCode() == 200
			},
		},
		{
			name:        "ResponseBuilder of an error",
			interceptor: unary.ResponseBuilder(), h: fail, code: codes.NotFound,
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
			response, trailer, err := invoke(t, []grpc.UnaryServerInterceptor{tc.interceptor}, tc.h)
			if status.Code(err) != tc.code || tc.check != nil && !tc.check(response, trailer, log) {
				t.Errorf("got %v, %v, %v, log:\n%s", response, trailer, err, log)
			}
		})
	}
}

func TestAccessLog(t *testing.T) {
	defaultLog := calltest.Record(t)
	customLog, engine := calltest.NewLog(t)
	chain := documentedChain(t.Context(), engine.WithName("CUSTOM"))
	if _, _, err := invoke(t, chain, nil); err != nil {
		t.Fatal(err)
	}
	if customLog.Only("call")["name"] != "CUSTOM" || defaultLog.String() != "" {
		t.Errorf("custom log:\n%s\ndefault log:\n%s", customLog, defaultLog)
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
		response, _, err := invoke(t, documentedChain(reg.Init.Ctx, nil), nil)
		if err != nil || (response.GetBaseResponse().Overhead != nil) != debug {
			t.Errorf("debug %t: response = %v, error = %v", debug, response, err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestInterceptors_WithoutServer(t *testing.T) {
	calltest.Record(t)
	info := &grpc.UnaryServerInfo{FullMethod: pb.TestService_Unary_FullMethodName}
	for _, interceptor := range documentedChain(context.Background(), nil) {
		response, err := interceptor(t.Context(), &pb.TestRequest{}, info,
			func(context.Context, any) (any, error) { return &pb.WithoutEnvelope{}, nil })
		if _, ok := response.(*pb.WithoutEnvelope); !ok || err != nil {
			t.Errorf("got %v, %v", response, err)
		}
	}
}

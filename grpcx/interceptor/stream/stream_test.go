package stream_test

import (
	"context"
	"errors"
	"io"
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
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/interceptor/stream"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// current is the middleware of the default registry, which cannot be unregistered.
var current atomic.Pointer[grpc.StreamServerInterceptor]

func TestMain(m *testing.M) {
	middleware.UseStream(pb.TestService_ServiceDesc, func(srv any, ss grpc.ServerStream,
		info *grpc.StreamServerInfo, next grpc.StreamHandler,
	) error {
		if m := current.Load(); m != nil {
			return (*m)(srv, ss, info, next)
		}
		return next(srv, ss)
	})
	goleak.VerifyTestMain(m)
}

// use sets the middleware until the test finishes.
func use(t *testing.T, m grpc.StreamServerInterceptor) {
	t.Helper()
	current.Store(&m)
	t.Cleanup(func() { current.Store(nil) })
}

// documentedChain returns the chain of the package comment.
func documentedChain(
	app context.Context, log *xlog.LogNamedLogger, checks ...validation.Check,
) []grpc.StreamServerInterceptor {
	return []grpc.StreamServerInterceptor{
		stream.Trace(), stream.InitContext(app), stream.AccessLog(log), stream.Recover(),
		stream.Middleware(), stream.Validate(checks...),
	}
}

type handler = func(grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse]) error

// outcome is what the client received.
type outcome struct {
	texts   []string
	trailer metadata.MD
	err     error
}

// invoke opens one stream to a server with this chain and handler and sends one message.
func invoke(
	t *testing.T, chain []grpc.StreamServerInterceptor, h handler, pairs ...string,
) *outcome {
	t.Helper()
	client := pb.NewTestServiceClient(calltest.Serve(t, &calltest.Service{OnBidi: h},
		grpc.ChainStreamInterceptor(chain...)))
	stream, err := client.BidiStream(metadata.AppendToOutgoingContext(t.Context(), pairs...))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(stream.Send(&pb.TestRequest{Text: "hello"}), stream.CloseSend())
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	a := &outcome{}
	for {
		response, err := stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				a.err = err
			}
			a.trailer = stream.Trailer()
			return a
		}
		a.texts = append(a.texts, response.GetText())
	}
}

func detail(err error) *generate.BaseResponse {
	for _, d := range status.Convert(err).Details() {
		if b, ok := d.(*generate.BaseResponse); ok {
			return b
		}
	}
	return nil
}

// afterOne returns a handler that sends one message and returns the result of end.
func afterOne(end func() error) handler {
	return func(stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse]) error {
		if _, err := stream.Recv(); err != nil {
			return err
		}
		if err := stream.Send(&pb.TestResponse{Text: "first"}); err != nil {
			return err
		}
		return end()
	}
}

func TestChain(t *testing.T) {
	app := context.WithValue(t.Context(), xctx.RegNodeKey, "nodes")
	for _, tc := range []struct {
		name   string
		end    func() error
		reject error
		texts  string
		code   codes.Code
		output string
	}{
		{name: "success", end: func() error { return nil }, texts: "first"},
		{
			name: "error", end: func() error { return xerror.New(xerror.NotFound, "") },
			texts: "first", code: codes.NotFound, output: "NOT_FOUND",
		},
		{
			name: "panic after the first message", end: func() error { panic("secret") },
			texts: "first", code: codes.Internal, output: "SERVER_INTERNAL_ERROR",
		},
		{
			name: "rejected", reject: xerror.New(xerror.Forbidden, ""),
			code: codes.PermissionDenied, output: "FORBIDDEN",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := calltest.Record(t)
			var steps []string
			use(t, func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo,
				next grpc.StreamHandler,
			) error {
				if ss.Context().Value(xctx.RegNodeKey) == "nodes" {
					steps = append(steps, "middleware")
				}
				return next(srv, ss)
			})
			check := func(context.Context, any) error {
				steps = append(steps, "check")
				return tc.reject
			}
			chain := documentedChain(app, nil, check)
			a := invoke(t, chain, afterOne(tc.end), "x_request_uuid", "abc")
			if status.Code(a.err) != tc.code || strings.Join(a.texts, " ") != tc.texts ||
				detail(a.err).GetOutput() != tc.output {
				t.Errorf("received %q, %v; want %q, %v and %s",
					a.texts, a.err, tc.texts, tc.code, tc.output)
			}
			if a.err != nil &&
				(detail(a.err).GetContext() != "abc" || strings.Contains(a.err.Error(), "secret")) {
				t.Errorf("err = %v, detail %v", a.err, detail(a.err))
			}
			if got := a.trailer.Get("x_request_uuid"); len(got) != 1 || got[0] != "abc" ||
				strings.Join(steps, " ") != "middleware check" {
				t.Errorf("trailer = %v, steps = %q", a.trailer, steps)
			}
			if line := log.Only("call"); line["request_id"] != "abc" || line["stream"] != "bidi" ||
				line["received"] != 1.0 {
				t.Errorf("line = %v", line)
			}
		})
	}
}

func TestInterceptors(t *testing.T) {
	fail := afterOne(func() error { return xerror.New(xerror.NotFound, "") })
	succeed := afterOne(func() error { return nil })
	var seen any
	readContext := func(stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse]) error {
		seen = stream.Context().Value(xctx.RegNodeKey)
		return nil
	}
	reject := func(context.Context, any) error { return xerror.New(xerror.Forbidden, "") }
	app := context.WithValue(t.Context(), xctx.RegNodeKey, "nodes")
	hasID := func(a *outcome, _ *calltest.Log) bool {
		return len(a.trailer.Get("x_request_uuid")) == 1
	}
	for _, tc := range []struct {
		name        string
		interceptor grpc.StreamServerInterceptor
		h           handler
		code        codes.Code
		check       func(a *outcome, log *calltest.Log) bool
	}{
		{name: "Trace", interceptor: stream.Trace(), h: succeed, check: hasID},
		{
			name:        "Trace of an error",
			interceptor: stream.Trace(), h: fail, code: codes.NotFound, check: hasID,
		},
		{
			name: "InitContext", interceptor: stream.InitContext(app), h: readContext,
			check: func(*outcome, *calltest.Log) bool { return seen == "nodes" },
		},
		{
			name:        "InitContext of an error",
			interceptor: stream.InitContext(app), h: fail, code: codes.NotFound,
		},
		{
			name: "AccessLog", interceptor: stream.AccessLog(nil), h: succeed,
			check: func(_ *outcome, log *calltest.Log) bool {
				line := log.Only("call")
				return line["status"] == "OK" && line["sent"] == 1.0
			},
		},
		{
			name:        "AccessLog of an error",
			interceptor: stream.AccessLog(nil), h: fail, code: codes.NotFound,
			check: func(_ *outcome, log *calltest.Log) bool {
				return log.Only("call")["status"] == "NOT_FOUND"
			},
		},
		{
			name: "Recover", interceptor: stream.Recover(),
			h:    afterOne(func() error { panic("secret") }),
			code: codes.Internal,
			check: func(a *outcome, log *calltest.Log) bool {
				return log.Only("panic")["panic"] == "secret" &&
					strings.Join(a.texts, " ") == "first"
			},
		},
		{
			name: "Middleware", interceptor: stream.Middleware(), h: succeed,
			check: func(a *outcome, _ *calltest.Log) bool {
				return strings.Join(a.texts, " ") == "from-the-middleware first"
			},
		},
		{
			name: "Middleware of an error", interceptor: stream.Middleware(),
			h: fail, code: codes.NotFound,
		},
		{
			name: "Validate", interceptor: stream.Validate(reject),
			h: succeed, code: codes.PermissionDenied,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := calltest.Record(t)
			use(t, func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo,
				next grpc.StreamHandler,
			) error {
				if err := ss.SendMsg(&pb.TestResponse{Text: "from-the-middleware"}); err != nil {
					return err
				}
				return next(srv, ss)
			})
			a := invoke(t, []grpc.StreamServerInterceptor{tc.interceptor}, tc.h)
			if status.Code(a.err) != tc.code || tc.check != nil && !tc.check(a, log) {
				t.Errorf("received %q, %v, %v, log:\n%s", a.texts, a.trailer, a.err, log)
			}
		})
	}
}

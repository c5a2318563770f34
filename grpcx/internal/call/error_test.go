package call_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// customStatus returns a status with a detail that this module does not create.
func customStatus(t *testing.T) *status.Status {
	t.Helper()
	s, err := status.New(codes.OutOfRange, "custom message").WithDetails(&errdetails.RetryInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// failures returns errors with their expected conversions.
func failures(t *testing.T) []failure {
	t.Helper()
	custom := customStatus(t)
	return []failure{
		{
			name: "from the catalog", err: xerror.New(xerror.NotFound, "no such user"),
			code: codes.NotFound, output: "NOT_FOUND", text: "no such user",
		},
		{
			name: "wrapped", err: fmt.Errorf("%s: %w", secret, xerror.New(xerror.Unauthorized, "")),
			code: codes.Unauthenticated, output: "UNAUTHORIZED",
		},
		{
			name: "with a cause", err: xerror.Wrap(xerror.Existed, "taken", errors.New(secret)),
			code: codes.InvalidArgument, output: "EXISTED", text: "taken",
		},
		{
			name: "unknown", err: errors.New(secret), code: codes.Internal,
			output: "SERVER_INTERNAL_ERROR",
		},
		{name: "canceled", err: context.Canceled, code: codes.Canceled},
		{
			name: "deadline exceeded", err: fmt.Errorf("%s: %w", secret, context.DeadlineExceeded),
			code: codes.DeadlineExceeded,
		},
		{name: "custom status", err: custom.Err(), code: codes.OutOfRange, custom: custom},
		{
			name: "wrapped custom status", err: fmt.Errorf("%s: %w", secret, custom.Err()),
			code: codes.OutOfRange, custom: custom,
		},
	}
}

type failure struct {
	name   string
	err    error
	code   codes.Code
	output string
	text   string
	custom *status.Status
}

// check compares the error that the client received with the expected one.
func (w *failure) check(t *testing.T, a *outcome) {
	t.Helper()
	got := status.Convert(a.err)
	if got.Code() != w.code {
		t.Fatalf("got %v, want %v", a.err, w.code)
	}
	if w.custom != nil {
		if !proto.Equal(got.Proto(), w.custom.Proto()) {
			t.Errorf("got %v, want the custom status unchanged", got.Proto())
		}
		return
	}
	b := envelopeOf(t, a.err)
	if w.output != "" && b.GetOutput() != w.output || b.GetErrorMessage() != w.text ||
		b.GetContext() != a.id(t) {
		t.Errorf("envelope = %v, want %s and %q", b, w.output, w.text)
	}
	wire, err := proto.Marshal(got.Proto())
	if err != nil || strings.Contains(string(wire), secret) {
		t.Errorf("the wire contains the secret: %q, %v", wire, err)
	}
}

func TestErrors(t *testing.T) {
	t.Run("converts errors of handlers", func(t *testing.T) {
		for _, tc := range failures(t) {
			t.Run(tc.name, func(t *testing.T) {
				inAllKinds(t, call.Config{}, appInterceptors{},
					func(f *fixture, do func(context.Context) *outcome) {
						f.setHandlers(func(context.Context) error { return tc.err })
						tc.check(f.T, do(f.Context()))
					})
			})
		}
	})

	t.Run("converts errors of middleware", func(t *testing.T) {
		for _, tc := range failures(t) {
			t.Run(tc.name, func(t *testing.T) {
				r := new(middleware.Registry)
				r.UseUnary(&pb.TestService_ServiceDesc, failUnary(tc.err))
				r.UseStream(&pb.TestService_ServiceDesc, failStream(tc.err))
				inAllKinds(t, call.Config{Registry: r}, appInterceptors{},
					func(f *fixture, do func(context.Context) *outcome) {
						tc.check(f.T, do(f.Context()))
					})
			})
		}
	})

	t.Run("converts errors of application interceptors", func(t *testing.T) {
		for _, tc := range failures(t) {
			t.Run(tc.name, func(t *testing.T) {
				app := appInterceptors{
					unary:  []grpc.UnaryServerInterceptor{failUnary(tc.err)},
					stream: []grpc.StreamServerInterceptor{failStream(tc.err)},
				}
				inAllKinds(t, call.Config{}, app,
					func(f *fixture, do func(context.Context) *outcome) {
						tc.check(f.T, do(f.Context()))
					})
			})
		}
	})

	t.Run("exposes the original error to application interceptors", func(t *testing.T) {
		var seen []error
		app := appInterceptors{
			unary: []grpc.UnaryServerInterceptor{func(
				ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
			) (any, error) {
				resp, err := next(ctx, req)
				seen = append(seen, err)
				return resp, err
			}},
			stream: []grpc.StreamServerInterceptor{func(
				srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
			) error {
				err := next(srv, ss)
				seen = append(seen, err)
				return err
			}},
		}
		inAllKinds(t, call.Config{}, app, func(f *fixture, do func(context.Context) *outcome) {
			seen = nil
			f.setHandlers(func(context.Context) error { return xerror.New(xerror.NotFound, "") })
			do(f.Context())
			if len(seen) != 1 || !errors.Is(seen[0], xerror.NotFound) ||
				status.Code(seen[0]) != codes.NotFound {
				f.Errorf("errors = %v, want one that is NotFound and has the status NotFound", seen)
			}
		})
	})

	// An interceptor of the application may wrap the error.
	t.Run("logs an error once", func(t *testing.T) {
		app := appInterceptors{
			unary: []grpc.UnaryServerInterceptor{func(
				ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
			) (any, error) {
				resp, err := next(ctx, req)
				return resp, fmt.Errorf("in between: %w", err)
			}},
			stream: []grpc.StreamServerInterceptor{func(
				srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
			) error {
				return fmt.Errorf("in between: %w", next(srv, ss))
			}},
		}
		inAllKinds(t, call.Config{}, app, func(f *fixture, do func(context.Context) *outcome) {
			f.setHandlers(func(context.Context) error { return errors.New(secret) })
			if a := do(f.Context()); status.Code(a.err) != codes.Internal ||
				strings.Contains(a.err.Error(), "between") {
				f.Errorf("err = %v, want Internal without the wrapper", a.err)
			}
			line := f.log.Only("call failed")
			if !strings.Contains(fmt.Sprint(line["error"]), secret) {
				f.Errorf("line = %v, want the cause", line)
			}
		})
	})

	t.Run("drops the response of a failed call", func(t *testing.T) {
		inAllForms(t, call.Config{}, appInterceptors{}, func(f *fixture) {
			f.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
				return &pb.TestResponse{Text: "both"}, xerror.New(xerror.Existed, "")
			}
			a := unaryOf(f.Context(), f.client)
			if envelopeOf(f.T, a.err).GetOutput() != "EXISTED" {
				f.Errorf("err = %v, want EXISTED", a.err)
			}
		})
	})

	t.Run("ignores a typed nil error", func(t *testing.T) {
		inAllKinds(t, call.Config{}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				var none *xerror.Error
				f.service.OnUnary = func(
					context.Context, *pb.TestRequest,
				) (*pb.TestResponse, error) {
					return &pb.TestResponse{Text: "fine"}, none
				}
				f.service.OnBidi = func(
					stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse],
				) error {
					if err := stream.Send(&pb.TestResponse{Text: "fine"}); err != nil {
						return err
					}
					return none
				}
				if a := do(f.Context()); a.err != nil || a.responses[0].GetText() != "fine" {
					f.Errorf("got %v, %v", a.responses, a.err)
				}
				if line := f.log.Only("call"); line["status"] != "OK" {
					f.Errorf("line = %v, want OK", line)
				}
			})
	})

	t.Run("reports a missing response", func(t *testing.T) {
		inAllForms(t, call.Config{}, appInterceptors{}, func(f *fixture) {
			f.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
				return nil, nil
			}
			a := unaryOf(f.Context(), f.client)
			if a.err == nil || envelopeOf(f.T, a.err).GetOutput() != "DEVELOPER_ERROR" {
				f.Errorf("err = %v, want DEVELOPER_ERROR", a.err)
			}
		})
	})
}

func failUnary(err error) grpc.UnaryServerInterceptor {
	return func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
		return nil, err
	}
}

func failStream(err error) grpc.StreamServerInterceptor {
	return func(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
		return err
	}
}

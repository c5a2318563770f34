package call_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/grpcx/internal/call"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

const secret = "swordfish"

// wantInternal checks the outcome of a panic: status INTERNAL with an ID, one log line,
// and no panic text on the wire.
func (f *fixture) wantInternal(a *outcome, text string) {
	f.Helper()
	if status.Code(a.err) != codes.Internal {
		f.Fatalf("err = %v, want Internal", a.err)
	}
	b := envelopeOf(f.T, a.err)
	if b.GetOutput() != "SERVER_INTERNAL_ERROR" || b.GetContext() != a.id(f.T) {
		f.Errorf("envelope = %v", b)
	}
	wire, err := proto.Marshal(status.Convert(a.err).Proto())
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range []string{secret, text, "goroutine", ".go:"} {
		if strings.Contains(string(wire), part) {
			f.Errorf("the wire contains %q: %q", part, wire)
		}
	}
	line := f.log.Only("panic")
	stack, _ := line["stack"].(string)
	value, _ := line["panic"].(string)
	method, _ := line["method"].(string)
	if !strings.Contains(value, text) || !strings.Contains(stack, "_test.go:") ||
		!strings.HasPrefix(method, "/plinth.grpcx.testproto.TestService/") {
		f.Errorf("line = %v, want %q, the method and the stack", line, text)
	}
	if line := f.log.Only("call"); line["status"] != "INTERNAL" || line["level"] != "info" {
		f.Errorf("line = %v, want INTERNAL at level info, because the panic has a line", line)
	}
}

// panics are functions that panic, with a part of the logged text.
var panics = []struct {
	name string
	do   func()
	want string
}{
	{name: "text", do: func() { panic(secret) }, want: secret},
	{name: "error", do: func() { panic(errors.New(secret)) }, want: secret},
	{name: "nil", do: func() { panic(nil) }, want: "panic called with nil argument"},
	{
		name: "runtime error", do: func() { clear(make([]int, 1)[len(secret):]) },
		want: "slice bounds out of range",
	},
	{name: "nil pointer", do: func() { _ = *(*int)(nil) }, want: "nil pointer dereference"},
}

func TestRecover(t *testing.T) {
	t.Run("recovers a panic in a handler", func(t *testing.T) {
		for _, tc := range panics {
			t.Run(tc.name, func(t *testing.T) {
				inAllKinds(t, call.Config{}, appInterceptors{},
					func(f *fixture, do func(context.Context) *outcome) {
						f.setHandlers(func(context.Context) error {
							tc.do()
							return nil
						})
						f.wantInternal(do(f.Context()), tc.want)
					})
			})
		}
	})

	t.Run("truncates the logged panic value", func(t *testing.T) {
		inAllKinds(t, call.Config{}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.setHandlers(func(context.Context) error { panic(strings.Repeat("é", 1<<20)) })
				do(f.Context())
				if text, _ := f.log.Only("panic")["panic"].(string); len(text) < 1024 ||
					len(text) > 8192 {
					f.Errorf("the log has %d bytes of the panic value", len(text))
				}
			})
	})

	t.Run("recovers a panic after the first message of a stream", func(t *testing.T) {
		inAllForms(t, call.Config{}, appInterceptors{}, func(f *fixture) {
			f.service.OnBidi = func(
				stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse],
			) error {
				if err := stream.Send(&pb.TestResponse{Text: "first"}); err != nil {
					return err
				}
				panic(secret)
			}
			a := bidiOf(f.Context(), f.T, f.client)
			if len(a.responses) != 1 || a.responses[0].GetText() != "first" {
				f.Errorf("responses = %v, want the first", a.responses)
			}
			f.wantInternal(a, secret)
		})
	})

	t.Run("recovers a panic in middleware", func(t *testing.T) {
		r := new(middleware.Registry)
		r.UseUnary(&pb.TestService_ServiceDesc,
			func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
				panic(secret)
			})
		r.UseStream(&pb.TestService_ServiceDesc,
			func(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
				panic(secret)
			})
		inAllKinds(t, call.Config{Registry: r}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.wantInternal(do(f.Context()), secret)
			})
	})

	t.Run("recovers a panic in a check", func(t *testing.T) {
		check := func(context.Context, any) error { panic(secret) }
		c := call.Config{Checks: []func(context.Context, any) error{check}}
		inAllKinds(t, c, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.wantInternal(do(f.Context()), secret)
			})
	})

	t.Run("recovers a panic in a method of an error", func(t *testing.T) {
		r := new(middleware.Registry)
		r.UseUnary(&pb.TestService_ServiceDesc,
			func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
				return nil, panickingError{}
			})
		r.UseStream(&pb.TestService_ServiceDesc,
			func(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
				return panickingError{}
			})
		inAllKinds(t, call.Config{Registry: r}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				if a := do(f.Context()); status.Code(a.err) != codes.Internal ||
					strings.Contains(a.err.Error(), secret) || a.id(f.T) == "" {
					f.Errorf("err = %v, want Internal without the panic value", a.err)
				}
			})
	})

	// A second Recover is mounted inside an interceptor that starts goroutines.
	t.Run("recovers a panic in a goroutine of an interceptor", func(t *testing.T) {
		inGoroutine := func(
			ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (resp any, err error) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				resp, err = next(ctx, req)
			}()
			<-done
			return resp, err
		}
		second := call.Unary(call.Recover, call.Config{})
		inAllForms(t, call.Config{},
			appInterceptors{unary: []grpc.UnaryServerInterceptor{inGoroutine, second}},
			func(f *fixture) {
				f.setHandlers(func(context.Context) error { panic(secret) })
				f.wantInternal(unaryOf(f.Context(), f.client), secret)
			})
	})

	// grpc-go sends no response after runtime.Goexit, so the client waits until its
	// deadline.
	t.Run("logs runtime.Goexit in a handler", func(t *testing.T) {
		inAllKinds(t, call.Config{}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.setHandlers(func(context.Context) error {
					runtime.Goexit()
					return nil
				})
				ctx, cancel := context.WithCancel(f.Context())
				defer cancel()
				got := make(chan *outcome)
				go func() { got <- do(ctx) }()
				if line := f.log.Await("call"); line["status"] != "INTERNAL" {
					f.Errorf("line = %v", line)
				}
				if lines := f.log.Lines("panic"); len(lines) == 0 ||
					lines[0]["panic"] != "runtime.Goexit, or panic(nil)" {
					f.Errorf("lines = %v", lines)
				}
				cancel()
				if a := <-got; status.Code(a.err) != codes.Canceled {
					f.Errorf("err = %v, want Canceled", a.err)
				}
				f.setHandlers(func(context.Context) error { return nil })
				if a := do(f.Context()); a.err != nil {
					f.Errorf("error of the next call = %v, want nil", a.err)
				}
			})
	})
}

func TestRecover_PanicNil(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	inAllKinds(t, call.Config{}, appInterceptors{},
		func(f *fixture, do func(context.Context) *outcome) {
			f.setHandlers(func(context.Context) error { panic(nil) })
			f.wantInternal(do(f.Context()), "panic(nil)")
		})
}

// panickingError is an error whose methods panic.
type panickingError struct{}

func (panickingError) Error() string { panic(secret) }
func (panickingError) Unwrap() error { panic(secret) }

package call_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// rejectText returns a check that rejects requests with this text.
func rejectText(text string) validation.Check {
	return func(ctx context.Context, request any) error {
		if r, ok := request.(*pb.TestRequest); ok && r.GetText() == text {
			return validation.Reject(ctx, []xvalid.FieldError{{
				Field: "text", Tag: "allowed", Message: "text is not allowed",
			}}, nil)
		}
		return nil
	}
}

// wantRejection checks that err contains the field.
func wantRejection(t *testing.T, err error) {
	t.Helper()
	s := status.Convert(err)
	if s.Code() != codes.InvalidArgument || envelopeOf(t, err).GetOutput() != "PARAMETER_ERROR" {
		t.Fatalf("err = %v, want PARAMETER_ERROR", err)
	}
	for _, d := range s.Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok && len(bad.GetFieldViolations()) == 1 &&
			bad.GetFieldViolations()[0].GetField() == "text" {
			return
		}
	}
	t.Errorf("details = %v, want the violation of text", s.Details())
}

func TestValidate(t *testing.T) {
	t.Run("runs between middleware and handler", func(t *testing.T) {
		var steps []string
		r := new(middleware.Registry)
		r.UseUnary(&pb.TestService_ServiceDesc, func(
			ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			steps = append(steps, "middleware")
			return next(context.WithValue(ctx, userKey{}, "ada"), req)
		})
		r.UseStream(&pb.TestService_ServiceDesc, func(
			srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
		) error {
			steps = append(steps, "middleware")
			return next(srv, withContext{ss, context.WithValue(ss.Context(), userKey{}, "ada")})
		})
		record := func(name string) validation.Check {
			return func(ctx context.Context, _ any) error {
				user, _ := ctx.Value(userKey{}).(string)
				steps = append(steps, name+" of "+user)
				return nil
			}
		}
		typedNil := func(context.Context, any) error {
			var none *xerror.Error
			return none
		}
		checks := []validation.Check{record("first"), typedNil, rejectText("hello"), record("last")}
		inAllKinds(t, call.Config{Registry: r, Checks: checks[:3:3]}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				steps = nil
				f.service.OnUnary = func(
					context.Context, *pb.TestRequest,
				) (*pb.TestResponse, error) {
					steps = append(steps, "handler")
					return &pb.TestResponse{}, nil
				}
				a := do(f.Context())
				wantRejection(f.T, a.err)
				if want := []string{"middleware", "first of ada"}; !slices.Equal(steps[:2], want) ||
					slices.Contains(steps, "handler") {
					f.Errorf("steps = %q, want %q", steps, want)
				}
			})
		inAllKinds(t, call.Config{Registry: r, Checks: append(slices.Clone(checks[:2]), checks[3])},
			appInterceptors{}, func(f *fixture, do func(context.Context) *outcome) {
				steps = nil
				f.setHandlers(func(context.Context) error { return nil })
				a := do(f.Context())
				want := []string{"middleware", "first of ada", "last of ada"}
				if a.err != nil || !slices.Equal(slices.Compact(steps)[:3], want) {
					f.Errorf("err = %v, steps = %q, want %q", a.err, steps, want)
				}
			})
	})

	t.Run("checks the request of a server stream", func(t *testing.T) {
		inAllForms(t, call.Config{Checks: []validation.Check{rejectText("bad")}}, appInterceptors{},
			func(f *fixture) {
				called := false
				f.service.OnServer = func(
					*pb.TestRequest, grpc.ServerStreamingServer[pb.TestResponse],
				) error {
					called = true
					return nil
				}
				stream, err := f.client.ServerStream(f.Context(), &pb.TestRequest{Text: "bad"})
				if err != nil {
					f.Fatal(err)
				}
				_, err = stream.Recv()
				wantRejection(f.T, err)
				if called {
					f.Error("the handler was called")
				}
			})
	})

	t.Run("checks each message of a client stream", func(t *testing.T) {
		inAllForms(t, call.Config{Checks: []validation.Check{rejectText("bad")}}, appInterceptors{},
			func(f *fixture) {
				var got []string
				f.service.OnClient = func(
					stream grpc.ClientStreamingServer[pb.TestRequest, pb.TestResponse],
				) error {
					for {
						request, err := stream.Recv()
						if err != nil {
							return err
						}
						got = append(got, request.GetText())
					}
				}
				stream, err := f.client.ClientStream(f.Context())
				if err != nil {
					f.Fatal(err)
				}
				for _, text := range []string{"good", "bad"} {
					if err := stream.Send(&pb.TestRequest{Text: text}); err != nil &&
						!errors.Is(err, io.EOF) {
						f.Fatal(err)
					}
				}
				_, err = stream.CloseAndRecv()
				wantRejection(f.T, err)
				if !slices.Equal(got, []string{"good"}) {
					f.Errorf("messages = %q, want the valid one", got)
				}
				if line := f.log.Only("call"); line["received"] != 2.0 ||
					line["status"] != "INVALID_ARGUMENT" {
					f.Errorf("line = %v", line)
				}
			})
	})

	t.Run("calls the methods of the request", func(t *testing.T) {
		for _, form := range forms {
			t.Run(form.name, func(t *testing.T) {
				log := calltest.Record(t)
				forbid := func(context.Context, any) error {
					return xerror.New(xerror.Forbidden, "")
				}
				c := call.Config{Checks: []validation.Check{forbid}}
				server := grpc.NewServer(form.options(c, appInterceptors{})...)
				server.RegisterService(&strictService, nil)
				conn := calltest.Start(t, server)
				invoke := func(text string) error {
					return conn.Invoke(t.Context(), strictMethod,
						&pb.TestRequest{Text: text}, new(pb.TestResponse))
				}
				if err := invoke("bad"); status.Code(err) != codes.InvalidArgument ||
					envelopeOf(t, err).GetOutput() != "PARAMETER_ERROR" {
					t.Errorf("bad = %v, want PARAMETER_ERROR", err)
				}
				if err := invoke("good"); status.Code(err) != codes.PermissionDenied {
					t.Errorf("good = %v, want the error of the check", err)
				}
				if err := invoke("panic"); status.Code(err) != codes.Internal ||
					log.Only("panic")["panic"] != secret {
					t.Errorf("panic = %v, want Internal", err)
				}
			})
		}
	})

	t.Run("panics on a nil check", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("Unary did not panic")
			}
		}()
		call.Unary(call.Validate, call.Config{Checks: []validation.Check{nil}})
	})
}

type userKey struct{}

// withContext is a stream with another context, as created by authentication middleware.
type withContext struct {
	grpc.ServerStream
	ctx context.Context
}

func (w withContext) Context() context.Context { return w.ctx }

// strict is a request with a generated Validate method.
type strict struct{ *pb.TestRequest }

// Validate rejects "bad" and panics at "panic".
func (s *strict) Validate() error {
	switch s.GetText() {
	case "bad":
		return errors.New("text: bad is not allowed")
	case "panic":
		panic(secret)
	default:
		return nil
	}
}

const strictMethod = "/test.Strict/Unary"

// strictService is a service description like those of protoc-gen-go-grpc.
var strictService = grpc.ServiceDesc{
	ServiceName: "test.Strict",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Unary",
		Handler: func(
			srv any, ctx context.Context, decode func(any) error,
			chain grpc.UnaryServerInterceptor,
		) (any, error) {
			in := &strict{TestRequest: new(pb.TestRequest)}
			if err := decode(in); err != nil {
				return nil, err
			}
			return chain(ctx, in, &grpc.UnaryServerInfo{Server: srv, FullMethod: strictMethod},
				func(context.Context, any) (any, error) {
					return &pb.TestResponse{Text: in.GetText()}, nil
				})
		},
	}},
}

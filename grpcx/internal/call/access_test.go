package call_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestAccessLog(t *testing.T) {
	t.Run("logs each call once", func(t *testing.T) {
		for _, tc := range []struct {
			name    string
			err     error
			status  string
			level   string
			code    any
			message any
		}{
			{name: "OK", status: "OK", level: "info"},
			{
				name:   "not found",
				err:    xerror.New(xerror.NotFound, "no such user"),
				status: "NOT_FOUND", level: "warn", code: 40400.0, message: "no such user",
			},
			{
				name: "unknown", err: errors.New(secret), status: "INTERNAL", level: "info",
				code: 50000.0, message: "Something went wrong on our side",
			},
			{
				name: "a plain status", err: status.Error(codes.Unavailable, secret),
				status: "UNAVAILABLE", level: "error", message: secret,
			},
			{
				name:   "a code that gRPC does not define",
				err:    status.Error(99, secret),
				status: "OTHER", level: "warn", message: secret,
			},
			{
				name: "canceled", err: context.Canceled, status: "CANCELLED", level: "info",
				code: any(float64(xerror.Canceled.GetCode())),
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				inAllKinds(t, call.Config{}, appInterceptors{},
					func(f *fixture, do func(context.Context) *outcome) {
						f.setHandlers(func(context.Context) error { return tc.err })
						do(with(f.Context(), "x-request-source", "shop"))
						line := f.log.Only("call")
						if line["status"] != tc.status || line["level"] != tc.level ||
							line["name"] != "GRPC" || line["source"] != "shop" ||
							line["client_ip"] != "127.0.0.1" {
							f.Errorf("line = %v, want %s at level %s", line, tc.status, tc.level)
						}
						if line["error_code"] != tc.code ||
							tc.message != nil && line["error_message"] != tc.message {
							f.Errorf("line = %v, want code %v and %v", line, tc.code, tc.message)
						}
						failed := tc.status == "INTERNAL" || tc.status == "UNAVAILABLE"
						if n := strings.Count(f.log.String(), `"level":"error"`); n > 1 ||
							(n == 1) != failed {
							f.Errorf("lines at level error = %d, failed = %t:\n%s",
								n, failed, f.log)
						}
						if ms, ok := line["duration_ms"].(float64); !ok || ms <= 0 {
							f.Errorf("duration_ms = %v, want more than 0", line["duration_ms"])
						}
					})
			})
		}
	})

	t.Run("logs UNAVAILABLE at info during shutdown", func(t *testing.T) {
		lifecycle := xhook.New()
		app := xhook.NewContext(t.Context(), lifecycle)
		inAllKinds(t, call.Config{App: app}, appInterceptors{},
			func(f *fixture, do func(context.Context) *outcome) {
				f.setHandlers(func(context.Context) error {
					lifecycle.StartDrain()
					return xerror.New(xerror.ServiceUnavailable, "the service is shutting down")
				})
				do(f.Context())
				if line := f.log.Only("call"); line["status"] != "UNAVAILABLE" ||
					line["level"] != "info" {
					f.Errorf("line = %v, want UNAVAILABLE at level info", line)
				}
			})
	})

	t.Run("counts the messages of a stream", func(t *testing.T) {
		methods := []struct {
			name           string
			call           func(f *fixture) error
			method, stream string
			received, sent any
		}{
			{
				name: "unary", method: unaryMethod,
				call: func(f *fixture) error { return unaryOf(f.Context(), f.client).err },
			},
			{
				name: "server", method: pb.TestService_ServerStream_FullMethodName,
				stream: "server", received: 1.0, sent: 3.0,
				call: func(f *fixture) error {
					stream, err := f.client.ServerStream(f.Context(), &pb.TestRequest{})
					return errors.Join(err, drain(stream.Recv))
				},
			},
			{
				name: "client", method: pb.TestService_ClientStream_FullMethodName,
				stream: "client", received: 2.0, sent: 1.0,
				call: func(f *fixture) error {
					stream, err := f.client.ClientStream(f.Context())
					err = errors.Join(err, stream.Send(&pb.TestRequest{}),
						stream.Send(&pb.TestRequest{}))
					_, last := stream.CloseAndRecv()
					return errors.Join(err, last)
				},
			},
			{
				name: "bidi", method: bidiMethod, stream: "bidi", received: 2.0, sent: 3.0,
				call: func(f *fixture) error {
					stream, err := f.client.BidiStream(f.Context())
					return errors.Join(err, stream.Send(&pb.TestRequest{}),
						stream.Send(&pb.TestRequest{}), stream.CloseSend(), drain(stream.Recv))
				},
			},
		}
		inAllForms(t, call.Config{}, appInterceptors{}, func(f *fixture) {
			sendThree := func(send func(*pb.TestResponse) error) error {
				return errors.Join(send(&pb.TestResponse{}), send(&pb.TestResponse{}),
					send(&pb.TestResponse{}))
			}
			f.service.OnServer = func(
				_ *pb.TestRequest, stream grpc.ServerStreamingServer[pb.TestResponse],
			) error {
				return sendThree(stream.Send)
			}
			f.service.OnClient = func(
				stream grpc.ClientStreamingServer[pb.TestRequest, pb.TestResponse],
			) error {
				return errors.Join(drain(stream.Recv), stream.SendAndClose(&pb.TestResponse{}))
			}
			f.service.OnBidi = func(
				stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse],
			) error {
				return errors.Join(drain(stream.Recv), sendThree(stream.Send))
			}
			for _, m := range methods {
				f.Run(m.name, func(t *testing.T) {
					inner := &fixture{
						T: t, log: calltest.Record(t), service: f.service, client: f.client,
					}
					if err := m.call(inner); err != nil {
						t.Fatal(err)
					}
					line := inner.log.Only("call")
					stream, _ := line["stream"].(string)
					if line["method"] != m.method || stream != m.stream ||
						line["received"] != m.received || line["sent"] != m.sent ||
						line["status"] != "OK" {
						t.Errorf("line = %v, want %+v", line, m)
					}
				})
			}
		})
	})

	t.Run("logs successful health checks at debug", func(t *testing.T) {
		for _, form := range forms {
			t.Run(form.name, func(t *testing.T) {
				server := grpc.NewServer(form.options(call.Config{}, appInterceptors{})...)
				healthpb.RegisterHealthServer(server, health.NewServer())
				client := healthpb.NewHealthClient(calltest.Start(t, server))
				log := calltest.Record(t)
				if _, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
					t.Fatal(err)
				}
				if line := log.Only("call"); line["level"] != "debug" {
					t.Errorf("line = %v, want level debug", line)
				}
				log = calltest.Record(t)
				unknown := &healthpb.HealthCheckRequest{Service: "unknown"}
				_, err := client.Check(t.Context(), unknown)
				if status.Code(err) != codes.NotFound {
					t.Fatalf("error = %v, want NotFound", err)
				}
				if line := log.Only("call"); line["level"] != "warn" {
					t.Errorf("line = %v, want level warn", line)
				}
			})
		}
	})

	t.Run("logs an unrecovered panic", func(t *testing.T) {
		log := calltest.Record(t)
		chain := call.Unary(call.Access, call.Config{})
		defer func() {
			if recover() != secret {
				t.Error("the panic was not propagated")
			}
			if line := log.Only("call"); line["status"] != "INTERNAL" ||
				line["error_message"] != "the handler did not return" {
				t.Errorf("line = %v, want INTERNAL and the message", line)
			}
		}()
		_, _ = chain(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: unaryMethod},
			func(context.Context, any) (any, error) { panic(secret) })
	})
}

// drain receives until an error.
func drain[M any](receive func() (*M, error)) error {
	for {
		if _, err := receive(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestInFlight(t *testing.T) {
	inFlight := new(call.InFlight)
	var seen []int64
	inAllForms(t, call.Config{InFlight: inFlight}, appInterceptors{}, func(f *fixture) {
		for _, kind := range kinds {
			seen = nil
			f.setHandlers(func(context.Context) error {
				seen = append(seen, inFlight.Unary.Load(), inFlight.Streams.Load())
				return nil
			})
			if a := kind.call(f.Context(), f); a.err != nil {
				f.Fatal(a.err)
			}
			if f.Name() == t.Name()+"/fused" && seen[0]+seen[1] != 1 {
				f.Errorf("%s: in flight = %v, want one", kind.name, seen)
			}
			f.setHandlers(func(context.Context) error { panic(secret) })
			kind.call(f.Context(), f)
		}
	})
	if unary, streams := inFlight.Unary.Load(), inFlight.Streams.Load(); unary+streams != 0 {
		t.Errorf("calls in flight after the test = %d and %d, want 0", unary, streams)
	}
}

package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// invoke calls a method by name and returns the trailer.
func invoke(t *testing.T, conn *grpc.ClientConn, method string) (metadata.MD, error) {
	t.Helper()
	var trailer metadata.MD
	err := conn.Invoke(t.Context(), method, &pb.TestRequest{Text: "hello"}, &pb.TestResponse{},
		grpc.Trailer(&trailer))
	return trailer, err
}

func TestUnknownMethod(t *testing.T) {
	t.Run("returns UNIMPLEMENTED with ID, envelope and log line", func(t *testing.T) {
		for _, tc := range []struct{ name, method, want string }{
			{
				name: "service", method: "/no.Service/Method",
				want: "unknown method /no.Service/Method",
			},
			{
				name: "method", method: "/" + serviceName + "/Missing",
				want: "unknown method /" + serviceName + "/Missing",
			},
			{
				name: "long", method: "/no.Service/" + strings.Repeat("x", 10<<10),
				want: "unknown method /no.Service/xxx",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				log := calltest.Record(t)
				s := serve(t, runner.WithMiddleware(&middleware.Registry{}))
				trailer, err := invoke(t, dial(t, s.address), tc.method)
				if err := s.stop(); err != nil {
					t.Error(err)
				}
				st := status.Convert(err)
				if st.Code() != codes.Unimplemented || !strings.Contains(st.Message(), tc.want) ||
					len(st.Message()) > 1<<10 {
					t.Errorf("status = %v, want UNIMPLEMENTED, %s", st, tc.want)
				}
				id := log.Only("call")["request_id"]
				if ids := trailer.Get("x_request_uuid"); len(ids) != 1 || ids[0] != id {
					t.Errorf("trailer = %v, want the id %v of the log line", trailer, id)
				}
				if len(st.Details()) == 0 {
					t.Fatal("no details, want the envelope")
				}
				envelope, _ := st.Details()[0].(*generate.BaseResponse)
				if envelope.GetContext() != id ||
					int(envelope.GetCode()) != xerror.MethodNotAllowed.GetCode() {
					t.Errorf("envelope = %v, want the id %v and the code of METHOD_NOT_ALLOWED",
						envelope, id)
				}
				if line := log.Only("call"); line["status"] != "UNIMPLEMENTED" ||
					line["level"] != "warn" {
					t.Errorf("line = %v, want UNIMPLEMENTED, warn", line)
				}
			})
		}
	})

	t.Run("runs the middleware of the service", func(t *testing.T) {
		calltest.Record(t)
		n := &events{}
		s := serve(t, runner.WithMiddleware(n.chain()))
		s.service.OnUnary = func(context.Context, *pb.TestRequest) (*pb.TestResponse, error) {
			n.add("handler")
			return &pb.TestResponse{}, nil
		}
		s.service.OnBidi = func(grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse]) error {
			n.add("handler")
			return nil
		}
		conn := dial(t, s.address)
		_, err := invoke(t, conn, "/"+serviceName+"/Missing")
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("unknown method = %v, want UNIMPLEMENTED", err)
		}
		_, err = invoke(t, conn, "/no.Service/Missing")
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("unknown service = %v, want UNIMPLEMENTED", err)
		}
		if want := "m1-in m2-in m2-out m1-out"; n.String() != want {
			t.Errorf("order = %s, want %s", n, want)
		}
	})

	t.Run("is hidden from rejected callers", func(t *testing.T) {
		calltest.Record(t)
		unary, stream := middleware.Guard(func(ctx context.Context) (context.Context, error) {
			return ctx, xerror.New(xerror.Unauthorized, "")
		})
		r := &middleware.Registry{}
		r.UseUnary(&pb.TestService_ServiceDesc, unary)
		r.UseStream(&pb.TestService_ServiceDesc, stream)
		conn := dial(t, serve(t, runner.WithMiddleware(r)).address)
		var texts []string
		for _, method := range []string{"Unary", "Missing"} {
			_, err := invoke(t, conn, "/"+serviceName+"/"+method)
			texts = append(texts, status.Code(err).String()+" "+status.Convert(err).Message())
		}
		if len(slices.Compact(texts)) != 1 ||
			!strings.HasPrefix(texts[0], codes.Unauthenticated.String()) {
			t.Errorf("messages = %q, want the same error", texts)
		}
	})

	t.Run("uses the handler of the application", func(t *testing.T) {
		s := serveWith(t, grpc.UnknownServiceHandler(func(_ any, ss grpc.ServerStream) error {
			return ss.SendMsg(&pb.TestResponse{Text: "custom"})
		}))
		response := &pb.TestResponse{}
		err := dial(t, s.address).Invoke(t.Context(), "/no.Service/Method",
			&pb.TestRequest{}, response)
		if err != nil || response.GetText() != "custom" {
			t.Errorf("response = %v, %v; want the response of the application", response, err)
		}
	})
}

package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// reflectionClient is a client that uses descriptors from reflection only.
type reflectionClient struct {
	t      *testing.T
	conn   *grpc.ClientConn
	stream grpc.BidiStreamingClient[reflectpb.ServerReflectionRequest,
		reflectpb.ServerReflectionResponse]
}

func newReflectionClient(t *testing.T, conn *grpc.ClientConn) *reflectionClient {
	t.Helper()
	stream, err := reflectpb.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &reflectionClient{t: t, conn: conn, stream: stream}
}

func (c *reflectionClient) ask(
	request *reflectpb.ServerReflectionRequest,
) (*reflectpb.ServerReflectionResponse, error) {
	if err := c.stream.Send(request); err != nil {
		_, err = c.stream.Recv() // receives the status
		return nil, err
	}
	return c.stream.Recv()
}

// services lists the services.
func (c *reflectionClient) services() ([]string, error) {
	answer, err := c.ask(&reflectpb.ServerReflectionRequest{MessageRequest: &reflectpb.ServerReflectionRequest_ListServices{}})
	var names []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	return names, err
}

// method resolves a method and its files.
func (c *reflectionClient) method(service, name string) protoreflect.MethodDescriptor {
	c.t.Helper()
	answer, err := c.ask(&reflectpb.ServerReflectionRequest{
		MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, text := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(text, file); err != nil {
			c.t.Fatal(err)
		}
		set.File = append(set.File, file)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		c.t.Fatal(err)
	}
	d, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		c.t.Fatal(err)
	}
	return d.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
}

// call calls a unary method with one text field.
func (c *reflectionClient) call(
	m protoreflect.MethodDescriptor, text string, options ...grpc.CallOption,
) (*dynamicpb.Message, error) {
	request, answer := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	request.Set(m.Input().Fields().ByName("text"), protoreflect.ValueOfString(text))
	path := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	return answer, c.conn.Invoke(c.t.Context(), path, request, answer, options...)
}

// callByReflection calls Unary through reflection, with success and with an error.
func callByReflection(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	c := newReflectionClient(t, conn)
	names, err := c.services()
	if err != nil || !slices.Contains(names, serviceName) ||
		!slices.Contains(names, "grpc.health.v1.Health") {
		t.Fatalf("services = %v, %v; want %s and the health service", names, err, serviceName)
	}
	unary := c.method(serviceName, "Unary")
	var trailer metadata.MD
	answer, err := c.call(unary, "hello", grpc.Trailer(&trailer))
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Get(unary.Output().Fields().ByName("text")).String(); got != "hello" {
		t.Errorf("text = %q, want hello", got)
	}
	envelope := answer.Get(unary.Output().Fields().ByName("base_response")).Message()
	id := envelope.Get(envelope.Descriptor().Fields().ByName("context")).String()
	if ids := trailer.Get("x_request_uuid"); len(ids) != 1 || id == "" || ids[0] != id {
		t.Errorf("trailer = %v, want the id %q of the envelope", ids, id)
	}

	trailer = nil
	_, err = c.call(unary, "fail", grpc.Trailer(&trailer))
	s := status.Convert(err)
	if s.Code() != codes.NotFound || len(s.Details()) == 0 ||
		len(trailer.Get("x_request_uuid")) != 1 {
		t.Fatalf("error = %v, trailer = %v; want NotFound with details and the id", err, trailer)
	}
	detail, _ := s.Details()[0].(proto.Message)
	if name := detail.ProtoReflect().Descriptor().FullName(); name != "xBase.BaseResponse" {
		t.Errorf("first detail = %s, want the envelope", name)
	}
}

// failing fails for the request "fail".
func failing(_ context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	if request.GetText() == "fail" {
		return nil, xerror.New(xerror.ResourceNotFound, "no such thing")
	}
	return &pb.TestResponse{Text: request.GetText()}, nil
}

func TestReflection(t *testing.T) {
	t.Run("supports calls by descriptors", func(t *testing.T) {
		t.Setenv("GRPC_REFLECTION", "true")
		a := prepare(t, fixture{})
		a.service.OnUnary = failing
		a.start()
		callByReflection(t, a.conn())
		if a.log.Only("serving gRPC")["reflection"] != true {
			t.Errorf("log:\n%s\nwant reflection=true in the log", a.log)
		}
	})

	t.Run("keeps the reflection of the application", func(t *testing.T) {
		t.Setenv("GRPC_REFLECTION", "true")
		for _, tc := range []struct {
			name     string
			register func(reflection.GRPCServer)
		}{{"both versions", reflection.Register}, {"v1 only", reflection.RegisterV1}} {
			t.Run(tc.name, func(t *testing.T) {
				a := prepare(t, fixture{runner: []runner.Option{
					runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
						tc.register(r.(reflection.GRPCServer))
					}),
				}})
				a.service.OnUnary = failing
				a.start()
				callByReflection(t, a.conn())
			})
		}
	})

	t.Run("is disabled by default", func(t *testing.T) {
		for _, value := range []string{"", "false"} {
			t.Run("value "+value, func(t *testing.T) {
				t.Setenv("GRPC_REFLECTION", value)
				checkNoReflection(t, prepare(t, fixture{}).start().conn())
			})
		}
	})

	t.Run("rejects other values than true and false", func(t *testing.T) {
		for _, value := range []string{"TRUE", "True", "1", "yes", " true"} {
			t.Run(value, func(t *testing.T) {
				t.Setenv("GRPC_REFLECTION", value)
				// An application rejects the value at startup.
				_, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
					xoption.WithSnowflake(xsnowflake.WithNodeID(1)))
				if err == nil || !strings.Contains(err.Error(), "GRPC_REFLECTION") ||
					!strings.Contains(err.Error(), "true, false") {
					t.Errorf("New = %v, want the variable and its accepted values", err)
				}
				// Outside an application, reflection is disabled.
				checkNoReflection(t, dial(t, serve(t).address))
			})
		}
	})

	t.Run("does not delay shutdown", func(t *testing.T) {
		t.Setenv("GRPC_REFLECTION", "true")
		log := calltest.Record(t)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			conn, done := inMemory(t, ctx, &calltest.Service{})
			c := newReflectionClient(t, conn)
			if _, err := c.services(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the server waits for the next request
			started := time.Now()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if took := time.Since(started); took != 0 {
				t.Errorf("the shutdown took %s, want no delay", took)
			}
			if answer, err := c.stream.Recv(); status.Code(err) != codes.Unavailable {
				t.Errorf("stream = %v, %v; want the end with UNAVAILABLE", answer, err)
			}
			_ = conn.Close()
		})
		if line := log.Only("call"); line["status"] != "UNAVAILABLE" || line["received"] != 1.0 {
			t.Errorf("line = %v, want one request and UNAVAILABLE", line)
		}
	})
}

// checkNoReflection checks that a server has no reflection.
func checkNoReflection(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	if names, err := newReflectionClient(t,
		conn).services(); status.Code(err) != codes.Unimplemented {
		t.Errorf("services = %v, %v; want UNIMPLEMENTED", names, err)
	}
}

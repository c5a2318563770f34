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
	stream grpc.BidiStreamingClient[
		reflectpb.ServerReflectionRequest, reflectpb.ServerReflectionResponse,
	]
}

func newReflectionClient(t *testing.T, conn *grpc.ClientConn) *reflectionClient {
	t.Helper()
	stream, err := reflectpb.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &reflectionClient{t: t, conn: conn, stream: stream}
}

// send sends a request and returns the response.
func (c *reflectionClient) send(
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
	response, err := c.send(&reflectpb.ServerReflectionRequest{
		MessageRequest: &reflectpb.ServerReflectionRequest_ListServices{},
	})
	var names []string
	for _, service := range response.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	return names, err
}

// method resolves a method and its files.
func (c *reflectionClient) method(service, name string) protoreflect.MethodDescriptor {
	c.t.Helper()
	response, err := c.send(&reflectpb.ServerReflectionRequest{
		MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: service,
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, text := range response.GetFileDescriptorResponse().GetFileDescriptorProto() {
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
	request, response := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	request.Set(m.Input().Fields().ByName("text"), protoreflect.ValueOfString(text))
	path := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	return response, c.conn.Invoke(c.t.Context(), path, request, response, options...)
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
	response, err := c.call(unary, "hello", grpc.Trailer(&trailer))
	if err != nil {
		t.Fatal(err)
	}
	if got := response.Get(unary.Output().Fields().ByName("text")).String(); got != "hello" {
		t.Errorf("text = %q, want hello", got)
	}
	envelope := response.Get(unary.Output().Fields().ByName("base_response")).Message()
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

// failOnRequest returns an error for the text "fail" and the text of all other requests.
func failOnRequest(_ context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	if request.GetText() == "fail" {
		return nil, xerror.New(xerror.ResourceNotFound, "no such thing")
	}
	return &pb.TestResponse{Text: request.GetText()}, nil
}

func TestReflection(t *testing.T) {
	t.Run("supports calls by descriptors", func(t *testing.T) {
		t.Setenv("GRPC_REFLECTION", "true")
		a := prepare(t, fixture{})
		a.service.OnUnary = failOnRequest
		a.start()
		callByReflection(t, a.conn())
		if a.log.Only("serving gRPC")["reflection"] != true {
			t.Errorf("log:\n%s\nwant reflection = true", a.log)
		}
	})

	t.Run("uses the reflection of the application", func(t *testing.T) {
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
				a.service.OnUnary = failOnRequest
				a.start()
				callByReflection(t, a.conn())
			})
		}
	})

	t.Run("is disabled by default", func(t *testing.T) {
		for _, value := range []string{"", "false"} {
			t.Run("value "+value, func(t *testing.T) {
				t.Setenv("GRPC_REFLECTION", value)
				wantNoReflection(t, prepare(t, fixture{}).start().conn())
			})
		}
	})

	t.Run("rejects values other than true and false", func(t *testing.T) {
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
				wantNoReflection(t, dial(t, serve(t).address))
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
			if elapsed := time.Since(started); elapsed != 0 {
				t.Errorf("the shutdown took %s, want no delay", elapsed)
			}
			if response, err := c.stream.Recv(); status.Code(err) != codes.Unavailable {
				t.Errorf("stream = %v, %v; want UNAVAILABLE", response, err)
			}
			_ = conn.Close()
		})
		if line := log.Only("call"); line["status"] != "UNAVAILABLE" || line["received"] != 1.0 {
			t.Errorf("line = %v, want one request and UNAVAILABLE", line)
		}
	})
}

// wantNoReflection checks that a server has no reflection.
func wantNoReflection(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	names, err := newReflectionClient(t, conn).services()
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("services = %v, %v; want UNIMPLEMENTED", names, err)
	}
}

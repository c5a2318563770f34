package middleware_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

const service = "plinth.grpcx.testproto.TestService"

var info = &grpc.UnaryServerInfo{FullMethod: "/" + service + "/Unary"}

// recordUnary returns a middleware that records its start and return in trace.
func recordUnary(name string, trace *[]string) grpc.UnaryServerInterceptor {
	return func(
		ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
	) (any, error) {
		*trace = append(*trace, name+"-in")
		response, err := next(ctx, request)
		*trace = append(*trace, name+"-out")
		return response, err
	}
}

// recordStream is the streaming counterpart of recordUnary.
func recordStream(name string, trace *[]string) grpc.StreamServerInterceptor {
	return func(
		srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
	) error {
		*trace = append(*trace, name+"-in")
		err := next(srv, stream)
		*trace = append(*trace, name+"-out")
		return err
	}
}

// passThrough is a middleware that only calls the next handler.
func passThrough(
	ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	return next(ctx, request)
}

// streamPassThrough is the streaming counterpart of passThrough.
func streamPassThrough(
	srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	return next(srv, stream)
}

// replaceDefault replaces the default registry during the test.
func replaceDefault(t *testing.T) {
	t.Helper()
	old := middleware.Default
	middleware.Default = new(middleware.Registry)
	t.Cleanup(func() { middleware.Default = old })
}

// echo returns the request.
func echo(_ context.Context, request any) (any, error) { return request, nil }

// nestedOrder is the order of three middleware around a handler.
var nestedOrder = []string{"A-in", "B-in", "C-in", "handler", "C-out", "B-out", "A-out"}

func TestRegistry_UseUnary(t *testing.T) {
	t.Run("runs middleware outermost first", func(t *testing.T) {
		var trace []string
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc,
			recordUnary("A", &trace), recordUnary("B", &trace), recordUnary("C", &trace))
		handler := func(context.Context, any) (any, error) {
			trace = append(trace, "handler")
			return "response", nil
		}
		got, err := r.Unary(service)(t.Context(), "request", info, handler)
		if got != "response" || err != nil {
			t.Errorf("response = %v, %v", got, err)
		}
		if diff := cmp.Diff(nestedOrder, trace); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})

	t.Run("appends to earlier registrations", func(t *testing.T) {
		var trace []string
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, recordUnary("A", &trace))
		before := r.Unary(service)
		r.UseUnary(&pb.TestService_ServiceDesc, recordUnary("B", &trace), recordUnary("C", &trace))
		if _, err := r.Unary(service)(t.Context(), nil, info, echo); err != nil {
			t.Fatal(err)
		}
		want := []string{"A-in", "B-in", "C-in", "C-out", "B-out", "A-out"}
		if diff := cmp.Diff(want, trace); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		trace = nil
		if _, err := before(t.Context(), nil, info, echo); err != nil || len(trace) != 2 {
			t.Errorf("an earlier lookup ran %v, %v; want A only", trace, err)
		}
	})

	t.Run("copies the list of the caller", func(t *testing.T) {
		var trace []string
		var r middleware.Registry
		list := []grpc.UnaryServerInterceptor{recordUnary("A", &trace)}
		r.UseUnary(&pb.TestService_ServiceDesc, list...)
		list[0] = nil
		if found := r.LookupUnary(service); len(found) != 1 || found[0] == nil {
			t.Error("the registry retains the list of the caller")
		}
	})
}

func TestRegistry_UseStream(t *testing.T) {
	var trace []string
	var r middleware.Registry
	r.UseStream(&pb.TestService_ServiceDesc,
		recordStream("A", &trace), recordStream("B", &trace), recordStream("C", &trace))
	failure := errors.New("no")
	handler := func(srv any, _ grpc.ServerStream) error {
		if srv != "service" {
			t.Errorf("service = %v, want service", srv)
		}
		trace = append(trace, "handler")
		return failure
	}
	err := r.Stream(service)("service", nil, &grpc.StreamServerInfo{}, handler)
	if !errors.Is(err, failure) {
		t.Errorf("error = %v, want %v", err, failure)
	}
	if diff := cmp.Diff(nestedOrder, trace); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestRegistry_LookupUnary(t *testing.T) {
	t.Run("returns nil for a service without middleware", func(t *testing.T) {
		var r middleware.Registry
		check := func(when string) {
			t.Helper()
			if r.Unary(service) != nil || r.Stream(service) != nil ||
				r.LookupUnary(service) != nil || r.LookupStream(service) != nil {
				t.Errorf("%s: the service has middleware", when)
			}
		}
		check("at first")
		r.UseUnary(&pb.TestService_ServiceDesc)
		r.UseStream(&pb.TestService_ServiceDesc)
		check("after a registration without middleware")
		r.UseUnary(&grpc.ServiceDesc{ServiceName: "another"}, passThrough)
		r.UseStream(&grpc.ServiceDesc{ServiceName: "another"}, streamPassThrough)
		check("after the registration of another service")
		r.UseUnary(&pb.TestService_ServiceDesc, passThrough)
		if r.Stream(service) != nil {
			t.Error("a unary middleware was registered for streams")
		}
	})

	t.Run("returns a copy", func(t *testing.T) {
		var trace []string
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, recordUnary("A", &trace), recordUnary("B", &trace))
		r.UseStream(&pb.TestService_ServiceDesc, streamPassThrough)
		found := r.LookupUnary(service)
		if len(found) != 2 || len(r.LookupStream(service)) != 1 {
			t.Fatalf("found %d and %d, want 2 and 1", len(found), len(r.LookupStream(service)))
		}
		found[0], found[1] = nil, nil
		slices.Reverse(r.LookupUnary(service))
		for _, m := range r.LookupUnary(service) {
			if _, err := m(t.Context(), nil, info, echo); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"A-in", "A-out", "B-in", "B-out"}, trace); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestDefault(t *testing.T) {
	replaceDefault(t)
	byValue := grpc.ServiceDesc{ServiceName: "by.Value"}
	byPointer := &grpc.ServiceDesc{ServiceName: "by.Pointer"}
	middleware.UseUnary(byValue, passThrough)
	middleware.UseUnary(byPointer, passThrough)
	middleware.UseStream(byValue, streamPassThrough)
	middleware.UseStream(byPointer, streamPassThrough)
	for _, name := range []string{"by.Value", "by.Pointer"} {
		if len(middleware.LookupUnary(name)) != 1 || len(middleware.LookupStream(name)) != 1 {
			t.Errorf("%s has no middleware", name)
		}
		if middleware.Default.Unary(name) == nil || middleware.Default.Stream(name) == nil {
			t.Errorf("%s has no middleware in Default", name)
		}
	}
}

func TestRegistry_Panics(t *testing.T) {
	replaceDefault(t)
	nameless := grpc.ServiceDesc{}
	for _, tc := range []struct {
		name string
		call func()
		want string
	}{
		{
			"nil unary",
			func() { middleware.UseUnary(pb.TestService_ServiceDesc, passThrough, nil) },
			"UseUnary: middleware 2 of service " + service + " is nil",
		},
		{
			"nil stream",
			func() { middleware.UseStream(pb.TestService_ServiceDesc, nil, streamPassThrough) },
			"UseStream: middleware 1 of service " + service + " is nil",
		},
		{
			"no service", func() { middleware.UseUnary((*grpc.ServiceDesc)(nil), passThrough) },
			"UseUnary: the service is nil: pass the generated description",
		},
		{
			"no service, stream", func() { new(middleware.Registry).UseStream(nil) },
			"UseStream: the service is nil: pass the generated description",
		},
		{
			"no name", func() { middleware.UseUnary(nameless) },
			"UseUnary: the service has no name: pass the generated description",
		},
		{
			"slash",
			func() { middleware.UseUnary(grpc.ServiceDesc{ServiceName: "a/b"}, passThrough) },
			`UseUnary: the service name "a/b" contains a slash`,
		},
		{
			"no name, stream", func() { middleware.UseStream(&nameless, streamPassThrough) },
			"UseStream: the service has no name: pass the generated description",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				got, _ := recover().(string)
				if !strings.HasPrefix(got, "grpcx/middleware: "+tc.want) {
					t.Errorf("panic = %q, want the prefix %q", got, "grpcx/middleware: "+tc.want)
				}
			}()
			tc.call()
		})
	}
	if middleware.LookupUnary(service) != nil || middleware.LookupStream(service) != nil {
		t.Error("an invalid registration was stored")
	}
}

func TestRegistry_Concurrency(t *testing.T) {
	const writers, each = 4, 25
	var r middleware.Registry
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for range writers {
		writing.Go(func() {
			for range each {
				r.UseUnary(&pb.TestService_ServiceDesc, passThrough)
				r.UseStream(&pb.TestService_ServiceDesc, streamPassThrough)
			}
		})
		reading.Go(func() {
			for seen := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				if m := r.Unary(service); m != nil {
					if got, err := m(t.Context(), 7, info, echo); got != 7 || err != nil {
						t.Errorf("response = %v, %v", got, err)
					}
				}
				now := len(r.LookupUnary(service))
				if now < seen {
					t.Errorf("number of middleware = %d after %d, want no decrease", now, seen)
				}
				seen = now
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	unary, streams := len(r.LookupUnary(service)), len(r.LookupStream(service))
	if unary != writers*each || streams != writers*each {
		t.Errorf("number of middleware = %d and %d, want %d each", unary, streams, writers*each)
	}
}

func TestRegistry_Allocations(t *testing.T) {
	for _, tc := range []struct {
		name  string
		chain []grpc.UnaryServerInterceptor
		want  float64
	}{
		{"one", []grpc.UnaryServerInterceptor{passThrough}, 0},
		{"two", []grpc.UnaryServerInterceptor{passThrough, passThrough}, 1},
		{"five", []grpc.UnaryServerInterceptor{
			passThrough, passThrough, passThrough, passThrough, passThrough,
		}, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r middleware.Registry
			r.UseUnary(&pb.TestService_ServiceDesc, tc.chain...)
			ctx, request := t.Context(), any("request")
			got := testing.AllocsPerRun(1000, func() {
				_, _ = r.Unary(service)(ctx, request, info, echo)
			})
			if got != tc.want {
				t.Errorf("allocations = %v, want %v", got, tc.want)
			}
		})
	}
}

func BenchmarkRegistry_Unary(b *testing.B) {
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, passThrough, passThrough, passThrough)
	ctx, request := b.Context(), any("request")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Unary(service)(ctx, request, info, echo)
	}
}

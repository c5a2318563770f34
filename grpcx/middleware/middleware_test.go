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

// named returns a middleware that writes when it is entered and left.
func named(name string, trace *[]string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
		next grpc.UnaryHandler,
	) (any, error) {
		*trace = append(*trace, name+"-in")
		response, err := next(ctx, request)
		*trace = append(*trace, name+"-out")
		return response, err
	}
}

// namedStream is named for streams.
func namedStream(name string, trace *[]string) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo,
		next grpc.StreamHandler,
	) error {
		*trace = append(*trace, name+"-in")
		err := next(srv, stream)
		*trace = append(*trace, name+"-out")
		return err
	}
}

// through calls the next one and does nothing else.
func through(
	ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	return next(ctx, request)
}

// streamThrough is through for streams.
func streamThrough(
	srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	return next(srv, stream)
}

// ownDefault gives the test a default registry of its own.
func ownDefault(t *testing.T) {
	t.Helper()
	old := middleware.Default
	middleware.Default = new(middleware.Registry)
	t.Cleanup(func() { middleware.Default = old })
}

// echo answers with the request.
func echo(_ context.Context, request any) (any, error) { return request, nil }

// onion is the order of three middlewares around a handler.
var onion = []string{"A-in", "B-in", "C-in", "handler", "C-out", "B-out", "A-out"}

func TestMiddlewaresRunLikeTheLayersOfAnOnion(t *testing.T) {
	var trace []string
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, named("A", &trace), named("B", &trace),
		named("C", &trace))
	got, err := r.Unary(service)(t.Context(), "request",
		info, func(context.Context, any) (any, error) {
			trace = append(trace, "handler")
			return "response", nil
		})
	if got != "response" || err != nil {
		t.Errorf("answer = %v, %v", got, err)
	}
	if diff := cmp.Diff(onion, trace); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestMiddlewaresOfStreamsRunLikeTheLayersOfAnOnion(t *testing.T) {
	var trace []string
	var r middleware.Registry
	r.UseStream(&pb.TestService_ServiceDesc, namedStream("A", &trace), namedStream("B", &trace),
		namedStream("C", &trace))
	failure := errors.New("no")
	err := r.Stream(service)("service",
		nil, &grpc.StreamServerInfo{}, func(srv any, _ grpc.ServerStream) error {
			if srv != "service" {
				t.Errorf("service = %v", srv)
			}
			trace = append(trace, "handler")
			return failure
		})
	if !errors.Is(err, failure) {
		t.Errorf("error = %v, want %v", err, failure)
	}
	if diff := cmp.Diff(onion, trace); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestASecondRegistrationAppends(t *testing.T) {
	var trace []string
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, named("A", &trace))
	before := r.Unary(service)
	r.UseUnary(&pb.TestService_ServiceDesc, named("B", &trace), named("C", &trace))
	if _, err := r.Unary(service)(t.Context(), nil, info, echo); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A-in", "B-in", "C-in", "C-out", "B-out", "A-out"},
		trace); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	trace = nil
	if _, err := before(t.Context(), nil, info, echo); err != nil || len(trace) != 2 {
		t.Errorf("a call that had begun ran %v, %v", trace, err)
	}
}

func TestAMiddlewareMayCallTheNextOneAgain(t *testing.T) {
	var inner, handled int
	retry := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
		next grpc.UnaryHandler,
	) (any, error) {
		for {
			if response, err := next(ctx, request); err == nil {
				return response, nil
			}
		}
	}
	count := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
		next grpc.UnaryHandler,
	) (any, error) {
		inner++
		return next(ctx, request)
	}
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, through, retry, count, through)
	got, err := r.Unary(service)(t.Context(), "request",
		info, func(_ context.Context, request any) (any, error) {
			if handled++; handled < 3 {
				return nil, errors.New("not yet")
			}
			return request, nil
		})
	if got != "request" || err != nil || inner != 3 || handled != 3 {
		t.Errorf("answer = %v, %v after %d and %d calls, want 3 and 3", got, err, inner, handled)
	}
}

func TestAMiddlewareMayCallTheNextOneAtTheSameTime(t *testing.T) {
	const calls = 8
	hedge := func(ctx context.Context, _ any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any,
		error,
	) {
		answers := make([]any, calls)
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() { answers[i], _ = next(ctx, i) })
		}
		wg.Wait()
		return answers, nil
	}
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, hedge, through, through)
	got, err := r.Unary(service)(t.Context(), nil, info, echo)
	if diff := cmp.Diff([]any{0, 1, 2, 3, 4, 5, 6, 7}, got); diff != "" || err != nil {
		t.Errorf("answers (-want +got), error %v:\n%s", err, diff)
	}
}

func TestAMiddlewareMayAnswerInPlaceOfTheNextOne(t *testing.T) {
	refused := errors.New("refused")
	refuse := func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
		return nil, refused
	}
	// not reached
	unreached := func(context.Context, any) (any, error) {
		t.Error("the handler ran")
		return nil, nil
	}
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, through, refuse, through)
	if _, err := r.Unary(service)(t.Context(), nil, info, unreached); !errors.Is(err, refused) {
		t.Errorf("error = %v, want %v", err, refused)
	}
}

func TestAMiddlewareMayChangeContextAndRequest(t *testing.T) {
	type key struct{}
	change := func(ctx context.Context, request any, info *grpc.UnaryServerInfo,
		next grpc.UnaryHandler,
	) (any, error) {
		text, _ := request.(string)
		return next(context.WithValue(ctx, key{}, info.FullMethod), text+"!")
	}
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, change, change)
	got, err := r.Unary(service)(t.Context(), "request",
		info, func(ctx context.Context, request any) (any, error) {
			if method := ctx.Value(key{}); method != info.FullMethod {
				t.Errorf("value in the context = %v, want %s", method, info.FullMethod)
			}
			return request, nil
		})
	if got != "request!!" || err != nil {
		t.Errorf("answer = %v, %v", got, err)
	}
}

func TestAServiceWithoutMiddlewaresHasNone(t *testing.T) {
	var r middleware.Registry
	check := func(when string) {
		t.Helper()
		if r.Unary(service) != nil || r.Stream(service) != nil || r.LookupUnary(service) != nil ||
			r.LookupStream(service) != nil {
			t.Errorf("%s: the service has middlewares", when)
		}
	}
	check("at first")
	r.UseUnary(&pb.TestService_ServiceDesc)
	r.UseStream(&pb.TestService_ServiceDesc)
	check("after the registration of none")
	r.UseUnary(&grpc.ServiceDesc{ServiceName: "another"}, through)
	r.UseStream(&grpc.ServiceDesc{ServiceName: "another"}, streamThrough)
	check("after the registration of another service")
	r.UseUnary(&pb.TestService_ServiceDesc, through)
	if r.Stream(service) != nil {
		t.Error("a unary middleware runs for streams")
	}
}

func TestWhatIsLookedUpIsACopy(t *testing.T) {
	var trace []string
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, named("A", &trace), named("B", &trace))
	r.UseStream(&pb.TestService_ServiceDesc, streamThrough)
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
}

func TestTheCallersListIsCopied(t *testing.T) {
	var trace []string
	var r middleware.Registry
	list := []grpc.UnaryServerInterceptor{named("A", &trace)}
	r.UseUnary(&pb.TestService_ServiceDesc, list...)
	list[0] = nil
	if found := r.LookupUnary(service); len(found) != 1 || found[0] == nil {
		t.Error("the registry keeps the list of the caller")
	}
}

func TestThePackagesFunctionsUseTheDefaultRegistry(t *testing.T) {
	ownDefault(t)
	byValue := grpc.ServiceDesc{ServiceName: "by.Value"}
	byPointer := &grpc.ServiceDesc{ServiceName: "by.Pointer"}
	middleware.UseUnary(byValue, through)
	middleware.UseUnary(byPointer, through)
	middleware.UseStream(byValue, streamThrough)
	middleware.UseStream(byPointer, streamThrough)
	for _, name := range []string{"by.Value", "by.Pointer"} {
		if len(middleware.LookupUnary(name)) != 1 || len(middleware.LookupStream(name)) != 1 {
			t.Errorf("%s has no middlewares", name)
		}
		if middleware.Default.Unary(name) == nil || middleware.Default.Stream(name) == nil {
			t.Errorf("%s has no middlewares in Default", name)
		}
	}
}

func TestAWrongRegistrationPanicsAndSaysWhatToMend(t *testing.T) {
	ownDefault(t)
	nameless := grpc.ServiceDesc{}
	for _, tc := range []struct {
		name string
		call func()
		want string
	}{
		{
			"nil unary", func() { middleware.UseUnary(pb.TestService_ServiceDesc, through, nil) },
			"UseUnary: middleware 2 of service " + service + " is nil",
		},
		{"nil stream", func() {
			middleware.UseStream(pb.TestService_ServiceDesc, nil, streamThrough)
		}, "UseStream: middleware 1 of service " + service + " is nil"},
		{
			"no service", func() { middleware.UseUnary((*grpc.ServiceDesc)(nil), through) },
			"UseUnary: the service is nil: give the generated description",
		},
		{
			"no service, stream", func() { new(middleware.Registry).UseStream(nil) },
			"UseStream: the service is nil: give the generated description",
		},
		{
			"no name", func() { middleware.UseUnary(nameless) },
			"UseUnary: the service has no name: give the generated description",
		},
		{
			"slash", func() { middleware.UseUnary(grpc.ServiceDesc{ServiceName: "a/b"}, through) },
			`UseUnary: the name "a/b" holds a slash`,
		},
		{
			"no name, stream", func() { middleware.UseStream(&nameless, streamThrough) },
			"UseStream: the service has no name: give the generated description",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got,
					"grpcx/middleware: "+tc.want) {
					t.Errorf("panic = %q, want it to say %q", got, tc.want)
				}
			}()
			tc.call()
		})
	}
	if middleware.LookupUnary(service) != nil || middleware.LookupStream(service) != nil {
		t.Error("a registration that panicked was kept")
	}
}

func TestRegisteringWhileServingIsSafe(t *testing.T) {
	const writers, each = 4, 25
	var r middleware.Registry
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for range writers {
		writing.Go(func() {
			for range each {
				r.UseUnary(&pb.TestService_ServiceDesc, through)
				r.UseStream(&pb.TestService_ServiceDesc, streamThrough)
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
						t.Errorf("answer = %v, %v", got, err)
					}
				}
				now := len(r.LookupUnary(service))
				if now < seen {
					t.Errorf("%d middlewares after %d", now, seen)
				}
				seen = now
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	if u, s := len(r.LookupUnary(service)), len(r.LookupStream(service)); u != writers*each ||
		s != writers*each {
		t.Errorf("%d and %d middlewares, want %d each", u, s, writers*each)
	}
}

func TestAChainAllocatesOnceForEachButTheLast(t *testing.T) {
	for _, tc := range []struct {
		name  string
		chain []grpc.UnaryServerInterceptor
		want  float64
	}{
		{"one", []grpc.UnaryServerInterceptor{through}, 0},
		{"two", []grpc.UnaryServerInterceptor{through, through}, 1},
		{"five", []grpc.UnaryServerInterceptor{through, through, through, through, through}, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r middleware.Registry
			r.UseUnary(&pb.TestService_ServiceDesc, tc.chain...)
			ctx, request := t.Context(), any("request")
			if got := testing.AllocsPerRun(1000,
				func() { _, _ = r.Unary(service)(ctx, request, info, echo) }); got != tc.want {
				t.Errorf("allocations = %v, want %v", got, tc.want)
			}
		})
	}
}

func BenchmarkChainOfThree(b *testing.B) {
	var r middleware.Registry
	r.UseUnary(&pb.TestService_ServiceDesc, through, through, through)
	ctx, request := b.Context(), any("request")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = r.Unary(service)(ctx, request, info, echo)
	}
}

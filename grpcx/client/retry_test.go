package client_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/client"
)

// serveBusy starts a server that fails the first calls. ids returns the request IDs that
// it received since the last call of ids.
func serveBusy(t *testing.T, failures int, fail error) (address string, ids func() []string) {
	t.Helper()
	quiet(t)
	calls := make(chan string, 32)
	handle := func(ctx context.Context) error {
		calls <- xctxutil.GetRequestKey(ctx)
		if len(calls) <= failures {
			return fail
		}
		return nil
	}
	address, _ = serve(t, &service{
		unary: func(ctx context.Context, _ *request) (*response, error) {
			if err := handle(ctx); err != nil {
				return nil, err
			}
			return &response{}, nil
		},
		bidi: func(stream *bidi) error { return handle((*stream).Context()) },
	}, loopback)
	return address, func() (list []string) {
		for len(calls) > 0 {
			list = append(list, <-calls)
		}
		return list
	}
}

type call func(context.Context, testClient) error

func callUnsafe(ctx context.Context, c testClient) error {
	_, err := c.Unary(ctx, &request{})
	return err
}

func callSafe(ctx context.Context, c testClient) error {
	_, err := c.UnarySafe(ctx, &request{})
	return err
}

func callIdempotent(ctx context.Context, c testClient) error {
	_, err := c.UnaryIdempotent(ctx, &request{})
	return err
}

var (
	quick      = client.WithRetry(4, time.Millisecond, 2*time.Millisecond)
	quickRetry = []client.Option{quick}
)

// withQuickRetry returns quickRetry and options.
func withQuickRetry(options ...client.Option) []client.Option {
	return append(slices.Clip(quickRetry), options...)
}

func TestWithRetry_Unary(t *testing.T) {
	const name = "plinth.grpcx.testproto.TestService"
	unavailable := status.Error(codes.Unavailable, "not now")
	for _, tc := range []struct {
		name     string
		call     call
		fail     error
		options  []client.Option
		failures int
		want     int // calls
		wantOK   bool
	}{
		{
			name: "without side effects",
			call: callSafe, fail: unavailable, options: quickRetry, failures: 2,
			want: 3, wantOK: true,
		},
		{
			name: "idempotent",
			call: callIdempotent, fail: unavailable, options: quickRetry, failures: 2,
			want: 3, wantOK: true,
		},
		{
			name: "an xerror",
			call: callSafe, fail: errBusy, options: quickRetry, failures: 2,
			want: 3, wantOK: true,
		},
		{
			name: "not idempotent",
			call: callUnsafe, fail: unavailable, options: quickRetry, failures: 2, want: 1,
		},
		{
			name: "WithIdempotent method", call: callUnsafe, fail: unavailable,
			options: withQuickRetry(client.WithIdempotent("/" + name + "/Unary")), failures: 2,
			want: 3, wantOK: true,
		},
		{
			name: "WithIdempotent service", call: callUnsafe, fail: unavailable,
			options: withQuickRetry(client.WithIdempotent(name, name)), failures: 2,
			want: 3, wantOK: true,
		},
		{
			name: "another method is idempotent", call: callUnsafe, fail: unavailable,
			options: withQuickRetry(client.WithIdempotent("/" + name + "/UnarySafe")), failures: 2,
			want: 1,
		},
		{
			name: "too many failures",
			call: callSafe, fail: unavailable, options: quickRetry, failures: 9, want: 4,
		},
		{
			name: "more attempts than grpc's default limit",
			call: callSafe, fail: unavailable,
			options:  withQuickRetry(client.WithRetry(8, time.Millisecond, time.Millisecond)),
			failures: 7, want: 8, wantOK: true,
		},
		{
			name: "disabled", call: callSafe, fail: unavailable,
			options: withQuickRetry(client.WithoutRetry()), failures: 2, want: 1,
		},
		{
			name: "another code",
			call: callSafe, fail: status.Error(codes.ResourceExhausted, "slow down"),
			options: quickRetry, failures: 2, want: 1,
		},
		{
			name: "aborted", call: callSafe, fail: status.Error(codes.Aborted, "conflict"),
			options: quickRetry, failures: 2, want: 1,
		},
		{
			name: "service config of the user",
			call: callSafe, fail: unavailable,
			options: withQuickRetry(client.WithDialOptions(
				grpc.WithDefaultServiceConfig(`{}`))),
			failures: 2, want: 1,
		},
		{
			name: "with load balancing",
			call: callSafe, fail: unavailable,
			options:  withQuickRetry(client.WithLoadBalancing("round_robin")),
			failures: 2, want: 3, wantOK: true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			address, ids := serveBusy(t, tc.failures, tc.fail)
			err := tc.call(t.Context(), dial(t, address, tc.options...))
			got := ids()
			if len(got) != tc.want || (err == nil) != tc.wantOK {
				t.Errorf("calls = %d, error = %v; want %d, success: %t",
					len(got), err, tc.want, tc.wantOK)
			}
			if len(slices.Compact(got)) != 1 {
				t.Errorf("IDs of the attempts = %q, want one ID", got)
			}
		})
	}
}

func TestWithRetry(t *testing.T) {
	t.Run("retries the opening of a stream", func(t *testing.T) {
		address, ids := serveBusy(t, 2, errBusy)
		testClient := dial(t, address,
			withQuickRetry(client.WithIdempotent("plinth.grpcx.testproto.TestService"))...)
		stream, err := testClient.BidiStream(t.Context())
		must(t, err)
		_, err = stream.Recv()
		if n := len(ids()); n != 3 || err == nil || errors.Is(err, xerror.ServiceUnavailable) {
			t.Errorf("%d streams and %v, want 3 and io.EOF", n, err)
		}
	})

	t.Run("respects the pushback of the server", func(t *testing.T) {
		quiet(t)
		var calls atomic.Int32
		address, _ := serve(t, &service{
			unary: func(ctx context.Context, _ *request) (*response, error) {
				calls.Add(1)
				return nil, errors.Join(errBusy,
					grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1")))
			},
		}, loopback)
		err := callSafe(t.Context(), dial(t, address, quick))
		if n := calls.Load(); n != 1 || !errors.Is(err, xerror.ServiceUnavailable) {
			t.Errorf("calls = %d, error = %v; want one call that fails", n, err)
		}
	})

	t.Run("throttles retries", func(t *testing.T) {
		quiet(t)
		var calls atomic.Int32
		address, _ := serve(t, &service{unary: func(context.Context, *request) (*response, error) {
			calls.Add(1)
			return nil, errBusy
		}}, loopback)
		testClient := dial(t, address, quick)
		for range 30 {
			_ = callSafe(t.Context(), testClient)
		}
		before := calls.Swap(0)
		for range 10 {
			_ = callSafe(t.Context(), testClient)
		}
		if n := calls.Load(); n != 10 || before < 40 {
			t.Errorf("10 calls made %d attempts after %d, want one each", n, before)
		}
	})

	t.Run("stops at the deadline", func(t *testing.T) {
		address, ids := serveBusy(t, 9, errBusy)
		start := time.Now()
		testClient := dial(t, address, client.WithRetry(4, time.Hour, time.Hour),
			client.WithTimeout(50*time.Millisecond))
		err := callSafe(t.Context(), testClient)
		elapsed := time.Since(start)
		if !errors.Is(err, context.DeadlineExceeded) ||
			status.Code(err) != codes.DeadlineExceeded || elapsed > 20*time.Second {
			t.Errorf("error = %v after %v, want DEADLINE_EXCEEDED at the deadline", err, elapsed)
		}
		if n := len(ids()); n != 1 {
			t.Errorf("%d calls, want one before the deadline", n)
		}
	})

	t.Run("retries an idempotent call during a restart of the server", func(t *testing.T) {
		started := make(attempts, 64)
		entered := make(chan string, 8)
		first := &service{unary: func(ctx context.Context, _ *request) (*response, error) {
			entered <- xctxutil.GetRequestKey(ctx)
			<-ctx.Done() // until the server is killed
			return nil, ctx.Err()
		}}
		quiet(t)
		address, kill := serve(t, first, loopback)
		testClient := dial(t, address,
			client.WithRetry(20, 50*time.Millisecond, 200*time.Millisecond),
			client.WithDialOptions(grpc.WithStatsHandler(started)))
		safe, unsafe := make(chan error, 1), make(chan error, 1)
		go func() { safe <- callSafe(t.Context(), testClient) }()
		id := <-entered
		go func() { unsafe <- callUnsafe(t.Context(), testClient) }()
		<-entered
		kill()
		if err := <-unsafe; !errors.Is(err, xerror.ServiceUnavailable) {
			t.Errorf("unsafe call = %v, want SERVICE_UNAVAILABLE", err)
		}
		for range 4 { // the first attempts of both calls, and two attempts without a server
			<-started
		}
		serve(t, &service{unary: func(ctx context.Context, _ *request) (*response, error) {
			entered <- xctxutil.GetRequestKey(ctx)
			return &response{}, nil
		}}, address)
		if err := <-safe; err != nil {
			t.Errorf("safe call = %v, want success on the restarted server", err)
		}
		if retried := <-entered; retried != id {
			t.Errorf("id = %q, want %q as in the first attempt", retried, id)
		}
		if len(entered) != 0 {
			t.Error("the unsafe call was retried")
		}
	})
}

// attempts receives a value at the start of each attempt.
type attempts chan struct{}

func (a attempts) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (a attempts) HandleRPC(_ context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.Begin); ok {
		a <- struct{}{}
	}
}

func (a attempts) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (a attempts) HandleConn(context.Context, stats.ConnStats) {}

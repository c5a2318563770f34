package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestDial_Metadata(t *testing.T) {
	ctx := func(t *testing.T, pairs ...string) context.Context {
		t.Helper()
		return metadata.AppendToOutgoingContext(incoming(t.Context(), "id-1", "zh,en;q=0.5"),
			pairs...)
	}
	for _, tc := range []struct {
		name  string
		ctx   context.Context
		key   string
		other string // a spelling that must be absent
		want  []string
	}{
		{name: "id", ctx: ctx(t), key: "x_request_uuid", want: []string{"id-1"}},
		{name: "source", ctx: ctx(t), key: "x_request_source", want: []string{"orders"}},
		{name: "language", ctx: ctx(t), key: "accept-language", want: []string{"zh,en;q=0.5"}},
		{
			name: "caller's id", ctx: ctx(t, "x_request_uuid", "custom"),
			key: "x_request_uuid", want: []string{"custom"},
		},
		{
			name: "caller's id with dashes", ctx: ctx(t, "X-Request-UUID", "custom"),
			key: "x-request-uuid", other: "x_request_uuid", want: []string{"custom"},
		},
		{
			name: "caller's source", ctx: ctx(t, "x_request_source", "custom"),
			key: "x_request_source", want: []string{"custom"},
		},
		{
			name: "caller's source with dashes", ctx: ctx(t, "x-request-source", "custom"),
			key: "x-request-source", other: "x_request_source", want: []string{"custom"},
		},
		{
			name: "caller's language", ctx: ctx(t, "accept-language", "fr"),
			key: "accept-language", want: []string{"fr"},
		},
		{
			name: "caller's other values", ctx: ctx(t, "other", "a", "other", "b"),
			key: "other", want: []string{"a", "b"},
		},
		{
			name: "id with other values of the caller", ctx: ctx(t, "other", "a"),
			key: "x_request_uuid", want: []string{"id-1"},
		},
		{
			name: "id as a value of the context",
			ctx:  context.WithValue(t.Context(), xctx.RequestKey, "id-2"),
			key:  "x_request_uuid", want: []string{"id-2"},
		},
		{name: "no language", ctx: t.Context(), key: "accept-language", want: nil},
		{
			name: "a language that gRPC cannot send", ctx: incoming(t.Context(), "id", "zh\xff"),
			key: "accept-language", want: nil,
		},
		{
			name: "languages above the limit",
			ctx:  incoming(t.Context(), "id", "zh,"+strings.Repeat("x", 250)+",en,fr"),
			key:  "accept-language", want: []string{"zh," + strings.Repeat("x", 250) + ",en"},
		},
		{
			name: "a language above the limit",
			ctx:  incoming(t.Context(), "id", strings.Repeat("x", 10_000)),
			key:  "accept-language", want: nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			testClient, calls := inspect(t, client.WithSource("orders"))
			_, err := testClient.Unary(tc.ctx, &request{})
			must(t, err)
			stream, err := testClient.BidiStream(tc.ctx)
			must(t, err)
			_, _ = stream.Recv()
			for _, kind := range []string{"unary", "stream"} {
				got := (<-calls).metadata
				if !slices.Equal(got.Get(tc.key), tc.want) ||
					tc.other != "" && got.Get(tc.other) != nil {
					t.Errorf("%s: %s = %q, want %q; %v",
						kind, tc.key, got.Get(tc.key), tc.want, got)
				}
			}
		})
	}
}

func TestWithSource(t *testing.T) {
	for _, tc := range []struct {
		name    string
		app     string
		options []client.Option
		want    string
	}{
		{name: "the application", app: "shop", want: "shop"},
		{
			name: "an option", app: "shop",
			options: []client.Option{client.WithSource("orders")}, want: "orders",
		},
		{
			name: "disabled", app: "shop",
			options: []client.Option{client.WithSource("")}, want: "",
		},
		{name: "no name", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("APP_NAME", tc.app)
			testClient, calls := inspect(t, tc.options...)
			_, err := testClient.Unary(t.Context(), &request{})
			must(t, err)
			got := (<-calls).metadata
			if source := strings.Join(got.Get("x_request_source"), "|"); source != tc.want {
				t.Errorf("source = %q, want %q", source, tc.want)
			}
			want := strings.TrimSpace(tc.want + " grpc-go/" + grpc.Version)
			if agent := got.Get("user-agent")[0]; agent != want {
				t.Errorf("user agent = %q, want %q", agent, want)
			}
		})
	}
}

func TestDial_GeneratedID(t *testing.T) {
	quiet(t)
	var innerID string
	address, _ := serve(t, &service{unary: func(context.Context, *request) (*response, error) {
		return nil, errBusy
	}}, loopback)
	testClient := dial(t, address, client.WithDialOptions(grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
			next grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			innerID = xctxutil.GetRequestKey(ctx)
			return next(ctx, method, req, reply, cc, opts...)
		})))
	for name, ctx := range map[string]context.Context{
		"no ID":      t.Context(),
		"invalid ID": incoming(t.Context(), "a b", ""),
	} {
		var trailer metadata.MD
		_, err := testClient.Unary(ctx, &request{}, grpc.Trailer(&trailer))
		id := trailer.Get("x_request_uuid")
		if err == nil || len(id) != 1 || len(id[0]) != 36 {
			t.Fatalf("%s: id = %q, error = %v; want a generated ID and an error", name, id, err)
		}
		want := testproto.TestService_Unary_FullMethodName + " (request " + id[0] + ")"
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", name, err, want)
		}
		if name == "no ID" && innerID != id[0] {
			t.Errorf("id in an inner interceptor = %q, want %q", innerID, id[0])
		}
	}
	_, err := testClient.Unary(incoming(t.Context(), "id-1", ""), &request{})
	if strings.Contains(err.Error(), "(request") {
		t.Errorf("error = %v, want no request ID", err)
	}
}

func TestWithTimeout(t *testing.T) {
	t.Run("applies to unary calls without a deadline", func(t *testing.T) {
		testClient, calls := inspect(t)
		_, err := testClient.Unary(t.Context(), &request{})
		must(t, err)
		if !(<-calls).hasDeadline {
			t.Error("a unary call has no deadline")
		}
		stream, err := testClient.BidiStream(t.Context())
		must(t, err)
		_, _ = stream.Recv()
		if (<-calls).hasDeadline {
			t.Error("a stream has a deadline")
		}
		testClient, calls = inspect(t, client.WithTimeout(0))
		_, err = testClient.Unary(t.Context(), &request{})
		must(t, err)
		if (<-calls).hasDeadline {
			t.Error("a call has a deadline with WithTimeout(0)")
		}
	})

	t.Run("does not override a deadline", func(t *testing.T) {
		address, _ := serve(t, &service{
			unary: func(ctx context.Context, r *request) (*response, error) {
				if r.GetText() == "wait" {
					<-ctx.Done()
				}
				return &response{}, ctx.Err()
			},
		}, loopback)
		testClient := dial(t, address, client.WithTimeout(20*time.Millisecond))
		_, err := testClient.Unary(t.Context(), &request{Text: "wait"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want DeadlineExceeded", err)
		}
		testClient = dial(t, address, client.WithTimeout(time.Nanosecond))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := testClient.Unary(ctx, &request{}); err != nil {
			t.Errorf("error = %v, want the deadline of the context instead of the timeout", err)
		}
	})
}

// The call is forwarded by two services.
func TestDial_ChainOfServices(t *testing.T) {
	quiet(t)
	type arrival struct {
		id, source, language string
		deadline             time.Time
	}
	arrivals := make(chan arrival, 3)
	canceled := make(chan error, 1)
	record := func(ctx context.Context) {
		md, _ := metadata.FromIncomingContext(ctx)
		deadline, _ := ctx.Deadline()
		arrivals <- arrival{
			id:       xctxutil.GetRequestKey(ctx),
			source:   strings.Join(md.Get("x_request_source"), "|"),
			language: xctx.RequestFrom(ctx).AcceptLanguage(),
			deadline: deadline,
		}
	}
	lastAddress, _ := serve(t, &service{
		unary: func(ctx context.Context, _ *request) (*response, error) {
			record(ctx)
			<-ctx.Done()
			canceled <- ctx.Err()
			return nil, ctx.Err()
		},
	}, loopback)
	forward := func(next testproto.TestServiceClient) unaryOf {
		return func(ctx context.Context, r *request) (*response, error) {
			record(ctx)
			return next.Unary(ctx, r)
		}
	}
	middleAddress, _ := serve(t,
		&service{unary: forward(dial(t, lastAddress, client.WithSource("middle")))}, loopback)
	firstAddress, _ := serve(t,
		&service{unary: forward(dial(t, middleAddress, client.WithSource("first")))}, loopback)
	testClient := dial(t, firstAddress, client.WithSource("edge"))

	ctx, cancel := context.WithTimeout(incoming(t.Context(), "id-1", "zh"), 5*time.Minute)
	defer cancel()
	want, _ := ctx.Deadline()
	failed := make(chan error, 1)
	go func() {
		_, err := testClient.Unary(ctx, &request{})
		failed <- err
	}()
	for _, source := range []string{"edge", "first", "middle"} {
		got := <-arrivals
		if got.id != "id-1" || got.source != source || got.language != "zh" {
			t.Errorf("received %+v, want id-1, zh and %s", got, source)
		}
		// gRPC sends the remaining time.
		if d := got.deadline.Sub(want).Abs(); d > 5*time.Second {
			t.Errorf("the deadline of the call from %s differs by %v", source, d)
		}
	}
	cancel()
	if err := <-canceled; !errors.Is(err, context.Canceled) {
		t.Errorf("error of the last service = %v, want Canceled", err)
	}
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want Canceled", err)
	}
}

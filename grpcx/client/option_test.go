package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestDial_Validation(t *testing.T) {
	t.Run("reports all problems", func(t *testing.T) {
		conn, err := client.Dial(" ", nil,
			client.WithSource("名"), client.WithTimeout(-1),
			client.WithTLS(nil), client.WithPlaintext(),
			client.WithApplication("", "hunter2\n"), client.WithRetry(1, 0, -1),
			client.WithIdempotent("a b", "/pkg.Service"),
			client.WithLoadBalancing("fairest"),
			client.WithDialOptions(grpc.EmptyDialOption{}, nil))
		if conn != nil || err == nil {
			t.Fatalf("Dial = %v, %v; want an error", conn, err)
		}
		for _, want := range []string{
			"target is empty", "option 1 is nil", "WithSource", "WithTimeout",
			"WithTLS: the configuration is nil", "mutually exclusive",
			"access id is empty", "secret key contains characters", "WithPlaintextSecrets",
			"1 attempts", "initial backoff", "maximum backoff",
			`"a b"`, `"/pkg.Service"`, `"fairest"`, "WithDialOptions: option 2 is nil",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error does not contain %q", want)
			}
		}
		for line := range strings.Lines(err.Error()) {
			if !strings.HasPrefix(line, "grpcx/client: ") {
				t.Errorf("line %q does not start with the package name", line)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error = %v, want one without the secret", err)
		}
	})

	t.Run("checks the target", func(t *testing.T) {
		for _, tc := range []struct {
			target string
			want   string // of the error
		}{
			{target: "users:1119"},
			{target: "dns:///users:1119"},
			{target: "unix:///run/users.sock"},
			{target: "", want: "empty"},
			{target: "http://user:hunter2@users:1119", want: "URL"},
			{target: "https://users", want: "URL"},
		} {
			conn, err := client.Dial(tc.target)
			if tc.want == "" {
				must(t, err)
				must(t, conn.Close())
			} else if err == nil || !strings.Contains(err.Error(), tc.want) ||
				strings.Contains(err.Error(), "hunter2") {
				t.Errorf("Dial(%q) = %v, want %q", tc.target, err, tc.want)
			}
		}
	})
}

func TestWithIdempotent(t *testing.T) {
	const service = "plinth.grpcx.testproto.TestService"
	for _, tc := range []struct {
		name   string
		wantOK bool
	}{
		{name: "/pkg.Service/Method", wantOK: false},
		{name: "pkg.Service", wantOK: false},
		{name: "Service", wantOK: false},
		{name: service, wantOK: true},
		{name: "/" + service + "/Unary", wantOK: true},
		{name: "/" + service + "/Unery", wantOK: false},
		{name: "plinth.grpcx.testproto.TestRequest", wantOK: false},
		{name: "", wantOK: false},
		{name: "/", wantOK: false},
		{name: "pkg.Service/Method", wantOK: false},
		{name: "pkg.Service/", wantOK: false},
		{name: "/pkg.Service", wantOK: false},
		{name: "/pkg.Service/", wantOK: false},
		{name: "/pkg.Service/Method/", wantOK: false},
		{name: "//Method", wantOK: false},
		{name: "/pkg..Service/Method", wantOK: false},
		{name: "pkg.*", wantOK: false},
	} {
		_, err := client.DialOptions(client.WithIdempotent(tc.name))
		if (err == nil) != tc.wantOK {
			t.Errorf("WithIdempotent(%q) = %v, want success: %t", tc.name, err, tc.wantOK)
		}
	}
	_, err := client.DialOptions(client.WithIdempotent("pkg.Service"))
	if err == nil || !strings.Contains(err.Error(), `"pkg.Service"`) ||
		!strings.Contains(err.Error(), service) {
		t.Errorf("error = %v, want one that contains %s", err, service)
	}
}

func TestDialOptions(t *testing.T) {
	t.Run("rejects an APP_NAME that is not ASCII", func(t *testing.T) {
		t.Setenv("APP_NAME", "订单")
		if _, err := client.DialOptions(); err == nil ||
			!strings.Contains(err.Error(), "WithSource") {
			t.Errorf("error = %v, want one that contains WithSource", err)
		}
		if _, err := client.DialOptions(client.WithSource("orders")); err != nil {
			t.Errorf("error = %v with an ASCII source, want nil", err)
		}
	})

	t.Run("configures a connection of grpc.NewClient", func(t *testing.T) {
		_, calls := inspect(t)
		address, _ := serve(t, &service{
			unary: func(ctx context.Context, _ *request) (*response, error) {
				calls <- newReceived(ctx)
				return &response{}, nil
			},
		}, loopback)
		options, err := client.DialOptions(client.WithPlaintext(), client.WithSource("orders"))
		must(t, err)
		conn, err := grpc.NewClient("passthrough:///anywhere", append(options,
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", address)
			}))...)
		must(t, err)
		_, err = testproto.NewTestServiceClient(conn).Unary(t.Context(), &request{})
		must(t, errors.Join(err, conn.Close()))
		if got := (<-calls).metadata.Get("x_request_source"); len(got) != 1 || got[0] != "orders" {
			t.Errorf("source = %q, want orders", got)
		}
	})
}

func TestWithDialOptions(t *testing.T) {
	var order []string
	record := func(name string) grpc.UnaryClientInterceptor {
		return func(
			ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
			next grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			order = append(order, name)
			return next(ctx, method, req, reply, cc, opts...)
		}
	}
	testClient, calls := inspect(t, client.WithDialOptions(grpc.WithUserAgent("mine")),
		client.WithDialOptions(
			grpc.WithChainUnaryInterceptor(record("inside")),
			grpc.WithUnaryInterceptor(record("outside"))))
	_, err := testClient.Unary(t.Context(), &request{})
	must(t, err)
	if agent := (<-calls).metadata.Get("user-agent"); !strings.HasPrefix(agent[0], "mine ") {
		t.Errorf("user agent = %q, want mine", agent)
	}
	if got := strings.Join(order, " "); got != "outside inside" {
		t.Errorf("interceptors ran in the order %s, want outside inside", got)
	}
}

func TestWithTLS(t *testing.T) {
	creds, roots := certificate(t)
	secure := make(chan bool, 1)
	handler := &service{unary: func(ctx context.Context, _ *request) (*response, error) {
		p, _ := peer.FromContext(ctx)
		secure <- p.AuthInfo != nil
		return &response{}, nil
	}}
	encrypted, _ := serve(t, handler, loopback, grpc.Creds(creds))
	plain, _ := serve(t, handler, loopback)
	for _, tc := range []struct {
		name    string
		address string
		option  client.Option
		want    string // of the error
	}{
		{
			name: "a server without TLS", address: plain,
			option: client.WithSource(""), want: "handshake",
		},
		{
			name: "an unknown authority", address: encrypted,
			option: client.WithSource(""), want: "certificate",
		},
		{
			name: "a custom authority", address: encrypted,
			option: client.WithTLS(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}),
		},
		{
			name: "credentials bundle of the user", address: plain,
			option: client.WithDialOptions(grpc.WithTransportCredentials(nil),
				grpc.WithCredentialsBundle(insecure.NewBundle())),
		},
		{
			name: "credentials of the user", address: plain,
			option: client.WithDialOptions(
				grpc.WithTransportCredentials(insecure.NewCredentials())),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conn, err := client.Dial(tc.address, tc.option)
			must(t, err)
			_, err = testproto.NewTestServiceClient(conn).Unary(t.Context(), &request{})
			must(t, conn.Close())
			if tc.want == "" {
				must(t, err)
				if got := <-secure; got != (tc.address == encrypted) {
					t.Errorf("encrypted = %t, want %t", got, !got)
				}
			} else if status.Code(err) != codes.Unavailable ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestDial_MessageSize(t *testing.T) {
	address, _ := serve(t, &service{unary: func(context.Context, *request) (*response, error) {
		return &response{Text: strings.Repeat("x", 4<<20)}, nil
	}}, loopback)
	_, err := dial(t, address).Unary(t.Context(), &request{})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("error = %.200v, want RESOURCE_EXHAUSTED", err)
	}
	larger := client.WithDialOptions(grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(5 << 20)))
	if _, err := dial(t, address, larger).Unary(t.Context(), &request{}); err != nil {
		t.Errorf("error = %.200v with a larger limit, want nil", err)
	}
}

func TestWithLoadBalancing(t *testing.T) {
	var addresses []string
	reached := make(chan int, 64)
	for i := range 2 {
		address, _ := serve(t, &service{unary: func(context.Context, *request) (*response, error) {
			reached <- i
			return &response{}, nil
		}}, loopback)
		addresses = append(addresses, address)
	}
	conn, err := client.Dial("list:///two",
		client.WithPlaintext(), client.WithLoadBalancing("round_robin"),
		client.WithDialOptions(grpc.WithResolvers(list(addresses))))
	must(t, err)
	testClient := testproto.NewTestServiceClient(conn)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for seen := map[int]bool{}; len(seen) < 2; { // the second address connects later
		_, err := testClient.Unary(ctx, &request{})
		must(t, err)
		seen[<-reached] = true
	}
	must(t, conn.Close())
}

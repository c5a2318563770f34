package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
	"github.com/plinthgo/plinth/examples/grpc/userv1"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/runner"
)

const (
	register = "/api/v1/user/register"
	password = "correct horse"
)

// testService is the in-memory application with HTTP, gRPC and one client application.
type testService struct {
	*plinthtest.App

	t        *testing.T
	listener *bufconn.Listener
	id       xsnowflake.SnowflakeID
	secret   string
}

func start(t *testing.T) *testService {
	t.Helper()
	s := &testService{t: t, App: plinthtest.New(t, options()...), listener: bufconn.Listen(1 << 20)}
	s.Go(runner.New(append(grpcOptions(), runner.WithListener(s.listener))...))
	app, secret, err := logic.CreateApp(s.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	s.id, s.secret = app.ID, secret
	return s
}

// dial returns a connection, without credentials unless options set them.
func (s *testService) dial(options ...client.Option) *grpc.ClientConn {
	s.t.Helper()
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return s.listener.DialContext(ctx)
	}
	conn, err := client.Dial("passthrough:///memory", append(options, client.WithPlaintext(),
		client.WithPlaintextSecrets(), client.WithDialOptions(grpc.WithContextDialer(dial)))...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// users returns a client with credentials.
func (s *testService) users() userv1.UserServiceClient {
	s.t.Helper()
	return userv1.NewUserServiceClient(s.dial(client.WithApplication(s.id.String(), s.secret)))
}

func person(name string) *userv1.RegisterRequest {
	return &userv1.RegisterRequest{Username: name, Email: name + "@example.org", Password: password}
}

func body(r *userv1.RegisterRequest) gin.H {
	return gin.H{"username": r.GetUsername(), "email": r.GetEmail(), "password": r.GetPassword()}
}

// streamContext returns a context with a timeout for stream operations.
func streamContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// user is the user in an HTTP response.
type user struct {
	ID        xsnowflake.SnowflakeID `json:"id"`
	Username  string                 `json:"username"`
	Email     string                 `json:"email"`
	CreatedAt string                 `json:"created_at"`
}

func TestUsers(t *testing.T) {
	t.Parallel()

	t.Run("are shared by HTTP and gRPC", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		users := s.users()
		created, err := users.Register(t.Context(), person("Ada"))
		if err != nil || created.GetBaseResponse().GetOutput() != "Success" ||
			created.GetBaseResponse().GetCode() != 200 {
			t.Fatalf("Register = %v, %v", created, err)
		}
		var seen user
		r := s.Request(http.MethodGet, fmt.Sprintf("/api/v1/user/%d", created.GetUser().GetId()), nil)
		if r.Into(&seen); r.Status() != http.StatusOK || seen.Username != "ada" ||
			seen.Email != "ada@example.org" {
			t.Errorf("GET = %d %s", r.Status(), r.Body())
		}
		if seen.ID.Gene() != xsnowflake.GeneUser {
			t.Errorf("id %s has the gene %d", seen.ID, seen.ID.Gene())
		}

		r = s.Request(http.MethodPost, register, body(person("eve")))
		if r.Into(&seen); r.Status() != http.StatusOK {
			t.Fatalf("POST = %d %s", r.Status(), r.Body())
		}
		found, err := users.Get(t.Context(), &userv1.GetRequest{Id: int64(seen.ID)})
		if err != nil || found.GetUser().GetUsername() != "eve" ||
			found.GetUser().GetCreatedAt().AsTime().IsZero() {
			t.Errorf("Get = %v, %v", found, err)
		}
	})

	t.Run("have the same errors over HTTP and gRPC", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		users := s.users()
		s.Request(http.MethodPost, register, body(person("ada")))
		unreadable := person("eve")
		unreadable.Username = "e\u0000e"
		for _, tc := range []struct {
			name     string
			call     func(opts ...grpc.CallOption) error
			response *plinthtest.Response
			code     *xerror.ErrorCode
			rpc      codes.Code
		}{
			{
				name: "duplicate",
				call: func(opts ...grpc.CallOption) error {
					_, err := users.Register(t.Context(), person("ada"), opts...)
					return err
				},
				response: s.Request(http.MethodPost, register, body(person("ada"))),
				code:     xerror.DuplicateEntry, rpc: codes.Aborted,
			},
			{
				name: "no such user",
				call: func(opts ...grpc.CallOption) error {
					_, err := users.Get(t.Context(), &userv1.GetRequest{Id: 1}, opts...)
					return err
				},
				response: s.Request(http.MethodGet, "/api/v1/user/1", nil),
				code:     xerror.ResourceNotFound, rpc: codes.NotFound,
			},
			{
				name: "unreadable",
				call: func(opts ...grpc.CallOption) error {
					_, err := users.Register(t.Context(), unreadable, opts...)
					return err
				},
				response: s.Request(http.MethodPost, register, body(unreadable)),
				code:     xerror.ParameterError, rpc: codes.InvalidArgument,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				var trailer metadata.MD
				err := tc.call(grpc.Trailer(&trailer))
				e := xerror.From(err)
				got := e.GetErrorCode()
				if got != tc.code || status.Code(err) != tc.rpc {
					t.Fatalf("error = %v, want %s and %s", err, tc.code.GetOutput(), tc.rpc)
				}
				want := tc.response.Envelope()
				if tc.response.Status() != tc.code.Status() || got.GetCode() != tc.response.Code() ||
					got.GetOutput() != tc.response.Output() ||
					got.GetMessage() != tc.response.Message() ||
					e.GetErrorMessage().String() != tc.response.ErrorMessage() {
					t.Errorf("error = %v, want the error of HTTP: %d %+v",
						err, tc.response.Status(), want)
				}
				if id := trailer.Get(constant.TrailerRequestUUID.String()); len(id) != 1 ||
					!xutil.Valid().UUID(id[0]) {
					t.Errorf("trailer = %v, want a request id", trailer)
				}
			})
		}
	})
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := start(t)
	users := s.users()
	id := xutil.UUID().V4()
	ctx := metadata.AppendToOutgoingContext(t.Context(), constant.MetadataRequestUUID.String(), id)
	var trailer metadata.MD
	created, err := users.Register(ctx, person("ada"), grpc.Trailer(&trailer))
	if got := trailer.Get(constant.TrailerRequestUUID.String()); err != nil ||
		!slices.Equal(got, []string{id}) {
		t.Errorf("trailer = %v, %v, want %s", trailer, err, id)
	}
	if got := created.GetBaseResponse().GetContext(); got != id {
		t.Errorf("context = %q, want %s", got, id)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()

	t.Run("validates the request", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		users := s.users()
		for i, tc := range []struct {
			name                      string
			username, email, password string
			fields                    []string
		}{
			{name: "shortest", username: "abc", password: "secret"},
			{
				name: "longest", username: strings.Repeat("ü", 32),
				password: strings.Repeat("ü", 256),
			},
			{
				name: "name too short", username: "ab", password: "secret",
				fields: []string{"username:min"},
			},
			{
				name: "name too long", username: strings.Repeat("a", 33), password: "secret",
				fields: []string{"username:max"},
			},
			{
				name: "password too short", username: "abcd", password: "12345",
				fields: []string{"password:min"},
			},
			{
				name: "password too long", username: "abcd",
				password: strings.Repeat("x", 257), fields: []string{"password:max"},
			},
			{
				name: "no address", username: "abcd", email: "ada", password: "secret",
				fields: []string{"email:email"},
			},
			{
				name: "nothing", email: "ada",
				fields: []string{"username:required", "email:email", "password:required"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				if tc.email == "" {
					tc.email = fmt.Sprintf("n%d@example.org", i)
				}
				request := &userv1.RegisterRequest{
					Username: tc.username, Email: tc.email, Password: tc.password,
				}
				_, err := users.Register(t.Context(), request)
				if tc.fields == nil {
					if err != nil {
						t.Errorf("Register = %v", err)
					}
					return
				}
				if status.Code(err) != codes.InvalidArgument ||
					xerror.From(err).GetErrorCode() != xerror.ParameterError {
					t.Errorf("error = %v, want PARAMETER_ERROR", err)
				}
				overGRPC, _ := xerror.From(err).GetData().([]xvalid.FieldError)
				if got := fields(overGRPC); !slices.Equal(got, tc.fields) {
					t.Errorf("fields = %q, want %q", got, tc.fields)
				}
				var overHTTP []xvalid.FieldError
				s.Request(http.MethodPost, register, body(request)).Into(&overHTTP)
				if !slices.Equal(overGRPC, overHTTP) {
					t.Errorf("fields = %v, over HTTP %v", overGRPC, overHTTP)
				}
			})
		}
	})

	t.Run("accepts one of many concurrent registrations", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		users := s.users()
		const many = 16
		outputs := make([]string, many)
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() {
				if i%2 == 0 {
					outputs[i] = s.Request(http.MethodPost, register, body(person("ada"))).Output()
					return
				}
				outputs[i] = "Success"
				if _, err := users.Register(t.Context(), person("ada")); err != nil {
					outputs[i] = xerror.From(err).GetErrorCode().GetOutput()
				}
			})
		}
		wg.Wait()
		count := map[string]int{}
		for _, o := range outputs {
			count[o]++
		}
		if count["Success"] != 1 || count["DUPLICATE_ENTRY"] != many-1 {
			t.Errorf("results = %v, want one Success and %d DUPLICATE_ENTRY", count, many-1)
		}
	})
}

func fields(list []xvalid.FieldError) []string {
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = f.Field + ":" + f.Tag
	}
	return texts
}

func TestGet_InvalidID(t *testing.T) {
	t.Parallel()
	users := start(t).users()
	for _, id := range []int64{0, -1} {
		_, err := users.Get(t.Context(), &userv1.GetRequest{Id: id})
		list, _ := xerror.From(err).GetData().([]xvalid.FieldError)
		if got := fields(list); !slices.Equal(got, []string{"id:gt"}) {
			t.Errorf("Get(%d) = %v", id, err)
		}
	}
}

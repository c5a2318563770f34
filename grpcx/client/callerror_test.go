package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

func TestDial_Errors(t *testing.T) {
	t.Run("returns an xerror with the status", func(t *testing.T) {
		quiet(t)
		failures := []xvalid.FieldError{{Field: "name", Tag: "required", Message: "is missing"}}
		for _, tc := range []struct {
			name string
			fail error
			code codes.Code
			is   error
			data any
		}{
			{
				name: "code", fail: xerror.New(xerror.NotExist, "user 7"),
				code: codes.InvalidArgument, is: xerror.NotExist,
			},
			{
				name: "data", fail: xerror.WrapData(xerror.ParameterError, "", nil, failures),
				code: codes.InvalidArgument, is: xerror.ParameterError, data: failures,
			},
			{
				name: "plain status", fail: status.Error(codes.NotFound, "deleted"),
				code: codes.NotFound, is: xerror.NotFound,
			},
			{name: "canceled", fail: context.Canceled, code: codes.Canceled, is: context.Canceled},
			{
				name: "deadline exceeded", fail: context.DeadlineExceeded,
				code: codes.DeadlineExceeded, is: context.DeadlineExceeded,
			},
			{
				name: "unknown", fail: errors.New("secret"),
				code: codes.Internal, is: xerror.ServerInternalError,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				address, _ := serve(t, &service{
					unary: func(context.Context, *request) (*response, error) {
						return nil, tc.fail
					},
					bidi: func(stream *bidi) error {
						return rpcstatus.ToStatus((*stream).Context(), tc.fail)
					},
				}, loopback)
				testClient := dial(t, address)
				_, unary := testClient.Unary(t.Context(), &request{})
				stream, err := testClient.BidiStream(t.Context())
				must(t, err)
				_, received := stream.Recv()
				for kind, err := range map[string]error{"unary": unary, "stream": received} {
					var e *xerror.Error
					st, ok := status.FromError(err)
					if !errors.As(err, &e) || !ok || st.Code() != tc.code ||
						status.Code(err) != tc.code || !errors.Is(err, tc.is) {
						t.Errorf("%s: error = %v, want %v and %v", kind, err, tc.code, tc.is)
					}
					if !cmp.Equal(e.GetData(), tc.data) || strings.Contains(err.Error(), "secret") {
						t.Errorf("%s: data = %v, want %v; %v", kind, e.GetData(), tc.data, err)
					}
				}
			})
		}
	})

	t.Run("returns nil on success", func(t *testing.T) {
		address, _ := serve(t, &service{
			unary: func(context.Context, *request) (*response, error) { return &response{}, nil },
			bidi: func(stream *bidi) (err error) {
				for err == nil {
					_, err = (*stream).Recv()
				}
				if errors.Is(err, io.EOF) { // an earlier return would fail Send with io.EOF
					return nil
				}
				return err
			},
		}, loopback)
		testClient := dial(t, address)
		if _, err := testClient.Unary(t.Context(), &request{}); err != nil {
			t.Errorf("error = %#v, want nil", err)
		}
		stream, err := testClient.BidiStream(t.Context())
		if err != nil {
			t.Fatalf("error = %#v, want nil", err)
		}
		if err := stream.Send(&request{}); err != nil {
			t.Errorf("Send = %#v, want nil", err)
		}
		if err := stream.CloseSend(); err != nil {
			t.Errorf("CloseSend = %#v, want nil", err)
		}
		if _, err := stream.Header(); err != nil {
			t.Errorf("Header = %#v, want nil", err)
		}
		if _, err := stream.Recv(); err != io.EOF { // loops compare with ==
			t.Errorf("Recv at the end = %#v, want io.EOF", err)
		}
		unary, _ := client.Interceptors("")
		err = unary(t.Context(), "/a/b", nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
				var none *xerror.Error
				return none // a typed nil
			})
		if err != nil {
			t.Errorf("error of a nil pointer = %#v, want nil", err)
		}
	})

	t.Run("returns UNAVAILABLE without a server", func(t *testing.T) {
		address, kill := serve(t, &service{}, loopback)
		kill()
		_, err := dial(t, address).Unary(t.Context(), &request{})
		if !errors.Is(err, xerror.ServiceUnavailable) || status.Code(err) != codes.Unavailable {
			t.Errorf("error = %v, want SERVICE_UNAVAILABLE", err)
		}
	})
}

func TestDial_StreamErrors(t *testing.T) {
	t.Run("returns io.EOF from Send and the status from Recv", func(t *testing.T) {
		quiet(t)
		address, _ := serve(t, &service{bidi: func(*bidi) error {
			return status.Error(codes.PermissionDenied, "no")
		}}, loopback)
		testClient := dial(t, address)
		stream, err := testClient.BidiStream(t.Context())
		must(t, err)
		for err == nil {
			err = stream.Send(&request{})
		}
		if err != io.EOF { // loops compare with ==
			t.Errorf("Send = %#v, want io.EOF", err)
		}
		if _, err := stream.Recv(); !errors.Is(err, xerror.PermissionDenied) ||
			status.Code(err) != codes.PermissionDenied {
			t.Errorf("Recv = %v, want PERMISSION_DENIED", err)
		}
	})

	t.Run("returns an xerror from every method", func(t *testing.T) {
		address, _ := serve(t, &service{bidi: func(stream *bidi) error {
			<-(*stream).Context().Done()
			return nil
		}}, loopback)
		testClient := dial(t, address)
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := testClient.BidiStream(ctx)
		must(t, err)
		cancel()
		_, received := stream.Recv()
		other, err := testClient.BidiStream(t.Context())
		must(t, err)
		sent := other.SendMsg("no message") // on a finished stream, SendMsg returns io.EOF
		_, opened := testClient.BidiStream(ctx)
		for name, err := range map[string]error{"RecvMsg": received, "NewStream": opened} {
			var e *xerror.Error
			if !errors.As(err, &e) || !errors.Is(err, xerror.Canceled) ||
				!errors.Is(err, context.Canceled) || status.Code(err) != codes.Canceled {
				t.Errorf("%s = %v, want CANCELED", name, err)
			}
		}
		if !errors.Is(sent, xerror.RemoteError) || status.Code(sent) != codes.Internal {
			t.Errorf("SendMsg = %v, want an xerror", sent)
		}
		want := errors.New("not closed")
		_, interceptor := client.Interceptors("")
		open := func(
			context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			return broken{err: want}, nil
		}
		failing, err := interceptor(t.Context(), nil, nil, "/a/b", open)
		must(t, err)
		_, header := failing.Header()
		closed := failing.CloseSend()
		for name, err := range map[string]error{"Header": header, "CloseSend": closed} {
			var e *xerror.Error
			if !errors.As(err, &e) || !errors.Is(err, want) {
				t.Errorf("%s = %v, want an xerror", name, err)
			}
		}
	})
}

// broken is a stream of an inner interceptor whose methods fail.
type broken struct {
	grpc.ClientStream
	err error
}

func (b broken) CloseSend() error { return b.err }

func (b broken) Header() (metadata.MD, error) { return nil, b.err }

// The downstream error is about the credentials of the middle service, not about those of
// its client.
func TestDial_DownstreamErrors(t *testing.T) {
	quiet(t)
	address, _ := serve(t, &service{unary: func(context.Context, *request) (*response, error) {
		return nil, xerror.New(xerror.Unauthorized, "the secret is wrong")
	}}, loopback)
	next := dial(t, address)
	for _, tc := range []struct {
		name string
		wrap func(error) error
		code codes.Code
		is   *xerror.ErrorCode
		text string
	}{
		{
			name: "unwrapped", wrap: func(err error) error { return err },
			code: codes.Unauthenticated, is: xerror.Unauthorized, text: "the secret is wrong",
		},
		{
			name: "with a message",
			wrap: func(err error) error { return fmt.Errorf("users: %w", err) },
			code: codes.Unauthenticated, is: xerror.Unauthorized, text: "the secret is wrong",
		},
		{
			name: "with a code",
			wrap: func(err error) error { return xerror.Wrap(xerror.RemoteError, "no users", err) },
			code: codes.Internal, is: xerror.RemoteError, text: "no users",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			middle, _ := serve(t, &service{
				unary: func(ctx context.Context, r *request) (*response, error) {
					_, err := next.Unary(ctx, r)
					return nil, tc.wrap(err)
				},
			}, loopback)
			_, err := dial(t, middle).Unary(t.Context(), &request{})
			var e *xerror.Error
			if !errors.As(err, &e) || status.Code(err) != tc.code || !errors.Is(err, tc.is) ||
				e.GetErrorMessage().String() != tc.text {
				t.Errorf("error = %v, want %v and %q", err, tc.code, tc.text)
			}
			if tc.is == xerror.RemoteError &&
				(errors.Is(err, xerror.Unauthorized) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("error = %v, want one that hides the downstream error", err)
			}
		})
	}
}

func TestRequestID(t *testing.T) {
	quiet(t)
	address, _ := serve(t, &service{
		unary: func(ctx context.Context, _ *request) (*response, error) {
			return nil, rpcstatus.ToStatus(ctx, xerror.New(xerror.NotExist, ""))
		},
	}, loopback)
	const id = "3f1c-of-a-user"
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x_request_uuid", id)
	_, statusErr := dial(t, address).Unary(ctx, &request{})
	if got := client.RequestID(statusErr); got != id {
		t.Errorf("RequestID = %q, want %q from the server's status", got, id)
	}
	_, connectErr := dial(t, "127.0.0.1:1").Unary(t.Context(), &request{})
	if got := client.RequestID(connectErr); got == "" ||
		!strings.Contains(connectErr.Error(), got) {
		t.Errorf("RequestID = %q, want the ID in %v", got, connectErr)
	}
	if got := client.RequestID(errors.New("other error")); got != "" {
		t.Errorf("RequestID = %q, want empty", got)
	}
}

func TestFromError(t *testing.T) {
	if got := client.FromError(nil); got != nil {
		t.Errorf("FromError(nil) = %v, want nil", got)
	}
	err := status.Error(codes.ResourceExhausted, "slow down")
	if got := client.FromError(err); !errors.Is(got, xerror.TooManyRequests) ||
		!errors.Is(got, err) {
		t.Errorf("FromError = %v, want TOO_MANY_REQUESTS that wraps the status", got)
	}
}

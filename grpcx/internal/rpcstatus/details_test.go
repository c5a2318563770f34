package rpcstatus_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
	"github.com/plinthgo/plinth/grpcx/internal/testproto"
)

func TestToStatus_Details(t *testing.T) {
	t.Run("contains the data as the second detail", func(t *testing.T) {
		quiet(t)
		failures := []xvalid.FieldError{{
			Field: "items[2].price", Tag: "min-Len8", Message: "too short",
		}}
		bad, ok := detail(t, failures).(*errdetails.BadRequest)
		if v := bad.GetFieldViolations(); !ok || len(v) != 1 ||
			v[0].GetField() != "items[2].price" ||
			v[0].GetReason() != "MIN_LEN8" || v[0].GetDescription() != "too short" {
			t.Errorf("detail of failures = %v", bad)
		}
		value, ok := detail(t, map[string]any{"left": 3}).(*structpb.Value)
		if !ok || value.GetStructValue().GetFields()["left"].GetNumberValue() != 3 {
			t.Errorf("detail of data = %v", value)
		}
		for name, data := range map[string]any{
			"none": nil, "a function": func() {}, "a channel": make(chan int), "a cycle": cyclic(),
			"too large": strings.Repeat("x", 2561), "too large as numbers": make([]int, 1000),
		} {
			if got := detail(t, data); got != nil {
				t.Errorf("%s: detail = %v, want none", name, got)
			}
		}
	})

	t.Run("limits the number of field errors", func(t *testing.T) {
		quiet(t)
		var failures []xvalid.FieldError
		for range 100 {
			failures = append(failures, xvalid.FieldError{
				Field: "field", Tag: "required", Message: strings.Repeat("x", 100),
			})
		}
		bad, _ := detail(t, failures).(*errdetails.BadRequest)
		if n := len(bad.GetFieldViolations()); n < 15 || n >= 25 {
			t.Errorf("%d violations, want as many as fit within 2.5 KiB", n)
		}
		if bad, ok := detail(t, []xvalid.FieldError{}).(*errdetails.BadRequest); !ok ||
			len(bad.GetFieldViolations()) != 0 {
			t.Errorf("no failures = %v, want an empty list", bad)
		}
	})

	t.Run("truncates messages at a rune boundary", func(t *testing.T) {
		quiet(t)
		for _, tc := range []struct {
			name string
			text string
			want string
		}{
			{name: "invalid", text: "a\xffb", want: "a\uFFFDb"},
			{name: "at the limit", text: strings.Repeat("x", 512), want: strings.Repeat("x", 512)},
			{
				name: "above the limit", text: strings.Repeat("x", 513),
				want: strings.Repeat("x", 512),
			},
			{
				name: "a rune across the limit", text: strings.Repeat("x", 511) + "é",
				want: strings.Repeat("x", 511),
			},
			{
				name: "three-byte runes", text: strings.Repeat("码", 300),
				want: strings.Repeat("码", 170),
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := rpcstatus.ToStatus(t.Context(),
					xerror.New(xerror.NotExist, xerror.ErrMessage(tc.text)))
				b := envelope(t, err)
				if b.GetErrorMessage() != tc.want ||
					!utf8.ValidString(status.Convert(err).Message()) {
					t.Errorf("message = %q, want %q", b.GetErrorMessage(), tc.want)
				}
			})
		}
	})

	t.Run("truncates the request ID and the label", func(t *testing.T) {
		quiet(t)
		ctx := context.WithValue(t.Context(), xctx.RequestKey, "id\xff"+strings.Repeat("x", 5000))
		long := xerror.RemoteCode(40499, strings.Repeat("L", 5000), strings.Repeat("m", 5000))
		b := envelope(t, rpcstatus.ToStatus(ctx, xerror.New(long, "")))
		for name, text := range map[string]string{
			"context": b.GetContext(), "output": b.GetOutput(), "message": b.GetMessage(),
		} {
			if len(text) == 0 || len(text) > 512 || !utf8.ValidString(text) {
				t.Errorf("%s has %d bytes, want 1 to 512 of UTF-8", name, len(text))
			}
		}
	})
}

// cyclic returns data that JSON cannot encode.
func cyclic() any {
	m := map[string]any{}
	m["m"] = m
	return m
}

// detail returns the status detail for data, or nil.
func detail(t *testing.T, data any) any {
	t.Helper()
	err := rpcstatus.ToStatus(t.Context(), xerror.WrapData(xerror.ParameterError, "", nil, data))
	envelope(t, err)
	if details := status.Convert(err).Details(); len(details) > 1 {
		return details[1]
	}
	return nil
}

// handler returns the error of fail from each call.
type handler struct {
	testproto.UnimplementedTestServiceServer
	fail func() error
}

func (h handler) Unary(
	ctx context.Context, _ *testproto.TestRequest,
) (*testproto.TestResponse, error) {
	// The Trace interceptor sends this trailer, too.
	trailer := metadata.Pairs("x_request_uuid", strings.Repeat("x", 64))
	if err := grpc.SetTrailer(ctx, trailer); err != nil {
		return nil, err
	}
	return nil, h.fail()
}

// call returns the error of a call to a server whose handler returns fail().
func call(t *testing.T, fail func() error, options ...grpc.DialOption) error {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	testproto.RegisterTestServiceServer(server, handler{fail: fail})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}))
	conn, err := grpc.NewClient("passthrough:///bufconn", options...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = testproto.NewTestServiceClient(conn).Unary(t.Context(), &testproto.TestRequest{})
	if e := conn.Close(); e != nil {
		t.Error(e)
	}
	server.Stop()
	if e := <-served; e != nil {
		t.Error(e)
	}
	return err
}

func TestToStatus_HeaderSize(t *testing.T) {
	quiet(t)
	for name, filler := range map[string]string{
		"ASCII": "x", "percent": "%", "Chinese": "码", "invalid": "\xff", "quotes": `"<`,
	} {
		text := strings.Repeat(filler, 5000)
		code := xerror.RemoteCode(40499, text, text)
		var failures []xvalid.FieldError
		for range 100 {
			failures = append(failures, xvalid.FieldError{Field: text, Tag: text, Message: text},
				xvalid.FieldError{Field: "f"})
		}
		for kind, data := range map[string]any{
			"failures": failures, "small failures": make([]xvalid.FieldError, 2000),
			"text":                   strings.Repeat(filler, 2500/len(filler)),
			"text that JSON escapes": strings.Repeat(filler, 800/len(filler)),
			"numbers":                make([]int, 230),
			"map":                    map[string]string{text[:400]: text[:400]},
		} {
			t.Run(name+" with "+kind, func(t *testing.T) {
				ctx := context.WithValue(t.Context(), xctx.RequestKey, text)
				fail := func() error {
					return rpcstatus.ToStatus(ctx,
						xerror.WrapData(code, xerror.ErrMessage(text), nil, data))
				}
				err := call(t, fail, grpc.WithMaxHeaderListSize(8<<10))
				if got := status.Code(err); got != codes.NotFound {
					t.Fatalf("error = %.200v, want NotFound from the server", err)
				}
				envelope(t, err)
			})
		}
	}
}

func TestFromStatus_RoundTrip(t *testing.T) {
	quiet(t)
	failures := []xvalid.FieldError{{Field: "name", Tag: "min_len", Message: "too short"}}
	for _, tc := range []struct {
		name string
		sent *xerror.Error
		want any // the data
	}{
		{name: "code alone", sent: xerror.New(xerror.NotExist, ""), want: nil},
		{name: "message", sent: xerror.New(xerror.TooManyRequests, "in a minute"), want: nil},
		{
			name: "failures",
			sent: xerror.WrapData(xerror.ParameterError, "2 fields", nil, failures),
			want: failures,
		},
		{
			name: "map",
			sent: xerror.WrapData(xerror.Conflict, "", nil, map[string]any{"a": []int{1, 2}}),
			want: map[string]any{"a": []any{1.0, 2.0}},
		},
		{name: "text", sent: xerror.WrapData(xerror.Conflict, "", nil, "text"), want: "text"},
		{
			name: "several values",
			sent: xerror.WrapData(xerror.Conflict, "", nil, 1, "two"),
			want: []any{1.0, "two"},
		},
		{
			name: "unknown code",
			sent: xerror.New(xerror.RemoteCode(40988, "OTHER_CODE", "remote text"), "more"),
			want: nil,
		},
		{name: "unknown error", sent: xerror.From(errors.New("secret")), want: nil},
		{name: "canceled", sent: xerror.From(context.Canceled), want: nil},
		{name: "deadline exceeded", sent: xerror.From(context.DeadlineExceeded), want: nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := call(t, func() error {
				return rpcstatus.ToStatus(context.Background(), tc.sent)
			})
			got := rpcstatus.FromStatus(err)
			sent, code := tc.sent.GetErrorCode(), got.GetErrorCode()
			if code.GetCode() != sent.GetCode() || code.GetOutput() != sent.GetOutput() ||
				code.GetMessage() != sent.GetMessage() {
				t.Errorf("code = %d %s %q, want %d %s %q",
					code.GetCode(), code, code.GetMessage(), sent.GetCode(), sent,
					sent.GetMessage())
			}
			if got.GetErrorMessage() != tc.sent.GetErrorMessage() ||
				!cmp.Equal(got.GetData(), tc.want) {
				t.Errorf("got %q %v, want %q %v",
					got.GetErrorMessage(), got.GetData(), tc.sent.GetErrorMessage(), tc.want)
			}
			if status.Code(got) != rpcstatus.Code(tc.sent) ||
				strings.Contains(got.Error(), "secret") {
				t.Errorf("got %v, want the status as the cause", got)
			}
			for _, target := range []error{context.Canceled, context.DeadlineExceeded} {
				if want := errors.Is(tc.sent, target); errors.Is(got, target) != want {
					t.Errorf("errors.Is(%v) = %t, want %t", target, !want, want)
				}
			}
		})
	}
}

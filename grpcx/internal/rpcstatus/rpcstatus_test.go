package rpcstatus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// table is the table of the specification.
var table = map[int]codes.Code{
	400: codes.InvalidArgument,
	401: codes.Unauthenticated,
	403: codes.PermissionDenied,
	404: codes.NotFound,
	405: codes.Unimplemented,
	406: codes.FailedPrecondition,
	408: codes.DeadlineExceeded,
	409: codes.Aborted,
	410: codes.NotFound,
	413: codes.ResourceExhausted,
	415: codes.InvalidArgument,
	422: codes.FailedPrecondition,
	429: codes.ResourceExhausted,
	500: codes.Internal,
	502: codes.Unavailable,
	503: codes.Unavailable,
	504: codes.DeadlineExceeded,
}

func TestCode(t *testing.T) {
	t.Run("maps every HTTP status", func(t *testing.T) {
		quiet(t)
		for http := 400; http < 600; http++ {
			want, listed := table[http]
			if !listed {
				want = codes.Unknown
			}
			e := xerror.New(xerror.RemoteCode(http*100+99, "ANY", "any"), "")
			if got := rpcstatus.Code(e); got != want {
				t.Errorf("Code of HTTP %d = %v, want %v", http, got, want)
			}
			if got := status.Code(rpcstatus.ToStatus(t.Context(), e)); got != want {
				t.Errorf("status of HTTP %d = %v, want %v", http, got, want)
			}
		}
	})

	t.Run("maps every code of the catalog", func(t *testing.T) {
		quiet(t)
		for _, c := range xerror.Codes() {
			want, listed := table[c.Status()]
			if !listed {
				want = codes.Unknown
			}
			err := rpcstatus.ToStatus(t.Context(), xerror.New(c, ""))
			if got := status.Code(err); got != want {
				t.Errorf("%s: code = %v, want %v", c, got, want)
			}
			if !errors.Is(err, c) {
				t.Errorf("%s: errors.Is does not find it in %v", c, err)
			}
		}
	})

	t.Run("preserves the codes of context errors", func(t *testing.T) {
		quiet(t)
		for _, tc := range []struct {
			name string
			err  error
			want codes.Code
		}{
			{name: "canceled", err: context.Canceled, want: codes.Canceled},
			{
				name: "deadline exceeded", err: context.DeadlineExceeded,
				want: codes.DeadlineExceeded,
			},
			{
				name: "canceled, wrapped", err: fmt.Errorf("read: %w", context.Canceled),
				want: codes.Canceled,
			},
			{
				name: "deadline exceeded, wrapped",
				err:  fmt.Errorf("read: %w", context.DeadlineExceeded),
				want: codes.DeadlineExceeded,
			},
			{
				name: "deadline exceeded, joined",
				err:  errors.Join(errors.New("x"), context.DeadlineExceeded),
				want: codes.DeadlineExceeded,
			},
			{
				name: "cause of the code CANCELED",
				err:  xerror.Wrap(xerror.Canceled, "", context.Canceled),
				want: codes.Canceled,
			},
			{
				name: "cause of another code",
				err:  xerror.Wrap(xerror.NotFound, "", context.Canceled),
				want: codes.NotFound,
			},
			{
				name: "cause of a server error",
				err:  xerror.Wrap(xerror.DatabaseError, "", context.DeadlineExceeded),
				want: codes.Internal,
			},
			{
				name: "the code without the context error", err: xerror.New(xerror.Canceled, ""),
				want: codes.InvalidArgument,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := rpcstatus.ToStatus(t.Context(), tc.err)
				if got := status.Code(err); got != tc.want {
					t.Errorf("code = %v, want %v", got, tc.want)
				}
			})
		}
	})
}

// pointerError is an error whose Error panics for a nil pointer.
type pointerError struct{ text string }

func (e *pointerError) Error() string { return e.text }

// customStatus is a status error of another package.
type customStatus struct{ st *status.Status }

func (o *customStatus) Error() string              { return "secret" }
func (o *customStatus) GRPCStatus() *status.Status { return o.st }

func TestToStatus(t *testing.T) {
	t.Run("returns nil for nil errors", func(t *testing.T) {
		lines := capture(t)
		for name, err := range map[string]error{
			"nil":                         nil,
			"nil *xerror.Error":           (*xerror.Error)(nil),
			"nil *ErrorCode":              (*xerror.ErrorCode)(nil),
			"nil pointer of another type": (*pointerError)(nil),
			"nil status of another type":  (*customStatus)(nil),
		} {
			if got := rpcstatus.ToStatus(t.Context(), err); got != nil {
				t.Errorf("ToStatus(%s) = %v, want nil", name, got)
			}
			if got := rpcstatus.FromStatus(err); got != nil {
				t.Errorf("FromStatus(%s) = %v, want nil", name, got)
			}
		}
		if lines.Len() != 0 {
			t.Errorf("log = %s, want empty", lines)
		}
	})

	t.Run("skips nil pointers in the error tree", func(t *testing.T) {
		quiet(t)
		notFound := status.Error(codes.NotFound, "deleted")
		for _, tc := range []struct {
			name string
			err  error
			want codes.Code
		}{
			{
				name: "before a status",
				err:  errors.Join((*xerror.Error)(nil), notFound),
				want: codes.NotFound,
			},
			{
				name: "before an xerror",
				err:  errors.Join((*xerror.Error)(nil), xerror.New(xerror.Conflict, "")),
				want: codes.Aborted,
			},
			{
				name: "a nil xerror alone",
				err:  fmt.Errorf("around: %w", (*xerror.Error)(nil)),
				want: codes.Internal,
			},
			{
				name: "a nil code before a status",
				err:  errors.Join((*xerror.ErrorCode)(nil), notFound),
				want: codes.NotFound,
			},
			{
				name: "a nil status alone",
				err:  fmt.Errorf("around: %w", (*customStatus)(nil)),
				want: codes.Internal,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := status.Code(rpcstatus.ToStatus(t.Context(), tc.err)); got != tc.want {
					t.Errorf("ToStatus = %v, want %v", got, tc.want)
				}
				if e := rpcstatus.FromStatus(tc.err); e == nil ||
					tc.want == codes.NotFound && !errors.Is(e, xerror.NotFound) {
					t.Errorf("FromStatus = %v, want an error of the same code", e)
				}
			})
		}
	})

	t.Run("returns a status unchanged", func(t *testing.T) {
		lines := capture(t)
		err := status.Error(codes.AlreadyExists, "user exists")
		got := rpcstatus.ToStatus(t.Context(), err)
		if got != err { //nolint:errorlint // the same error
			t.Errorf("ToStatus = %v, want the same error", got)
		}
		o := &customStatus{st: status.New(codes.DataLoss, "lost")}
		got = rpcstatus.ToStatus(t.Context(), o)
		if got != error(o) { //nolint:errorlint // the same error
			t.Errorf("ToStatus = %v, want the same error", got)
		}
		once := rpcstatus.ToStatus(t.Context(), xerror.New(xerror.NotExist, ""))
		got = rpcstatus.ToStatus(t.Context(), once)
		if got != once { //nolint:errorlint // the same error
			t.Errorf("ToStatus of the result = %v, want the same error", got)
		}
		for name, wrapped := range map[string]error{
			"wrapped": fmt.Errorf("password hunter2: %w", err),
			"joined":  errors.Join(errors.New("hunter2"), err),
		} {
			got := rpcstatus.ToStatus(t.Context(), wrapped)
			if st, ok := status.FromError(got); !ok || st.Code() != codes.AlreadyExists ||
				st.Message() != "user exists" {
				t.Errorf("%s: status = %v, want the wrapped status without other text", name, got)
			}
		}
		if strings.Contains(lines.String(), "hunter2") {
			t.Errorf("log = %s, want no text of the wrappers", lines)
		}
	})

	t.Run("ignores a status with code OK", func(t *testing.T) {
		quiet(t)
		for name, err := range map[string]error{
			"OK":         &customStatus{st: status.New(codes.OK, "")},
			"no status":  &customStatus{},
			"wrapped OK": fmt.Errorf("around: %w", &customStatus{st: status.New(codes.OK, "")}),
		} {
			got := rpcstatus.ToStatus(t.Context(), err)
			if status.Code(got) != codes.Internal {
				t.Errorf("%s: ToStatus = %v, want Internal", name, got)
			}
			if strings.Contains(got.Error(), "secret") {
				t.Errorf("%s: ToStatus = %v, want one without the text", name, got)
			}
			if e := rpcstatus.FromStatus(err); !errors.Is(e, xerror.ServerInternalError) {
				t.Errorf("%s: FromStatus = %v, want SERVER_INTERNAL_ERROR", name, e)
			}
		}
	})

	t.Run("translates the message and contains the request ID", func(t *testing.T) {
		quiet(t)
		r := xctx.NewRequest(t.Context(), nil)
		r.SetID("id-1")
		r.SetAcceptLanguage("zh-CN,zh;q=0.9")
		err := rpcstatus.ToStatus(r, xerror.New(xerror.NotExist, "user 7"))
		b := envelope(t, err)
		if want := xerror.NotExist.Message(xerror.Chinese); b.GetMessage() != want ||
			status.Convert(err).Message() != want+": user 7" {
			t.Errorf("message = %q, status %v, want Chinese", b.GetMessage(), err)
		}
		if b.GetContext() != "id-1" || b.GetOutput() != "NOT_EXIST" || b.GetCode() != 40000 ||
			b.GetErrorMessage() != "user 7" {
			t.Errorf("envelope = %v", b)
		}
		if b.Overhead != nil {
			t.Errorf("overhead outside debug mode = %d, want none", b.GetOverhead())
		}
		r.SetDebug(true)
		b = envelope(t, rpcstatus.ToStatus(r, xerror.New(xerror.NotExist, "")))
		if b.GetOverhead() < 1 || b.ErrorMessage != nil {
			t.Errorf("envelope in debug mode = %v, want an overhead and no error message", b)
		}
	})
}

// asError exposes its inner error through As only.
type asError struct{ inner error }

func (a asError) Error() string      { return "asError" }
func (a asError) As(target any) bool { return errors.As(a.inner, target) }

func TestFromPanic(t *testing.T) {
	lines := capture(t)
	err := rpcstatus.FromPanic(t.Context())
	if st := status.Convert(err); st.Code() != codes.Internal || !rpcstatus.LoggedAtError(err) {
		t.Errorf("FromPanic = %v, LoggedAtError = %t; want Internal, true",
			err, rpcstatus.LoggedAtError(err))
	}
	if lines.Len() != 0 {
		t.Errorf("log = %s, want empty", lines)
	}
}

func TestCodeAndMessage(t *testing.T) {
	quiet(t)
	for _, tc := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{name: "none", err: nil, code: 0, want: ""},
		{name: "plain status", err: status.Error(codes.NotFound, "x"), code: 0, want: "x"},
		{
			name: "with a message",
			err:  rpcstatus.ToStatus(t.Context(), xerror.New(xerror.NotExist, "user 7")),
			code: 40000, want: "user 7",
		},
		{
			name: "without a message",
			err:  rpcstatus.ToStatus(t.Context(), xerror.New(xerror.NotExist, "")),
			code: 40000, want: xerror.NotExist.GetMessage(),
		},
	} {
		if code, message := rpcstatus.CodeAndMessage(tc.err); code != tc.code ||
			message != tc.want {
			t.Errorf("%s: CodeAndMessage = %d %q, want %d %q",
				tc.name, code, message, tc.code, tc.want)
		}
	}
}

// envelope returns the first detail of a status.
func envelope(t *testing.T, err error) *generate.BaseResponse {
	t.Helper()
	details := status.Convert(err).Details()
	if len(details) == 0 {
		t.Fatalf("%v has no details", err)
	}
	b, ok := details[0].(*generate.BaseResponse)
	if !ok {
		t.Fatalf("the first detail is a %T, want the envelope", details[0])
	}
	return b
}

// capture directs the log of all levels to the returned buffer.
func capture(t *testing.T) *bytes.Buffer {
	t.Helper()
	var lines bytes.Buffer
	e, err := xlog.New(xlog.Config{Writer: &lines, Format: xlog.FormatJSON, Level: slog.LevelDebug})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(xlog.SetDefault(e))
	return &lines
}

// quiet discards the log.
func quiet(tb testing.TB) {
	tb.Helper()
	e, err := xlog.New(xlog.Config{Writer: discard{}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(xlog.SetDefault(e))
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

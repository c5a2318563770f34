package rpcstatus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// table is the specification's.
var table = map[int]codes.Code{
	400: codes.InvalidArgument, 401: codes.Unauthenticated, 403: codes.PermissionDenied,
	404: codes.NotFound,
	405: codes.Unimplemented, 406: codes.FailedPrecondition, 408: codes.DeadlineExceeded,
	409: codes.Aborted,
	410: codes.NotFound, 413: codes.ResourceExhausted, 415: codes.InvalidArgument,
	422: codes.FailedPrecondition,
	429: codes.ResourceExhausted, 500: codes.Internal, 502: codes.Unavailable,
	503: codes.Unavailable,
	504: codes.DeadlineExceeded,
}

func TestEveryHTTPStatusHasTheCodeOfTheSpecification(t *testing.T) {
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
		if got := status.Code(rpcstatus.Of(t.Context(), e)); got != want {
			t.Errorf("status of HTTP %d = %v, want %v", http, got, want)
		}
	}
}

func TestEveryCodeOfTheCatalogueHasTheCodeOfItsHTTPStatus(t *testing.T) {
	quiet(t)
	for _, c := range xerror.Codes() {
		want, listed := table[c.Status()]
		if !listed {
			want = codes.Unknown
		}
		err := rpcstatus.Of(t.Context(), xerror.New(c, ""))
		if got := status.Code(err); got != want {
			t.Errorf("%s: code = %v, want %v", c, got, want)
		}
		if !errors.Is(err, c) {
			t.Errorf("%s: errors.Is does not find it in %v", c, err)
		}
	}
}

// foreign is an error of another package, whose nil pointer panics.
type foreign struct{ text string }

func (f *foreign) Error() string { return f.text }

// own is a status of another package's making.
type own struct{ st *status.Status }

func (o *own) Error() string              { return "secret around" }
func (o *own) GRPCStatus() *status.Status { return o.st }

func TestNothingIsNoError(t *testing.T) {
	lines := capture(t)
	for name, err := range map[string]error{
		"nil": nil, "nil *xerror.Error": (*xerror.Error)(nil),
		"nil *ErrorCode":              (*xerror.ErrorCode)(nil),
		"nil pointer of another type": (*foreign)(nil), "nil status of another type": (*own)(nil),
	} {
		if got := rpcstatus.Of(t.Context(), err); got != nil {
			t.Errorf("Of(%s) = %v, want nil", name, got)
		}
		if got := rpcstatus.From(err); got != nil {
			t.Errorf("From(%s) = %v, want nil", name, got)
		}
	}
	if lines.Len() != 0 {
		t.Errorf("log = %s, want nothing", lines)
	}
}

func TestNilPointersInsideAnErrorHideNothing(t *testing.T) {
	quiet(t)
	notFound := status.Error(codes.NotFound, "gone")
	for _, tc := range []struct {
		name string
		err  error
		want codes.Code
	}{
		{
			name: "before a status",
			err:  errors.Join((*xerror.Error)(nil), notFound), want: codes.NotFound,
		},
		{name: "before an xerror", err: errors.Join((*xerror.Error)(nil),
			xerror.New(xerror.Conflict, "")), want: codes.Aborted},
		{
			name: "a nil xerror alone",
			err:  fmt.Errorf("around: %w", (*xerror.Error)(nil)), want: codes.Internal,
		},
		{
			name: "a nil code before a status",
			err:  errors.Join((*xerror.ErrorCode)(nil), notFound), want: codes.NotFound,
		},
		{
			name: "a nil status alone",
			err:  fmt.Errorf("around: %w", (*own)(nil)), want: codes.Internal,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := status.Code(rpcstatus.Of(t.Context(), tc.err)); got != tc.want {
				t.Errorf("Of = %v, want %v", got, tc.want)
			}
			if e := rpcstatus.From(tc.err); e == nil || tc.want == codes.NotFound &&
				!errors.Is(e, xerror.NotFound) {
				t.Errorf("From = %v, want the same", e)
			}
		})
	}
}

func TestAStatusIsToldAsItIs(t *testing.T) {
	lines := capture(t)
	err := status.Error(codes.AlreadyExists, "there already")
	if got := rpcstatus.Of(t.Context(), err); got != err { //nolint:errorlint // the very error
		t.Errorf("Of = %v, want the very error", got)
	}
	o := &own{st: status.New(codes.DataLoss, "lost")}
	if got := rpcstatus.Of(t.Context(), o); got != error(o) { //nolint:errorlint // the very error
		t.Errorf("Of = %v, want the very error", got)
	}
	once := rpcstatus.Of(t.Context(), xerror.New(xerror.NotExist, ""))
	if got := rpcstatus.Of(t.Context(), once); got != once { //nolint:errorlint // the very error
		t.Errorf("Of a second time = %v, want the very error", got)
	}
	for name, wrapped := range map[string]error{
		"wrapped": fmt.Errorf("password hunter2: %w", err),
		"joined":  errors.Join(errors.New("hunter2"), err),
	} {
		got := rpcstatus.Of(t.Context(), wrapped)
		if st, ok := status.FromError(got); !ok || st.Code() != codes.AlreadyExists ||
			st.Message() != "there already" {
			t.Errorf("%s: status = %v, want the inner one without the text around it", name, got)
		}
	}
	if strings.Contains(lines.String(), "hunter2") {
		t.Errorf("log = %s", lines)
	}
}

func TestAStatusThatSaysOKIsNoAnswerToAnError(t *testing.T) {
	quiet(t)
	for name, err := range map[string]error{
		"OK": &own{st: status.New(codes.OK, "")}, "none": &own{},
		"OK inside": fmt.Errorf("around: %w", &own{st: status.New(codes.OK, "")}),
	} {
		got := rpcstatus.Of(t.Context(), err)
		if status.Code(got) != codes.Internal {
			t.Errorf("%s: Of = %v, want Internal", name, got)
		}
		if strings.Contains(got.Error(), "secret") {
			t.Errorf("%s: Of = %v, which tells the text", name, got)
		}
		if e := rpcstatus.From(err); !errors.Is(e, xerror.ServerInternalError) {
			t.Errorf("%s: From = %v, want SERVER_INTERNAL_ERROR", name, e)
		}
	}
}

func TestErrorsOfAContextKeepTheirCodes(t *testing.T) {
	quiet(t)
	for _, tc := range []struct {
		name string
		err  error
		want codes.Code
	}{
		{name: "cancelled", err: context.Canceled, want: codes.Canceled},
		{name: "out of time", err: context.DeadlineExceeded, want: codes.DeadlineExceeded},
		{
			name: "cancelled, wrapped",
			err:  fmt.Errorf("read: %w", context.Canceled), want: codes.Canceled,
		},
		{
			name: "out of time, wrapped",
			err:  fmt.Errorf("read: %w", context.DeadlineExceeded), want: codes.DeadlineExceeded,
		},
		{
			name: "out of time, joined", err: errors.Join(errors.New("x"), context.DeadlineExceeded),
			want: codes.DeadlineExceeded,
		},
		{
			name: "cause of its own code",
			err:  xerror.Wrap(xerror.Canceled, "", context.Canceled), want: codes.Canceled,
		},
		{
			name: "cause of another code",
			err:  xerror.Wrap(xerror.NotFound, "", context.Canceled), want: codes.NotFound,
		},
		{name: "cause of a fault", err: xerror.Wrap(xerror.DatabaseError, "",
			context.DeadlineExceeded), want: codes.Internal},
		{
			name: "its code without it",
			err:  xerror.New(xerror.Canceled, ""), want: codes.InvalidArgument,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := rpcstatus.Of(t.Context(), tc.err)
			if got := status.Code(err); got != tc.want {
				t.Errorf("code = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAnUnknownErrorsTextIsLoggedAndNotTold(t *testing.T) {
	const secret = "SELECT password FROM users"
	for name, err := range map[string]error{
		"bare":      errors.New(secret),
		"of a file": &fs.PathError{Op: "open", Path: secret, Err: errors.New("x")},
		"cause":     xerror.Wrap(xerror.NotExist, "told", errors.New(secret)),
	} {
		t.Run(name, func(t *testing.T) {
			lines := capture(t)
			got := rpcstatus.Of(t.Context(), err)
			wire, _ := proto.Marshal(status.Convert(got).Proto())
			if bytes.Contains(wire, []byte("SELECT")) || strings.Contains(got.Error(), "SELECT") {
				t.Errorf("status = %q, which tells the text", wire)
			}
			if !errors.Is(got, err) {
				t.Errorf("errors.Is does not find the error in %v", got)
			}
			if n := strings.Count(lines.String(), "\n"); n != 1 ||
				!strings.Contains(lines.String(), secret) {
				t.Errorf("log = %q, want one line with the text", lines)
			}
		})
	}
}

func TestWhatWasLoggedIsNotLoggedAgain(t *testing.T) {
	lines := capture(t)
	e := xerror.NewInternalServerError(t.Context(), "", errors.New("cause"))
	before := lines.String()
	_ = rpcstatus.Of(t.Context(), fmt.Errorf("around: %w", e))
	if got := lines.String(); got != before || before == "" {
		t.Errorf("log = %q, want only the line of where it was made, %q", got, before)
	}
}

func TestAnErrorOfOursIsToldAndLoggedOnceWhateverIsAroundIt(t *testing.T) {
	lines := capture(t)
	sent := rpcstatus.Of(t.Context(), xerror.Wrap(xerror.DatabaseError, "", errors.New("cause")))
	before := lines.String()
	for name, err := range map[string]error{
		"wrapped": fmt.Errorf("around: %w", sent), "joined": errors.Join(errors.New("x"), sent),
		"of a kind of its own": asks{sent},
	} {
		if got := rpcstatus.Of(t.Context(), err); got != sent { //nolint:errorlint // the very error
			t.Errorf("%s: Of = %v, want the very error", name, got)
		}
	}
	if got := lines.String(); got != before || strings.Count(before, "\n") != 1 {
		t.Errorf("log = %q, want one line", got)
	}
	recoded := rpcstatus.Of(t.Context(), xerror.Wrap(xerror.NotFound, "", sent))
	if status.Code(recoded) != codes.NotFound || !errors.Is(recoded, xerror.DatabaseError) {
		t.Errorf("Of = %v, want the outer code", recoded)
	}
}

// asks is an error that says by As what it holds.
type asks struct{ inner error }

func (a asks) Error() string      { return "asks" }
func (a asks) As(target any) bool { return errors.As(a.inner, target) }

func TestAFailureIsReportedWhereItHasALineAtError(t *testing.T) {
	quiet(t)
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"unknown", errors.New("secret"), true},
		{"of the service", xerror.New(xerror.DatabaseError, ""), true},
		{"wrapped again", fmt.Errorf("in between: %w",
			rpcstatus.Of(t.Context(), errors.New("secret"))), true},
		{"refused", xerror.New(xerror.NotFound, ""), false},
		{"a plain status", status.Error(codes.Unavailable, "secret"), false},
		{"none", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := capture(t)
			if got := rpcstatus.Reported(rpcstatus.Of(t.Context(), tc.err)); got != tc.want {
				t.Errorf("Reported = %t, want %t", got, tc.want)
			}
			if tc.name != "wrapped again" &&
				strings.Contains(lines.String(), `"level":"error"`) != tc.want {
				t.Errorf("log = %s", lines)
			}
		})
	}
}

func TestPanickedLogsNothing(t *testing.T) {
	lines := capture(t)
	err := rpcstatus.Panicked(t.Context())
	if st := status.Convert(err); st.Code() != codes.Internal || !rpcstatus.Reported(err) {
		t.Errorf("Panicked = %v, Reported = %t", err, rpcstatus.Reported(err))
	}
	if lines.Len() != 0 {
		t.Errorf("log = %s, want nothing", lines)
	}
}

func TestTheStatusSpeaksTheCallersLanguageAndNamesTheRequest(t *testing.T) {
	quiet(t)
	r := xctx.NewRequest(t.Context(), nil)
	r.SetID("id-1")
	r.SetAcceptLanguage("zh-CN,zh;q=0.9")
	err := rpcstatus.Of(r, xerror.New(xerror.NotExist, "user 7"))
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
		t.Errorf("overhead = %d outside debug mode", b.GetOverhead())
	}
	r.SetDebug(true)
	if b = envelope(t, rpcstatus.Of(r, xerror.New(xerror.NotExist, ""))); b.GetOverhead() < 1 ||
		b.ErrorMessage != nil {
		t.Errorf("envelope in debug mode = %v, want an overhead, and no message that nobody wrote",
			b)
	}
}

func TestFailureSaysWhatTheAccessLogNeeds(t *testing.T) {
	quiet(t)
	for _, tc := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{name: "none", err: nil, code: 0, want: ""},
		{name: "plain status", err: status.Error(codes.NotFound, "x"), code: 0, want: "x"},
		{name: "with a message", err: rpcstatus.Of(t.Context(),
			xerror.New(xerror.NotExist, "user 7")), code: 40000, want: "user 7"},
		{
			name: "without", err: rpcstatus.Of(t.Context(), xerror.New(xerror.NotExist, "")),
			code: 40000, want: xerror.NotExist.GetMessage(),
		},
	} {
		if code, message := rpcstatus.Failure(tc.err); code != tc.code || message != tc.want {
			t.Errorf("%s: Failure = %d %q, want %d %q", tc.name, code, message, tc.code, tc.want)
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

// capture sends the log of all levels to the buffer.
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

// quiet keeps the log out of the test's output.
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

func TestALongErrorIsCutInTheLog(t *testing.T) {
	lines := capture(t)
	_ = rpcstatus.Of(t.Context(), errors.New(strings.Repeat("é", 1<<20)))
	if got := lines.Len(); got < 1024 || got > 8192 {
		t.Errorf("the line has %d bytes", got)
	}
}

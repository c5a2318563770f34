package xerror_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

// capture returns the context of a request whose log lines end in the buffer.
func capture(t *testing.T) (context.Context, *bytes.Buffer) {
	t.Helper()
	var buf bytes.Buffer
	engine, err := xLog.New(xLog.Config{Level: slog.LevelDebug, Format: xLog.FormatJSON, Writer: &buf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	r := xCtx.NewRequest(xLog.NewContext(t.Context(), engine), nil)
	r.SetID("request-1")
	return r, &buf
}

// lines returns the log lines in the buffer.
func lines(t *testing.T, buf *bytes.Buffer) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(buf.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, fields)
	}
	return out
}

func TestThrownErrorsAreLoggedOnce(t *testing.T) {
	secret := "the data of the client"
	for _, tc := range []struct {
		name  string
		make  func(ctx context.Context) *xError.Error
		level string
		code  float64
		msg   string
	}{
		{
			name: "NewError",
			make: func(ctx context.Context) *xError.Error {
				return xError.NewError(ctx, xError.NotExist, "no such user", true, errSentinel)
			},
			level: "WARN", code: 40000, msg: "no such user",
		},
		{
			name: "NewError with a server's code",
			make: func(ctx context.Context) *xError.Error {
				return xError.NewError(ctx, xError.CacheError, "", true, errSentinel)
			},
			level: "WARN", code: 50002, msg: "The cache reported a failure",
		},
		{
			name: "NewErrorHasData",
			make: func(ctx context.Context) *xError.Error {
				return xError.NewErrorHasData(ctx, xError.DataError, "wrong", true, errSentinel, secret)
			},
			level: "WARN", code: 40040, msg: "wrong",
		},
		{
			name: "NewInternalServerError",
			make: func(ctx context.Context) *xError.Error {
				return xError.NewInternalServerError(ctx, "cannot save", errSentinel)
			},
			level: "ERROR", code: 50000, msg: "cannot save",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, buf := capture(t)
			e := tc.make(ctx)
			_ = xError.From(e)
			got := lines(t, buf)
			if len(got) != 1 {
				t.Fatalf("%d lines, want 1:\n%s", len(got), buf)
			}
			for key, want := range map[string]any{
				"msg": tc.msg, "code": tc.code, "output": e.GetErrorCode().GetOutput(),
				"cause": "record not found", "request_id": "request-1",
			} {
				if got[0][key] != want {
					t.Errorf("%s = %v, want %v", key, got[0][key], want)
				}
			}
			if level, _ := got[0]["level"].(string); !strings.EqualFold(level, tc.level) {
				t.Errorf("level = %v, want %v", level, tc.level)
			}
			if strings.Contains(buf.String(), secret) {
				t.Errorf("the data is in the log: %s", buf)
			}
		})
	}
}

func TestWithoutThrowNothingIsLogged(t *testing.T) {
	ctx, buf := capture(t)
	_ = xError.NewError(ctx, xError.NotExist, "m", false, errSentinel)
	_ = xError.NewErrorHasData(ctx, xError.NotExist, "m", false, errSentinel, 1)
	_ = xError.Wrap(xError.NotExist, "m", errSentinel)
	_ = xError.New(xError.NotExist, "m")
	_ = xError.From(errSentinel)
	if buf.Len() > 0 {
		t.Errorf("logged %s", buf)
	}
}

func TestNilCauseAndNilCodeAreLogged(t *testing.T) {
	ctx, buf := capture(t)
	_ = xError.NewInternalServerError(ctx, "", nil)
	_ = xError.NewError(ctx, nil, "", true, nil)
	got := lines(t, buf)
	if len(got) != 2 {
		t.Fatalf("%d lines, want 2", len(got))
	}
	for _, line := range got {
		if _, ok := line["cause"]; ok || line["code"] != 50000.0 {
			t.Errorf("line %v", line)
		}
	}
}

func TestNilContextIsLogged(t *testing.T) {
	var buf bytes.Buffer
	engine, err := xLog.New(xLog.Config{Format: xLog.FormatJSON, Writer: &buf})
	if err != nil {
		t.Fatal(err)
	}
	defer xLog.SetDefault(engine)()
	_ = xError.NewError(nil, xError.NotExist, "m", true)     //nolint:staticcheck // a nil context is allowed
	_ = xError.NewInternalServerError(nil, "m", errSentinel) //nolint:staticcheck // a nil context is allowed
	if got := lines(t, &buf); len(got) != 2 {
		t.Errorf("%d lines, want 2", len(got))
	}
}

func TestMapperPanicIsLoggedAndPassedOver(t *testing.T) {
	var buf bytes.Buffer
	engine, err := xLog.New(xLog.Config{Format: xLog.FormatJSON, Writer: &buf})
	if err != nil {
		t.Fatal(err)
	}
	defer xLog.SetDefault(engine)()
	asked := false
	defer xError.RegisterApplicationMapper(
		func(error) *xError.ErrorCode { panic("a mapper's mistake") },
		func(error) *xError.ErrorCode { asked = true; return xError.Gone },
	)()
	if got := xError.From(errSentinel).GetErrorCode(); got != xError.Gone || !asked {
		t.Errorf("code %v, want that of the next mapper", got)
	}
	got := lines(t, &buf)
	if len(got) != 1 || got[0]["panic"] != "a mapper's mistake" || !strings.EqualFold(got[0]["level"].(string), "ERROR") {
		t.Errorf("log:\n%s", &buf)
	}
}

package xerror_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func capture(t *testing.T) (context.Context, *bytes.Buffer) {
	t.Helper()
	var buf bytes.Buffer
	engine, err := xlog.New(xlog.Config{
		Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: &buf,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	r := xctx.NewRequest(xlog.NewContext(t.Context(), engine), nil)
	r.SetID("request-1")
	return r, &buf
}

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

func TestNewError_Log(t *testing.T) {
	t.Run("writes one line if the error is thrown", func(t *testing.T) {
		secret := "the data of the client"
		for _, tc := range []struct {
			name  string
			make  func(ctx context.Context) *xerror.Error
			level string
			code  float64
			msg   string
		}{
			{
				name: "NewError",
				make: func(ctx context.Context) *xerror.Error {
					return xerror.NewError(ctx, xerror.NotExist, "no such user", true, errSentinel)
				},
				level: "WARN", code: 40000, msg: "no such user",
			},
			{
				name: "NewError with a server code",
				make: func(ctx context.Context) *xerror.Error {
					return xerror.NewError(ctx, xerror.CacheError, "", true, errSentinel)
				},
				level: "WARN", code: 50002, msg: "The cache reported a failure",
			},
			{
				name: "NewErrorHasData",
				make: func(ctx context.Context) *xerror.Error {
					return xerror.NewErrorHasData(ctx, xerror.DataError, "wrong",
						true, errSentinel, secret)
				},
				level: "WARN", code: 40040, msg: "wrong",
			},
			{
				name: "NewInternalServerError",
				make: func(ctx context.Context) *xerror.Error {
					return xerror.NewInternalServerError(ctx, "cannot save", errSentinel)
				},
				level: "ERROR", code: 50000, msg: "cannot save",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				ctx, buf := capture(t)
				e := tc.make(ctx)
				_ = xerror.From(e)
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
					t.Errorf("the log contains the data: %s", buf)
				}
			})
		}
	})

	t.Run("writes nothing if the error is not thrown", func(t *testing.T) {
		ctx, buf := capture(t)
		_ = xerror.NewError(ctx, xerror.NotExist, "m", false, errSentinel)
		_ = xerror.NewErrorHasData(ctx, xerror.NotExist, "m", false, errSentinel, 1)
		_ = xerror.Wrap(xerror.NotExist, "m", errSentinel)
		_ = xerror.New(xerror.NotExist, "m")
		_ = xerror.From(errSentinel)
		if buf.Len() > 0 {
			t.Errorf("logged %s", buf)
		}
	})

	t.Run("accepts a nil cause and a nil code", func(t *testing.T) {
		ctx, buf := capture(t)
		_ = xerror.NewInternalServerError(ctx, "", nil)
		_ = xerror.NewError(ctx, nil, "", true, nil)
		got := lines(t, buf)
		if len(got) != 2 {
			t.Fatalf("%d lines, want 2", len(got))
		}
		for _, line := range got {
			if _, ok := line["cause"]; ok || line["code"] != 50000.0 {
				t.Errorf("line %v", line)
			}
		}
	})

	t.Run("accepts a nil context", func(t *testing.T) {
		var buf bytes.Buffer
		engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: &buf})
		if err != nil {
			t.Fatal(err)
		}
		defer xlog.SetDefault(engine)()
		_ = xerror.NewError(nil, xerror.NotExist, "m", true)     //nolint:staticcheck // nil is supported
		_ = xerror.NewInternalServerError(nil, "m", errSentinel) //nolint:staticcheck // nil is supported
		if got := lines(t, &buf); len(got) != 2 {
			t.Errorf("%d lines, want 2", len(got))
		}
	})
}

func TestFrom_MapperPanic(t *testing.T) {
	var buf bytes.Buffer
	engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: &buf})
	if err != nil {
		t.Fatal(err)
	}
	defer xlog.SetDefault(engine)()
	called := false
	defer xerror.RegisterApplicationMapper(
		func(error) *xerror.ErrorCode { panic("mapper panic") },
		func(error) *xerror.ErrorCode { called = true; return xerror.Gone },
	)()
	if got := xerror.From(errSentinel).GetErrorCode(); got != xerror.Gone || !called {
		t.Errorf("code %v, want the code of the next mapper", got)
	}
	got := lines(t, &buf)
	if len(got) != 1 || got[0]["panic"] != "mapper panic" ||
		!strings.EqualFold(got[0]["level"].(string), "ERROR") {
		t.Errorf("log:\n%s", &buf)
	}
}

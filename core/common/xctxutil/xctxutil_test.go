package xctxutil_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

const key xctx.ContextKey = "app_greeting"

func TestGet(t *testing.T) {
	t.Run("returns the value with its type", func(t *testing.T) {
		ctx := context.WithValue(t.Context(), key, strings.NewReader("hello"))
		if got, err := xctxutil.Get[*strings.Reader](ctx, key); err != nil || got.Len() != 5 {
			t.Errorf("Get = %v, %v", got, err)
		}
		if got, err := xctxutil.Get[io.Reader](ctx, key); err != nil || got == nil {
			t.Errorf("Get of an interface = %v, %v", got, err)
		}
		if got := xctxutil.MustGet[any](ctx, key); got == nil {
			t.Error("MustGet = nil")
		}
	})

	t.Run("finds application values in a request", func(t *testing.T) {
		r := xctx.NewRequest(t.Context(), context.WithValue(t.Context(), key, "hello"))
		if got, err := xctxutil.Get[string](r, key); err != nil || got != "hello" {
			t.Errorf("Get = %q, %v", got, err)
		}
	})

	t.Run("returns a ConfigError if the value is missing or has another type", func(t *testing.T) {
		ctx := context.WithValue(t.Context(), key, 7)
		for _, tc := range []struct {
			name string
			get  func() *xerror.Error
			want string
		}{
			{
				"missing",
				func() *xerror.Error { return errOf(xctxutil.Get[string](ctx, "app_missing")) },
				`no value under "app_missing"`,
			},
			{
				"framework value",
				func() *xerror.Error { return errOf(xctxutil.Get[any](ctx, xctx.DatabaseKey)) },
				"the context has no database: pass xoption.WithDatabase to xreg.Register, and use an application or request context",
			},
			{
				"nil context",
				func() *xerror.Error { return errOf(xctxutil.Get[string](nil, key)) }, //nolint:staticcheck // nil is supported
				`no value under "app_greeting"`,
			},
			{
				"other type",
				func() *xerror.Error { return errOf(xctxutil.Get[string](ctx, key)) },
				`"app_greeting" is int, not string`,
			},
			{
				"other interface",
				func() *xerror.Error { return errOf(xctxutil.Get[io.Reader](ctx, key)) },
				`"app_greeting" is int, not io.Reader`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := tc.get()
				if err.GetErrorCode() != xerror.ConfigError ||
					!strings.Contains(err.Error(), tc.want) {
					t.Errorf("%v, want %q", err, tc.want)
				}
				if err.GetErrorMessage() != "" {
					t.Errorf("client message = %q, want empty", err.GetErrorMessage())
				}
			})
		}
	})
}

func errOf[T any](_ T, err *xerror.Error) *xerror.Error { return err }

func TestMustGet(t *testing.T) {
	defer func() {
		err, ok := recover().(*xerror.Error)
		if !ok || err.GetErrorCode() != xerror.ConfigError {
			t.Errorf("recovered %v, want the ConfigError", err)
		}
	}()
	xctxutil.MustGet[string](t.Context(), key)
}

func TestGetRequestKey(t *testing.T) {
	request := xctx.NewRequest(t.Context(), nil)
	request.SetID("id-1")
	outer := context.WithValue(t.Context(), xctx.RequestKey, "id-2")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"request", request, "id-1"},
		{"derived", context.WithValue(request, key, 1), "id-1"},
		{"value", outer, "id-2"},
		{"request without an ID", xctx.NewRequest(outer, nil), "id-2"},
		{"other type", context.WithValue(t.Context(), xctx.RequestKey, 7), ""},
		{"no request", t.Context(), ""},
		{"nil", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xctxutil.GetRequestKey(tc.ctx); got != tc.want {
				t.Errorf("GetRequestKey = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestGetErrorMessage(t *testing.T) {
	request := xctx.NewRequest(t.Context(), nil)
	request.Fail(40400, "not found")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"request", request, "not found"},
		{"value", context.WithValue(t.Context(), xctx.ErrorMessageKey, "wrong"), "wrong"},
		{"no failure", xctx.NewRequest(t.Context(), nil), ""},
		{"nil", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xctxutil.GetErrorMessage(tc.ctx); got != tc.want {
				t.Errorf("GetErrorMessage = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCalcOverheadTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request := xctx.NewRequest(t.Context(), nil)
		value := context.WithValue(t.Context(), xctx.UserStartTimeKey, time.Now())
		future := context.WithValue(t.Context(), xctx.UserStartTimeKey, time.Now().Add(time.Hour))
		<-time.After(2*time.Millisecond + 999*time.Nanosecond)
		for _, tc := range []struct {
			name string
			ctx  context.Context
			want int64
		}{
			{"request", request, 2000},
			{"derived", context.WithValue(request, key, 1), 2000},
			{"value", value, 2000},
			{"start in the future", future, 0},
			{"no start", t.Context(), 0},
			{"nil", nil, 0},
		} {
			if got := xctxutil.CalcOverheadTime(tc.ctx); got != tc.want {
				t.Errorf("%s: %d µs, want %d", tc.name, got, tc.want)
			}
		}
	})
}

func TestIsDebug(t *testing.T) {
	app := func(on any) context.Context { return context.WithValue(t.Context(), xctx.DebugKey, on) }
	request := func(on bool) context.Context {
		r := xctx.NewRequest(t.Context(), app(!on))
		r.SetDebug(on)
		return context.WithValue(r, key, 1)
	}
	for _, tc := range []struct {
		env                 string
		ctx                 context.Context
		wantMode, wantDebug bool
	}{
		{"true", request(false), true, false},
		{"false", request(true), false, true},
		{"true", app(false), true, false},
		{"false", context.WithValue(app(true), key, 1), false, true},
		{"true", app("not a bool"), true, true},
		{"true", t.Context(), true, true},
		{"", t.Context(), false, false},
		{"perhaps", nil, false, false},
	} {
		t.Setenv(string(xenv.Debug), tc.env)
		if got := xctxutil.IsDebugMode(); got != tc.wantMode {
			t.Errorf("%q: IsDebugMode = %v", tc.env, got)
		}
		if got := xctxutil.IsDebug(tc.ctx); got != tc.wantDebug {
			t.Errorf("%q: IsDebug = %v", tc.env, got)
		}
	}
}

func TestGet_Allocations(t *testing.T) {
	r := xctx.NewRequest(t.Context(), context.WithValue(t.Context(), key, "hello"))
	r.GenerateID()
	derived := context.WithValue(r, key, "hello")
	for name, call := range map[string]func(){
		"GetRequestKey":             func() { xctxutil.GetRequestKey(r) },
		"GetRequestKey, derived":    func() { xctxutil.GetRequestKey(derived) },
		"CalcOverheadTime":          func() { xctxutil.CalcOverheadTime(r) },
		"GetErrorMessage, no error": func() { xctxutil.GetErrorMessage(r) },
		"IsDebug":                   func() { xctxutil.IsDebug(r) },
	} {
		if got := testing.AllocsPerRun(100, call); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
	// Converting the key to an interface value may allocate.
	get := func() { _, _ = xctxutil.Get[string](derived, key) }
	if got := testing.AllocsPerRun(100, get); got > 1 {
		t.Errorf("Get: %v allocations, want at most 1", got)
	}
}

func ExampleGet() {
	ctx := context.WithValue(context.Background(), key, "hello")
	greeting, err := xctxutil.Get[string](ctx, key)
	fmt.Println(greeting, err)

	_, err = xctxutil.Get[int](ctx, key)
	fmt.Println(err)
	// Output:
	// hello <nil>
	// CONFIG_ERROR: xctxutil: the value under "app_greeting" is string, not int
}

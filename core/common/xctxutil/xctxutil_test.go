package xctxutil_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xError "github.com/plinthgo/plinth/core/common/xerror"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
)

const key xCtx.ContextKey = "app_greeting"

func TestGetReturnsTheValueInItsType(t *testing.T) {
	ctx := context.WithValue(t.Context(), key, strings.NewReader("hello"))
	if got, err := xCtxUtil.Get[*strings.Reader](ctx, key); err != nil || got.Len() != 5 {
		t.Errorf("Get = %v, %v", got, err)
	}
	if got, err := xCtxUtil.Get[io.Reader](ctx, key); err != nil || got == nil {
		t.Errorf("Get of an interface = %v, %v", got, err)
	}
	if got := xCtxUtil.MustGet[any](ctx, key); got == nil {
		t.Error("MustGet = nil")
	}
}

func TestGetFindsTheApplicationsValuesInARequest(t *testing.T) {
	r := xCtx.NewRequest(t.Context(), context.WithValue(t.Context(), key, "hello"))
	if got, err := xCtxUtil.Get[string](r, key); err != nil || got != "hello" {
		t.Errorf("Get = %q, %v", got, err)
	}
}

func TestWhatIsNotThereIsAConfigError(t *testing.T) {
	ctx := context.WithValue(t.Context(), key, 7)
	for _, tc := range []struct {
		name string
		get  func() *xError.Error
		want string
	}{
		{"missing", func() *xError.Error { return second(xCtxUtil.Get[string](ctx, "app_none")) }, `no value under "app_none"`},
		{"no context", func() *xError.Error { return second(xCtxUtil.Get[string](nil, key)) }, `no value under "app_greeting"`}, //nolint:staticcheck // a nil context is allowed
		{"other type", func() *xError.Error { return second(xCtxUtil.Get[string](ctx, key)) }, `"app_greeting" is int, not string`},
		{"other interface", func() *xError.Error { return second(xCtxUtil.Get[io.Reader](ctx, key)) }, `"app_greeting" is int, not io.Reader`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.get()
			if err.GetErrorCode() != xError.ConfigError || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if err.GetErrorMessage() != "" {
				t.Errorf("the client reads %q", err.GetErrorMessage())
			}
		})
	}
}

func second[T any](_ T, err *xError.Error) *xError.Error { return err }

func TestMustGetPanicsWithTheError(t *testing.T) {
	defer func() {
		err, ok := recover().(*xError.Error)
		if !ok || err.GetErrorCode() != xError.ConfigError {
			t.Errorf("recovered %v, want the ConfigError", err)
		}
	}()
	xCtxUtil.MustGet[string](t.Context(), key)
}

func TestGetRequestKey(t *testing.T) {
	request := xCtx.NewRequest(t.Context(), nil)
	request.SetID("id-1")
	outer := context.WithValue(t.Context(), xCtx.RequestKey, "id-2")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"request", request, "id-1"},
		{"derived", context.WithValue(request, key, 1), "id-1"},
		{"value", outer, "id-2"},
		{"request without an id", xCtx.NewRequest(outer, nil), "id-2"},
		{"other type", context.WithValue(t.Context(), xCtx.RequestKey, 7), ""},
		{"none", t.Context(), ""},
		{"nil", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xCtxUtil.GetRequestKey(tc.ctx); got != tc.want {
				t.Errorf("GetRequestKey = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestGetErrorMessage(t *testing.T) {
	request := xCtx.NewRequest(t.Context(), nil)
	request.Fail(40400, "not here")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"request", request, "not here"},
		{"value", context.WithValue(t.Context(), xCtx.ErrorMessageKey, "wrong"), "wrong"},
		{"no failure", xCtx.NewRequest(t.Context(), nil), ""},
		{"nil", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xCtxUtil.GetErrorMessage(tc.ctx); got != tc.want {
				t.Errorf("GetErrorMessage = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestOverheadIsCountedInMicroseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request := xCtx.NewRequest(t.Context(), nil)
		value := context.WithValue(t.Context(), xCtx.UserStartTimeKey, time.Now())
		future := context.WithValue(t.Context(), xCtx.UserStartTimeKey, time.Now().Add(time.Hour))
		<-time.After(2*time.Millisecond + 999*time.Nanosecond)
		for _, tc := range []struct {
			name string
			ctx  context.Context
			want int64
		}{
			{"request", request, 2000},
			{"derived", context.WithValue(request, key, 1), 2000},
			{"value", value, 2000},
			{"clock that went back", future, 0},
			{"no start", t.Context(), 0},
			{"nil", nil, 0},
		} {
			if got := xCtxUtil.CalcOverheadTime(tc.ctx); got != tc.want {
				t.Errorf("%s: %d µs, want %d", tc.name, got, tc.want)
			}
		}
	})
}

func TestDebugIsTheRequestsElseTheApplicationsElseTheEnvironments(t *testing.T) {
	app := func(on any) context.Context { return context.WithValue(t.Context(), xCtx.DebugKey, on) }
	request := func(on bool) context.Context {
		r := xCtx.NewRequest(t.Context(), app(!on))
		r.SetDebug(on)
		return context.WithValue(r, key, 1)
	}
	for _, tc := range []struct {
		env                  string
		ctx                  context.Context
		wantMode, wantAtHand bool
	}{
		{"true", request(false), true, false},
		{"false", request(true), false, true},
		{"true", app(false), true, false},
		{"false", context.WithValue(app(true), key, 1), false, true},
		{"true", app("of another type"), true, true},
		{"true", t.Context(), true, true},
		{"", t.Context(), false, false},
		{"perhaps", nil, false, false},
	} {
		t.Setenv(string(xEnv.Debug), tc.env)
		if got := xCtxUtil.IsDebugMode(); got != tc.wantMode {
			t.Errorf("%q: IsDebugMode = %v", tc.env, got)
		}
		if got := xCtxUtil.IsDebug(tc.ctx); got != tc.wantAtHand {
			t.Errorf("%q: IsDebug = %v", tc.env, got)
		}
	}
}

func TestAskingARequestAllocatesNothing(t *testing.T) {
	r := xCtx.NewRequest(t.Context(), context.WithValue(t.Context(), key, "hello"))
	r.GenerateID()
	derived := context.WithValue(r, key, "hello")
	for name, ask := range map[string]func(){
		"GetRequestKey":             func() { xCtxUtil.GetRequestKey(r) },
		"GetRequestKey, derived":    func() { xCtxUtil.GetRequestKey(derived) },
		"CalcOverheadTime":          func() { xCtxUtil.CalcOverheadTime(r) },
		"GetErrorMessage, no error": func() { xCtxUtil.GetErrorMessage(r) },
		"IsDebug":                   func() { xCtxUtil.IsDebug(r) },
	} {
		if got := testing.AllocsPerRun(100, ask); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
	// The key becomes an interface value.
	if got := testing.AllocsPerRun(100, func() { _, _ = xCtxUtil.Get[string](derived, key) }); got > 1 {
		t.Errorf("Get: %v allocations, want at most 1", got)
	}
}

func ExampleGet() {
	ctx := context.WithValue(context.Background(), key, "hello")
	greeting, err := xCtxUtil.Get[string](ctx, key)
	fmt.Println(greeting, err)

	_, err = xCtxUtil.Get[int](ctx, key)
	fmt.Println(err)
	// Output:
	// hello <nil>
	// CONFIG_ERROR: xctxutil: the value under "app_greeting" is string, not int
}

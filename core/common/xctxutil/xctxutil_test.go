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

func TestGetReturnsTheValueInItsType(t *testing.T) {
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
}

func TestGetFindsTheApplicationsValuesInARequest(t *testing.T) {
	r := xctx.NewRequest(t.Context(), context.WithValue(t.Context(), key, "hello"))
	if got, err := xctxutil.Get[string](r, key); err != nil || got != "hello" {
		t.Errorf("Get = %q, %v", got, err)
	}
}

func TestWhatIsNotThereIsAConfigError(t *testing.T) {
	ctx := context.WithValue(t.Context(), key, 7)
	for _, tc := range []struct {
		name string
		get  func() *xerror.Error
		want string
	}{
		{
			"missing", func() *xerror.Error { return second(xctxutil.Get[string](ctx, "app_none")) },
			`no value under "app_none"`,
		},
		{
			"value of the framework",
			func() *xerror.Error { return second(xctxutil.Get[any](ctx, xctx.DatabaseKey)) },
			"the context has no database: give xoption.WithDatabase to Register, and use the context of the application or of a request",
		},
		{
			"no context", func() *xerror.Error { return second(xctxutil.Get[string](nil, key)) },
			`no value under "app_greeting"`,
		}, //nolint:staticcheck // a nil context is allowed
		{
			"other type", func() *xerror.Error { return second(xctxutil.Get[string](ctx, key)) },
			`"app_greeting" is int, not string`,
		},
		{"other interface", func() *xerror.Error {
			return second(xctxutil.Get[io.Reader](ctx, key))
		}, `"app_greeting" is int, not io.Reader`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.get()
			if err.GetErrorCode() != xerror.ConfigError || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if err.GetErrorMessage() != "" {
				t.Errorf("the client reads %q", err.GetErrorMessage())
			}
		})
	}
}

func second[T any](_ T, err *xerror.Error) *xerror.Error { return err }

func TestMustGetPanicsWithTheError(t *testing.T) {
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
		{"request without an id", xctx.NewRequest(outer, nil), "id-2"},
		{"other type", context.WithValue(t.Context(), xctx.RequestKey, 7), ""},
		{"none", t.Context(), ""},
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
	request.Fail(40400, "not here")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"request", request, "not here"},
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

func TestOverheadIsCountedInMicroseconds(t *testing.T) {
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
			{"clock that went back", future, 0},
			{"no start", t.Context(), 0},
			{"nil", nil, 0},
		} {
			if got := xctxutil.CalcOverheadTime(tc.ctx); got != tc.want {
				t.Errorf("%s: %d µs, want %d", tc.name, got, tc.want)
			}
		}
	})
}

func TestDebugIsTheRequestsElseTheApplicationsElseTheEnvironments(t *testing.T) {
	app := func(on any) context.Context { return context.WithValue(t.Context(), xctx.DebugKey, on) }
	request := func(on bool) context.Context {
		r := xctx.NewRequest(t.Context(), app(!on))
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
		t.Setenv(string(xenv.Debug), tc.env)
		if got := xctxutil.IsDebugMode(); got != tc.wantMode {
			t.Errorf("%q: IsDebugMode = %v", tc.env, got)
		}
		if got := xctxutil.IsDebug(tc.ctx); got != tc.wantAtHand {
			t.Errorf("%q: IsDebug = %v", tc.env, got)
		}
	}
}

func TestAskingARequestAllocatesNothing(t *testing.T) {
	r := xctx.NewRequest(t.Context(), context.WithValue(t.Context(), key, "hello"))
	r.GenerateID()
	derived := context.WithValue(r, key, "hello")
	for name, ask := range map[string]func(){
		"GetRequestKey":             func() { xctxutil.GetRequestKey(r) },
		"GetRequestKey, derived":    func() { xctxutil.GetRequestKey(derived) },
		"CalcOverheadTime":          func() { xctxutil.CalcOverheadTime(r) },
		"GetErrorMessage, no error": func() { xctxutil.GetErrorMessage(r) },
		"IsDebug":                   func() { xctxutil.IsDebug(r) },
	} {
		if got := testing.AllocsPerRun(100, ask); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
	// The key becomes an interface value.
	if got := testing.AllocsPerRun(100,
		func() { _, _ = xctxutil.Get[string](derived, key) }); got > 1 {
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

package xerror_test

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
)

var orderPaid = xerror.MustErrorCode(40970, "ORDER_PAID", "The order is already paid", "订单已支付")

func TestMustErrorCode(t *testing.T) {
	t.Run("registers the code", func(t *testing.T) {
		if got := xerror.LookupCode(40970); got != orderPaid {
			t.Errorf("LookupCode = %v, want the code", got)
		}
		if orderPaid.Status() != 409 || orderPaid.GetOutput() != "ORDER_PAID" ||
			orderPaid.Message("zh") != "订单已支付" {
			t.Errorf("code = %d %s %s",
				orderPaid.Status(), orderPaid.GetOutput(), orderPaid.Message("zh"))
		}
	})

	t.Run("panics if the code is invalid", func(t *testing.T) {
		defer func() {
			if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "NOT_EXIST") {
				t.Errorf("recovered %v, want the error", err)
			}
		}()
		_ = xerror.MustErrorCode(40000, "X_MUST", "e", "z")
	})
}

func TestNewErrorCode(t *testing.T) {
	t.Run("rejects invalid codes", func(t *testing.T) {
		for _, tc := range []struct {
			name           string
			number         int
			output, en, zh string
			want           []string
		}{
			{
				name: "number taken", number: 40000, output: "X_TAKEN", en: "e", zh: "z",
				want: []string{"40000", "taken by NOT_EXIST"},
			},
			{
				name: "label taken", number: 40071, output: "NOT_EXIST", en: "e", zh: "z",
				want: []string{"taken by 40000"},
			},
			{
				name: "taken by an application", number: 40970, output: "ORDER_PAID",
				en: "e", zh: "z",
				want: []string{"taken by ORDER_PAID", "taken by 40970"},
			},
			{
				name: "success", number: 20000, output: "X_OK", en: "e", zh: "z",
				want: []string{"40000 to 59999"},
			},
			{
				name: "too high", number: 60000, output: "X_HIGH", en: "e", zh: "z",
				want: []string{"40000 to 59999"},
			},
			{
				name: "bare status", number: 404, output: "X_STATUS", en: "e", zh: "z",
				want: []string{"40000 to 59999"},
			},
			{
				name: "negative", number: -40000, output: "X_MINUS", en: "e", zh: "z",
				want: []string{"40000 to 59999"},
			},
			{
				name: "label in lower case", number: 40072, output: "x_lower", en: "e", zh: "z",
				want: []string{"UPPER_SNAKE"},
			},
			{
				name: "label with two underscores", number: 40072, output: "X__GAP",
				en: "e", zh: "z",
				want: []string{"UPPER_SNAKE"},
			},
			{
				name: "blank messages", number: 40072, output: "X_BLANK", en: " ", zh: "\t",
				want: []string{"English", "Chinese"},
			},
			{
				name: "all problems", number: 1, output: "",
				want: []string{"40000 to 59999", "UPPER_SNAKE", "English", "Chinese"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				c, err := xerror.NewErrorCode(tc.number, tc.output, tc.en, tc.zh)
				if c != nil || err == nil {
					t.Fatalf("NewErrorCode = %v, %v, want an error", c, err)
				}
				for _, part := range tc.want {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("error %q does not mention %q", err, part)
					}
				}
				if !strings.HasPrefix(err.Error(), "xerror: ") {
					t.Errorf("error %q has no package prefix", err)
				}
			})
		}
		if xerror.LookupCode(40071) != nil || xerror.LookupCode(40072) != nil {
			t.Error("a rejected code is registered")
		}
	})

	t.Run("registers a number once under concurrent calls", func(t *testing.T) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		succeeded := 0
		for range 8 {
			wg.Go(func() {
				_, err := xerror.NewErrorCode(50071, "X_RACE", "e", "z")
				_ = xerror.LookupCode(50071)
				xerror.Codes()
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					succeeded++
				}
			})
		}
		wg.Wait()
		// With -count, the code may be registered already.
		if xerror.LookupCode(50071) == nil || succeeded > 1 {
			t.Errorf("%d registrations of one number succeeded", succeeded)
		}
	})
}

func TestCodes_Immutable(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[xerror.ErrorCode](),
		reflect.TypeFor[xerror.Error](),
	} {
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() {
				t.Errorf("%v has the exported field %s", typ, f.Name)
			}
		}
	}
	list := xerror.Codes()
	list[0] = nil
	if xerror.Codes()[0] == nil {
		t.Error("Codes does not return a copy")
	}
}

func TestErrorCode_Nil(t *testing.T) {
	for name, c := range map[string]*xerror.ErrorCode{"nil": nil, "zero": {}} {
		want := xerror.ServerInternalError
		if c.GetCode() != want.GetCode() || c.GetOutput() != want.GetOutput() ||
			c.GetMessage() != want.GetMessage() ||
			c.Message("zh") != want.Message("zh") || c.Status() != 500 ||
			c.Error() != want.Error() || c.Level() != slog.LevelError {
			t.Errorf("%s: %d %s %s", name, c.GetCode(), c.GetOutput(), c.GetMessage())
		}
		if number, label := xerror.JavaCode(c); number != 50001 || label != "ServerInternalError" {
			t.Errorf("%s: Java %d %s", name, number, label)
		}
	}
}

func TestErrorCode_Level(t *testing.T) {
	for _, c := range xerror.Codes() {
		want := slog.LevelWarn
		if c.Status() >= 500 {
			want = slog.LevelError
		}
		if got := c.Level(); got != want {
			t.Errorf("%s: %v, want %v", c.GetOutput(), got, want)
		}
	}
}

func TestRemoteCode(t *testing.T) {
	if got := xerror.RemoteCode(40000, "NOT_EXIST", "whatever"); got != xerror.NotExist {
		t.Errorf("RemoteCode of a registered code = %d %s", got.GetCode(), got.GetOutput())
	}
	remote := xerror.RemoteCode(40000, "NOT_LOCAL", "remote")
	if remote.GetCode() != 40000 || remote.GetOutput() != "NOT_LOCAL" ||
		remote.Message("zh") != "remote" || remote.Status() != 400 {
		t.Errorf("RemoteCode of an unknown code = %d %s %s",
			remote.GetCode(), remote.GetOutput(), remote.Message("zh"))
	}
	if errors.Is(remote, xerror.NotExist) || xerror.LookupCode(40000) != xerror.NotExist {
		t.Error("an unknown code replaced a registered one")
	}
	for _, number := range []int{-1, 4, 200, 60000, 1 << 40} {
		if s := xerror.RemoteCode(number, "ODD", "odd").Status(); s != 500 {
			t.Errorf("number %d: status %d, want 500", number, s)
		}
	}
}

func TestForStatus(t *testing.T) {
	for status, want := range map[int]*xerror.ErrorCode{
		400: xerror.BadRequest,
		401: xerror.Unauthorized,
		403: xerror.Forbidden,
		404: xerror.NotFound,
		405: xerror.MethodNotAllowed,
		406: xerror.NotAcceptable,
		408: xerror.Timeout,
		409: xerror.Conflict,
		410: xerror.Gone,
		413: xerror.PayloadTooLarge,
		415: xerror.UnsupportedMedia,
		418: xerror.BadRequest,
		422: xerror.UnprocessableEntity,
		429: xerror.TooManyRequests,
		500: xerror.ServerInternalError,
		502: xerror.GatewayError,
		503: xerror.ServiceUnavailable,
		504: xerror.GatewayTimeout,
		507: xerror.ServerInternalError,
		0:   xerror.ServerInternalError,
		200: xerror.ServerInternalError,
		600: xerror.ServerInternalError,
	} {
		if got := xerror.ForStatus(status); got != want {
			t.Errorf("ForStatus(%d) = %v, want %v", status, got, want)
		}
	}
}

func TestErrorCode_Message_Unauthorized(t *testing.T) {
	for lang, want := range map[string]string{
		"en": "The request is not authenticated",
		"zh": "请求未通过身份认证",
	} {
		if got := xerror.Unauthorized.Message(lang); got != want {
			t.Errorf("Message(%q) = %q, want %q, which also fits clients without a login",
				lang, got, want)
		}
	}
}

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

// orderPaid is a code of an application, registered as applications do it.
var orderPaid = xerror.MustErrorCode(40970, "ORDER_PAID", "The order is already paid", "订单已支付")

func TestApplicationCodesAreCodesLikeAnyOther(t *testing.T) {
	if got := xerror.LookupCode(40970); got != orderPaid {
		t.Errorf("LookupCode = %v, want the code", got)
	}
	if orderPaid.Status() != 409 || orderPaid.GetOutput() != "ORDER_PAID" ||
		orderPaid.Message("zh") != "订单已支付" {
		t.Errorf("the code reads %d %s %s",
			orderPaid.Status(), orderPaid.GetOutput(), orderPaid.Message("zh"))
	}
}

func TestFaultyCodesAreRefused(t *testing.T) {
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
			name: "taken by an application", number: 40970, output: "ORDER_PAID", en: "e", zh: "z",
			want: []string{"taken by ORDER_PAID", "taken by 40970"},
		},
		{
			name: "success", number: 20000, output: "X_FINE", en: "e", zh: "z",
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
			name: "label with a gap", number: 40072, output: "X__GAP", en: "e", zh: "z",
			want: []string{"UPPER_SNAKE"},
		},
		{
			name: "blank messages", number: 40072, output: "X_BLANK", en: " ", zh: "\t",
			want: []string{"English", "Chinese"},
		},
		{
			name: "everything", number: 1, output: "",
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
				t.Errorf("error %q does not say whose it is", err)
			}
		})
	}
	if xerror.LookupCode(40071) != nil || xerror.LookupCode(40072) != nil {
		t.Error("a refused code is registered")
	}
}

func TestMustErrorCodePanicsWithTheFault(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "NOT_EXIST") {
			t.Errorf("recovered %v, want the error", err)
		}
	}()
	_ = xerror.MustErrorCode(40000, "X_MUST", "e", "z")
}

func TestOneOfManyConcurrentRegistrationsWins(t *testing.T) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 8 {
		wg.Go(func() {
			_, err := xerror.NewErrorCode(50071, "X_RACE", "e", "z")
			_ = xerror.LookupCode(50071)
			xerror.Codes()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			}
		})
	}
	wg.Wait()
	// -count runs the test again in the same process, where the code is taken already.
	if xerror.LookupCode(50071) == nil || won > 1 {
		t.Errorf("%d registrations of one number succeeded", won)
	}
}

func TestACodeOffersNothingToChange(t *testing.T) {
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
		t.Error("Codes hands out the registry's own list")
	}
}

func TestNoCodeSpeaksAsInternalError(t *testing.T) {
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

func TestLevelTellsWhoseFaultItIs(t *testing.T) {
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
		t.Errorf("a known code became %d %s", got.GetCode(), got.GetOutput())
	}
	other := xerror.RemoteCode(40000, "NOT_HERE", "elsewhere")
	if other.GetCode() != 40000 || other.GetOutput() != "NOT_HERE" ||
		other.Message("zh") != "elsewhere" || other.Status() != 400 {
		t.Errorf("an unknown code reads %d %s %s",
			other.GetCode(), other.GetOutput(), other.Message("zh"))
	}
	if errors.Is(other, xerror.NotExist) || xerror.LookupCode(40000) != xerror.NotExist {
		t.Error("an unknown code took the place of a known one")
	}
	for _, number := range []int{-1, 4, 200, 60000, 1 << 40} {
		if s := xerror.RemoteCode(number, "ODD", "odd").Status(); s != 500 {
			t.Errorf("number %d: status %d, want 500", number, s)
		}
	}
}

func TestForStatus(t *testing.T) {
	for status, want := range map[int]*xerror.ErrorCode{
		400: xerror.BadRequest, 401: xerror.Unauthorized, 403: xerror.Forbidden,
		404: xerror.NotFound,
		405: xerror.MethodNotAllowed, 406: xerror.NotAcceptable, 408: xerror.Timeout,
		409: xerror.Conflict,
		410: xerror.Gone, 413: xerror.PayloadTooLarge, 415: xerror.UnsupportedMedia,
		418: xerror.BadRequest,
		422: xerror.UnprocessableEntity, 429: xerror.TooManyRequests,
		500: xerror.ServerInternalError,
		502: xerror.GatewayError, 503: xerror.ServiceUnavailable, 504: xerror.GatewayTimeout,
		507: xerror.ServerInternalError,
		0:   xerror.ServerInternalError, 200: xerror.ServerInternalError,
		600: xerror.ServerInternalError,
	} {
		if got := xerror.ForStatus(status); got != want {
			t.Errorf("ForStatus(%d) = %v, want %v", status, got, want)
		}
	}
}

func TestErrorCode_Message_unauthorizedIsNeutral(t *testing.T) {
	for lang, want := range map[string]string{
		"en": "The request is not authenticated",
		"zh": "请求未通过身份认证",
	} {
		if got := xerror.Unauthorized.Message(lang); got != want {
			t.Errorf("Message(%q) = %q, want %q: a client may be a machine that signs in nowhere",
				lang, got, want)
		}
	}
}

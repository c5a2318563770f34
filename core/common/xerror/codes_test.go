package xerror_test

import (
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// isApplicationCode reports whether number is in the range of applications, which the
// tests use.
func isApplicationCode(number int) bool {
	detail := number % 100
	return 70 <= detail && detail <= 98
}

func TestCodes(t *testing.T) {
	t.Run("returns the specified catalogue", func(t *testing.T) {
		have := map[int]*xerror.ErrorCode{}
		for _, c := range xerror.Codes() {
			if !isApplicationCode(c.GetCode()) {
				have[c.GetCode()] = c
			}
		}
		for _, want := range wantCodes {
			got := have[want.number]
			switch {
			case got == nil:
				t.Errorf("%d %s is missing", want.number, want.output)
			case got != want.code:
				t.Errorf("the variable of %d is %d %s",
					want.number, want.code.GetCode(), want.code.GetOutput())
			case got.GetOutput() != want.output:
				t.Errorf("%d is %s, want %s", want.number, got.GetOutput(), want.output)
			}
			delete(have, want.number)
		}
		for number, c := range have {
			t.Errorf("%d %s is not in the specification", number, c.GetOutput())
		}
	})

	t.Run("returns unique codes in ascending order", func(t *testing.T) {
		outputs := map[string]bool{}
		last := 0
		for _, c := range xerror.Codes() {
			if c.GetCode() <= last {
				t.Errorf("%d comes after %d", c.GetCode(), last)
			}
			last = c.GetCode()
			if outputs[c.GetOutput()] {
				t.Errorf("label %s is not unique", c.GetOutput())
			}
			outputs[c.GetOutput()] = true
			if xerror.LookupCode(c.GetCode()) != c {
				t.Errorf("LookupCode(%d) returned another code", c.GetCode())
			}
		}
		if c := xerror.LookupCode(1); c != nil {
			t.Errorf("LookupCode(1) = %v, want nil", c)
		}
	})
}

func TestErrorCode_Status(t *testing.T) {
	for _, c := range xerror.Codes() {
		want := c.GetCode() / 100
		if c == xerror.DeveloperError {
			want = 500
		}
		if got := c.Status(); got != want || got < 400 || got > 599 {
			t.Errorf("%d: status %d, want %d", c.GetCode(), got, want)
		}
	}
	if c := xerror.DeveloperError; c.GetCode() != 40024 || c.Level() != slog.LevelError {
		t.Errorf("DEVELOPER_ERROR: %d at %v, want 40024 at ERROR", c.GetCode(), c.Level())
	}
	if c := xerror.RemoteCode(40024, "DEVELOPER_ERROR", ""); c.Status() != 500 {
		t.Errorf("DEVELOPER_ERROR of another service: %d, want 500", c.Status())
	}
}

func TestErrorCode_Message(t *testing.T) {
	t.Run("is defined in both languages", func(t *testing.T) {
		english, chinese := map[string]int{}, map[string]int{}
		for _, want := range wantCodes {
			c := want.code
			en, zh := c.Message("en"), c.Message("zh")
			if en != c.GetMessage() {
				t.Errorf("%s: GetMessage is %q, not the English message",
					want.output, c.GetMessage())
			}
			if strings.IndexFunc(en, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 ||
				!strings.Contains(en, " ") {
				t.Errorf("%s: %q is not an English message", want.output, en)
			}
			if strings.IndexFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) < 0 {
				t.Errorf("%s: %q is not a Chinese message", want.output, zh)
			}
			for _, m := range []string{en, zh} {
				if m != strings.TrimSpace(m) || strings.HasSuffix(m, ".") ||
					strings.HasSuffix(m, "。") {
					t.Errorf("%s: %q has surrounding space or a full stop", want.output, m)
				}
			}
			if other := english[en]; other != 0 {
				t.Errorf("%d and %d have the same message %q", other, want.number, en)
			}
			if other := chinese[zh]; other != 0 {
				t.Errorf("%d and %d have the same message %q", other, want.number, zh)
			}
			english[en], chinese[zh] = want.number, want.number
		}
	})

	t.Run("is English unless the language is Chinese", func(t *testing.T) {
		c := xerror.NotExist
		for _, lang := range []string{"zh", "ZH", "zh-CN", "zh_TW", "zh-Hant-HK"} {
			if c.Message(lang) == c.GetMessage() {
				t.Errorf("Message(%q) is English", lang)
			}
		}
		for _, lang := range []string{"", "en", "en-GB", "fr", "z", "zhx"} {
			if c.Message(lang) != c.GetMessage() {
				t.Errorf("Message(%q) is not English", lang)
			}
		}
	})
}

func TestErrorCode_Status_UserErrors(t *testing.T) {
	for name, c := range map[string]*xerror.ErrorCode{
		"TOKEN_EXPIRED":     xerror.TokenExpired,
		"PERMISSION_DENIED": xerror.PermissionDenied,
		"USER_NOT_LOGIN":    xerror.Unauthorized,
		"USER_NOT_EXIST":    xerror.UserNotFound,
		"WRONG_PASSWORD":    xerror.PasswordError,
		"USER_BANNED":       xerror.UserDisabled,
		"LOGIN_WRONG":       xerror.LoginFailed,
		"VERIFICATION_CODE": xerror.CaptchaError,
	} {
		if s := c.Status(); s != 401 && s != 403 {
			t.Errorf("%s: status %d, want 401 or 403", name, s)
		}
	}
}

package xlog_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestMasking(t *testing.T) {
	t.Run("recognizes secret keys", func(t *testing.T) {
		for _, tc := range []struct {
			want bool
			keys []string
		}{
			{want: true, keys: []string{
				"password", "Password", "PASSWORD", "passwd", "pwd", "user_password",
				"userPassword", "password_confirm", "newPasswordAgain", "PasswordHash",
				"pass_word", "db-passwd", "password2", "secret", "Secret", "client_secret",
				"clientSecret", "secrets", "my.secret.value", "app_secret_key", "asecret",
				"token", "TOKEN", "access_token", "accessToken", "refresh-token",
				"X-Amz-Security-Token", "authtoken", "token_2", "authorization",
				"Authorization", "Proxy-Authorization", "proxy_authorization_header",
				"api_key", "apikey", "apiKey", "API-KEY", "X-Api-Key", "access_key",
				"accessKey", "aws_access_key", "private_key", "privateKeyPem", "signing_key",
				"encryption_key", "cookie", "Cookie", "Set-Cookie", "cookies", "session_id",
				"sessionId", "credential", "aws_credentials", "passphrase", "tokens",
				"accessTokens", "refresh-tokens", "device_tokens", "tokens_2", "passwords",
				"user_passwords", "pwds", "api_keys", "accessKeys", "session_ids", "jwts",
				"smsOtps", "dsns", "clientSecrets", "cookies", "jwt", "user_jwt", "otp",
				"smsOtp", "cvv", "dsn", "database_dsn", "connection_string", "pass", "Pass",
				"PASS", "db_pass", "DATABASE_PASS", "dbPass", "DBPass", "db-pass", "db.pass",
				"pass2", "pass_1", "PassHash", "old_pass", "pass_old", "passAgain",
				"passConfirm", "pass_code", "passcode", "PASSCODE", "HTTPPass", "pin", "PIN",
				"Pin", "pins", "user_pin", "userPin", "userPIN", "CARD_PIN", "card-pin",
				"pin_code", "pinCode", "PIN_CODE", "pinHash", "new_pin", "card_number",
				"cardNumber", "CARD_NUMBER", "card-number", "CardNumber", "cardnumber",
				"credit_card_number", "card_numbers", "card_no", "cardNo", "credit_card",
				"otp_code", "otpCode", "OTP_CODES", "cvv2", "CVV", "cvcCode", "security_code",
				"cardCVV",
				// separators at unusual places
				"order/au-thorization", "total.s_ecret.code", "my.otp.n_ew",
			}},
			{want: false, keys: []string{
				"", "k", "id", "ID", "path", "method", "status", "bytes", "duration",
				"duration_ms", "user", "user_id", "client_ip", "user_agent", "route", "error",
				"error_message", "token_count", "max_tokens", "maxTokens", "total_tokens",
				"prompt_tokens", "completionTokens", "OutputTokens", "cached-tokens",
				"tokenizer", "betokens"[2:6], "adopts", "apiKeysCount", "key", "keys",
				"keyboard", "api", "access", "author", "authority", "authorized", "compass",
				"passenger", "passed", "bypass", "pinned", "pinning", "spin", "Spin", "SPIN",
				"opinion", "shipping", "mapping", "pin_count", "pin_id", "is_pinned",
				"COMPASS", "passport", "pass_rate", "passThrough", "passes", "trespass_code",
				"compassCode", "spin_code", "number", "card", "card_type", "cardholder",
				"discard_number", "order_number", "business_card", "status_code", "code",
				"codes", "hash", "new", "threshold", "zip_code", "iban", "otp_attempts",
				"PINNED", "postcode", "sec", "second", "seconds", "secretion"[:4], "monkey",
				"apiKeyCount", "session", "privateer", "cook", "option", "adopt",
				"descriptorotp", "word", "密码", "x1", "_", "--", "order_2",
			}},
		} {
			for _, key := range tc.keys {
				e, rec := newEngine(t)
				e.WithName("").Info(t.Context(), "m", slog.String(key, "v-a-l"), slog.Int("n", 1))
				if got := !strings.Contains(rec.one(t), "v-a-l"); got != tc.want {
					t.Errorf("masked(%q) = %v, want %v", key, got, tc.want)
				}
			}
		}
	})

	t.Run("masks secrets at every position", func(t *testing.T) {
		const value = "s3cr3t-value"
		type login struct {
			User     string
			Password string
			Inner    struct {
				AccessToken string `json:"access_token"`
			}
			Typed xlog.Secret
		}
		l := login{User: "bob", Password: value, Typed: value}
		l.Inner.AccessToken = value
		for _, tc := range []struct {
			name string
			attr slog.Attr
		}{
			{name: "typed", attr: slog.Any("k", xlog.Secret(value))},
			{name: "typed list", attr: slog.Any("k", []xlog.Secret{value})},
			{name: "typed map", attr: slog.Any("k", map[string]any{"a": xlog.Secret(value)})},
			{
				name: "typed in an error",
				attr: slog.Any("k", fmt.Errorf("login with %v, %s, %q, %x, %#v", xlog.Secret(value),
					xlog.Secret(value), xlog.Secret(value), xlog.Secret(value),
					xlog.Secret(value))),
			},
			{name: "key", attr: slog.String("password", value)},
			{name: "any under a key", attr: slog.Any("Authorization", []string{"Bearer " + value})},
			{name: "error under a key", attr: slog.Any("token", fmt.Errorf("bad %s", value))},
			{name: "group", attr: slog.Group("g", slog.Group("h", slog.String("passwd", value)))},
			{
				name: "group under a key",
				attr: slog.Group("credentials", slog.String("a", value), slog.Int("b", 1)),
			},
			{name: "valuer", attr: slog.Any("v",
				valuer{slog.GroupValue(slog.String("secret", value))})},
			{name: "struct", attr: slog.Any("k", l)},
			{name: "pointer", attr: slog.Any("k", &l)},
			{name: "map", attr: slog.Any("k",
				map[string]any{"a": []any{map[string]string{"api_key": value}}})},
			{name: "map of objects", attr: slog.Any("k",
				map[string]any{
					"secret": map[string]any{"a": []string{value, "}"}, "b": 1},
					"z":      2,
				})},
			{name: "headers", attr: slog.Any("headers",
				http.Header{"Authorization": {"Bearer " + value}, "Cookie": {value}})},
			{
				name: "raw JSON",
				attr: slog.Any("k", json.RawMessage(`{"p\u0061ssword" : "`+value+`"}`)),
			},
		} {
			for form, change := range formats {
				t.Run(tc.name+" "+form, func(t *testing.T) {
					e, rec := newEngine(t, change)
					e.WithName("").Info(t.Context(), "m", tc.attr, slog.String("after", "seen"))
					line := rec.one(t)
					if strings.Contains(line, value) || !strings.Contains(line, "***") ||
						!strings.Contains(line, "seen") {
						t.Errorf("line = %s", line)
					}
					if form == "json" {
						decode(t, line)
					}
				})
			}
		}
	})

	t.Run("preserves the rest of a value", func(t *testing.T) {
		for in, want := range map[string]string{
			`{"a":1,"password":"x","b":[1,2]}`:           `{"a":1,"password":"***","b":[1,2]}`,
			`{"password":12}`:                            `{"password":"***"}`,
			`{"password":null,"b":true}`:                 `{"password":"***","b":true}`,
			`{"password":{"a":{"b":"}"}},"b":"\"]"}`:     `{"password":"***","b":"\"]"}`,
			`{"password":[[1],["]"]]}`:                   `{"password":"***"}`,
			`[{"token":"x"},"token",{"a":"password"}]`:   `[{"token":"***"},"token",{"a":"password"}]`,
			`{"a":{"secret":-1.5e3},"c":":\\"}`:          `{"a":{"secret":"***"},"c":":\\"}`,
			`"password:x"`:                               `"password:x"`,
			`{"text":"{\"password\":\"in a string\"}"}`:  `{"text":"{\"password\":\"in a string\"}"}`,
			`{"password":"a\\","token":"b\"","plain":1}`: `{"password":"***","token":"***","plain":1}`,
		} {
			e, rec := newEngine(t)
			e.WithName("").Info(t.Context(), "m", slog.Any("k", json.RawMessage(in)))
			if line := rec.one(t); !strings.Contains(line, `"k":`+want+"}") {
				t.Errorf("%s is written as %s, want %s", in, line, want)
			}
		}
	})

	t.Run("handles deeply nested values", func(t *testing.T) {
		var deep nested
		for range 20_000 {
			deep = nested{deep}
		}
		for _, v := range []any{
			struct{ Password, A any }{deep, 1},
			struct {
				Password nested
				Token    string
			}{deep, "hunter2"},
			struct {
				A        nested
				Password string
			}{deep, "hunter2"},
		} {
			e, rec := newEngine(t)
			e.WithName("").Info(t.Context(), "m", slog.Any("k", v), slog.Int("after", 1))
			line := rec.one(t)
			if strings.Contains(line, "hunter2") || !strings.HasSuffix(line, `,"after":1}`+"\n") {
				t.Errorf("line of %d bytes has the suffix %s",
					len(line), line[max(len(line)-100, 0):])
			}
		}
	})

	t.Run("masks configured keys", func(t *testing.T) {
		e, rec := newEngine(t, func(c *xlog.Config) {
			c.MaskKeys = []string{"pin", "ID_Card", "plan b", "q"}
		})
		e.WithName("").Info(t.Context(), "m",
			slog.Int("pins", 1), slog.Int("cardPins", 1), slog.Int("spins", 2))
		plurals := `"m","pins":"***","cardPins":"***","spins":2}`
		if line := rec.one(t); !strings.Contains(line, plurals) {
			t.Errorf("line = %s, want %s", line, plurals)
		}
		e.WithName("").Info(t.Context(), "m", slog.Int("pin", 1), slog.Int("cardPin", 1),
			slog.Int("idCard", 1), slog.Int("plan_b", 1),
			slog.Int("Q", 1), slog.Int("spin", 2), slog.Int("pinned", 2), slog.Int("plan_bc", 2))
		want := `"m","pin":"***","cardPin":"***","idCard":"***","plan_b":"***","Q":"***","spin":2,"pinned":2,"plan_bc":2}`
		if line := rec.one(t); !strings.Contains(line, want) {
			t.Errorf("line = %s, want %s", line, want)
		}
	})
}

type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

// nested is a list of lists. encoding/json has no depth limit when it writes them.
type nested []nested

func FuzzMaskJSON(f *testing.F) {
	f.Add(`{"a":1,"password":"x","b":[1,2]}`)
	f.Add(`[{"token":{"a":[1,"}"]}},null]`)
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return
		}
		e, rec := newEngine(t)
		e.WithName("").Info(t.Context(), "m",
			slog.Any("k", json.RawMessage(in)), slog.Int("after", 1))
		if line := rec.one(t); !json.Valid([]byte(line)) ||
			!strings.HasSuffix(line, `,"after":1}`+"\n") {
			t.Errorf("line = %s", line)
		}
	})
}

func TestAddMaskedKeys(t *testing.T) {
	now, rec := newEngine(t)
	defer xlog.SetDefault(now)()
	xlog.AddMaskedKeys("test_only_key")
	xlog.Info(t.Context(), "m", slog.String("test_only_key", "value"))
	if line := rec.one(t); strings.Contains(line, "value") {
		t.Errorf("default engine: %s", line)
	}
	later, rec := newEngine(t)
	later.WithName("").Info(t.Context(), "m", slog.String("testOnlyKey", "value"))
	if line := rec.one(t); strings.Contains(line, "value") {
		t.Errorf("later engine: %s", line)
	}
}

func TestSecret(t *testing.T) {
	const s xlog.Secret = "hunter2"
	text, err := json.Marshal(map[string]any{"a": []any{s, &struct{ S xlog.Secret }{s}}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	zero := zerolog.New(&b)
	zero.Info().Stringer("a", s).Interface("b", s).Any("c", s).Send()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s"} {
		fmt.Fprintf(&b, verb+"\n", s)
	}
	fmt.Fprintln(&b, s, []xlog.Secret{s}, struct{ S xlog.Secret }{s}, string(text), s.GoString())
	if strings.Contains(b.String(), "hunter2") || strings.Contains(b.String(), "68756e74657232") {
		t.Errorf("output contains the secret: %s", b.String())
	}
	if s.Reveal() != "hunter2" {
		t.Errorf("Reveal = %q", s.Reveal())
	}
	var back struct{ S xlog.Secret }
	if err := json.Unmarshal([]byte(`{"S":"hunter2"}`), &back); err != nil || back.S != s {
		t.Errorf("Unmarshal = %q, %v", back.S.Reveal(), err)
	}
	if got := xlog.Secret("").String(); got != "" {
		t.Errorf("empty secret = %q, want empty", got)
	}
}

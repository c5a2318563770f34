package xlog_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// maliciousInputs try to forge a line, hide a line or control a terminal.
var maliciousInputs = []string{
	"a\nb",
	"a\r\n{\"level\":\"error\",\"msg\":\"forged\"}",
	"\x1b[2K\x1b[1A\x1b[31mred",
	"\x1b]0;title\x07",
	"\x00\x08\x7f\v\f",
	"C1 \u009b31m \u0085 next",
	"\x9b31m raw byte",
	"sep \u2028 para \u2029",
	"bidi \u202e gnp.exe \u2066 \u061c \u200f \ufeff",
	`","level":"error","x":"`,
	"k=v level=error \"q\"",
	"\xff\xfe invalid",
}

// checkSafe fails the test if a line contains a control or format character.
func checkSafe(tb testing.TB, line string) {
	tb.Helper()
	body := strings.TrimSuffix(line, "\n")
	if !utf8.ValidString(body) {
		tb.Errorf("%q is not UTF-8", line)
	}
	for _, r := range body {
		if unicode.IsControl(r) && r != 0x7f || r == 0x2028 || r == 0x2029 ||
			unicode.Is(unicode.Bidi_Control, r) {
			tb.Errorf("%q contains %U", line, r)
		}
	}
}

// logEverywhere writes s at every position of a line.
func logEverywhere(tb testing.TB, e *xlog.Engine, s string) {
	tb.Helper()
	r := xctx.NewRequest(tb.Context(), nil)
	r.SetID(s)
	raw, _ := json.Marshal(s)
	e.WithName("N"+s).Info(r, "m"+s, slog.String("k", s), slog.String("K"+s, "v"),
		slog.Any("any", []string{s}), slog.Any("map", map[string]any{"K" + s: s}),
		slog.Any("raw", json.RawMessage(raw)), slog.Group("g"+s, slog.String("k", s)),
		slog.Any("err", &pointerError{s}), slog.String("stack", s))
}

func TestLogInjection(t *testing.T) {
	t.Run("JSON", func(t *testing.T) {
		for _, s := range maliciousInputs {
			e, rec := newEngine(t)
			logEverywhere(t, e, s)
			line := rec.one(t)
			checkSafe(t, line)
			m := decode(t, line)
			want := strings.ToValidUTF8(s, "\ufffd")
			if utf8.ValidString(s) &&
				(m["k"] != want || m["level"] != "info" || m["msg"] != "m"+want ||
					m["name"] != "N"+want) {
				t.Errorf("%q is decoded as %q from %s", s, m["k"], line)
			}
			if got := strings.Count(line, `"level":`); got != 1 {
				t.Errorf("%d level keys in %s, want 1", got, line)
			}
		}
	})

	t.Run("console", func(t *testing.T) {
		for _, s := range maliciousInputs {
			e, rec := newEngine(t, console)
			logEverywhere(t, e, s)
			lines := rec.take()
			if len(lines) != 1 {
				t.Fatalf("%d writes, want 1", len(lines))
			}
			for i, line := range strings.Split(strings.TrimSuffix(lines[0], "\n"), "\n") {
				checkSafe(t, line)
				if i > 0 && !strings.HasPrefix(line, "    │ ") {
					t.Errorf("input %q forged a line: %q", s, line)
				}
			}
		}
	})
}

func FuzzLine(f *testing.F) {
	for _, s := range maliciousInputs {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, msg, value string) {
		for _, change := range []func(*xlog.Config){func(*xlog.Config) {}, console} {
			e, rec := newEngine(t, change)
			e.WithName("").Info(t.Context(), msg, slog.String("k", value),
				slog.Any("any", map[string]string{"k": value}),
				slog.Any("raw", json.RawMessage(value)), slog.String("x"+value, msg))
			checkSafe(t, rec.one(t))
		}
	})
}

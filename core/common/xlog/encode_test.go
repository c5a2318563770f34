package xlog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strings"
	"testing"
)

type failingJSON struct{}

func (failingJSON) MarshalJSON() ([]byte, error) { return nil, errBoom }

type invalidJSON struct{}

func (invalidJSON) MarshalJSON() ([]byte, error) { return []byte("{not json\n"), nil }

type panicJSON struct{}

func (panicJSON) MarshalJSON() ([]byte, error) { panic("json failed") }

type panicValuer struct{}

func (panicValuer) LogValue() slog.Value { panic("valuer failed") }

type recursiveValuer struct{}

func (v recursiveValuer) LogValue() slog.Value { return slog.AnyValue(v) }

type panicError struct{}

func (panicError) Error() string { panic("error failed") }

type pointerError struct{ text string }

func (e *pointerError) Error() string { return e.text }

type jsonError struct{}

func (jsonError) Error() string                { return "the text" }
func (jsonError) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

func TestEncode(t *testing.T) {
	t.Run("writes errors as text", func(t *testing.T) {
		joined := errors.Join(errBoom, errors.New("bang"))
		for _, tc := range []struct {
			name  string
			value any
			want  string
		}{
			{name: "error", value: errBoom, want: `"boom"`},
			{name: "wrapped", value: fmt.Errorf("outer: %w", errBoom), want: `"outer: boom"`},
			{name: "joined", value: joined, want: `"boom\nbang"`},
			{name: "with MarshalJSON", value: jsonError{}, want: `"the text"`},
			{name: "nil pointer", value: (*pointerError)(nil), want: `"<nil>"`},
			{name: "list", value: []error{errBoom, nil}, want: `["boom",null]`},
			{
				name:  "list of a type of error",
				value: []*pointerError{{"a"}, nil}, want: `["a","<nil>"]`,
			},
			{name: "any list", value: []any{errBoom, 1}, want: `["boom",1]`},
			{
				name:  "map",
				value: map[string]any{"e": errBoom, "m": map[string]error{"f": errBoom}},
				want:  `{"e":"boom","m":{"f":"boom"}}`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e, rec := newEngine(t)
				e.WithName("").Info(t.Context(), "m", slog.Any("k", tc.value))
				if got := compact(t, rec.object(t)["k"]); got != tc.want {
					t.Errorf("k = %s, want %s", got, tc.want)
				}
			})
		}
	})

	t.Run("writes the line if a value cannot be encoded", func(t *testing.T) {
		cyclic := map[string]any{}
		cyclic["self"] = cyclic
		for _, tc := range []struct {
			name  string
			value any
			want  string // part of the value
		}{
			{name: "channel", value: make(chan int), want: "unsupported type: chan int"},
			{name: "function", value: func() {}, want: "unsupported type: func()"},
			{name: "NaN in a list", value: []float64{math.NaN()}, want: "unsupported value: NaN"},
			{
				name:  "channel in a map",
				value: map[string]any{"a": 1, "c": make(chan int)}, want: "unsupported type",
			},
			{name: "failing MarshalJSON", value: failingJSON{}, want: "boom"},
			{name: "invalid MarshalJSON", value: invalidJSON{}, want: "invalid character"},
			{name: "panicking MarshalJSON", value: panicJSON{}, want: "json failed"},
			{name: "panicking LogValuer", value: panicValuer{}, want: "LogValue panicked"},
			{
				name:  "recursive LogValuer",
				value: recursiveValuer{}, want: "LogValue called too many times",
			},
			{name: "panicking error", value: panicError{}, want: "error failed"},
			{name: "panicking error in a list", value: []error{panicError{}}, want: "error failed"},
			{name: "cyclic map", value: cyclic, want: "cycle"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				for form, change := range formats {
					e, rec := newEngine(t, change)
					e.WithName("").Info(t.Context(), "m",
						slog.Int("before", 1), slog.Any("k", tc.value),
						slog.Group("g", slog.Any("k", tc.value), slog.Int("inside", 3)),
						slog.Int("after", 2))
					line := rec.one(t)
					for _, want := range []string{"before", "after", "inside", tc.want} {
						if !strings.Contains(line, want) {
							t.Errorf("%s: line %s does not contain %q", form, line, want)
						}
					}
					if form == "json" {
						decode(t, line)
					}
				}
			})
		}
	})

	t.Run("masks the password of a URL", func(t *testing.T) {
		u, err := url.Parse("postgres://bob:hunter2@db/app")
		if err != nil {
			t.Fatal(err)
		}
		e, rec := newEngine(t)
		e.WithName("").Info(t.Context(), "m",
			slog.Any("u", u), slog.Any("list", []any{u}), slog.Any("none", (*url.URL)(nil)))
		line := rec.one(t)
		if strings.Contains(line, "hunter2") ||
			!strings.Contains(line, `"u":"postgres://bob:xxxxx@db/app"`) {
			t.Errorf("line = %s", line)
		}
	})

	t.Run("compacts a raw message", func(t *testing.T) {
		e, rec := newEngine(t)
		e.WithName("").Info(t.Context(), "m", slog.Any("k", json.RawMessage("{\n \"a\": 1\n}")))
		if got := compact(t, rec.object(t)["k"]); got != `{"a":1}` {
			t.Errorf("k = %s", got)
		}
	})
}

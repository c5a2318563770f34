package xlog_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

type (
	inner struct {
		Err error `json:"err,omitempty"`
		N   int   `json:"n"`
	}

	hidden struct {
		Cause error `json:"cause"`
		URL   *url.URL
	}

	// opaque implements json.Marshaler.
	opaque struct{ Err error }

	// node refers to its own type.
	node struct {
		Next *node `json:"next,omitempty"`
		Err  error `json:"err"`
	}

	// graph is a node that refers to all nodes of its graph.
	graph struct {
		Nodes []*graph
		Err   error
	}

	outer struct {
		hidden
		*inner

		At      time.Time     `json:"at"`
		Any     any           `json:"any"`
		None    error         `json:"none"`
		Omitted error         `json:"omitted,omitempty"`
		Pointer *pointerError `json:"pointer"`
		Quoted  int           `json:"quoted,string"`
		Skipped error         `json:"-"`
		Zero    inner         `json:"zero,omitzero"`
		Empty   []error       `json:"empty,omitempty"`
		List    []inner       `json:"list"`
		Map     map[int]inner `json:"map"`
		Array   [1]error      `json:"array"`
		Opaque  opaque        `json:"opaque"`
		Secret  xlog.Secret   `json:"s"`
		private error
	}
)

func (opaque) MarshalJSON() ([]byte, error) { return []byte(`"own"`), nil }

func TestEncode_Struct(t *testing.T) {
	t.Run("writes nested errors as text", func(t *testing.T) {
		o := outer{
			hidden: hidden{
				Cause: errBoom,
				URL:   &url.URL{Scheme: "https", Host: "h", RawQuery: "token=hunter2"},
			},
			inner:   &inner{Err: errBoom, N: 1},
			At:      noon,
			Any:     fmt.Errorf("outer: %w", errBoom),
			Pointer: &pointerError{"p"},
			Quoted:  7,
			Skipped: errBoom,
			List:    []inner{{Err: errBoom}, {}},
			Map:     map[int]inner{2: {Err: errBoom}},
			Array:   [1]error{errBoom},
			Opaque:  opaque{errBoom},
			Secret:  "hunter2",
			private: errBoom,
		}
		want := `{"cause":"boom","URL":"https://h?token=***","err":"boom","n":1,"at":"2025-03-04T12:00:00.123456789Z",` +
			`"any":"outer: boom","none":null,"pointer":"p","quoted":"7","list":[{"err":"boom","n":0},{"n":0}],` +
			`"map":{"2":{"err":"boom","n":0}},"array":["boom"],"opaque":"own","s":"***"}`
		for _, tc := range []struct {
			name  string
			value any
			want  string
		}{
			{name: "struct", value: o, want: want},
			{name: "pointer", value: &o, want: want},
			{name: "struct a second time", value: o, want: want},
			{name: "in a list", value: []any{&o}, want: "[" + want + "]"},
			{name: "in a typed map", value: map[string]outer{"o": o}, want: `{"o":` + want + `}`},
			{name: "embedded nil", value: outer{At: noon}.Any, want: "null"},
			{
				name: "recursive", value: node{Next: &node{Err: errBoom}, Err: errBoom},
				want: `{"next":{"err":"boom"},"err":"boom"}`,
			},
			{name: "nothing to replace", value: struct{ A, B int }{1, 2}, want: `{"A":1,"B":2}`},
			{name: "nil list and map", value: struct {
				L []error
				M map[string]error
				P *inner
				E *pointerError
			}{}, want: `{"L":null,"M":null,"P":null,"E":null}`},
			{
				name: "panicking error", value: struct{ E error }{panicError{}},
				want: `{"E":"!ERROR: xlog_test.panicError panicked in Error: error failed"}`,
			},
			{name: "masked key", value: struct {
				Token error `json:"token"`
			}{errBoom}, want: `{"token":"***"}`},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e, rec := newEngine(t)
				e.WithName("").Info(t.Context(), "m", slog.Any("k", tc.value))
				if line := rec.one(t); !strings.Contains(line, `"k":`+tc.want+"}\n") {
					t.Errorf("line = %s, want %s", line, tc.want)
				}
			})
		}
	})

	t.Run("matches encoding/json", func(t *testing.T) {
		full := tags{
			lower: lower{Same: 1, Deep: 2, N: 3},
			Upper: &Upper{Same: 4, Other: 5, Own: &Upper{}},
			Plain: "<p>", Zero: 0, Dash: 1, Never: 1, Quoted: 7,
			Map: map[text]any{"k": nil}, List: []any{nil, 1.5}, Time: noon, Bytes: []byte("x"),
		}
		for _, v := range []any{
			full, &full,
			tags{},
			tags{Map: map[text]any{}, List: []any{}},
			tagged{X: 1},
			&tagged{Upper: &Upper{Own: &Upper{Same: 1}}, text: "x"},
			[]tags{full},
			map[int]*tags{1: &full},
			[2]any{nil, full},
			struct{ Upper }{},
		} {
			want := compact(t, v)
			e, rec := newEngine(t)
			e.WithName("").Info(t.Context(), "m", slog.Any("k", v))
			if line := rec.one(t); !strings.Contains(line, `"k":`+want+"}\n") {
				t.Errorf("line = %s, want %s", line, want)
			}
		}
	})

	t.Run("reports a cycle", func(t *testing.T) {
		all := make([]*graph, 20)
		for i := range all {
			all[i] = &graph{Nodes: all, Err: errBoom}
		}
		e, rec := newEngine(t)
		e.WithName("").Info(t.Context(), "m", slog.Any("k", all[0]), slog.Int("after", 1))
		if line := rec.one(t); !strings.Contains(line, "cycle") ||
			!strings.Contains(line, "after") {
			t.Errorf("line = %s, want the reason", line)
		}
	})
}

type (
	lower struct {
		Same, Deep any
		N          int `json:"n,omitempty"`
	}

	// Upper and lower hide fields of each other.
	Upper struct {
		Same  any
		Other any `json:"Deep"`
		Own   *Upper
	}

	text string

	tags struct {
		lower
		*Upper

		Plain  any             `json:",omitempty"`
		Zero   any             `json:"zero,omitzero"`
		Dash   any             `json:"-,"` //nolint:staticcheck // the name is a dash
		Never  any             `json:"-"`
		Quoted int             `json:",string"`
		None   *int            `json:",string"`
		Map    map[text]any    `json:"m,omitempty"`
		List   []any           `json:"l,omitempty"`
		Time   time.Time       `json:"t,omitzero"`
		Bytes  []byte          `json:"b"`
		Nested struct{ A any } `json:"nested"`
		Bare   *struct{ A any }
	}

	tagged struct {
		lower  `json:"low"`
		*Upper `json:"up,omitempty"`
		text
		X any
	}
)

func TestEncode_URL(t *testing.T) {
	t.Run("masks the password at any depth", func(t *testing.T) {
		var v any = &url.URL{Scheme: "https", Host: "h", User: url.UserPassword("bob", "hunter2")}
		for range 30 {
			v = []any{v}
		}
		e, rec := newEngine(t)
		e.WithName("").Info(t.Context(), "m", slog.Any("k", v))
		if line := rec.one(t); !strings.Contains(line, `[["https://bob:xxxxx@h"]]`) {
			t.Errorf("line = %s", line)
		}
	})

	t.Run("masks secrets", func(t *testing.T) {
		for in, want := range map[string]string{
			"https://h/p?a=1&b=%20#f":                       "https://h/p?a=1&b=%20#f",
			"https://bob:hunter2@h/p":                       "https://bob:xxxxx@h/p",
			"https://hunter2@h/p":                           "https://xxxxx@h/p",
			"https://h/p?password=hunter2&a=1":              "https://h/p?password=***&a=1",
			"https://h/p?a=1&Access%5FToken=hunter2;b=2&":   "https://h/p?a=1&Access%5FToken=***&",
			"https://h/p?X-Amz-Signature=hunter2&sig=h2":    "https://h/p?X-Amz-Signature=***&sig=***",
			"https://h/cb?code=hunter2&state=x&zipcode=1":   "https://h/cb?code=***&state=x&zipcode=1",
			"https://h/p#access_token=hunter2&expires=3600": "https://h/p#access_token=***&expires=3600",
			"https://h/#/cb?token=hunter2&a=1":              "https://h/#/cb?token=***&a=1",
			"https://h/p?next=/a?b&c=d=e&key=a=b":           "https://h/p?next=/a?b&c=d=e&key=***",
			"https://h/p?token&secret=":                     "https://h/p?token&secret=***",
			"https://h/p?%zz=1&token=hunter2":               "https://h/p?%zz=1&token=***",
			"https://h/p&token=hunter2":                     "https://h/p&token=***",
		} {
			u, err := url.Parse(in)
			if err != nil {
				t.Fatal(err)
			}
			e, rec := newEngine(t)
			e.WithName("").Info(t.Context(), "m",
				slog.Any("a", u), slog.Any("b", *u), slog.Any("c", []url.URL{*u}))
			m := rec.object(t)
			if list, _ := m["c"].([]any); m["a"] != want || m["b"] != want || len(list) != 1 ||
				list[0] != want {
				t.Errorf("%s is written as %v, %v and %v, want %s",
					in, m["a"], m["b"], m["c"], want)
			}
			if u.String() != in {
				t.Errorf("the URL changed to %s", u)
			}
		}
	})

	t.Run("masks configured keys", func(t *testing.T) {
		e, rec := newEngine(t, func(c *xlog.Config) { c.MaskKeys = []string{"pin"} })
		e.WithName("").Info(t.Context(), "m",
			slog.Any("u", &url.URL{Path: "/p", RawQuery: "pin=1234"}))
		if got := rec.object(t)["u"]; got != "/p?pin=***" {
			t.Errorf("u = %v", got)
		}
	})
}

func BenchmarkAnyStruct(b *testing.B) {
	e, err := xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON})
	if err != nil {
		b.Fatal(err)
	}
	for name, v := range map[string]any{
		"plain": struct{ A, B int }{1, 2},
		"error": inner{Err: errors.New("boom"), N: 1},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.WithName("").Info(b.Context(), "m", slog.Any("k", v))
			}
		})
	}
}

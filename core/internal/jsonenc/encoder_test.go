package jsonenc_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/internal/jsonenc"
)

type (
	even    int
	evenRef struct{ N int8 }
	zeroer  interface{ IsZero() bool }

	Embedded struct {
		Text string `json:"text"`
		Same int
	}

	// everything has fields of all types that encoding/json handles specially.
	everything struct {
		Embedded
		*evenRef
		Same    string
		Even    even          `json:"even,omitzero"`
		EvenRef evenRef       `json:"evenRef,omitzero"`
		Maybe   *even         `json:",omitzero"`
		Ref     *evenRef      `json:",omitzero"`
		Any     any           `json:",omitzero"`
		Zeroer  zeroer        `json:",omitzero"`
		Time    time.Time     `json:",omitzero"`
		List    []int         `json:",omitzero"`
		Array   [2]bool       `json:",omitzero"`
		Text    string        `json:"t,string"`
		Texts   *string       `json:",string"`
		Int     *int8         `json:",string,omitempty"`
		Bool    bool          `json:",string"`
		Number  json.Number   `json:",string"`
		Timeout time.Duration `json:",string"`
		Own     json.Marshaler
		Map     map[int8]*everything
		Next    *everything
	}
)

func (e even) IsZero() bool     { return e%2 == 0 }
func (e *evenRef) IsZero() bool { return e.N%2 == 0 }

// samples returns values that contain n. IsZero reports false for an odd n.
func samples(n int8) []everything {
	at, text, number := time.Unix(int64(n), 0).UTC(), `a "<\u2028" text`, even(n)
	full := everything{
		Embedded: Embedded{Text: text, Same: int(n)}, evenRef: &evenRef{n}, Same: text,
		Even: number, EvenRef: evenRef{n}, Maybe: &number, Ref: &evenRef{n}, Any: number,
		Zeroer: number, Time: at, List: []int{}, Array: [2]bool{n > 0}, Text: text, Texts: &text,
		Int: &n, Bool: true, Number: "7", Timeout: time.Second, Own: at,
		Map: map[int8]*everything{n: nil, 2: {}},
	}
	list := []everything{{}, full, {Next: &full}}
	for _, v := range []any{
		(*even)(nil), (*evenRef)(nil), &evenRef{n},
		[]any{text, n, nil},
		map[string]any{text: full},
	} {
		z, _ := v.(zeroer)
		list = append(list, everything{Any: v, Zeroer: z})
	}
	return append(list, everything{Own: json.RawMessage(` {"a": "<"}`)})
}

func TestEncoder_Append(t *testing.T) {
	var e jsonenc.Encoder
	for n := range int8(3) {
		for _, sample := range samples(n) {
			for _, v := range []any{
				sample, &sample, []everything{sample}, map[string]any{"v": sample},
			} {
				want, wantErr := json.Marshal(v)
				got, err := e.Append([]byte("x"), v)
				if err != nil || wantErr != nil || string(got) != "x"+string(want) {
					t.Fatalf("Append = %s, %v\nwant     x%s, %v", got, err, want, wantErr)
				}
			}
		}
	}
}

func nested(n int, inside any) any {
	for range n {
		inside = []any{inside}
	}
	return inside
}

func TestEncoder_Append_Nested(t *testing.T) {
	replaceErrors := jsonenc.Encoder{Replace: func(typ reflect.Type) func(reflect.Value) string {
		if !typ.Implements(reflect.TypeFor[error]()) {
			return nil
		}
		return func(reflect.Value) string { return "replaced" }
	}}
	for _, tc := range []struct {
		name    string
		encoder *jsonenc.Encoder
		depth   int
		want    string // "" for an error
	}{
		{
			name: "without replacements", encoder: new(jsonenc.Encoder), depth: 2000,
			want: strings.Repeat("[", 2000) + "{}" + strings.Repeat("]", 2000),
		},
		{
			name: "with replacements", encoder: &replaceErrors, depth: 400,
			want: strings.Repeat("[", 400) + `"replaced"` + strings.Repeat("]", 400),
		},
		{name: "too deep for replacements", encoder: &replaceErrors, depth: 2000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.encoder.Append([]byte("x"), nested(tc.depth, errors.New("boom")))
			if string(got) != "x"+tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("Append = %s, %v, want x%s", got, err, tc.want)
			}
		})
	}
}

package jsontree_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

func parse(t *testing.T, text string) *jsontree.Value {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParse(t *testing.T) {
	t.Run("preserves the order of members and the literals of numbers", func(t *testing.T) {
		const text = `{"z":1e400,"a":[true,null,"<é\u2028>"],"m":{"":9007199254740993,"x":{}},"e":[]}`
		if got := parse(t, text).JSON(); got != text {
			t.Errorf("JSON = %s, want %s", got, text)
		}
	})

	t.Run("uses the last of duplicate members", func(t *testing.T) {
		if got := parse(t, `{"a":1,"b":2,"a":3}`).JSON(); got != `{"a":3,"b":2}` {
			t.Errorf("JSON = %s", got)
		}
	})

	t.Run("rejects invalid and deep documents", func(t *testing.T) {
		for _, text := range []string{"", "{", `{"a":}`, "[1] 2", strings.Repeat("[", 20000)} {
			if _, err := jsontree.Parse([]byte(text)); err == nil {
				t.Errorf("%.20q was parsed", text)
			}
		}
	})
}

func TestValue_Get(t *testing.T) {
	v := parse(t, `{"a":{"b":"text"},"c":true,"d":12,"e":[1,2]}`)
	got := []any{
		v.Get("a", "b").Str(), v.Get("a", "b", "c").Str(), v.Get("x", "y").Str(),
		v.Get("c").True(), v.Get("d").True(), v.Get("d").Literal(), v.Get("a").Literal(),
		len(v.Get("e").Items()), len(v.Members()), v.Get("x").Kind(), v.Get("d").Str(),
	}
	want := []any{"text", "", "", true, false, "12", "", 2, 4, jsontree.Null, ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestValue_Indented(t *testing.T) {
	v := jsontree.NewObject()
	v.Set("a", jsontree.NewArray(jsontree.NewString("<&>"), jsontree.NewLiteral(jsontree.Bool, "true")))
	v.Set("b", jsontree.NewLiteral(jsontree.Number, "1"))
	const want = "{\n  \"a\": [\n    \"<&>\",\n    true\n  ],\n  \"b\": 1\n}"
	if got := v.Indented(); got != want {
		t.Errorf("Indented = %s, want %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x",{"b":null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := jsontree.Parse(text)
		if err != nil {
			return
		}
		var want, got any
		if json.Unmarshal(text, &want) != nil {
			return // a number is out of range
		}
		if err := json.Unmarshal([]byte(v.JSON()), &got); err != nil {
			t.Errorf("%q is written as %q: %v", text, v.JSON(), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	})
}

// TestParse_Standard compares with encoding/json.
func TestParse_Standard(t *testing.T) {
	for _, text := range []string{
		" {\t\"a\" : [ ] , \"b\": { } ,\r\n\"c\":[ [1 , -2.5E+3,0] ,{\"\\u00e9\\\"\\\\\":\"\\ud83d\\ude00\"}]} ",
		`"\\"`, " true ", "null", "-0", `"é"`, `[{"a":{"b":[]}},"x"]`, "[\"\xff\"]",
	} {
		var want, got any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(parse(t, text).JSON()), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

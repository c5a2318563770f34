package xbind_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/major/xbind"
)

type counted struct{ n int }

func (c *counted) UnmarshalJSON([]byte) error {
	c.n++
	return nil
}

type deeper struct {
	D counted `json:"d"`
	A counted `json:"a"` // hidden by filled.A
	E counted `json:"both"`
}

type sibling struct {
	E counted `json:"both"` // ambiguous with deeper.E, so not a field
	F counted `json:"F"`
}

type filled struct {
	deeper
	*sibling
	A       counted `json:"a"`
	B       counted `json:"Bk"`
	Lower   counted `json:"bk"` // differs in case only
	C       counted
	K       counted `json:"straße"`
	L       counted `json:"ſk"` // folds to SK
	Ignored counted `json:"-"`
	Dash    counted `json:"-,"` //nolint:staticcheck // legal and rare
	In      struct {
		X counted `json:"x"`
	} `json:"in"`
	Maps  map[string]map[string]int `json:"maps"`
	Lists [][]struct{ Y, Z any }    `json:"lists"`
}

// maxCount returns how often the most frequent field was filled.
func (f *filled) maxCount() int {
	all := []counted{
		f.D, f.deeper.A, f.deeper.E, f.A, f.B, f.Lower, f.C, f.K, f.L, f.Ignored, f.Dash,
	}
	if f.sibling != nil {
		all = append(all, f.sibling.E, f.F)
	}
	most := 0
	for _, c := range all {
		most = max(most, c.n)
	}
	return most
}

// repeatsName reports whether an object in valid JSON contains a name twice, or two names
// that fill the same nested field of filled.
func repeatsName(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var walk func(depth int) bool
	walk = func(depth int) bool {
		token, err := d.Token()
		if err != nil {
			return false
		}
		seen := map[string]bool{}
		repeated := false
		for delim, ok := token.(json.Delim); ok && d.More(); {
			if delim == '{' {
				token, err := d.Token()
				if err != nil {
					return false
				}
				name, _ := token.(string)
				key := name
				if depth == 0 {
					for _, nested := range []string{"in", "maps", "lists"} {
						if strings.EqualFold(name, nested) {
							key = nested
						}
					}
				}
				repeated = repeated || seen[key]
				seen[key] = true
			}
			repeated = walk(depth+1) || repeated
		}
		if _, ok := token.(json.Delim); ok {
			_, _ = d.Token()
		}
		return repeated
	}
	return walk(0)
}

var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `[]`, ` {"a":1} `, `{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"Bk":1,"bk":2,"BK":3}`,
		`{"BK":1,"bK":2}`,
		`{"stra\u00dfe":1,"STRAßE":2}`, `{"SK":1,"ſK":2}`, `{"K":1}`, `{"both":1,"BOTH":2}`,
		`{"d":1,"D":2}`, `{"f":1,"F":2}`,
		`{"in":{"x":1,"X":2}}`, `{"in":{},"IN":{}}`, `{"maps":{"a":{"b":1,"B":2}}}`,
		`{"maps":{"a":{"b":1,"b":2}}}`,
		`{"lists":[[{"Y":1,"y":2}]]}`, `{"lists":[[{"Y":{"a":[],"a":{}}}]]}`, `{"-":1,"-":2}`,
		`{"Ignored":1,"ignored":2}`, `{"a\"b":1}`,
		`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":1}x`, `{"a":1,}`, `{"a" 1}`, `{"a":tru}`,
		"{\"a\":\"\xff\"}", `"`, `\`, `{"\u`,
		`{"a":01}`, `{"a":-}`, `[1 2]`,
		`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"10":10,"11":11,"12":12,"13":13,"14":14,"15":15,"16":16,"17":17,"18":18,"17":0}`,
		strings.Repeat(`{"maps":`, 120) + strings.Repeat("}", 120),
	} {
		f.Add([]byte(s))
	}
	lenient := xbind.Strictness{AllowDuplicateKeys: true}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := bytes.Trim(data, " \t\r\n")
		empty := len(text) == 0 || string(text) == "null"
		var want filled
		valid := json.Unmarshal(data, &want) == nil
		bind := func(opts ...xbind.Option) *filled {
			c := request(string(data))
			got := xbind.Bind(c, &filled{}, opts...).Data()
			if got == nil {
				_ = reported(t, c)
			}
			return got
		}

		ordinary := utf8.Valid(data) && !surrogate.Match(data) &&
			bytes.Count(data, []byte("[")) < 40 && bytes.Count(data, []byte("{")) < 40
		if got := bind(xbind.WithStrictness(lenient)) != nil; ordinary && got != (valid && !empty) {
			t.Fatalf("lenient: accepted %v, encoding/json %v", got, valid)
		}
		got := bind()
		if got != nil && got.maxCount() > 1 {
			t.Fatal("filled a field twice")
		}
		if got != nil && (!valid || !utf8.Valid(data)) {
			t.Fatal("accepted a body that encoding/json rejects")
		}
		harmless := valid && !empty && ordinary && want.maxCount() <= 1 && want.In.X.n <= 1 &&
			!repeatsName(data)
		if harmless && got == nil && !bytes.Contains(bytes.ToLower(data), []byte(`"y"`)) &&
			!bytes.Contains(bytes.ToLower(data), []byte(`"z"`)) {
			t.Fatal("rejected a harmless body")
		}
		if got == nil {
			return
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		known := d.Decode(new(filled)) == nil
		if got := bind(xbind.DisallowUnknownFields()) != nil; got != known {
			t.Fatalf("unknown fields: accepted %v, encoding/json %v", got, known)
		}
	})
}

// A body never fills a parameter, and fills the other fields like encoding/json.
func FuzzRequest(f *testing.F) {
	type update struct {
		ID   int    `uri:"id"`
		Note *int   `form:"note"`
		Name string `json:"name"`
		Any  any    `json:"any"`
	}
	for _, body := range []string{
		`{"ID":1,"id":2,"name":"n"}`, `{"\u0049d":1,"Note":5,"any":{"ID":3,"note":4}}`,
		`{"NOTE":"x","any":["ID",{"id":1}]}`, `{"id":{"id":1},"name":"ID"}`, `{"ID`, `{"ID":1,}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := xbind.Bind[update](request(body), nil).Request()
		if got == nil {
			return
		}
		var want struct {
			Name string `json:"name"`
			Any  any    `json:"any"`
		}
		err := json.NewDecoder(strings.NewReader(body)).Decode(&want)
		if err != nil || got.ID != 0 || got.Note != nil || got.Name != want.Name ||
			!reflect.DeepEqual(got.Any, want.Any) {
			t.Errorf("%q: %+v, want %+v (%v)", body, got, want, err)
		}
	})
}

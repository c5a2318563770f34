package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
	"github.com/plinthgo/plinth/openapix/internal/page/spec"
)

// parse returns a document with the members.
func parse(t *testing.T, members string) *spec.Document {
	t.Helper()
	d, err := spec.Parse([]byte(`{"openapi":"3.1.0","info":{"title":"x"},` + members + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// schemas returns a document with schemas.
func schemas(t *testing.T, members string) (d *spec.Document, first *jsontree.Value) {
	t.Helper()
	d = parse(t, `"components":{"schemas":{`+members+`}}`)
	return d, d.Get("components", "schemas").Members()[0].Value
}

func TestDocument_Resolve(t *testing.T) {
	d := parse(t, `"a":{"$ref":"#/b~1c/0/x%20y"},"b/c":[{"x y":{"name":"found"}}],
		"loop":{"$ref":"#/loop"},"external":{"$ref":"https://example.com/#/a"},"missing":{"$ref":"#/b~1c/7/x"},"root":{"$ref":"#"}`)
	for name, want := range map[string]string{"a": "found", "loop": "", "external": "", "missing": ""} {
		if got := d.Resolve(d.Get(name)).Get("name").Str(); got != want {
			t.Errorf("Resolve(%s) = %q, want %q", name, got, want)
		}
	}
}

func TestDocument_Shape(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{name: "empty", schema: `{}`, want: "any"},
		{name: "boolean", schema: `true`, want: "any"},
		{name: "format", schema: `{"type":"string","format":"uuid"}`, want: "string (uuid)"},
		{name: "null", schema: `{"type":["integer","null"],"format":"int64"}`, want: "integer (int64) or null"},
		{name: "types", schema: `{"type":["string","integer"]}`, want: "string or integer"},
		{name: "inferred object", schema: `{"properties":{}}`, want: "object"},
		{name: "inferred array", schema: `{"items":{"const":1}}`, want: "array of number"},
		{name: "nested arrays", schema: `{"type":"array","items":{"type":"array","items":{"type":["string","null"]}}}`, want: "array of array of string or null"},
		{name: "map", schema: `{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Named"}}`, want: "map of Named"},
		{name: "reference", schema: `{"$ref":"#/components/schemas/Named"}`, want: "Named"},
		{name: "optional reference", schema: `{"oneOf":[{"type":"null"},{"$ref":"#/components/schemas/Named"}]}`, want: "Named or null"},
		{name: "missing reference", schema: `{"$ref":"#/x"}`, want: "any"},
		{name: "variants", schema: `{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`, want: "any of"},
		{name: "values", schema: `{"enum":["a"]}`, want: "string"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, first := schemas(t, `"First":`+tc.schema+`,"Named":{"type":"object","properties":{"a":{}}}`)
			if got := d.Shape(first).Type; got != tc.want {
				t.Errorf("Type = %q, want %q", got, tc.want)
			}
		})
	}

	t.Run("describes the rules", func(t *testing.T) {
		d, first := schemas(t, `"S":{"minLength":1,"maxLength":1,"minItems":2,"maxProperties":3,"minimum":1.50,"exclusiveMaximum":1e3,"multipleOf":5,"uniqueItems":true,
			"pattern":"^a$","contentMediaType":"text/csv","x-binding":"eqfield=Other","additionalProperties":false,"items":{"minLength":2,"maxLength":4}}`)
		want := []string{
			"1 character", "at least 2 items", "at most 3 members", "≥ 1.50", "< 1e3", "multiple of 5", "unique items",
			"pattern ^a$", "text/csv", "rule eqfield=Other", "no other members", "each item: 2 to 4 characters",
		}
		if diff := cmp.Diff(want, d.Shape(first).Rules); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
	})

	t.Run("merges allOf and references with siblings", func(t *testing.T) {
		d, first := schemas(t, `"S":{"allOf":[{"$ref":"#/components/schemas/Base"},{"required":["b"],"properties":{"a":{"type":"string"},"b":{"type":"boolean"}}}],"description":"own"},
			"Base":{"description":"base","deprecated":true,"properties":{"a":{"description":"text","maxLength":3},"c":{"$ref":"#/components/schemas/Text","description":"sibling"}}},
			"Text":{"type":"string","description":"of Text","default":"x"}`)
		shape := d.Shape(first)
		var got []string
		for _, f := range shape.Fields {
			got = append(got, fmt.Sprint(f.Name, f.Required, f.Type, f.Description, f.Default, f.Rules))
		}
		want := []string{"afalsestringtext[at most 3 characters]", "cfalsestringsiblingx[]", "btrueboolean[]"}
		if diff := cmp.Diff(want, got); diff != "" || shape.Description != "own" || !shape.Deprecated {
			t.Errorf("shape = %+v (-want +got):\n%s", shape, diff)
		}
	})

	t.Run("stops at recursion", func(t *testing.T) {
		d, first := schemas(t, `"Tree":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}}}}`)
		fields := d.Shape(first).Fields
		if len(fields) != 2 || fields[1].Type != "array of Tree" || !fields[1].Cut || fields[1].Fields != nil || fields[0].Cut {
			t.Errorf("fields = %+v", fields)
		}
	})

	t.Run("limits the number of fields", func(t *testing.T) {
		var list []string
		for i := range 20 {
			next := fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i+1)
			list = append(list, fmt.Sprintf(`"S%d":{"properties":{"a":%s,"b":%s},"oneOf":[%s,%s]}`, i, next, next, next, next))
		}
		d, first := schemas(t, strings.Join(list, ","))
		if n := count(d.Shape(first)); n < 100 || n > 2000 {
			t.Errorf("the shape has %d fields", n)
		}
		if example := d.Example(parseValue(t, `{"schema":{"$ref":"#/components/schemas/S0"}}`), true); len(example.JSON()) > 50_000 {
			t.Errorf("the example has %d bytes", len(example.JSON()))
		}
	})
}

func count(s spec.Shape) int {
	n := 1
	for _, f := range s.Fields {
		n += count(f.Shape)
	}
	for _, v := range s.Variants {
		n += count(v)
	}
	return n
}

func parseValue(t *testing.T, text string) *jsontree.Value {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDocument_Example(t *testing.T) {
	d := parse(t, `"components":{"examples":{"E":{"value":[1]}},"schemas":{
		"Tree":{"type":"object","required":["left"],"properties":{"id":{"type":"integer","readOnly":true},"secret":{"type":"string","writeOnly":true},"old":{"deprecated":true},
			"left":{"$ref":"#/components/schemas/Tree"},"all":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}},"right":{"$ref":"#/components/schemas/Tree"}}}}}`)
	for _, tc := range []struct{ holder, request, response string }{
		{holder: `{"example":{"a":1},"schema":{"type":"string"}}`, request: `{"a":1}`, response: `{"a":1}`},
		{holder: `{"examples":{"x":{"$ref":"#/components/examples/E"}}}`, request: `[1]`, response: `[1]`},
		{holder: `{"schema":{"examples":["a","b"],"default":"c"}}`, request: `"a"`, response: `"a"`},
		{holder: `{"schema":{"type":"string","default":"c","enum":["d"]}}`, request: `"c"`, response: `"c"`},
		{holder: `{"schema":{"type":["null","string"],"enum":["d"]}}`, request: `"d"`, response: `"d"`},
		{holder: `{"schema":{"type":"string","maxLength":2}}`, request: `"st"`, response: `"st"`},
		{holder: `{"schema":{"type":"string","minLength":8}}`, request: `"xxxxxxxx"`, response: `"xxxxxxxx"`},
		{holder: `{"schema":{"type":"string","format":"date"}}`, request: `"2026-01-02"`, response: `"2026-01-02"`},
		{holder: `{"schema":{"type":"number","exclusiveMinimum":0}}`, request: `1`, response: `1`},
		{holder: `{"schema":{"type":"integer","minimum":9007199254740993}}`, request: `9007199254740993`, response: `9007199254740993`},
		{holder: `{"schema":{"additionalProperties":{"type":"boolean"}}}`, request: `{"key":true}`, response: `{"key":true}`},
		{holder: `{"schema":{"oneOf":[{"properties":{"a":{"const":1}}},{"type":"string"}]}}`, request: `{"a":1}`, response: `{"a":1}`},
		{holder: `{"schema":{"$ref":"#/components/schemas/Tree"}}`, request: `{"secret":"string","left":null,"all":[]}`, response: `{"id":0,"left":null,"all":[]}`},
		{holder: `{"schema":true}`, request: `null`, response: `null`},
	} {
		t.Run(tc.holder, func(t *testing.T) {
			got := []string{d.Example(parseValue(t, tc.holder), true).JSON(), d.Example(parseValue(t, tc.holder), false).JSON()}
			if diff := cmp.Diff([]string{tc.request, tc.response}, got); diff != "" {
				t.Errorf("examples (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDocument_Envelope(t *testing.T) {
	d, first := schemas(t, `"S":{"allOf":[{"$ref":"#/components/schemas/Envelope"},{"properties":{"data":{"$ref":"#/components/schemas/User"}}}]},
		"Envelope":{"properties":{"code":{"type":"integer"},"message":{"type":"string"},"data":{}}},"User":{"type":"object","properties":{"id":{}}}`)
	data, others, ok := d.Envelope(first)
	if !ok || data.Type != "User" || len(data.Fields) != 1 || cmp.Diff([]string{"code", "message"}, others) != "" {
		t.Errorf("Envelope = %+v, %v, %v", data, others, ok)
	}
	for _, name := range []string{"User", "Missing"} {
		if _, _, ok := d.Envelope(d.Get("components", "schemas", name)); ok {
			t.Errorf("%s is an envelope", name)
		}
	}
}

func TestDocument_Tags(t *testing.T) {
	d := parse(t, `"tags":[{"name":"b","description":"B"},{"name":"unused"}],"paths":{
		"/1":{"get":{"tags":["a","b"]},"parameters":[],"x-get":{}},"/2":{"post":{},"trace":{"tags":["b"]}},"/3":{"$ref":"#/paths/~11"}}`)
	var got []string
	for _, tag := range d.Tags() {
		line := tag.Name + ":"
		for _, o := range tag.Operations {
			line += " " + o.Method + o.Path
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"b: TRACE/2", "a: GET/1 GET/3", ": POST/2"}, got); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}

func TestOperation_Parameters(t *testing.T) {
	d := parse(t, `"paths":{"/{id}":{
		"parameters":[{"in":"path","name":"id","schema":{"type":"string"}},{"in":"query","name":"q","schema":{"type":"string"}},{"$ref":"#/missing"}],
		"get":{"parameters":[{"in":"header","name":"H","content":{"application/json":{"schema":{"type":"object"}}}},{"in":"query","name":"q","required":true,"schema":{"type":"array","default":[1]},"explode":false},{"in":"body","name":"b"}]}}}`)
	var got []string
	for _, p := range d.Operations()[0].Parameters() {
		got = append(got, fmt.Sprintf("%s %s %s required=%t joined=%t %s", p.In, p.Name, p.Shape.Kind, p.Required, p.Joined, p.Example))
	}
	want := []string{"path id string required=false joined=true ", "query q array required=true joined=true [1]", "header H object required=false joined=true "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// FuzzDocument checks that each document is described without a panic.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"openapi":"3.1.0","info":{"title":"x"},"paths":{"/x":{"get":{"parameters":[{"in":"query","name":"q","schema":{"$ref":"#/a"}}],
		"requestBody":{"content":{"application/json":{"schema":{"oneOf":[{"$ref":"#/a"},{"allOf":[{"$ref":"#/a"}]}]}}}},
		"responses":{"400":{"content":{"application/json":{"schema":{"oneOf":[{"$ref":"#/a"}]},"examples":{"E":{"value":{"code":1}}}}}}}}}},
		"a":{"properties":{"code":{"enum":[1]},"a":{"items":{"$ref":"#/a"}}},"additionalProperties":{"$ref":"#/a"},"anyOf":[{"$ref":"#/a"},{"type":"null"}]}}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		d, err := spec.Parse(text)
		if err != nil {
			return
		}
		d.Servers()
		d.Schemes()
		for _, tag := range d.Tags() {
			for _, o := range tag.Operations {
				o.Parameters()
				o.Body()
				for _, r := range o.Responses() {
					for _, c := range r.Contents {
						d.Envelope(c.Schema)
					}
				}
			}
		}
	})
}

package schema_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/openapix/internal/schema"
	"github.com/plinthgo/plinth/openapix/internal/testtypes"
	"github.com/plinthgo/plinth/openapix/internal/tree"
)

type color string

// amount encodes itself.
type amount struct{ cents int }

func (a amount) MarshalJSON() ([]byte, error) { return json.Marshal(a.cents) }

type embedded struct {
	A int `json:"a"`
}

type options struct {
	*embedded

	Omitted *string   `json:"omitted,omitempty"`
	Zero    time.Time `json:"zero,omitzero"`
	List    []string  `json:"list"`
	Short   []string  `json:"short,omitempty"`
	Must    []string  `json:"must" binding:"required"`
	Ref     *embedded `json:"ref"`
	Hidden  string    `json:"-"`
	Any     any       `json:"any"`
}

func TestBuilder_Type(t *testing.T) {
	for _, tc := range []struct {
		name     string
		typ      reflect.Type
		response string
		request  string // if it differs
	}{
		{"string", reflect.TypeFor[color](), `{"type":"string"}`, ""},
		{"bool", reflect.TypeFor[bool](), `{"type":"boolean"}`, ""},
		{"int8", reflect.TypeFor[int8](), `{"maximum":127,"minimum":-128,"type":"integer"}`, ""},
		{"uint32", reflect.TypeFor[uint32](), `{"maximum":4294967295,"minimum":0,"type":"integer"}`, ""},
		{"int32", reflect.TypeFor[int32](), `{"format":"int32","type":"integer"}`, ""},
		{"float32", reflect.TypeFor[float32](), `{"format":"float","type":"number"}`, ""},
		{"bytes", reflect.TypeFor[[]byte](), `{"contentEncoding":"base64","type":"string"}`, ""},
		{"time", reflect.TypeFor[time.Time](), `{"format":"date-time","type":"string"}`, ""},
		{"duration", reflect.TypeFor[time.Duration](), `{"format":"int64","type":"integer"}`, ""},
		{"number", reflect.TypeFor[json.Number](), `{"type":"number"}`, ""},
		{"raw", reflect.TypeFor[json.RawMessage](), `{}`, ""},
		{"any", reflect.TypeFor[any](), `{}`, ""},
		{"big integer", reflect.TypeFor[big.Int](), `{"type":"integer"}`, ""},
		{"id", reflect.TypeFor[xsnowflake.SnowflakeID](), `{"pattern":"^(0|[1-9][0-9]*)$","type":"string"}`, ""},
		{"uuid", reflect.TypeFor[uuid.UUID](), `{"format":"uuid","type":"string"}`, ""},
		{"deletion", reflect.TypeFor[gorm.DeletedAt](), `{"format":"date-time","type":["string","null"]}`, ""},
		{"text marshaler", reflect.TypeFor[netip.Addr](), `{"type":"string"}`, ""},
		{"JSON marshaler", reflect.TypeFor[amount](), `{}`, `{"$ref":"#/components/schemas/AmountInput"}`},
		{
			"array", reflect.TypeFor[[2]bool](),
			`{"items":{"type":"boolean"},"maxItems":2,"minItems":2,"type":"array"}`, "",
		},
		{
			"list of pointers", reflect.TypeFor[[]*bool](),
			`{"items":{"type":["boolean","null"]},"type":"array"}`, "",
		},
		{
			"map of lists", reflect.TypeFor[map[string][]bool](),
			`{"additionalProperties":{"items":{"type":"boolean"},"type":["array","null"]},"type":"object"}`,
			`{"additionalProperties":{"items":{"type":"boolean"},"type":"array"},"type":"object"}`,
		},
		{
			"map with integer keys", reflect.TypeFor[map[int]bool](),
			`{"additionalProperties":{"type":"boolean"},"propertyNames":{"pattern":"^-?(0|[1-9][0-9]*)$"},"type":"object"}`,
			"",
		},
		{
			"struct without a name", reflect.TypeFor[struct{ A bool }](),
			`{"properties":{"A":{"type":"boolean"}},"required":["A"],"type":"object"}`,
			`{"properties":{"A":{"type":"boolean"}},"type":"object"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := build(t, tc.typ, schema.Response); got != tc.response {
				t.Errorf("response %s, want %s", got, tc.response)
			}
			want := tc.request
			if want == "" {
				want = tc.response
			}
			got := strings.ReplaceAll(build(t, tc.typ, schema.Request), "/Amount\"", "/AmountInput\"")
			if got != want {
				t.Errorf("request %s, want %s", got, want)
			}
		})
	}
}

// build returns the schema of a type with sorted members.
func build(t *testing.T, typ reflect.Type, dir schema.Direction) string {
	t.Helper()
	b := schema.New(func(string) schema.Doc { return schema.Doc{} })
	s := b.Type(typ, dir)
	if _, errs := b.Finish(); errs != nil {
		t.Fatal(errs)
	}
	return sorted(t, s)
}

// sorted returns the JSON of a schema with sorted members.
func sorted(t *testing.T, s *schema.Schema) string {
	t.Helper()
	text, err := tree.Append(nil, s.Tree())
	if err != nil {
		t.Fatal(err)
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	text, err = json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBuilder_Type_Members(t *testing.T) {
	b := schema.New(func(string) schema.Doc { return schema.Doc{} })
	b.Type(reflect.TypeFor[options](), schema.Response)
	b.Type(reflect.TypeFor[options](), schema.Request)
	components, errs := b.Finish()
	if errs != nil {
		t.Fatal(errs)
	}
	want := map[string]string{
		"Embedded":      `{"properties":{"a":{"format":"int64","type":"integer"}},"required":["a"],"type":"object"}`,
		"EmbeddedInput": `{"properties":{"a":{"format":"int64","type":"integer"}},"type":"object"}`,
		"Options": `{"properties":{"a":{"format":"int64","type":"integer"},"any":{},` +
			`"list":{"items":{"type":"string"},"type":["array","null"]},` +
			`"must":{"items":{"type":"string"},"type":"array"},"omitted":{"type":"string"},` +
			`"ref":{"anyOf":[{"$ref":"#/components/schemas/Embedded"},{"type":"null"}]},` +
			`"short":{"items":{"type":"string"},"type":"array"},"zero":{"format":"date-time","type":"string"}},` +
			`"required":["list","must","ref","any"],"type":"object"}`,
		"OptionsInput": `{"properties":{"a":{"format":"int64","type":"integer"},"any":{},` +
			`"list":{"items":{"type":"string"},"type":"array"},` +
			`"must":{"items":{"type":"string"},"type":"array"},"omitted":{"type":["string","null"]},` +
			`"ref":{"anyOf":[{"$ref":"#/components/schemas/EmbeddedInput"},{"type":"null"}]},` +
			`"short":{"items":{"type":"string"},"type":"array"},"zero":{"format":"date-time","type":"string"}},` +
			`"required":["must"],"type":"object"}`,
	}
	for _, c := range components {
		if got := sorted(t, c.Schema); got != want[c.Name] {
			t.Errorf("%s:\n got %s\nwant %s", c.Name, got, want[c.Name])
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing components: %v", want)
	}
}

type (
	page[T any]    struct{ Items []T }
	pair[A, B any] struct {
		First  A
		Second B
	}
	// Group has the name of another type.
	Group struct{ Name string }
	// PageGroup has the name of an instance of page.
	PageGroup struct{ Name string }
)

func TestBuilder_Finish_Names(t *testing.T) {
	for _, tc := range []struct {
		name  string
		types []reflect.Type
		want  string
	}{
		{"generic", []reflect.Type{reflect.TypeFor[page[color]]()}, "PageColor"},
		{"nested generic", []reflect.Type{reflect.TypeFor[page[page[color]]]()}, "PageColor,PagePageColor"},
		{"two arguments", []reflect.Type{reflect.TypeFor[pair[color, int]]()}, "PairColorInt"},
		{"list argument", []reflect.Type{reflect.TypeFor[page[[]*color]]()}, "PageColor"},
		{
			"two packages",
			[]reflect.Type{reflect.TypeFor[Group](), reflect.TypeFor[testtypes.Group]()},
			"SchemaTestGroup,TesttypesGroup",
		},
		{
			"the order of use has no effect",
			[]reflect.Type{reflect.TypeFor[testtypes.Group](), reflect.TypeFor[Group]()},
			"SchemaTestGroup,TesttypesGroup",
		},
		{
			"one package",
			[]reflect.Type{reflect.TypeFor[page[Group]](), reflect.TypeFor[PageGroup]()},
			"Group,SchemaTestPageGroup,SchemaTestPageGroup2",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := schema.New(func(string) schema.Doc { return schema.Doc{} })
			for _, typ := range tc.types {
				b.Type(typ, schema.Response)
			}
			components, errs := b.Finish()
			if errs != nil {
				t.Fatal(errs)
			}
			var names []string
			for _, c := range components {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, ","); got != tc.want {
				t.Errorf("names %s, want %s", got, tc.want)
			}
		})
	}
	t.Run("a defined component keeps its name", func(t *testing.T) {
		b := schema.New(func(string) schema.Doc { return schema.Doc{} })
		b.Define("Group", schema.Of("object"))
		b.Type(reflect.TypeFor[testtypes.Group](), schema.Response)
		components, _ := b.Finish()
		if len(components) != 2 || components[0].Name != "Group" ||
			components[1].Name != "TesttypesGroup" {
			t.Errorf("got %+v, want Group and TesttypesGroup", components)
		}
	})
}

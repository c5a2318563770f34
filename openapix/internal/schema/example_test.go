package schema_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/openapix/internal/schema"
)

func TestBuilder_Type_Examples(t *testing.T) {
	for _, tc := range []struct {
		name string
		typ  reflect.Type
		tag  string
		want string // the example in JSON, or the reason of an error
	}{
		{"string", reflect.TypeFor[string](), `example:"12"`, `"12"`},
		{"integer", reflect.TypeFor[int](), `example:"12"`, `12`},
		{"large integer", reflect.TypeFor[int64](), `example:"9007199254740993"`, `9007199254740993`},
		{"out of range", reflect.TypeFor[int8](), `example:"128"`, "v must be an integer from -128 to 127"},
		{"fraction", reflect.TypeFor[int](), `example:"1.5"`, "v must be an integer"},
		{"bool", reflect.TypeFor[bool](), `example:"true"`, `true`},
		{"not a bool", reflect.TypeFor[bool](), `example:"yes"`, "v must be true or false"},
		{"pointer", reflect.TypeFor[*float64](), `example:"0.5"`, `0.5`},
		{"list", reflect.TypeFor[[]int](), `example:"1, 2"`, `[1,2]`},
		{"list in JSON", reflect.TypeFor[[]string](), `example:"[\"a,b\"]"`, `["a,b"]`},
		{"object", reflect.TypeFor[leaf](), `example:"{\"name\":\"ada\"}"`, `{"name":"ada"}`},
		{"rule of an object", reflect.TypeFor[leaf](), `example:"{}"`, "name is a required field"},
		{"not JSON", reflect.TypeFor[leaf](), `example:"ada"`, "v must be an object"},
		{"time", reflect.TypeFor[time.Time](), `example:"2026-01-31T10:00:00Z"`, `"2026-01-31T10:00:00Z"`},
		{"not a time", reflect.TypeFor[time.Time](), `example:"today"`, "v must be a time (RFC 3339)"},
		{"id", reflect.TypeFor[xsnowflake.SnowflakeID](), `example:"7"`, `"7"`},
		{"not an id", reflect.TypeFor[xsnowflake.SnowflakeID](), `example:"07"`, "v must be a valid id"},
		{
			"a rule without a keyword", reflect.TypeFor[string](), `binding:"lowercase" example:"A"`,
			"v must be a lowercase string",
		},
		{
			"a rule about another field", reflect.TypeFor[string](), `binding:"eqfield=W" example:"A"`,
			`"A"`,
		},
		{
			"a rule for elements", reflect.TypeFor[[]string](), `binding:"dive,min=2" example:"ab,c"`,
			"v[1] must be at least 2 characters in length",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := schema.New(func(string) schema.Doc { return schema.Doc{} })
			s := b.Type(reflect.StructOf([]reflect.StructField{
				{Name: "V", Type: tc.typ, Tag: reflect.StructTag(`json:"v" ` + tc.tag)},
			}), schema.Request)
			_, errs := b.Finish()
			got := sorted(t, s)
			if errs != nil {
				got = errs[0].Error()
			}
			if !strings.Contains(got, `"examples":[`+tc.want+`]`) && !strings.HasSuffix(got, ": "+tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

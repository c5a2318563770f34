package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/openapix/internal/schema"
	"github.com/plinthgo/plinth/openapix/internal/tree"
)

const valuesPerSchema = 200

// inexact are the rules that a schema expresses only approximately, or not at all. The
// schema keeps them in x-binding.
var inexact = []string{
	"email", "url", "strict_url", "ip", "ipv4", "ipv6", "fqdn", // formats with another grammar
	"datetime=2006-01-02 15:04", "snowflake", "eqfield=V", "lowercase", "regexp=(?i)^a+$",
}

// ruleCase is a field with rules.
type ruleCase struct {
	typ  reflect.Type
	tag  string
	near []string // JSON values at the bounds of the rules
}

func ruleOf[T any](tag string, near ...string) ruleCase {
	return ruleCase{reflect.TypeFor[T](), tag, near}
}

type leaf struct {
	Name string `json:"name" binding:"required,max=3"`
	N    int    `json:"n" binding:"omitempty,min=2"`
}

const (
	uuid4 = `"9b2f6c1e-3d4a-4f5b-8c6d-7e8f9a0b1c2d"`
	uuid7 = `"0198c0de-0000-7000-8000-000000000001"`
)

var ruleCases = []ruleCase{
	ruleOf[string]("required"),
	ruleOf[string]("min=3,max=5", `"ab"`, `"abc"`, `"日本語"`, `"abcde"`, `"abcdef"`),
	ruleOf[string]("omitempty,min=3", `""`, `"ab"`, `"abc"`),
	ruleOf[string]("len=2", `"é"`, `"éé"`),
	ruleOf[string]("gt=1,lt=4"), ruleOf[string]("gte=1,lte=4"),
	ruleOf[string]("oneof=a 'b c' d", `"a"`, `"b c"`, `"b"`, `"d"`),
	ruleOf[string]("omitempty,oneof=a b", `"a"`, `"c"`),
	ruleOf[string]("enum_string=x 'y z'", `"x"`, `"y z"`, `"y"`),
	ruleOf[string]("noneof=a b", `"a"`, `"c"`),
	ruleOf[string]("eq=a", `"a"`), ruleOf[string]("ne=a", `"a"`),
	ruleOf[string]("alpha"), ruleOf[string]("alphanum"), ruleOf[string]("alphanum_underscore"),
	ruleOf[string]("alphaspace"), ruleOf[string]("alphanumspace"), ruleOf[string]("ascii"),
	ruleOf[string]("printascii", `"\t"`), ruleOf[string]("numeric", `"-1.5"`, `"1."`, `"12"`),
	ruleOf[string]("number", `"12"`, `"-1"`), ruleOf[string]("hexadecimal", `"0xff"`, `"fg"`),
	ruleOf[string]("hexcolor", `"#fff"`, `"#ffff"`, `"#fffff"`),
	ruleOf[string]("e164", `"+4915112345678"`, `"0151123"`),
	ruleOf[string]("boolean", `"true"`, `"T"`, `"yes"`),
	ruleOf[string]("hostname", `"a.example"`, `"-a"`, `"1a"`),
	ruleOf[string]("hostname_rfc1123", `"1a.example"`, `"a-"`),
	ruleOf[string]("uuid", uuid4, uuid7, strings.ToUpper(uuid4), `"9b2f6c1e"`),
	ruleOf[string]("uuid4", uuid4, uuid7, strings.ToUpper(uuid4)),
	ruleOf[string]("strict_uuid", uuid4, uuid7, `"00000000-0000-0000-0000-000000000000"`),
	ruleOf[string]("regexp=^[a-c]{2}0x2C?$", `"ab"`, `"ab,"`, `"abd"`),
	ruleOf[string]("contains=a.", `"a."`, `"ab"`), ruleOf[string]("startswith=a+", `"a+b"`, `"aab"`),
	ruleOf[string]("endswith=b", `"ab"`), ruleOf[string]("excludes=a", `"ba"`),
	ruleOf[string]("alphanum,startswith=a,max=3", `"ab1"`, `"a-"`, `"b"`, `"abcd"`),
	ruleOf[string]("alpha|numeric", `"ab"`, `"12"`, `"a1"`),
	ruleOf[string]("datetime=2006-01-02", `"2026-02-28"`, `"2026-02-30"`),
	ruleOf[int]("required"), ruleOf[int]("min=-2,max=3"), ruleOf[int]("gt=1,lt=4"),
	ruleOf[int]("required,gte=10"), ruleOf[int]("omitempty,min=3"), ruleOf[int]("len=2"),
	ruleOf[int]("oneof=1 3 5"), ruleOf[int]("enum_int=1 3"), ruleOf[int]("eq=2"), ruleOf[int]("ne=2"),
	ruleOf[uint8]("max=10", `255`, `256`, `-1`), ruleOf[int8]("", `127`, `128`, `-129`),
	ruleOf[float64]("gt=0,lte=1.5", `0.1`, `1.5`, `1.6`), ruleOf[float64]("enum_float=0.5 2", `0.5`),
	ruleOf[bool]("required"), ruleOf[bool](""),
	ruleOf[time.Duration]("min=1us,max=2us", `999`, `1000`, `2000`, `2001`),
	ruleOf[*string]("required", `null`), ruleOf[*string]("omitempty,min=2", `null`),
	ruleOf[*string]("min=2", `null`), ruleOf[*int]("omitempty,min=2", `null`), ruleOf[*int]("", `null`),
	ruleOf[[]string]("required"), ruleOf[[]string]("min=1,max=2"), ruleOf[[]string]("omitempty,min=1"),
	ruleOf[[]string]("len=2"), ruleOf[[]string]("omitempty,len=2"), ruleOf[map[string]int]("len=1"),
	ruleOf[bool]("eq=true"), ruleOf[bool]("ne=true"), ruleOf[string]("eq="),
	ruleOf[string]("omitempty,alpha,max=3"), ruleOf[string]("omitempty,uuid", uuid4, `""`),
	ruleOf[int]("omitempty,oneof=3 5"), ruleOf[float64]("omitempty,gt=0.5"),
	ruleOf[string]("startsnotwith=a", `"ba"`), ruleOf[string]("endsnotwith=a", `"ab"`),
	ruleOf[string]("max=3,required"), ruleOf[uint]("required", `1`), ruleOf[int]("noneof=1 2"),
	ruleOf[[]string]("max=3,unique,dive,min=1,max=2"), ruleOf[[]int]("dive,oneof=1 2"),
	ruleOf[[]string]("dive,omitempty,min=2"), ruleOf[[]*int]("dive,omitempty,min=2", `[null]`),
	ruleOf[[][]int]("max=2,dive,max=1,dive,gt=0", `[[1],[2]]`, `[[1,2]]`, `[[0]]`),
	ruleOf[map[string]int]("min=1,max=2,dive,keys,alpha,endkeys,gt=0"),
	ruleOf[leaf]("", `{"name":"ada"}`, `{"name":"ada","n":1}`, `{"name":"grace"}`, `{}`),
	ruleOf[*leaf]("", `{"name":"ada"}`, `{}`, `null`), ruleOf[*leaf]("required", `null`),
	ruleOf[[]leaf]("dive", `[{"name":"ada"}]`, `[{}]`),
	ruleOf[xsnowflake.SnowflakeID]("required", `"0"`, `"1"`, `"01"`, `"x"`),
	ruleOf[xsnowflake.SnowflakeID]("", `"0"`, `"12"`, `"-1"`),
	ruleOf[time.Time]("", `"2026-01-31T10:00:00Z"`, `"2026-01-31"`, `"x"`),
}

// TestBuilder_Type_Rules compares the schema of a field with the decoder and the
// validator of the service, for random values around the bounds of its rules.
func TestBuilder_Type_Rules(t *testing.T) {
	for _, tc := range ruleCases {
		t.Run(tc.typ.String()+" "+tc.tag, func(t *testing.T) {
			typ := reflect.StructOf([]reflect.StructField{{
				Name: "V", Type: tc.typ,
				Tag: reflect.StructTag(fmt.Sprintf(`json:"v" binding:%q`, tc.tag)),
			}})
			text, validator := compile(t, typ)
			if strings.Contains(text, "x-binding") {
				t.Errorf("the schema has x-binding, so the rule must be in the list inexact:\n%s", text)
			}
			random := rand.New(rand.NewPCG(1, uint64(len(tc.tag))))
			accepted := 0
			for i := range valuesPerSchema {
				body := `{"v":` + valueOf(random, tc, i) + `}`
				if i == 0 {
					body = `{}`
				}
				var value any
				if err := json.Unmarshal([]byte(body), &value); err != nil {
					t.Fatal(err)
				}
				inSchema, inService := validator.Validate(value), accept(typ, body)
				if (inSchema == nil) != (inService == nil) {
					t.Fatalf("%s: schema %v, service %v\n%s", body, inSchema, inService, text)
				}
				if inService == nil {
					accepted++
				}
			}
			if accepted == 0 {
				t.Errorf("no value is valid, so the test compares nothing")
			}
		})
	}
}

func TestBuilder_Type_Inexact(t *testing.T) {
	for _, rule := range inexact {
		t.Run(rule, func(t *testing.T) {
			typ := reflect.StructOf([]reflect.StructField{{
				Name: "V", Type: reflect.TypeFor[string](),
				Tag: reflect.StructTag(fmt.Sprintf(`json:"v" binding:%q`, rule)),
			}})
			text, _ := compile(t, typ)
			if want := fmt.Sprintf(`"x-binding": %q`, rule); !strings.Contains(text, want) {
				t.Errorf("got %s, want %s", text, want)
			}
		})
	}
}

// compile returns the schema of a type, as text and for an independent validator.
func compile(t *testing.T, typ reflect.Type) (string, *jsonschema.Schema) {
	t.Helper()
	b := schema.New(func(string) schema.Doc { return schema.Doc{} })
	s := b.Type(typ, schema.Request)
	components, errs := b.Finish()
	if errs != nil {
		t.Fatal(errs)
	}
	schemas := tree.New()
	for _, c := range components {
		schemas.Set(c.Name, c.Schema.Tree())
	}
	root := s.Tree().Set("components", tree.New().Set("schemas", schemas))
	text, err := tree.Append(nil, root)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text), compiled
}

// accept decodes and validates a body like the service.
func accept(typ reflect.Type, body string) error {
	v := reflect.New(typ)
	if err := json.Unmarshal([]byte(body), v.Interface()); err != nil {
		return err
	}
	return xvalid.Validate(nil, v.Interface()) //nolint:staticcheck // the rules use no context
}

// valueOf returns a JSON value: first those at the bounds, then random ones.
func valueOf(r *rand.Rand, tc ruleCase, i int) string {
	if i > 0 && i <= len(tc.near) {
		return tc.near[i-1]
	}
	if len(tc.near) > 0 && r.IntN(4) == 0 {
		return tc.near[r.IntN(len(tc.near))]
	}
	text, _ := json.Marshal(randomValue(r, tc.typ))
	return string(text)
}

// randomValue returns a small value of a type. A quarter of the elements are at the usual
// bounds of the cases.
func randomValue(r *rand.Rand, t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer:
		return randomValue(r, t.Elem())
	case reflect.String:
		const letters = "abcdAZ019_ .-+é日"
		n := r.IntN(7)
		word := make([]rune, n)
		for i := range word {
			word[i] = []rune(letters)[r.IntN(len([]rune(letters)))]
			if r.IntN(2) == 0 {
				word[i] = 'a'
			}
		}
		return string(word)
	case reflect.Bool:
		return r.IntN(2) == 0
	case reflect.Float32, reflect.Float64:
		return float64(r.IntN(9)-2) / 2
	case reflect.Slice:
		list := []any{}
		for range r.IntN(5) {
			list = append(list, randomValue(r, t.Elem()))
		}
		return list
	case reflect.Map:
		object := map[string]any{}
		for range r.IntN(4) {
			object[fmt.Sprint(randomValue(r, t.Key()))] = randomValue(r, t.Elem())
		}
		return object
	case reflect.Struct:
		if t != reflect.TypeFor[leaf]() {
			return "2026-01-31T10:00:00Z"
		}
		return map[string]any{"name": randomValue(r, reflect.TypeFor[string]()), "n": r.IntN(4)}
	default:
		if t == reflect.TypeFor[xsnowflake.SnowflakeID]() {
			return fmt.Sprint(r.IntN(4))
		}
		return r.IntN(16) - 4
	}
}

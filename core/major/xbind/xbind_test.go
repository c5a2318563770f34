package xbind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xbind"
)

type item struct {
	Price int8           `json:"price" binding:"gte=0"`
	Tags  map[string]int `json:"tags"`
}

type upper string

func (u *upper) UnmarshalText(b []byte) error {
	if s := string(b); strings.ToUpper(s) != s {
		return errors.New("not upper case: " + s)
	}
	*u = upper(b)
	return nil
}

type common struct {
	Page int `json:"page"`
}

type order struct {
	common
	Name   string                 `json:"name"   binding:"required,max=20"`
	Items  []item                 `json:"items"  binding:"dive"`
	Raw    json.RawMessage        `json:"raw"`
	Any    any                    `json:"any"`
	At     time.Time              `json:"at"`
	Code   upper                  `json:"code"`
	Owner  xsnowflake.SnowflakeID `json:"owner"`
	Quoted int                    `json:"quoted,string"`
	Self   *order                 `json:"self"`
	Bytes  []byte                 `json:"bytes"`
	Yes    bool                   `json:"yes"`
	Rate   float32                `json:"rate"`
	Small  uint16                 `json:"small"`
}

func TestBinder_Data(t *testing.T) {
	t.Run("fills and validates the destination", func(t *testing.T) {
		c := request(` {"name":"ada","items":[{"price":5}],"raw":{"a": 1},"page":3,"NAME_":1} ` +
			"\n")
		got := xbind.Bind(c, &order{Yes: true}).Data()
		want := &order{
			common: common{Page: 3}, Name: "ada",
			Items: []item{{Price: 5}}, Raw: json.RawMessage(`{"a": 1}`), Yes: true,
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(order{})); diff != "" {
			t.Errorf("Data (-want +got):\n%s", diff)
		}
		if len(c.Errors) != 0 || c.IsAborted() {
			t.Errorf("errors %v, aborted %v; want none, false", c.Errors, c.IsAborted())
		}
	})

	t.Run("allocates a nil destination", func(t *testing.T) {
		if got := xbind.Bind[order](request(`{"name":"ada"}`), nil).Data(); got == nil ||
			got.Name != "ada" {
			t.Errorf("Data = %v, want a new order", got)
		}
	})

	t.Run("fills maps, slices and pointers", func(t *testing.T) {
		if got := xbind.Bind(request(`{"a":1,"A":2}`), &map[string]int{}).Data(); got == nil ||
			(*got)["A"] != 2 {
			t.Errorf("map: %v", got)
		}
		if got := xbind.Bind(request(`[{"price":1},{"price":2}]`), &[]item{}).Data(); got == nil ||
			len(*got) != 2 {
			t.Errorf("slice: %v", got)
		}
		c := request(`[{"price":1},{"price":-2}]`)
		if xbind.Bind(c, &[]item{}).Data() != nil ||
			failedFields(reported(t, c)) != "[1].price:gte" {
			t.Errorf("slice with an invalid element: %v", c.Errors)
		}
		var pointer *item
		if got := xbind.Bind(request(`{"price":1}`), &pointer).Data(); got == nil ||
			(*got).Price != 1 {
			t.Errorf("pointer: %v", got)
		}
	})

	t.Run("accepts unusual valid bodies", func(t *testing.T) {
		for _, body := range []string{
			`{"name":"a","other":{"name":1,"NAME":2}}`,       // a map distinguishes case
			`{"name":"a","any":{"a":1,"A":2}}`,               // a map in an interface as well
			`{"name":"a","items":[{"price":1},{"price":1}]}`, // separate objects
			`{"name":"\ud83d\ude00"}`,                        // a surrogate pair
			`{"name":"\\ud800"}`,                             // an escaped backslash
			`{"name":"a\\u\"b\/"}`,                           // other escapes
			`{"name":"é漢字😀"}`,
			`{"name":"a","any":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`,
			`{"name":"a","page":null,"items":null,"self":null}`, // null does not change a field
			`{"name":"a","quoted":"5","code":"AB","bytes":"YQ=="}`,
			`{"":1,"name":"a"}`,
		} {
			c := request(body)
			if xbind.Bind(c, &order{}).Data() == nil {
				t.Errorf("%s: %v", body, c.Errors)
			}
		}
	})
}

// As in encoding/json, the exact name has priority over the first name that differs in
// case only.
func TestBinder_Data_NameCase(t *testing.T) {
	type cased struct {
		Key, KEY int
		Dotted   int `json:"i"`
	}
	for body, field := range map[string]string{
		`{"Key":1,"key":1}`:      "Key",
		`{"Key":1,"\u212aey":1}`: "Key", // the kelvin sign
		`{"KEY":1,"KEY":1}`:      "KEY",
		`{"Key":1,"KEY":1}`:      "",
		`{"i":1,"ı":1,"İ":1}`:    "", // different letters
	} {
		c := request(body)
		want := ""
		if field != "" {
			want = field + ":duplicate"
		}
		if xbind.Bind(c, &cased{}).Data() != nil {
			if field != "" {
				t.Errorf("accepted %s", body)
			}
		} else if got := failedFields(reported(t, c)); got != want {
			t.Errorf("%s: failures %q, want %q", body, got, want)
		}
	}
}

const secret = "Secret-P4ssword!"

func TestBinder_Data_Errors(t *testing.T) {
	deep := strings.Repeat(`[`, 101) + strings.Repeat(`]`, 101)
	for _, tc := range []struct {
		name, body string
		code       *xerror.ErrorCode
		message    string
		fields     string
	}{
		{"empty", ``, xerror.BodyEmpty, "no body", ""},
		{"white space", " \r\n\t", xerror.BodyEmpty, "no body", ""},
		{"null", `null`, xerror.BodyEmpty, "null", ""},
		{"null and space", " null \n", xerror.BodyEmpty, "null", ""},
		{"truncated", `{"name":"` + secret, xerror.BodyError, "valid JSON at byte 25", ""},
		{"not JSON", `name=` + secret, xerror.BodyError, "valid JSON at byte", ""},
		{"comma at the end", `{"name":"a",}`, xerror.BodyError, "valid JSON at byte 13", ""},
		{
			"white space before the error", `   {"name"}`,
			xerror.BodyError, "valid JSON at byte 11", "",
		},
		{"byte order mark", "\ufeff{}", xerror.BodyError, "valid JSON at byte 1", ""},
		{"letter instead of a digit", `{"page":1é}`, xerror.BodyError, "valid JSON at byte 10", ""},
		{"leading zero", `{"page":01}`, xerror.BodyError, "valid JSON at byte 10", ""},
		{"control character", "{\"name\":\"a\nb\"}", xerror.BodyError, "valid JSON", ""},
		{
			"second value", `{"name":"a"}{"name":"b"}`,
			xerror.BodyError, "data after its JSON value at byte 12", "",
		},
		{"trailing text", `{"name":"a"} ` + secret, xerror.BodyError, "data after", ""},
		{
			"same name", `{"name":"a","name":"` + secret + `"}`,
			xerror.BodyError, "name occurs twice", "name:duplicate",
		},
		{
			"same field in another case", `{"name":"a","NAME":"b"}`,
			xerror.BodyError, "name occurs twice", "name:duplicate",
		},
		{
			"same name escaped", `{"name":"a","n\u0061me":"b"}`,
			xerror.BodyError, "name occurs twice", "name:duplicate",
		},
		{
			"same field of an embedded struct", `{"page":1,"Page":2}`,
			xerror.BodyError, "page occurs twice", "page:duplicate",
		},
		{"same name unknown", `{"x":1,"x":2}`, xerror.BodyError, "x occurs twice", "x:duplicate"},
		{
			"same name in a nested object", `{"items":[{},{"tags":{"a":1,"a":2}}]}`,
			xerror.BodyError, "a occurs twice", "items[1].tags.a:duplicate",
		},
		{
			"same name in any", `{"any":[{"b":{"c":1,"c":1}}]}`, xerror.BodyError, "c occurs twice",
			"any[0].b.c:duplicate",
		},
		{
			"same name in raw", `{"raw":{"c":1,"c":1}}`, xerror.BodyError, "c occurs twice",
			"raw.c:duplicate",
		},
		{
			"same unsafe name", `{"` + secret + `":1,"` + secret + `":2}`,
			xerror.BodyError, "* occurs twice", "*:duplicate",
		},
		{"too deep", `{"any":` + deep + `}`, xerror.BodyError, "deeper than 100 levels", ""},
		{"invalid UTF-8", "{\"name\":\"a\xff\"}", xerror.BodyError, "UTF-8 at byte 10", ""},
		{
			"invalid UTF-8 behind U+FFFD", "{\"name\":\"\ufffd\xff\"}",
			xerror.BodyError, "UTF-8 at byte 12", "",
		},
		{"lone surrogate", `{"name":"\ud800"}`, xerror.BodyError, "UTF-8 at byte 9", ""},
		{"lone low surrogate", `{"name":"\udc00x"}`, xerror.BodyError, "UTF-8 at byte 9", ""},
		{
			"lone surrogate behind escapes", `{"name":"\\\u0041\ud83d\ude00\ud83d\u0041"}`,
			xerror.BodyError, "UTF-8 at byte 29", "",
		},
		{
			"text for a number", `{"page":"` + secret + `"}`,
			xerror.BodyType, "page must be an integer", "page:type",
		},
		{
			"number for a text", `{"name":123456789}`, xerror.BodyType, "name must be a string",
			"name:type",
		},
		{
			"number out of range", `{"items":[{},{"price":987654321}]}`,
			xerror.BodyType, "price must be an integer from -128 to 127", "items[1].price:type",
		},
		{
			"fraction", `{"small":1.5}`,
			xerror.BodyType, "small must be an integer from 0 to 65535", "small:type",
		},
		{
			"text for a boolean", `{"yes":"true"}`, xerror.BodyType, "yes must be true or false",
			"yes:type",
		},
		{
			"text for a fraction", `{"rate":"1"}`, xerror.BodyType, "rate must be a number",
			"rate:type",
		},
		{
			"object for a list", `{"items":{"a":1}}`, xerror.BodyType, "items must be a list",
			"items:type",
		},
		{
			"list for an object", `{"items":[[1]]}`, xerror.BodyType, "items[0] must be an object",
			"items[0]:type",
		},
		{
			"text for an object", `{"self":{"self":"x"}}`,
			xerror.BodyType, "self must be an object", "self.self:type",
		},
		{
			"value of a map", `{"items":[{"tags":{"a":1,"b":"x"}}]}`,
			xerror.BodyType, "b must be an integer", "items[0].tags.b:type",
		},
		{
			"bytes", `{"bytes":"` + secret + `"}`, xerror.BodyType, "bytes must be a Base64 string",
			"bytes:type",
		},
		{"list at the top", `[1]`, xerror.BodyType, "the body must be an object", ":type"},
		{
			"text at the top", `"` + secret + `"`, xerror.BodyType, "the body must be an object",
			":type",
		},
		{
			"time", `{"self":{"at":"` + secret + `"}}`, xerror.BodyType, "at must be a time",
			"self.at:type",
		},
		{
			"negative id", `{"owner":"-5"}`, xerror.BodyType, "owner must be a valid id",
			"owner:type",
		},
		{
			"custom type", `{"code":"` + secret + `"}`, xerror.BodyType, "code must be a string",
			"code:type",
		},
		{
			"quoted number", `{"quoted":"` + secret + `"}`,
			xerror.BodyType, "quoted must be an integer", "quoted:type",
		},
		{
			"number for a quoted number", `{"quoted":987654321}`,
			xerror.BodyType, "quoted must be an integer", "quoted:type",
		},
		{
			"list for a map", `{"items":[{"tags":[]}]}`, xerror.BodyType, "tags must be an object",
			"items[0].tags:type",
		},
		{"invalid escape in a name", `{"n\x":1}`, xerror.BodyError, "valid JSON at byte 5", ""},
		{
			"rule", `{"name":"` + secret + secret + `","items":[{"price":-5}]}`, xerror.BodyError,
			"name must be a maximum of 20 characters", "name:max items[0].price:gte",
		},
		{
			"rule for a missing field", `{}`, xerror.BodyError, "name is a required field",
			"name:required",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := request(tc.body)
			if got := xbind.Bind(c, &order{}).Data(); got != nil {
				t.Fatalf("Data = %+v, want nil", got)
			}
			e := reported(t, c)
			if e.GetErrorCode() != tc.code || failedFields(e) != tc.fields ||
				!strings.Contains(string(e.GetErrorMessage()), tc.message) {
				t.Errorf("reported %v with %q, want %v, %q, %q",
					e, failedFields(e), tc.code, tc.message, tc.fields)
			}
			output := fmt.Sprint(e.Error(), e.GetErrorMessage(), e.GetData())
			for _, value := range []string{secret, "123456789", "987654321"} {
				if strings.Contains(output, value) {
					t.Errorf("%q contains the value", output)
				}
			}
		})
	}
}

func TestBinder_Data_DefaultType(t *testing.T) {
	c := request(`{"name":"ada","any":{"price":"` + secret + `"}}`)
	if got := xbind.Bind(c, &order{Any: &item{}}).Data(); got != nil {
		t.Fatalf("Data = %+v, want nil, as the default value in the interface rejects the text",
			got)
	}
	e := reported(t, c)
	if e.GetErrorCode() != xerror.BodyType || failedFields(e) != "" ||
		strings.Contains(e.Error(), secret) {
		t.Errorf("reported %v with %q, want BODY_TYPE without a field", e, failedFields(e))
	}
}

func TestBinder_Data_Language(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{``, "请求体为空"},
		{`{`, "请求体在第 1 字节处不是有效的 JSON"},
		{`{"page":"x"}`, "page必须是整数"},
		{`{"x":1,"x":1}`, "x重复出现"},
		{`{}`, "name为必填字段"},
	} {
		c := request(tc.body)
		r := xctx.NewRequest(c.Request.Context(), nil)
		r.SetAcceptLanguage("zh")
		c.Request = c.Request.WithContext(r)
		xbind.Bind(c, &order{}).Data()
		if got := string(reported(t, c).GetErrorMessage()); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.body, got, tc.want)
		}
	}
}

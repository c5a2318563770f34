package xvalid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log" //nolint:depguard // the test captures what the library prints
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// inLanguage returns the context of a request with the given Accept-Language header.
func inLanguage(t *testing.T, header string) context.Context {
	t.Helper()
	r := xctx.NewRequest(t.Context(), nil)
	r.SetAcceptLanguage(header)
	return r
}

type base struct {
	ID string `json:"id" binding:"required"`
}

type generic[T any] struct {
	Items []T `json:"items" binding:"dive"`
}

func TestFailures_Field(t *testing.T) {
	t.Run("is the dotted path of tag names", func(t *testing.T) {
		type named struct {
			A string `json:"a,omitempty" binding:"required"`
			B string `form:"b" binding:"required"`
			C string `uri:"c" binding:"required"`
			D string `header:"X-D" binding:"required"`
			E string `binding:"required"`
			F string `json:"-" form:"f" binding:"required"`
		}
		type embeds struct {
			base
			Inner struct {
				Deep string `json:"deep" binding:"required"`
			} `json:"inner"`
		}
		type embedsPointer struct {
			*base `binding:"required"`
		}
		type numbers struct {
			N [][]int `json:"n" binding:"dive,dive,gt=0"`
		}
		for _, tc := range []struct {
			name  string
			value any
			want  string
		}{
			{"every tag in turn", named{}, "a b c X-D E f"},
			{"element of a list", order{[]item{{1}, {1}, {0}}}, "items[2].price"},
			{"embedded struct", embeds{}, "id inner.deep"},
			{"embedded pointer", embedsPointer{}, "base"},
			{"generic type", generic[item]{[]item{{0}}}, "items[0].price"},
			{"nested list", numbers{[][]int{{1}, {1, 0}}}, "n[1][1]"},
			{"anonymous type", struct {
				X int `json:"x" binding:"gt=0"`
			}{}, "x"},
			{"anonymous types", struct {
				In struct {
					X int `json:"x" binding:"gt=0"`
				} `json:"in"`
			}{}, "in.x"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				var got []string
				for _, f := range xvalid.Failures(t.Context(),
					xvalid.Validate(t.Context(), tc.value)) {
					got = append(got, f.Field)
				}
				if s := strings.Join(got, " "); s != tc.want {
					t.Errorf("fields %q, want %q", s, tc.want)
				}
			})
		}
	})

	t.Run("contains only plain keys of maps", func(t *testing.T) {
		type values struct {
			M map[string]string `json:"m" binding:"dive,max=3"`
		}
		type keys struct {
			M map[string]string `json:"m" binding:"dive,keys,max=3,endkeys"`
		}
		type nested struct {
			M map[string]item `json:"m" binding:"dive"`
		}
		long := strings.Repeat("k", 300)
		for _, tc := range []struct {
			name  string
			value any
			want  string
		}{
			{"plain", values{map[string]string{"a-1_b": "long"}}, "m[a-1_b]"},
			{"text", values{map[string]string{"my secret": "long"}}, "m[*]"},
			{"brackets", values{map[string]string{"a].b": "long"}}, "m[*]"},
			{"long", values{map[string]string{long: "long"}}, "m[*]"},
			{"long and nested", nested{map[string]item{long: {}}}, "m[*].price"},
			{"brackets and nested", nested{map[string]item{"a].my secret[b": {}}}, "m[*]"},
			{"long between brackets", nested{map[string]item{"a]." + long + "[b": {}}}, "m[*]"},
			{"the key itself", keys{map[string]string{"secret": "x"}}, "m[*]"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				f := xvalid.Failures(t.Context(), xvalid.Validate(t.Context(), tc.value))
				if len(f) != 1 || f[0].Field != tc.want {
					t.Fatalf("failures %v, want the field %q", f, tc.want)
				}
				if len(f[0].Message) > 100 {
					t.Errorf("message contains the key: %q", f[0].Message)
				}
			})
		}
	})

	t.Run("contains indexes", func(t *testing.T) {
		type tag struct {
			Code string `json:"code" binding:"len=2"`
		}
		type value struct {
			Tags []tag `json:"tags" binding:"dive"`
		}
		list := xvalid.Failures(t.Context(), xvalid.Validate(t.Context(), value{[]tag{{"0"}}}))
		if len(list) != 1 || list[0].Field != "tags[0].code" {
			t.Errorf("failures %+v, want one of tags[0].code", list)
		}
	})

	t.Run("is the index for a rule of an element", func(t *testing.T) {
		type pair struct{ A, B int }
		xvalid.Engine().RegisterStructValidation(func(sl validator.StructLevel) {
			sl.ReportError(sl.Current().Interface(), "", "", "differ", "")
		}, pair{})
		list := xvalid.Failures(t.Context(), xvalid.Validate(t.Context(), []pair{{}}))
		if len(list) != 1 || list[0].Field != "[0]" || list[0].Tag != "differ" {
			t.Errorf("failures %+v, want one of [0]", list)
		}
	})
}

func TestFailures_Message(t *testing.T) {
	t.Run("is in the language of the request", func(t *testing.T) {
		type register struct {
			Username string  `json:"username" binding:"min=3"`
			Role     string  `json:"role"     binding:"enum_string=admin user"`
			Age      int     `json:"age"      binding:"enum_int=1 2"`
			Rate     float64 `json:"rate"     binding:"enum_float=0.5"`
			Site     string  `json:"site"     binding:"strict_url"`
			Key      string  `json:"key"      binding:"strict_uuid"`
			Nick     string  `json:"nick"     binding:"alphanum_underscore"`
			Code     string  `json:"code"     binding:"regexp=^x$"`
			Parent   int64   `json:"parent"   binding:"snowflake"`
			Port     uint    `json:"port"     binding:"port"`
			Either   string  `json:"either"   binding:"len=3|len=5"`
		}
		for _, tc := range []struct {
			lang string
			want []string
		}{
			{"en", []string{
				"username must be at least 3 characters in length",
				"role must be one of [admin user]",
				"age must be one of [1 2]",
				"rate must be one of [0.5]",
				"site must be a complete http or https URL",
				"key must be a valid UUID",
				"nick may contain only letters, digits and underscores",
				"code does not have the required format",
				"parent must be a valid id",
				"port must be a port from 1 to 65535",
				"either is not valid",
			}},
			{"zh-CN,zh;q=0.9", []string{
				"username长度必须至少为3个字符",
				"role必须是[admin user]中的一个",
				"age必须是[1 2]中的一个",
				"rate必须是[0.5]中的一个",
				"site必须是完整的 http 或 https 网址",
				"key必须是有效的 UUID",
				"nick只能包含字母、数字和下划线",
				"code不符合要求的格式",
				"parent必须是有效的 ID",
				"port必须是 1 到 65535 之间的端口",
				"either无效",
			}},
		} {
			t.Run(tc.lang, func(t *testing.T) {
				ctx := inLanguage(t, tc.lang)
				for range 2 { // rendered, then cached
					var got []string
					for _, f := range xvalid.Failures(ctx, xvalid.Validate(ctx, register{})) {
						got = append(got, f.Message)
					}
					if diff := cmp.Diff(tc.want, got); diff != "" {
						t.Errorf("messages (-want +got):\n%s", diff)
					}
				}
			})
		}
	})

	t.Run("does not contain the value", func(t *testing.T) {
		xvalid.Engine().RegisterAlias("secret_alias", "required,len=3")
		// the validator prints the failure when it translates this alias
		xvalid.Engine().RegisterAlias("secret_alpha", "alpha")
		var types []reflect.Type
		for i, rule := range everyRule {
			types = append(types, reflect.StructOf([]reflect.StructField{
				{
					Name: "Password", Type: reflect.TypeFor[string](),
					Tag: reflect.StructTag(fmt.Sprintf(`json:"password%d" binding:%q`, i, rule)),
				},
				{Name: "Other", Type: reflect.TypeFor[string]()},
			}))
		}
		failures := 0
		out := captureOutput(t, func() {
			for _, lang := range []string{"en", "zh"} {
				for _, typ := range types {
					value := reflect.New(typ).Elem()
					value.Field(0).SetString(secret)
					value.Field(1).SetString("x")
					err := xvalid.Validate(t.Context(), value.Interface())
					var ruleErr *xvalid.RuleError
					if err == nil || errors.As(err, &ruleErr) {
						continue
					}
					ctx := inLanguage(t, lang)
					e := xvalid.Error(ctx, xerror.BodyError, err)
					text, jsonErr := json.Marshal(e.GetData())
					if jsonErr != nil {
						t.Fatal(jsonErr)
					}
					failures++
					_, _ = fmt.Fprintln(os.Stdout, e.Error(), e.GetErrorMessage(), string(text))
				}
			}
		})
		// The parameter of a rule comes from the developer, so the messages of two rules
		// may contain the secret.
		for line := range strings.Lines(out) {
			if strings.Contains(line, secret) && !strings.Contains(line, `"tag":"ne"`) &&
				!strings.Contains(line, `"tag":"noneof"`) {
				t.Errorf("output contains the value: %q", line)
			}
		}
		if failures < 2*45 {
			t.Errorf("only %d failures, want most of the rules to fail", failures)
		}
	})
}

// everyRule lists rules with a parameter that a long text fails.
var everyRule = []string{
	"required_if=Other x", "len=3", "min=300", "max=3", "eq=x", "ne=" + secret, "gt=300",
	"gte=300", "lt=3", "lte=3", "oneof=a b", "oneofci=a b", "noneof=" + secret, "alpha",
	"alphanum", "numeric", "number", "hexadecimal", "hexcolor", "rgb", "email", "url", "uri",
	"base64", "contains=x", "excludes=secret", "startswith=x", "endswith=x", "isbn", "uuid",
	"uuid4", "ulid", "ascii,len=3", "datauri", "latitude", "longitude", "ssn", "ipv4", "ip",
	"cidr", "mac", "iscolor", "json", "jwt", "datetime=2006-01-02", "timezone", "boolean",
	"lowercase,len=3", "e164", "fqdn", "eqfield=Other", "containsrune=x", "len=3|email",
	"secret_alias", "secret_alpha", "max=0x3", "max=1_0", "strict_url", "strict_uuid",
	"regexp=^x$", "enum_string=a b", "snowflake", "alphanum_underscore", "eq_ignore_case=x",
}

const secret = "Secret-P4ssword!with.more"

// captureOutput returns what run writes to standard output, standard error and the log.
func captureOutput(t *testing.T, run func()) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = out, out
	log.SetOutput(out)
	defer func() {
		os.Stdout, os.Stderr = stdout, stderr
		log.SetOutput(stderr)
		_ = out.Close()
	}()
	run()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestError(t *testing.T) {
	t.Run("returns code, data and a safe cause", func(t *testing.T) {
		ctx := inLanguage(t, "zh")
		err := xvalid.Validate(ctx, order{[]item{{1}, {0}}})
		e := xvalid.Error(ctx, xerror.ParameterError, err)
		want := []xvalid.FieldError{{Field: "items[1].price", Tag: "gt", Message: "price必须大于0"}}
		if diff := cmp.Diff(want, e.GetData()); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if e.GetErrorCode() != xerror.ParameterError || e.GetErrorMessage() != "price必须大于0" {
			t.Errorf("error %v, want PARAMETER_ERROR with the first message", e)
		}
		suffix := "xvalid: items[1].price failed on gt"
		if got := e.Error(); !strings.HasSuffix(got, suffix) {
			t.Errorf("text %q, want the suffix %q", got, suffix)
		}
		var failed validator.ValidationErrors
		if !errors.As(e, &failed) {
			t.Error("the error does not wrap the error of the validator")
		}
		if xvalid.Error(ctx, xerror.BodyError, nil) != nil {
			t.Error("Error(nil) is not nil")
		}
	})
}

func TestError_Mapper(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", xvalid.Validate(t.Context(), item{}))
	if got := xerror.From(err).GetErrorCode(); got != xerror.BodyError {
		t.Errorf("From = %v, want BODY_ERROR", got)
	}
}

func TestFailures_Limit(t *testing.T) {
	many := make([]item, 5000)
	for name, value := range map[string]any{"slice": many, "field": order{many}} {
		list := xvalid.Failures(t.Context(), xvalid.Validate(t.Context(), value))
		if len(list) != xvalid.MaxFailures {
			t.Errorf("%s: %d failures, want %d", name, len(list), xvalid.MaxFailures)
		}
	}
}

func TestMessages(t *testing.T) {
	t.Run("does not cache fields with indexes", func(t *testing.T) {
		type list struct {
			N []int            `json:"n" binding:"dive,gt=0"`
			M map[string]int   `json:"m" binding:"dive,gt=0"`
			I map[string]*item `json:"i" binding:"dive"`
		}
		render := func(round int) {
			for i := range 20 {
				key := "k" + strconv.Itoa(round*20+i)
				v := list{make([]int, i), map[string]int{key: 0}, map[string]*item{key: {}}}
				xvalid.Failures(t.Context(), xvalid.Validate(t.Context(), v))
			}
		}
		render(0)
		cached := xvalid.Messages()
		for round := range 50 {
			render(round + 1)
		}
		if got := xvalid.Messages(); got != cached {
			t.Errorf("the cache grew from %d to %d", cached, got)
		}
	})

	t.Run("limits the cache for any reported field", func(t *testing.T) {
		type answers map[string]string
		type survey struct{ Answers answers }
		xvalid.Engine().RegisterStructValidation(func(sl validator.StructLevel) {
			for _, key := range sl.Current().FieldByName("Answers").MapKeys() {
				sl.ReportError(key, key.String(), key.String(), "unknown", "")
			}
		}, survey{})
		for i := range 6000 {
			err := xvalid.Validate(t.Context(), survey{answers{strconv.Itoa(i): "x"}})
			if list := xvalid.Failures(t.Context(), err); len(list) != 1 {
				t.Fatalf("failures %v, want one", list)
			}
		}
		if got := xvalid.Messages(); got > 4096 {
			t.Errorf("%d messages are cached, want at most 4096", got)
		}
	})
}

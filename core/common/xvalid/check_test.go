package xvalid_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

type checked struct {
	Name  string           `binding:"required,min=3" json:"name"`
	When  time.Time        `binding:"required"       json:"when"`
	Inner []checkedInner   `binding:"dive"           json:"inner"`
	Next  *checked         `json:"next"`
	Map   map[string]*leaf `binding:"dive"           json:"map"`
}

type checkedInner struct {
	Word string `binding:"enum_string=a b" json:"word"`
}

type leaf struct {
	Code string `binding:"regexp=^[a-z]+$" json:"code"`
}

func TestCheck(t *testing.T) {
	t.Run("valid types", func(t *testing.T) {
		for _, typ := range []reflect.Type{
			reflect.TypeFor[checked](), reflect.TypeFor[*checked](), reflect.TypeFor[[]checked](),
			reflect.TypeFor[struct{}](), reflect.TypeFor[int](), reflect.TypeFor[any](),
			reflect.TypeFor[map[string]any](), reflect.TypeFor[time.Time](),
		} {
			if err := xvalid.Check(typ); err != nil {
				t.Errorf("%v: %v, want nil", typ, err)
			}
		}
	})
	t.Run("one error for each invalid type", func(t *testing.T) {
		type unknown struct {
			A int `binding:"no_such_rule"`
		}
		type parameter struct {
			B string `binding:"regexp=("`
		}
		type unused struct {
			C int `binding:"no_such_rule"`
		}
		type root struct {
			unknown
			List  []map[string]*parameter
			Again parameter
			Skip  unused `binding:"-"`
			D     string `binding:"min=3"`
		}
		err := xvalid.Check(reflect.TypeFor[root]())
		lines := strings.Split(fmt.Sprint(err), "\n")
		if len(lines) != 2 {
			t.Fatalf("%d errors, want 2:\n%v", len(lines), err)
		}
		for i, want := range []string{"unknown: ", "parameter: "} {
			if !strings.HasPrefix(lines[i], "xvalid: xvalid_test."+want) {
				t.Errorf("error %q, want one of the type %s", lines[i], want)
			}
		}
		if !strings.Contains(lines[0], "no_such_rule") || !strings.Contains(lines[0], "'A'") {
			t.Errorf("error %q, want the rule and the field", lines[0])
		}
		rule, ok := errors.AsType[*xvalid.RuleError](err)
		if !ok || rule.Type != reflect.TypeFor[unknown]() {
			t.Errorf("error %#v, want a RuleError of the type unknown", err)
		}
	})
	t.Run("runs no rule", func(t *testing.T) {
		type effects struct {
			A string `binding:"check_effect" json:"a"`
		}
		ran := 0
		err := xvalid.RegisterValidation("check_effect", func(validator.FieldLevel) bool {
			ran++
			return true
		}, "{0} is wrong", "{0}错误")
		if err != nil {
			t.Fatal(err)
		}
		xvalid.Engine().RegisterStructValidation(func(validator.StructLevel) { ran++ }, effects{})
		if err := xvalid.Check(reflect.TypeFor[effects]()); err != nil || ran != 0 {
			t.Errorf("%v after %d rules, want nil and 0", err, ran)
		}
		if err := xvalid.Validate(t.Context(), effects{A: "x"}); err != nil || ran != 2 {
			t.Errorf("Validate: %v after %d rules, want nil and 2", err, ran)
		}
	})
	t.Run("concurrent with registrations", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				err := xvalid.RegisterValidation(fmt.Sprintf("check_concurrent_%d", i),
					func(validator.FieldLevel) bool { return true }, "{0}", "{0}")
				if err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if err := xvalid.Check(reflect.TypeFor[checked]()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestErrorIn(t *testing.T) {
	type item struct {
		Name string `binding:"required" json:"name"`
	}
	type input struct {
		Page  int             `binding:"max=3"           form:"page"`
		IDs   []int           `binding:"dive,min=1"      form:"id"`
		Key   string          `binding:"required"        header:"key"`
		Items []item          `binding:"dive"            json:"items"`
		Map   map[string]item `binding:"dive"     json:"map"`
	}
	locate := func(path string) (xvalid.Source, string) {
		switch path {
		case "Page":
			return xvalid.Query, "page"
		case "IDs":
			return xvalid.Query, "id"
		case "Key":
			return xvalid.Header, "X-Key"
		default:
			return xvalid.Body, ""
		}
	}
	for _, tc := range []struct {
		name  string
		value input
		code  *xerror.ErrorCode
		want  string
	}{
		{
			"query first",
			input{Page: 4, IDs: []int{1, 0}},
			xerror.ParameterError,
			"page:max id[1]:min X-Key:required",
		},
		{
			"header first",
			input{Items: []item{{"a"}, {}}},
			xerror.HeaderError,
			"X-Key:required items[1].name:required",
		},
		{"body", input{Key: "k", Items: []item{{}}}, xerror.BodyError, "items[0].name:required"},
		{
			"keys of a map",
			input{Key: "k", Map: map[string]item{"].Page": {}}},
			xerror.BodyError,
			"map[*]:required",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := xvalid.Validate(t.Context(), &tc.value)
			e := xvalid.ErrorIn(t.Context(), err, reflect.TypeFor[input](), locate)
			list, _ := e.GetData().([]xvalid.FieldError)
			var got []string
			for _, f := range list {
				got = append(got, f.Field+":"+f.Tag)
			}
			if joined := strings.Join(got, " "); joined != tc.want || e.GetErrorCode() != tc.code {
				t.Errorf("%v with %q, want %v with %q", e, joined, tc.code, tc.want)
			}
		})
	}
	t.Run("other errors are converted", func(t *testing.T) {
		if e := xvalid.ErrorIn(t.Context(), nil, reflect.TypeFor[input](), locate); e != nil {
			t.Errorf("%v for nil, want nil", e)
		}
		e := xvalid.ErrorIn(t.Context(), errors.New("x"), reflect.TypeFor[input](), locate)
		if e.GetErrorCode() != xerror.ServerInternalError {
			t.Errorf("%v, want ServerInternalError", e)
		}
	})
}

package xvalid_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/common/xvalid"
)

type item struct {
	Price int `json:"price" binding:"gt=0"`
}

type order struct {
	Items []item `json:"items" binding:"dive"`
}

func TestValidate(t *testing.T) {
	t.Run("accepts pointers, slices and nil", func(t *testing.T) {
		bad, good := item{}, item{1}
		var nilItem *item
		pointer := &bad
		for _, tc := range []struct {
			name  string
			value any
			want  string
		}{
			{"nil", nil, ""},
			{"nil pointer", nilItem, ""},
			{"number", 5, ""},
			{"text", "x", ""},
			{"bytes", []byte("x"), ""},
			{"map", map[string]item{"a": {}}, ""},
			{"time", t, ""},
			{"struct", bad, "price"},
			{"pointer", &bad, "price"},
			{"pointer to pointer", &pointer, "price"},
			{"slice", []item{good, good, bad}, "[2].price"},
			{"slice of pointers", []*item{nil, &bad}, "[1].price"},
			{"pointer to slice", &[]item{bad}, "[0].price"},
			{"slice of any", []any{1, "x", nil, bad}, "[3].price"},
			{"slice of slices", [][]item{{}, {good, bad}}, "[1][1].price"},
			{"array", [2]item{good, bad}, "[1].price"},
			{"valid slice", []item{good}, ""},
			{"empty slice", []item{}, ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := xvalid.GinBinding{}.ValidateStruct(tc.value)
				var got string
				for _, f := range xvalid.Failures(t.Context(), err) {
					got += f.Field
				}
				if got != tc.want || (err == nil) != (tc.want == "") {
					t.Errorf("failed fields %q (%v), want %q", got, err, tc.want)
				}
			})
		}
	})

	t.Run("supports errors.As for elements", func(t *testing.T) {
		err := xvalid.Validate(t.Context(), []item{{}})
		var failed validator.ValidationErrors
		if !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), "[0]: ") {
			t.Errorf("error %v does not wrap the error of the validator", err)
		}
	})

	t.Run("propagates a panic of a rule", func(t *testing.T) {
		type value struct {
			V int `binding:"explodes"`
		}
		boom := errors.New("boom")
		if err := xvalid.RegisterValidation("explodes",
			func(validator.FieldLevel) bool { panic(boom) }, "{0}", "{0}"); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if p := recover(); p != boom { //nolint:errorlint // the identical value
				t.Errorf("recovered %v, want the panic of the rule", p)
			}
		}()
		_ = xvalid.Validate(t.Context(), value{})
	})
}

func TestGinBinding(t *testing.T) {
	if (xvalid.GinBinding{}).Engine() != any(xvalid.Engine()) {
		t.Error("GinBinding has a different engine")
	}
	_, ok := xvalid.Validate(t.Context(), item{}).(validator.ValidationErrors) //nolint:errorlint // as programs with gin do
	if !ok {
		t.Error("the error of a struct is not a ValidationErrors")
	}
}

func alwaysTrue() validator.Func { return func(validator.FieldLevel) bool { return true } }

func alwaysFalse(validator.FieldLevel) bool { return false }

func TestRegisterValidation(t *testing.T) {
	t.Run("rejects invalid rules", func(t *testing.T) {
		for _, tc := range []struct {
			name, tag string
			fn        validator.Func
			en, zh    string
		}{
			{"no name", "", alwaysFalse, "x", "x"},
			{"no function", "a_rule", nil, "x", "x"},
			{"no English", "a_rule", alwaysFalse, "", "x"},
			{"no Chinese", "a_rule", alwaysFalse, "x", ""},
			{"reserved", "dive", alwaysFalse, "x", "x"},
			{"reserved character", "a=b", alwaysFalse, "x", "x"},
			{"open brace", "a_rule", alwaysFalse, "{0", "x"},
			{"unknown placeholder", "a_rule", alwaysFalse, "{0} {1} {2}", "x"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if err := xvalid.RegisterValidation(tc.tag, tc.fn, tc.en, tc.zh); err == nil ||
					!strings.HasPrefix(err.Error(), "xvalid: ") {
					t.Errorf("RegisterValidation = %v, want an error", err)
				}
			})
		}
	})

	t.Run("replaces a rule", func(t *testing.T) {
		type value struct {
			V int `json:"v" binding:"twice=9"`
		}
		for _, message := range []string{"{0} first", "{0} second {1}"} {
			err := xvalid.RegisterValidation("twice", alwaysFalse, message, message)
			if err != nil {
				t.Fatal(err)
			}
			f := xvalid.Failures(t.Context(), xvalid.Validate(t.Context(), value{}))
			want := strings.NewReplacer("{0}", "v", "{1}", "9").Replace(message)
			if len(f) != 1 || f[0].Message != want {
				t.Errorf("failures %v, want the message %q", f, want)
			}
		}
		if err := xvalid.RegisterValidation("twice", alwaysTrue(), "{0}", "{0}"); err != nil {
			t.Fatal(err)
		}
		if err := xvalid.Validate(t.Context(), value{}); err != nil {
			t.Errorf("Validate = %v after the rule was replaced, want nil", err)
		}
	})

	t.Run("fails inside a validation", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := xvalid.NewFresh()
			type value struct {
				V int `binding:"registers"`
			}
			var err error
			registers := func(validator.FieldLevel) bool {
				err = f.RegisterValidation("inner", alwaysFalse, "{0}", "{0}")
				return true
			}
			if err := f.RegisterValidation("registers", registers, "{0}", "{0}"); err != nil {
				t.Fatal(err)
			}
			if failed := f.Validate(value{}); failed != nil || err == nil ||
				!strings.Contains(err.Error(), "inside a validation") {
				t.Errorf("Validate = %v and RegisterValidation = %v, want only the latter to fail",
					failed, err)
			}
		})
	})
}

func TestRegisterValidation_Concurrency(t *testing.T) {
	f := xvalid.NewFresh()
	type outer struct {
		V int `binding:"nested"`
	}
	// nested validation must not deadlock
	nested := func(validator.FieldLevel) bool { return f.Validate(item{1}) == nil }
	if err := f.RegisterValidation("nested", nested, "{0}", "{0}"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 20 {
				tag := "rule_" + strconv.Itoa(i) + "_" + strconv.Itoa(n%3)
				if err := f.RegisterValidation(tag, alwaysFalse, "{0}", "{0}"); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				if err := f.Validate(outer{}); err != nil {
					t.Error(err)
				}
				if f.Validate(order{[]item{{}}}) == nil {
					t.Error("an invalid order is accepted")
				}
			}
		})
		wg.Go(func() {
			err := xvalid.Validate(context.Background(), item{})
			if len(xvalid.Failures(t.Context(), err)) != 1 {
				t.Errorf("Validate = %v, want one failure", err)
			}
		})
	}
	wg.Wait()
}

func ExampleRegisterValidation() {
	even := func(fl validator.FieldLevel) bool { return fl.Field().Int()%2 == 0 }
	if err := xvalid.RegisterValidation("even", even, "{0} must be even", "{0}必须是偶数"); err != nil {
		panic(err)
	}
	type pair struct {
		Size int `json:"size" binding:"even"`
	}
	ctx := context.Background()
	for _, f := range xvalid.Failures(ctx, xvalid.Validate(ctx, pair{Size: 3})) {
		fmt.Println(f.Field, f.Tag, f.Message)
	}
	// Output: size even size must be even
}

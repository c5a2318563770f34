package xvalid_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

type (
	link struct {
		Name string `json:"name" binding:"max=3"`
		Next *link  `json:"next"`
		Any  any    `json:"any"`
	}
	links struct {
		Items []*links           `binding:"dive"`
		ByKey map[string]*links  `binding:"omitempty,dive"`
		Other map[string][]links `binding:"omitempty,dive,dive"`
	}
	family struct {
		Name     string  `binding:"required"`
		Parent   *family `binding:"-"`
		Children []*family
	}
	loop *loop
)

func TestValidate_Nesting(t *testing.T) {
	t.Run("rejects cyclic values", func(t *testing.T) {
		self := &link{Name: "a"}
		self.Next = self
		long := &link{Next: &link{Next: &link{}}}
		long.Next.Next.Next = long
		inInterface := &link{}
		inInterface.Any = []any{inInterface}
		pointed := &link{}
		pointed.Any = &pointed
		items := &links{}
		items.Items = []*links{{}, items}
		byKey := &links{}
		byKey.ByKey = map[string]*links{"k": byKey}
		slice := []any{nil}
		slice[0] = slice
		var pointer loop
		pointer = &pointer
		for _, tc := range []struct {
			name  string
			value any
		}{
			{name: "pointer", value: self},
			{name: "struct", value: *self},
			{name: "element", value: []*link{{}, self}},
			{name: "three structs", value: long},
			{name: "interface", value: pointed},
			{name: "elements of a field", value: items},
			{name: "map", value: byKey},
			{name: "slice of itself", value: slice},
			{name: "pointer to itself", value: pointer},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := xvalid.Validate(t.Context(), tc.value)
				if ruleErr := (*xvalid.RuleError)(nil); !errors.As(err, &ruleErr) ||
					!strings.Contains(err.Error(), "is cyclic") {
					t.Errorf("error = %v, want a RuleError about the cycle", err)
				}
			})
		}
		if err := xvalid.Validate(t.Context(), inInterface); err != nil {
			t.Errorf("cycle in elements that are not validated: %v, want no error", err)
		}
	})

	t.Run("ignores fields that are not validated", func(t *testing.T) {
		parent := &family{Name: "p"}
		parent.Children = []*family{{Name: "c", Parent: parent}}
		parent.Parent = parent
		if err := xvalid.Validate(t.Context(), parent); err != nil {
			t.Errorf("error = %v, want no error, because the cyclic fields are not validated", err)
		}
	})

	t.Run("accepts the deepest JSON", func(t *testing.T) {
		const levels = 9_999
		var value link
		text := strings.Repeat(`{"next":`, levels) + `{"name":"long"}` + strings.Repeat("}", levels)
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		err := xvalid.Validate(t.Context(), &value)
		if ruleErr := (*xvalid.RuleError)(nil); err == nil || errors.As(err, &ruleErr) {
			t.Errorf("error = %.100v, want the failure of the innermost name", err)
		}
	})
}

// maxValues is the limit for values with rules in the lists of a struct.
const maxValues = 100_000

func TestValidate_MaxValues(t *testing.T) {
	type textLists struct {
		List  []string `json:"list" binding:"dive,min=1"`
		Plain []string `json:"plain" binding:"max=10000000"`
		Items []item   `json:"items"` // not validated
	}
	type pairs struct {
		ByKey map[int]int `json:"by_key" binding:"dive,min=1"`
		Rows  [][]string  `json:"rows" binding:"dive,max=1000000"`
		Cells [][]string  `json:"cells" binding:"dive,dive,min=1"`
	}
	type wrapped struct {
		textLists
		Orders []order `json:"orders" binding:"dive"`
		Data   *struct {
			Any any `json:"any"`
		} `json:"data"`
	}
	byKey := map[int]int{}
	for i := range maxValues + 1 {
		byKey[i] = 0
	}
	in := func(v any) *wrapped {
		return &wrapped{Data: &struct {
			Any any `json:"any"`
		}{v}}
	}
	many := make([]string, maxValues+1)
	for _, tc := range []struct {
		name  string
		value any
		want  string
	}{
		{name: "lists of text", value: textLists{List: many}, want: "list"},
		{
			name:  "structs with a rule each",
			value: order{make([]item, maxValues/2+1)}, want: "items",
		},
		{name: "map", value: pairs{ByKey: byKey}, want: "by_key"},
		{
			name: "lists", value: pairs{Cells: [][]string{many[:maxValues/2], many[:maxValues/2]}},
			want: "cells",
		},
		{name: "elements without rules", value: pairs{Rows: [][]string{many, many}}, want: ""},
		{name: "two lists together", value: wrapped{
			textLists: textLists{List: many[:maxValues/2]},
			Orders:    []order{{}, {make([]item, maxValues/4)}},
		}, want: "orders"},
		{name: "embedded", value: wrapped{textLists: textLists{List: many}}, want: "list"},
		{name: "nested", value: in(&textLists{List: many}), want: "data.any.list"},
		{name: "generic type", value: generic[item]{make([]item, maxValues)}, want: "items"},
		{name: "anonymous type", value: struct{ textLists }{textLists{List: many}}, want: "list"},
		{name: "element of a slice", value: []textLists{{}, {List: many}}, want: "[1].list"},
		{
			name:  "no rules for the elements",
			value: textLists{Plain: many, Items: make([]item, maxValues)}, want: "",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := xvalid.Failures(t.Context(), xvalid.GinBinding{}.ValidateStruct(tc.value))
			switch {
			case tc.want == "" && list != nil:
				t.Errorf("failures %v, want no failure", list)
			case tc.want != "" &&
				(len(list) != 1 || list[0].Field != tc.want || list[0].Tag != "max_values"):
				t.Errorf("failures %.3v, want one of %s", list, tc.want)
			}
		})
	}
	list := xvalid.Failures(t.Context(),
		xvalid.Validate(t.Context(), order{make([]item, maxValues/2-1)}))
	if len(list) != xvalid.MaxFailures || list[0].Field != "items[0].price" {
		t.Errorf("%d failures below the limit, want %d of the elements",
			len(list), xvalid.MaxFailures)
	}
}

func TestBindError_MaxValues(t *testing.T) {
	type ids struct {
		IDs []int `json:"ids" form:"id" binding:"dive,gt=0"`
	}
	value := ids{make([]int, 1_000_000)}
	var err error
	allocs := testing.AllocsPerRun(1, func() { err = xvalid.Validate(t.Context(), &value) })
	if allocs > 100 {
		t.Errorf("%v allocations, want at most 100, because the elements are not validated", allocs)
	}
	for lang, want := range map[string]string{
		"en": "ids has too many elements: more than 100000 values would be checked",
		"zh": "ids的元素过多：需要校验的值超过 100000 个",
	} {
		ctx := inLanguage(t, lang)
		e := xvalid.BindError(ctx, xvalid.Body, err)
		if e.GetErrorCode() != xerror.BodyError || string(e.GetErrorMessage()) != want {
			t.Errorf("error %v, want BODY_ERROR with %q", e, want)
		}
		named := xvalid.ErrorNamed(ctx, xvalid.Query.Code(), err, reflect.TypeFor[ids](), "form")
		if named.GetErrorCode() != xerror.ParameterError {
			t.Errorf("error %v, want PARAMETER_ERROR", named)
		}
	}
}

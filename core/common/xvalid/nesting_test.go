package xvalid_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
		Name     string    `binding:"required"`
		Parent   *family   `binding:"-"`
		Children []*family // not validated
	}
	loop *loop
)

func TestValidate_RefusesAValueThatContainsItself(t *testing.T) {
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
			if wrong := (*xvalid.RuleError)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "contains itself") {
				t.Errorf("error = %v, want a RuleError that says so", err)
			}
		})
	}
	if err := xvalid.Validate(t.Context(), inInterface); err != nil {
		t.Errorf("a cycle behind elements that are not validated: %v, want no error", err)
	}
}

func TestValidate_FollowsOnlyWhatIsValidated(t *testing.T) {
	parent := &family{Name: "p"}
	parent.Children = []*family{{Name: "c", Parent: parent}}
	parent.Parent = parent
	if err := xvalid.Validate(t.Context(), parent); err != nil {
		t.Errorf("error = %v, want none: the cycle is in fields that are not validated", err)
	}
}

func TestValidate_AcceptsTheDeepestJSON(t *testing.T) {
	const levels = 9_999
	var value link
	text := strings.Repeat(`{"next":`, levels) + `{"name":"long"}` + strings.Repeat("}", levels)
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	err := xvalid.Validate(t.Context(), &value)
	if wrong := (*xvalid.RuleError)(nil); err == nil || errors.As(err, &wrong) {
		t.Errorf("error = %.100v, want the failure of the innermost name", err)
	}
}

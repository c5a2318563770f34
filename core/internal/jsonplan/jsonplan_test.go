package jsonplan_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

type inner struct {
	ID   int
	Name string `json:"name"`
	Both int    `json:"both"`
}

type Other struct {
	Both  int `json:"both"`
	Plain int
}

type outer struct {
	inner
	*Other
	Name    string `json:"name"`
	Hidden  int    `json:"-"`
	Dash    int    `json:"-,"` //nolint:staticcheck // the name is "-"
	Quoted  int    `json:",string"`
	BadName int    `json:"a\"b"` //nolint:staticcheck // Go 1.26 ignores this name, Go 1.27 reads "a"
	Umlaut  int    `json:"größe"`
	Space   int    `json:"a b,omitempty"`
	Tab     int    `json:"a\tb"` // Go 1.27 accepts this name
	Empty   int    `json:"empty,omitempty"`
	private int
}

type (
	Shared struct {
		Twice, Won int
		Tagged     int `json:"tagged"`
	}
	left   struct{ Shared }
	right  struct{ Shared }
	Circle struct {
		*Circle
		Own int
	}
	// bottom is embedded along two paths. encoding/json uses the fields of the first path
	// only.
	bottom  struct{ Shared }
	west    struct{ bottom }
	east    struct{ bottom }
	distant struct {
		west
		east
	}
	diamond struct {
		left
		*right
		Circle
		Won   int
		Cased int `json:"Tagged"`
	}
)

func TestFields(t *testing.T) {
	t.Run("matches encoding/json", func(t *testing.T) {
		check(t, diamond{right: &right{}})
		check(t, distant{})
		check(t, outer{
			inner: inner{1, "", 1}, Other: &Other{1, 1}, Name: "x", Hidden: 1, Dash: 1,
			Quoted: 1, BadName: 1, Umlaut: 1, Space: 1, Tab: 1, Empty: 1, private: 1,
		})
	})

	// 1,024 embedding paths lead to one type.
	t.Run("visits each type once", func(t *testing.T) {
		typ := reflect.TypeFor[Shared]()
		for range 10 {
			typ = reflect.StructOf([]reflect.StructField{
				{Name: "A", Type: typ, Anonymous: true},
				{Name: "B", Type: reflect.PointerTo(typ), Anonymous: true},
			})
		}
		allocs := testing.AllocsPerRun(1, func() {
			if fields := jsonplan.Fields(typ); len(fields) != 0 {
				t.Errorf("%d fields, want 0 because each is duplicated", len(fields))
			}
		})
		if allocs > 500 {
			t.Errorf("%v allocations, want at most 500", allocs)
		}
	})
}

// check compares the fields of v with the members of its JSON.
func check(t *testing.T, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	fields := jsonplan.Fields(reflect.TypeOf(v))
	if len(fields) != len(members) {
		t.Errorf("%d fields, want %d as in %s", len(fields), len(members), data)
	}
	for _, f := range fields {
		member, ok := members[f.Name]
		if !ok {
			t.Errorf("field %q is not in %s", f.Name, data)
		}
		if _, text := member.(string); text != (f.Quoted || f.Name == "name") {
			t.Errorf("field %q: Quoted = %t, want the encoding in %s", f.Name, f.Quoted, data)
		}
	}
}

func TestCache_Get(t *testing.T) {
	var c jsonplan.Cache[string, int]
	computed := 0
	length := func(key string) int {
		computed++
		return len(key)
	}
	if first, second := c.Get("bb", length), c.Get("bb", length); first != 2 || second != 2 ||
		computed != 1 {
		t.Errorf("Get = %d and %d after %d computations, want 2 after 1", first, second, computed)
	}
}

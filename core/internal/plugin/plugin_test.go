package plugin_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/internal/plugin"
)

var errUnknown = errors.New("unsupported driver")

var family = plugin.Family{Package: "xfoo", Root: "example.com/fooplugins/", Own: []string{"a", "b"}, Unknown: errUnknown}

type named string

func (n named) Name() string { return string(n) }

func TestMissingDriverSaysHowToGetIt(t *testing.T) {
	var s plugin.Set[named]
	s.Add(family, "z")
	s.Add(family, "c")
	for _, tc := range []struct {
		name string
		want []string
	}{
		{name: "b", want: []string{`"b"`, "imported: c, z", `import _ "example.com/fooplugins/b"`, "go get example.com/fooplugins/b"}},
		{name: "other", want: []string{`"other"`, "imported: c, z", "the project's own are a, b"}},
		{name: "Z", want: []string{`"Z"`, "imported: c, z", `did you mean "z"?`}},
		{name: "B", want: []string{`"B"`, `did you mean "b"?`, `import _ "example.com/fooplugins/b"`}},
	} {
		_, err := s.Find(family, tc.name)
		if !errors.Is(err, errUnknown) {
			t.Fatalf("Find(%q) = %v, want the family's error", tc.name, err)
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Find(%q) = %v, want %q in it", tc.name, err, want)
			}
		}
	}
	if d, err := s.Find(family, "z"); err != nil || d != "z" {
		t.Errorf("Find = %q, %v; want z", d, err)
	}
	if got := s.Names(); !slices.Equal(got, []string{"c", "z"}) {
		t.Errorf("Names = %q", got)
	}
	if got := s.All(); !slices.Equal(got, []named{"c", "z"}) {
		t.Errorf("All = %q", got)
	}
}

func TestAddPanicsOnAMistake(t *testing.T) {
	var s plugin.Set[named]
	s.Add(family, "a")
	for _, tc := range []struct{ name, want string }{
		{name: "a", want: "xfoo: driver registered twice: a"},
		{name: "", want: "xfoo: a driver without a name"},
	} {
		func() {
			defer func() {
				if got := recover(); got != tc.want {
					t.Errorf("panic = %v, want %q", got, tc.want)
				}
			}()
			s.Add(family, named(tc.name))
		}()
	}
}

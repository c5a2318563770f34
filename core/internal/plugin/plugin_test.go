package plugin_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/internal/plugin"
)

var errUnknown = errors.New("unsupported driver")

var errMismatch = errors.New("driver and core are incompatible")

var family = plugin.Family{
	Package: "xfoo", Root: "example.com/fooplugins/",
	Own: []string{"a", "b"}, Unknown: errUnknown, Interface: 1, Mismatch: errMismatch,
}

type named string

func (n named) Name() string { return string(n) }

func TestSet_Find(t *testing.T) {
	t.Run("reports a missing driver and how to import it", func(t *testing.T) {
		var s plugin.Set[named]
		s.Add(family, "z")
		s.Add(family, "c")
		for _, tc := range []struct {
			name string
			want []string
		}{
			{name: "b", want: []string{
				`"b"`, "imported: c, z", `import _ "example.com/fooplugins/b"`,
				"go get example.com/fooplugins/b",
			}},
			{name: "other", want: []string{
				`"other"`, "imported: c, z", "the project provides a, b",
			}},
			{name: "Z", want: []string{`"Z"`, "imported: c, z", `did you mean "z"?`}},
			{name: "B", want: []string{
				`"B"`, `did you mean "b"?`, `import _ "example.com/fooplugins/b"`,
			}},
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
	})

	t.Run("reports both versions and the command if the interface differs", func(t *testing.T) {
		const here = "github.com/plinthgo/plinth/core/internal/plugin_test"
		at := func(version int) plugin.Family {
			f := family
			f.Interface = version
			return f
		}
		for _, tc := range []struct {
			name   string
			driver plugin.Named
			family plugin.Family
			want   []string // substrings of the error; nil if the versions match
		}{
			{name: "equal versions", driver: versioned{"x", 2}, family: at(2)},
			{name: "undeclared version and interface version 1", driver: named("x"), family: at(1)},
			{
				name: "undeclared version and a later interface", driver: named("x"), family: at(2),
				want: []string{
					`"x" of ` + here, "written for version 1", "core has version 2",
					"`go get " + here + "@latest`",
				},
			},
			{
				name: "older driver", driver: &versioned{"x", 2}, family: at(3),
				want: []string{
					`"x" of ` + here, "written for version 2", "core has version 3",
					"`go get " + here + "@latest`",
				},
			},
			{
				name: "newer driver", driver: versioned{"x", 3}, family: at(2),
				want: []string{
					"written for version 3", "core has version 2",
					"`go get github.com/plinthgo/plinth/core@latest`",
				},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				var s plugin.Set[plugin.Named]
				s.Add(tc.family, tc.driver)
				_, err := s.Find(tc.family, "x")
				if got := errors.Is(err, errMismatch); got != (len(tc.want) > 0) {
					t.Fatalf("Find = %v, want a mismatch: %t", err, len(tc.want) > 0)
				}
				for _, want := range tc.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("Find = %v, want %q in it", err, want)
					}
				}
			})
		}
	})
}

func TestSet_Add_Panics(t *testing.T) {
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

// versioned is a driver that declares its interface version.
type versioned struct {
	named

	version int
}

func (v versioned) InterfaceVersion() int { return v.version }

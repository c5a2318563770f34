package footprint

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestBudget(t *testing.T) {
	gin := measured{bytes: 14_000_000, modules: 19}
	for _, tc := range []struct {
		name string
		core measured
		want string
	}{
		{name: "within", core: measured{bytes: 17_000_000, modules: 34}},
		{name: "too large", core: measured{bytes: 17_000_001, modules: 34}, want: "MB over gin"},
		{
			name: "too many modules",
			core: measured{bytes: 14_000_000, modules: 35}, want: "16 modules",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := budget(gin, tc.core)
			if (err != nil) != (tc.want != "") || err != nil &&
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("budget = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestPrograms_Order(t *testing.T) {
	if programs[0].folder != "gin" || programs[1].folder != "core" {
		t.Errorf("the first programs are %s and %s, want gin and core",
			programs[0].folder, programs[1].folder)
	}
}

func TestSizes_Table(t *testing.T) {
	sizes := Sizes{
		"gin": {bytes: 14_000_000}, "core": {bytes: 16_000_000},
		"baregrpc": {bytes: 10_000_000},
	}
	text := sizes.Table()
	for _, want := range []string{"| 16.0 MB | +2.0 MB |", "| 10.0 MB | +0.0 MB |"} {
		if !strings.Contains(text, want) {
			t.Errorf("table has no %q:\n%s", want, text)
		}
	}
	for _, p := range programs {
		if !slices.ContainsFunc(programs,
			func(other program) bool { return other.folder == p.peer }) {
			t.Errorf("the peer of %s is unknown: %q", p.folder, p.peer)
		}
	}
}

func TestSizes_Modules(t *testing.T) {
	sizes := Sizes{
		"gin": {bytes: 14_000_000, modules: 19}, "core": {bytes: 16_000_000, modules: 29},
		"memory": {bytes: 16_900_000, modules: 30},
	}
	text := sizes.Modules()
	for _, want := range []string{
		"| 2.0 MB, 10 modules over gin |",
		"| `cacheplugins/memory` | in-memory cache | 0.9 MB, 1 module |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("table has no %q:\n%s", want, text)
		}
	}
	known := func(folder string) bool {
		return slices.ContainsFunc(programs, func(p program) bool { return p.folder == folder })
	}
	for _, m := range modules {
		for _, w := range m.weights {
			if !known(w.program) || !known(w.without) {
				t.Errorf("weight of %s has unknown programs: %+v", m.name, w)
			}
		}
	}
}

func TestModules(t *testing.T) {
	root, err := workspace.Find()
	if err != nil {
		t.Skip(err)
	}
	all, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		has := slices.ContainsFunc(modules, func(row module) bool { return row.name == m.Name })
		if has != m.Released() {
			t.Errorf("%s has a row: %t, want %t", m.Name, has, m.Released())
		}
	}
}

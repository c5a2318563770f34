package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestOnlyServersThatTheModulesCanUseAreStarted(t *testing.T) {
	for _, tc := range []struct {
		name    string
		modules string
		want    []string
	}{
		{name: "modules that know no server", modules: "core grpcx dbplugins/sqlite cacheplugins/memory dbplugins/oracle", want: nil},
		{name: "plugins", modules: "core dbplugins/mysql cacheplugins/redis", want: []string{"mysql", "redis"}},
		{name: "an application", modules: "core examples", want: []string{"postgres", "mysql", "redis"}},
		{name: "pages", modules: "docs", want: nil},
		{name: "messages", modules: "notifyx", want: []string{"postfix"}},
		{name: "engines of jobs", modules: "asyncx/river asyncx/asynq", want: []string{"postgres", "redis"}},
		{name: "a module that is new", modules: "nonsense", want: []string{"postgres", "mysql", "redis", "postfix"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var modules []workspace.Module
			for name := range strings.FieldsSeq(tc.modules) {
				modules = append(modules, workspace.Module{Name: name})
			}
			var got []string
			for _, k := range kindsOf(modules) {
				got = append(got, k.Name)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("servers = %q, want %q", got, tc.want)
			}
		})
	}
}

// allModules are those of the repository.
func allModules(t *testing.T) []workspace.Module {
	t.Helper()
	root, err := workspace.Find()
	if err != nil {
		t.Skip("the module is not in the repository, whose modules this is about: ", err)
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	return modules
}

func TestServersOfEveryModuleAreKnown(t *testing.T) {
	left := maps.Clone(uses)
	for _, m := range allModules(t) {
		if _, known := uses[m.Name]; !known {
			t.Errorf("uses lacks the module %s", m.Name)
		}
		delete(left, m.Name)
	}
	for name := range left {
		t.Errorf("uses names %s, which is no module", name)
	}
}

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/child"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestOnlyServersThatTheModulesCanUseAreStarted(t *testing.T) {
	for _, tc := range []struct {
		name    string
		modules string
		want    []string
	}{
		{name: "modules that know no server", modules: "core tools dbplugins/sqlite cacheplugins/memory dbplugins/oracle", want: nil},
		{name: "plugins", modules: "core dbplugins/mysql cacheplugins/redis", want: []string{"mysql", "redis"}},
		{name: "an application", modules: "core examples", want: []string{"postgres", "mysql", "redis"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var modules []workspace.Module
			for name := range strings.FieldsSeq(tc.modules) {
				modules = append(modules, workspace.Module{Name: name})
			}
			var got []string
			for _, k := range servers(modules) {
				got = append(got, k.Name)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("servers = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRequiredServerThatIsMissingFailsBeforeTheTests(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("PLINTH_TEST_REDIS_URL", "")
	t.Setenv("PLINTH_TEST_REQUIRE", "sqlite, redis")
	signals := child.Watch()
	defer signals.Stop()
	began := false
	err := within(signals, []workspace.Module{{Name: "cacheplugins/redis"}}, func([]string) error {
		began = true
		return nil
	})
	if began && err == nil {
		t.Skip("redis-server is also where no PATH leads")
	}
	if err == nil || began || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("within = %v, the tests began: %v; want the package that is missing", err, began)
	}
}

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/devstack/child"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestKindsOf(t *testing.T) {
	for _, tc := range []struct {
		name    string
		modules string
		want    []string
	}{
		{
			name:    "modules without servers",
			modules: "core grpcx dbplugins/sqlite cacheplugins/memory dbplugins/oracle",
		},
		{
			name: "drivers", modules: "core dbplugins/mysql cacheplugins/redis",
			want: []string{"mysql", "redis"},
		},
		{
			name: "application", modules: "core examples",
			want: []string{"postgres", "mysql", "redis"},
		},
		{name: "pages", modules: "docs", want: nil},
		{name: "messages", modules: "notifyx", want: []string{"postfix"}},
		{
			name: "job engines", modules: "asyncx/river asyncx/asynq",
			want: []string{"postgres", "redis"},
		},
		{
			name: "unknown module", modules: "nonsense",
			want: []string{"postgres", "mysql", "redis", "postfix"},
		},
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

// allModules returns the modules of the repository.
func allModules(t *testing.T) []workspace.Module {
	t.Helper()
	root, err := workspace.Find()
	if err != nil {
		t.Skip("outside of the repository: ", err)
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	return modules
}

func TestUses(t *testing.T) {
	unknown := maps.Clone(uses)
	for _, m := range allModules(t) {
		if _, ok := uses[m.Name]; !ok {
			t.Errorf("uses lacks the module %s", m.Name)
		}
		delete(unknown, m.Name)
	}
	for name := range unknown {
		t.Errorf("uses lists the unknown module %s", name)
	}
}

func TestWithServers(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("PLINTH_TEST_REDIS_URL", "")
	t.Setenv("PLINTH_TEST_REQUIRE", "sqlite, redis")
	signals := child.Watch()
	defer signals.Stop()
	started := false
	modules := []workspace.Module{{Name: "cacheplugins/redis"}}
	err := withServers(signals, modules, func([]string) error {
		started = true
		return nil
	})
	if started && err == nil {
		t.Skip("redis-server is installed outside of PATH")
	}
	if err == nil || started || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("withServers = %v, tests started = %v; want an error with the missing package",
			err, started)
	}
}

func TestCheckPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	docs, core := []workspace.Module{{Name: "docs"}}, []workspace.Module{{Name: "core"}}
	for _, tc := range []struct {
		name     string
		modules  []workspace.Module
		required []string
		want     []string // in the error; nil for no error
	}{
		{name: "nothing is required", modules: docs},
		{name: "required by no module", modules: core, required: []string{"node"}},
		{
			name: "both missing", modules: docs, required: []string{"chromium", "node"},
			want: []string{"apt-get install nodejs npm", "apt-get install chromium"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := checkPrograms(tc.modules, tc.required)
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("checkPrograms = %v, want %q", err, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("checkPrograms = %v, want %q", err, want)
				}
			}
		})
	}
}

func TestCheckRequired(t *testing.T) {
	for _, tc := range []struct {
		name, required, oracle string
		want                   []string // in the error; nil for no error
	}{
		{name: "empty", required: ""},
		{
			name:     "all backends with private servers",
			required: "sqlite, memory,postgres,mysql,redis,postfix,node,chromium",
		},
		{name: "server of the environment", required: "oracle", oracle: "oracle://u:p@h/s"},
		{
			name: "server without DSN", required: "oracle",
			want: []string{"PLINTH_TEST_ORACLE_DSN is not set"},
		},
		{
			name: "unknown names", required: "sqlite,postgresql,nonsense",
			want: []string{`"postgresql"`, `"nonsense"`, "postgres, mysql"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("PLINTH_TEST_REQUIRE", tc.required)
			t.Setenv("PLINTH_TEST_ORACLE_DSN", tc.oracle)
			err := checkRequired(required())
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("checkRequired = %v, want %q", err, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("checkRequired = %v, want %q", err, want)
				}
			}
		})
	}
}

func TestRun_UnknownBackend(t *testing.T) {
	t.Setenv("PLINTH_TEST_REQUIRE", "postgresql")
	signals := child.Watch()
	defer signals.Stop()
	if err := run(signals, false, "", []string{"no such module"}); err == nil ||
		!strings.Contains(err.Error(), `"postgresql"`) {
		t.Errorf("run = %v, want an error for the unknown backend first", err)
	}
}

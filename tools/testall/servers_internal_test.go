package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/devstack/child"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestOnlyServersThatTheModulesCanUseAreStarted(t *testing.T) {
	for _, tc := range []struct {
		name    string
		modules string
		want    []string
	}{
		{
			name:    "modules that know no server",
			modules: "core grpcx dbplugins/sqlite cacheplugins/memory dbplugins/oracle", want: nil,
		},
		{
			name: "plugins", modules: "core dbplugins/mysql cacheplugins/redis",
			want: []string{"mysql", "redis"},
		},
		{
			name: "an application", modules: "core examples",
			want: []string{"postgres", "mysql", "redis"},
		},
		{name: "pages", modules: "docs", want: nil},
		{name: "messages", modules: "notifyx", want: []string{"postfix"}},
		{
			name: "engines of jobs", modules: "asyncx/river asyncx/asynq",
			want: []string{"postgres", "redis"},
		},
		{
			name: "a module that is new", modules: "nonsense",
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

func TestRequiredProgramThatIsMissingFailsBeforeTheTests(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	docs, core := []workspace.Module{{Name: "docs"}}, []workspace.Module{{Name: "core"}}
	for _, tc := range []struct {
		name     string
		modules  []workspace.Module
		required []string
		want     []string // in the error; nil: there is none
	}{
		{name: "nothing is required", modules: docs},
		{name: "no module uses it", modules: core, required: []string{"node"}},
		{
			name: "both", modules: docs, required: []string{"chromium", "node"},
			want: []string{"apt-get install nodejs npm", "apt-get install chromium"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := absent(tc.modules, tc.required)
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("absent = %v, want %q", err, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("absent = %v, want %q", err, want)
				}
			}
		})
	}
}

func TestBackendThatNoRunCanHaveIsRefusedAtOnce(t *testing.T) {
	for _, tc := range []struct {
		name, required, oracle string
		want                   []string // in the error; nil: there is none
	}{
		{name: "nothing", required: ""},
		{
			name:     "all that need no server of their own",
			required: "sqlite, memory,postgres,mysql,redis,postfix,node,chromium",
		},
		{name: "a server that is given", required: "oracle", oracle: "oracle://u:p@h/s"},
		{
			name: "one that is not", required: "oracle",
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
			err := refused(required())
			if (err != nil) != (tc.want != nil) {
				t.Fatalf("refused = %v, want %q", err, tc.want)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("refused = %v, want %q", err, want)
				}
			}
		})
	}
}

func TestRunBeginsWithTheLookAtWhatIsRequired(t *testing.T) {
	t.Setenv("PLINTH_TEST_REQUIRE", "postgresql")
	signals := child.Watch()
	defer signals.Stop()
	if err := run(signals, false, "", []string{"no such module"}); err == nil ||
		!strings.Contains(err.Error(), `"postgresql"`) {
		t.Errorf("run = %v, want that the backend is refused before anything else", err)
	}
}

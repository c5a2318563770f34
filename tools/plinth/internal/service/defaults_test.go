package service_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xenv"
	_ "github.com/plinthgo/plinth/tools/plinth/internal/plugins" // registers variables
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// newService writes files and returns the service of the directory from, with an empty
// environment.
func newService(t *testing.T, from string, files map[string]string) *service.Service {
	t.Helper()
	for _, v := range xenv.Table() {
		t.Setenv(v.Key.String(), "")
		if err := os.Unsetenv(v.Key.String()); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off") // the Makefile sets it for the repository
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range core {
		if files[name] == "" {
			files[name] = text
		}
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := service.Find(filepath.Join(dir, filepath.FromSlash(from)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// defaultsOf returns the defaults that the code sets.
func defaultsOf(s *service.Service) map[xenv.EnvKey]string {
	found := map[xenv.EnvKey]string{}
	for _, v := range s.Variables {
		if text, origin := s.Value(v); origin == service.FromCode {
			found[v.Key] = text
		}
	}
	return found
}

const (
	goMod   = "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/plinthgo/plinth/core v0.1.0\n\nreplace github.com/plinthgo/plinth/core => ./core\n"
	imports = "import (\n\t\"github.com/plinthgo/plinth/core/defined/xenv\"\n\t\"github.com/plinthgo/plinth/core/major/xoption\"\n)\n\n"
)

// core is a minimal version of the module core.
var core = map[string]string{
	"core/go.mod":                   "module github.com/plinthgo/plinth/core\n\ngo 1.26.0\n",
	"core/major/xoption/xoption.go": "package xoption\n",
	"core/defined/xenv/xenv.go": `package xenv

type EnvKey string

const (
	AppName        EnvKey = "APP_NAME"
	Host           EnvKey = "PLINTH_HOST"
	Port           EnvKey = "PLINTH_PORT"
	DatabaseDriver EnvKey = "DATABASE_DRIVER"
)
`,
}

// program returns a main package with the given code.
func program(code string) string {
	return "package main\n\n" + imports + "func main() {}\n\n" + code
}

func TestService_Enter_Defaults(t *testing.T) {
	for _, tc := range []struct {
		name    string
		code    string
		want    map[xenv.EnvKey]string
		unclear []string
	}{
		{
			name: "a map", code: `var o = xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.DatabaseDriver: "sqlite", xenv.Port: "80", "NOSQL_DRIVER": "memory"})`,
			want: map[xenv.EnvKey]string{
				xenv.DatabaseDriver: "sqlite", xenv.Port: "80", xenv.NoSqlDriver: "memory",
			},
		},
		{
			name: "constants",
			code: "const driver = \"sqlite\"\n\nconst key = xenv.EnvKey(\"LOG_DIR\")\n\n" +
				`var o = xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.DatabaseDriver: driver, key: "a" + "b", xenv.EnvKey("APP_NAME"): ("shop")})`,
			want: map[xenv.EnvKey]string{
				xenv.DatabaseDriver: "sqlite", "LOG_DIR": "ab", xenv.AppName: "shop",
			},
		},
		{
			name:    "a variable",
			code:    "var all = map[xenv.EnvKey]string{xenv.Port: \"80\"}\n\nfunc options() any { return xoption.WithEnvDefaults(all) }",
			unclear: []string{"main.go:12: WithEnvDefaults gets a map that is not a literal"},
		},
		{
			name: "not constant",
			code: "var o = xoption.WithEnvDefaults(map[xenv.EnvKey]string{\n\t\"DATABASE_PATH\": file(), xenv.Port: \"80\",\n\txenv.Nothing: \"x\",\n})",
			want: map[xenv.EnvKey]string{xenv.Port: "80"},
			unclear: []string{
				"main.go:11: WithEnvDefaults gets a value for DATABASE_PATH that is not constant",
				"main.go:12: WithEnvDefaults gets a variable name that is not constant",
			},
		},
		{
			name: "another function",
			code: `var o = Other(map[xenv.EnvKey]string{xenv.AppName: "shop"})`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newService(t, ".", map[string]string{"go.mod": goMod, "main.go": program(tc.code)})
			if got := defaultsOf(s); !maps.Equal(got, tc.want) ||
				!slices.Equal(s.Unclear, tc.unclear) || s.CodeErr != nil {
				t.Errorf("defaults = %v, unclear %q, %v\nwant %v and %q",
					got, s.Unclear, s.CodeErr, tc.want, tc.unclear)
			}
		})
	}
}

func TestService_Enter_Programs(t *testing.T) {
	withDefaults := func(pairs string) string {
		return program("var o = xoption.WithEnvDefaults(map[xenv.EnvKey]string{" + pairs + "})\n")
	}
	library := strings.Replace(withDefaults(`"LOG_DIR": dir`), "package main", "package startup", 1)
	files := map[string]string{
		"go.mod": goMod,
		"cmd/api/main.go": strings.Replace(withDefaults(`xenv.Port: "80", xenv.AppName: "shop"`),
			"import (", "import (\n\t_ \"example.com/shop/startup\"\n", 1),
		"cmd/worker/main.go": withDefaults(
			`xenv.Port: "90", xenv.AppName: "shop", xenv.DatabaseDriver: "sqlite"`),
		"startup/startup.go": strings.Replace(library, "import (",
			"import (\n\t\"example.com/shop/config\"\n", 1) + "\nconst dir = config.Dir\n",
		"config/config.go": "package config\n\nconst Dir = \"logs\"\n",
		"unused/unused.go": strings.Replace(withDefaults(`xenv.Host: "unused"`), "package main",
			"package unused", 1),
		"other/go.mod":        "module example.com/other\n",
		"other/main.go":       withDefaults(`xenv.Host: "other"`),
		"cmd/api/off.go":      "//go:build never\n\n" + withDefaults(`xenv.Host: "off"`),
		"cmd/api/api_test.go": withDefaults(`xenv.Host: "test"`),
	}
	api := map[xenv.EnvKey]string{xenv.Port: "80", xenv.AppName: "shop", "LOG_DIR": "logs"}
	worker := map[xenv.EnvKey]string{
		xenv.Port: "90", xenv.AppName: "shop", xenv.DatabaseDriver: "sqlite",
	}
	for from, want := range map[string]map[xenv.EnvKey]string{
		"cmd/api":    api,
		"cmd/worker": worker,
	} {
		if got := defaultsOf(newService(t, from, files)); !maps.Equal(got, want) {
			t.Errorf("from %s: %v, want %v", from, got, want)
		}
	}
	s := newService(t, ".", files)
	want := map[xenv.EnvKey]string{xenv.AppName: "shop"}
	if got := defaultsOf(s); !maps.Equal(got, want) || len(s.Unclear) != 3 ||
		s.Unclear[2] != "PLINTH_PORT has different defaults in cmd/api, cmd/worker; run plinth in the directory of one program" {
		t.Errorf("from the root: %v and %q, want the common defaults", got, s.Unclear)
	}
	if from := newService(t, "config", files); len(from.Programs) != 2 {
		t.Errorf("from a directory without a program: %d programs, want those of the module",
			len(from.Programs))
	}
}

func TestService_Enter(t *testing.T) {
	t.Run("reports a go.work without the module", func(t *testing.T) {
		s := newService(t, ".", map[string]string{
			"go.mod": goMod, "main.go": program(""), "other/go.work": "go 1.26.0\n",
		})
		t.Setenv("GOWORK", filepath.Join(s.Root, "other", "go.work"))
		if err := s.Enter(t.Context()); err != nil || s.CodeErr == nil ||
			!strings.Contains(s.CodeErr.Error(), "go.work") {
			t.Errorf("Enter = %v, CodeErr = %v; want an error about go.work", err, s.CodeErr)
		}
	})

	t.Run("accepts a directory without code", func(t *testing.T) {
		s := newService(t, "migration", map[string]string{
			"go.mod": goMod, "migration/0001.sql": "",
		})
		if s.CodeErr != nil || len(defaultsOf(s)) > 0 {
			t.Errorf("CodeErr = %v, defaults = %v", s.CodeErr, defaultsOf(s))
		}
	})

	t.Run("ignores unreadable directories", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root reads everything")
		}
		s := newService(t, ".", map[string]string{
			"go.mod": goMod,
			"main.go": program(
				`var o = xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "80"})`),
			"pgdata/x": "",
		})
		if err := os.Chmod("pgdata", 0); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Chmod("pgdata", 0o700) }()
		if err := s.Enter(t.Context()); err != nil || s.CodeErr != nil || len(defaultsOf(s)) != 1 {
			t.Errorf("Enter = %v, CodeErr = %v, defaults = %v", err, s.CodeErr, defaultsOf(s))
		}
	})
}

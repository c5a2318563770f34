package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/cli"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// result is the outcome of a command.
type result struct {
	code     int
	out, err string
}

// versions returns the versions in go.mod. It reads them before a test changes the
// directory.
var versions = sync.OnceValue(func() scaffold.Versions {
	gomod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		panic(err)
	}
	versions, err := scaffold.ReadVersions(gomod)
	if err != nil {
		panic(err)
	}
	return versions
})

func TestMain(m *testing.M) {
	versions()
	os.Exit(m.Run())
}

// plinth runs a command in the current directory without a terminal.
func plinth(t *testing.T, args ...string) result {
	t.Helper()
	var out, problems bytes.Buffer
	p := &term.Printer{In: strings.NewReader(""), Out: &out, Err: &problems}
	code := cli.Run(t.Context(), p, versions(), args)
	return result{code, out.String(), problems.String()}
}

// newShop creates a service without go mod tidy, and changes to its directory.
func newShop(t *testing.T, args ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	args = append([]string{"new", "example.com/shop", "--no-tidy"}, args...)
	if a := plinth(t, args...); a.code != 0 {
		t.Fatalf("new = %+v", a)
	}
	t.Chdir("shop")
}

func checkContains(t *testing.T, file, want string) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want) {
		t.Errorf("%s lacks %q:\n%s", file, want, text)
	}
}

func TestNew(t *testing.T) {
	t.Run("creates the service that the flags describe", func(t *testing.T) {
		newShop(t, "--db", "mysql", "--cache", "redis", "--cron")
		checkContains(t, "plugins.go", "dbplugins/mysql")
		checkContains(t, "plugins.go", "cacheplugins/redis")
		checkContains(t, "internal/schedule/schedule.go", "cronx.NewJob")
		for _, dir := range []string{"internal/task", "internal/notify", "proto", "internal/service"} {
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s exists, but no flag requested it", dir)
			}
		}
	})

	t.Run("prints the next steps as JSON", func(t *testing.T) {
		t.Chdir(t.TempDir())
		a := plinth(t, "new", "example.com/shop", "--no-tidy", "--json", "--dir", "a/b")
		var got struct {
			Module, Name, Dir string
			Files, Next       []string
			Tidied            bool
		}
		if err := json.Unmarshal([]byte(a.out), &got); err != nil || a.code != 0 {
			t.Fatalf("result = %+v, %v", a, err)
		}
		if got.Name != "shop" || !filepath.IsAbs(got.Dir) || got.Tidied ||
			!slices.Contains(got.Files, ".github/workflows/ci.yml") {
			t.Errorf("result = %+v", got)
		}
		if !slices.Equal(got.Next[:3], []string{"cd a/b", "go mod tidy", "make run"}) {
			t.Errorf("next = %q", got.Next)
		}
	})

	t.Run("rejects invalid arguments", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			args []string
			code int
			want string
		}{
			{name: "no module", args: []string{"new"}, code: 2, want: "requires a module path"},
			{
				name: "invalid path",
				args: []string{"new", "a b"}, code: 2, want: "is not a valid module path",
			},
			{
				name: "unknown database",
				args: []string{"new", "example.com/a", "--db", "mongo"}, code: 2,
				want: "available: sqlite, postgres, mysql, oracle, sqlserver, none",
			},
			{
				name: "unknown cache",
				args: []string{"new", "example.com/a", "--cache", "x"}, code: 2,
				want: "available: memory, redis, none",
			},
			{
				name: "directory in use",
				args: []string{"new", "example.com/used", "--no-tidy"}, code: 1,
				want: "used is not empty",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Chdir(t.TempDir())
				if err := os.MkdirAll("used/src", 0o750); err != nil {
					t.Fatal(err)
				}
				if a := plinth(t, tc.args...); a.code != tc.code ||
					!strings.Contains(a.err, tc.want) {
					t.Errorf("result = %+v, want %d and %s", a, tc.code, tc.want)
				}
				if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
					t.Errorf("the directory contains %v, %v", entries, err)
				}
			})
		}
	})

	t.Run("keeps the files if go mod tidy fails", func(t *testing.T) {
		t.Chdir(t.TempDir())
		t.Setenv("GOPROXY", "off")
		t.Setenv("GOFLAGS", "-mod=mod")
		t.Setenv("GOWORK", "off")
		t.Setenv("GOMODCACHE", t.TempDir())
		a := plinth(t, "new", "example.com/shop")
		if a.code != 1 ||
			!strings.Contains(a.err, "the files were written; retry the command in shop") {
			t.Errorf("result = %+v", a)
		}
		if !strings.Contains(a.out, "  go mod tidy\n") {
			t.Errorf("the next steps lack go mod tidy:\n%s", a.out)
		}
		checkContains(t, "shop/go.mod", "module example.com/shop")
	})
}

func TestAdd(t *testing.T) {
	newShop(t)
	a := plinth(t, "add", "db", "postgres", "--no-tidy")
	if a.code != 0 || !strings.Contains(a.out, "plugins.go: import of postgres") ||
		!strings.Contains(a.out, "DATABASE_DRIVER=postgres") {
		t.Errorf("result = %+v", a)
	}
	checkContains(t, "plugins.go", "dbplugins/postgres")
	if a := plinth(t, "add", "db", "postgres", "--no-tidy"); a.code != 0 ||
		!strings.Contains(a.out, "nothing to do") {
		t.Errorf("again = %+v", a)
	}
}

func TestAddAndGen_DryRun(t *testing.T) {
	newShop(t)
	for _, args := range [][]string{
		{"add", "cache", "redis"},
		{"gen", "entity", "Order", "total:int64"},
	} {
		a := plinth(t, append(args, "--dry-run", "--json")...)
		var got struct {
			Changes []struct{ Path string }
			DryRun  bool `json:"dry_run"`
		}
		if err := json.Unmarshal([]byte(a.out), &got); err != nil || !got.DryRun ||
			len(got.Changes) == 0 {
			t.Errorf("%q = %+v, %v", args, a, err)
		}
		for _, c := range got.Changes {
			if text, err := os.ReadFile(filepath.FromSlash(c.Path)); err == nil &&
				(bytes.Contains(text, []byte("edis\"")) || bytes.Contains(text, []byte("Order"))) {
				t.Errorf("%q changed %s", args, c.Path)
			}
		}
	}
}

func TestGen(t *testing.T) {
	newShop(t)
	t.Chdir("internal/logic")
	if a := plinth(t, "gen", "entity", "Order", "total:int64"); a.code != 0 ||
		!strings.Contains(a.out, "internal/entity/order.go: new") {
		t.Fatalf("result = %+v", a)
	}
	checkContains(t, "../entity/order.go", "type Order struct")
	if a := plinth(t, "gen", "entity", "Order", "total:int64"); a.code != 1 ||
		!strings.Contains(a.err, "order_test.go already exists") {
		t.Errorf("again = %+v", a)
	}
}

func TestAddAndGen_InvalidArguments(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{
			name: "unknown database", args: []string{"add", "db", "mongo"}, code: 2,
			want: "available: sqlite, postgres, mysql, oracle, sqlserver",
		},
		{
			name: "unsupported feature",
			args: []string{"add", "grpc"}, code: 2, want: "available: db, cache",
		},
		{
			name: "unknown type", args: []string{"gen", "entity", "Order", "a:money"}, code: 2,
			want: "available: string, text, int",
		},
		{
			name: "no service", args: []string{"add", "db", "postgres"}, code: 1,
			want: "no go.mod in this directory or its parents",
		},
		{
			name: "no service for gen", args: []string{"gen", "entity", "Order", "a:int"}, code: 1,
			want: "no go.mod in this directory or its parents",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if a := plinth(t, tc.args...); a.code != tc.code || !strings.Contains(a.err, tc.want) {
				t.Errorf("result = %+v, want %d and %s", a, tc.code, tc.want)
			}
		})
	}
}

package main_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// files are two migrations that every database accepts.
var files = map[string]string{
	"internal/migration/0001_users.sql":  "CREATE TABLE ${prefix}users (id INTEGER);\n",
	"internal/migration/0002_orders.sql": "CREATE TABLE ${prefix}orders (id INTEGER);\nINSERT INTO ${prefix}orders VALUES (1);\n",
}

// migrations is the JSON output of migrate.
type migrations struct {
	Applied, Migrations []struct {
		Version, Name, State string
		AppliedAt            string `json:"applied_at"`
	}
}

// testMigrations applies pending migrations and checks the state before and after.
func testMigrations(t *testing.T, dir string, env []string) {
	t.Helper()
	put(t, dir, files)
	status := plinth(t, dir, env, "migrate", "status")
	if status.code != 0 || strings.Count(status.out, "pending  000") != 2 {
		t.Errorf("status before: exit code %d\n%s%s", status.code, status.out, status.err)
	}
	if check := plinth(t, dir, env, "migrate", "status", "--check"); check.code != 3 ||
		check.err != "" {
		t.Errorf("status --check before: exit code %d, %q, want 3", check.code, check.err)
	}
	up := plinth(t, dir, env, "migrate", "up")
	if up.code != 0 || !strings.HasPrefix(up.out,
		"applied 0001_users.sql\napplied 0002_orders.sql\nthe schema of ") || up.err != "" {
		t.Fatalf("up: exit code %d\n%s%s", up.code, up.out, up.err)
	}
	var again migrations
	decode(t, plinth(t, dir, env, "migrate", "up", "--json").out, &again)
	if len(again.Applied) != 0 || len(again.Migrations) != 2 {
		t.Errorf("up again: %+v, want nothing applied", again)
	}
	var after migrations
	r := plinth(t, dir, env, "migrate", "status", "--check", "--json")
	decode(t, r.out, &after)
	if r.code != 0 || len(after.Migrations) != 2 {
		t.Fatalf("status after: exit code %d, %+v", r.code, after)
	}
	for i, m := range after.Migrations {
		if want := []string{"0001", "0002"}[i]; m.Version != want || m.State != "applied" ||
			m.AppliedAt == "" {
			t.Errorf("migration %d = %+v", i, m)
		}
	}
}

func TestMigrate_SQLite(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"go.mod": "module example.com/shop\n",
		".env":   "DATABASE_DRIVER=sqlite\nDATABASE_PATH=shop.db\n",
	})
	put(t, dir, files)
	if _ = plinth(t, dir, nil, "migrate", "status"); exists(filepath.Join(dir, "shop.db")) {
		t.Error("status created the database file")
	}
	testMigrations(t, dir, nil)
	testStatusReadOnly(t)
	// Run migrate in a subdirectory, with and without a relative --dir.
	sub := filepath.Join(dir, "internal")
	for _, args := range [][]string{
		{"migrate", "status", "--check"},
		{"migrate", "status", "--check", "--dir", "migration"},
	} {
		if got := plinth(t, sub, nil, args...); got.code != 0 {
			t.Errorf("%v from a subdirectory: exit code %d, %s", args, got.code, got.err)
		}
	}
}

// testStatusReadOnly uses a file without a write-ahead log. A connection of the service
// would change the journal mode.
func testStatusReadOnly(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"go.mod": "module example.com/shop\n",
		".env":   "DATABASE_DRIVER=sqlite\nDATABASE_PATH=shop.db\n",
	})
	put(t, dir, files)
	path := filepath.Join(dir, "shop.db")
	db, err := xdb.Open(t.Context(),
		xdb.Options{Driver: "sqlite", DSN: xlog.Secret("file:" + path)})
	if err == nil {
		err = errors.Join(db.Exec("CREATE TABLE t (id INTEGER)").Error, xdb.Close(db))
	}
	before, readErr := os.ReadFile(path)
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	if got := plinth(t, dir, nil, "migrate", "status"); got.code != 0 ||
		strings.Count(got.out, "pending  000") != 2 {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("status changed the file (%v)", err)
	}
}

func TestMigrate_PostgreSQL(t *testing.T) {
	env, pass := postgres(t)
	dir := t.TempDir()
	put(t, dir, map[string]string{"go.mod": "module example.com/shop\n"})
	env = append(env, "DATABASE_PASS="+pass, "DATABASE_PREFIX=plinth_cli_")
	t.Cleanup(func() { drop(t, "plinth_cli_users", "plinth_cli_orders", "plinth_cli_plinth_migrations") })
	testMigrations(t, dir, env)
}

// drop drops tables on the test server.
func drop(t *testing.T, tables ...string) {
	t.Helper()
	ctx := context.Background() // the context of the test is canceled
	db, err := xdb.Open(ctx, xdb.Options{
		Driver: "postgres",
		DSN:    xlog.Secret(dbtest.FindServer(t, "postgres").DSN),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	for _, table := range tables {
		if err := db.Exec("DROP TABLE IF EXISTS " + table).Error; err != nil {
			t.Error(err)
		}
	}
}

func TestMigrate_Errors(t *testing.T) {
	t.Run("reports the failed statement", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"go.mod":                             "module example.com/shop\n",
			".env":                               "DATABASE_DRIVER=sqlite\nDATABASE_PATH=shop.db\n",
			"internal/migration/0001_users.sql":  "CREATE TABLE users (id INTEGER);\n",
			"internal/migration/0002_broken.sql": "-- a comment\nINSERT INTO gone VALUES (1);\n",
		})
		up := plinth(t, dir, nil, "migrate", "up")
		if up.code != 1 || up.out != "applied 0001_users.sql\n" ||
			!strings.HasPrefix(up.err, "plinth: ") ||
			!strings.Contains(up.err, "0002_broken.sql:2") || strings.Count(up.err, "\n") != 1 {
			t.Errorf("exit code %d\n%s%s", up.code, up.out, up.err)
		}
		status := plinth(t, dir, nil, "migrate", "status")
		if !strings.Contains(status.out, "failed   0002") {
			t.Errorf("status:\n%s", status.out)
		}
	})

	t.Run("suggests to start the service if the first migration fails", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"go.mod":                            "module example.com/shop\n",
			".env":                              "DATABASE_DRIVER=sqlite\nDATABASE_PATH=shop.db\n",
			"internal/migration/0001_index.sql": "CREATE INDEX notes_text ON notes (text);\n",
		})
		up := plinth(t, dir, nil, "migrate", "up")
		if up.code != 1 || !strings.Contains(up.err, "0001_index.sql:1") ||
			!strings.Contains(up.err, "start the service once") {
			t.Errorf("exit code %d\n%s%s", up.code, up.out, up.err)
		}
	})

	t.Run("requires files and a database", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"go.mod":           "module example.com/shop\n",
			"empty/readme.txt": "none\n",
		})
		for _, tc := range []struct {
			name string
			args []string
			want string
		}{
			{
				name: "no directory", args: []string{"up"},
				want: "plinth: the directory internal/migration does not exist; set the directory of the SQL files with --dir\n",
			},
			{
				name: "no file", args: []string{"status", "--dir", "empty"},
				want: "plinth: no .sql file in " + filepath.Join(dir, "empty") + "\n",
			},
			{
				name: "not a directory", args: []string{"up", "--dir", "go.mod"},
				want: "plinth: " + filepath.Join(dir, "go.mod") + " is not a directory\n",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got := plinth(t, dir, nil, append([]string{"migrate"}, tc.args...)...)
				if got.code != 1 || got.err != tc.want {
					t.Errorf("exit code %d and %q, want 1 and %q", got.code, got.err, tc.want)
				}
			})
		}
		put(t, dir, files)
		got := plinth(t, dir, nil, "migrate", "up")
		if want := "plinth: no database is configured; set DATABASE_DRIVER and its variables"; got.code != 1 || !strings.HasPrefix(got.err, want) {
			t.Errorf("without a database: exit code %d, %q", got.code, got.err)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

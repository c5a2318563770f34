package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// sqlFiles returns a file system of name and content pairs.
func sqlFiles(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	return m
}

// countedFiles inserts one row per run.
var countedFiles = sqlFiles(
	"0001_runs.sql", "CREATE TABLE runs (name TEXT);",
	"0002_counted.sql", "INSERT INTO runs VALUES ('counted');",
)

// wantRuns checks the rows of the table runs.
func wantRuns(t *testing.T, db *gorm.DB, want ...string) {
	t.Helper()
	var got []string
	if err := db.Raw("SELECT name FROM runs ORDER BY rowid").Scan(&got).Error; err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("runs = %q, want %q", got, want)
	}
}

// states returns the states of migrations.
func states(t *testing.T, db *gorm.DB, files fs.FS) string {
	t.Helper()
	list, err := migrate.List(t.Context(), db, files)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]string, len(list))
	for i, m := range list {
		text[i] = string(m.State)
	}
	return strings.Join(text, "/")
}

// logged returns a context with a logger that writes to the buffer. It is not safe for
// concurrent use.
func logged(t *testing.T) (*bytes.Buffer, context.Context) {
	t.Helper()
	log := &bytes.Buffer{}
	engine, err := xlog.New(xlog.Config{
		Level: slog.LevelInfo, Format: xlog.FormatJSON, Writer: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return log, xlog.NewContext(context.WithoutCancel(t.Context()), engine)
}

const (
	// victimEnv makes the test binary block in its second migration; victimDriverEnv is
	// the key of its driver in victimDrivers.
	victimEnv       xenv.EnvKey = "PLINTH_TEST_VICTIM"
	victimDriverEnv xenv.EnvKey = "PLINTH_TEST_FORM"
)

// halfWay returns migrations whose last statement is last.
func halfWay(last string) fstest.MapFS {
	return sqlFiles(
		"0001_runs.sql", "CREATE TABLE runs (name TEXT);",
		"0002_half.sql", "CREATE TABLE half (x);\nINSERT INTO runs VALUES ('first');\n"+last+";",
	)
}

// victimDrivers contains the drivers of killed processes, and the log line after which a
// process may be killed.
var victimDrivers = map[string]struct {
	driver driver.Driver
	line   string
}{
	"one transaction": {sqlite.Driver{}, "INSERT INTO runs"},
	"each statement":  {separateLock{sqlite.Driver{}, mutex{&sync.Mutex{}}, false}, "`done`=?"},
}

func victim(path string) {
	engine, err := xlog.New(xlog.Config{
		Level: slog.LevelDebug, Format: xlog.FormatJSON, Writer: os.Stdout,
	})
	if err != nil {
		panic(err)
	}
	var r xdb.Registry
	r.Register(victimDrivers[xenv.GetEnvString(victimDriverEnv, "")].driver)
	_, err = r.Open(xlog.NewContext(context.Background(), engine), xdb.Options{
		Driver: sqlite.Name, Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		Migrations: []fs.FS{halfWay(slow)},
	})
	fmt.Fprintln(os.Stderr, err) // the process was not killed
}

// openWith opens a database with driver d.
func openWith(t *testing.T, d driver.Driver, o xdb.Options) *gorm.DB {
	t.Helper()
	var r xdb.Registry
	r.Register(d)
	o.Driver = d.Name()
	db, err := r.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = xdb.Close(db) })
	return db
}

// killVictim starts a process and kills it during its second migration.
func killVictim(t *testing.T, driverName, path string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), string(victimEnv)+"="+path,
		string(victimDriverEnv)+"="+driverName)
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines, second, inserted := bufio.NewScanner(out), false, false
	for lines.Scan() {
		line := lines.Text()
		second = second || strings.Contains(line, "migration started") &&
			strings.Contains(line, "0002_half")
		inserted = inserted || second && strings.Contains(line, "INSERT INTO runs")
		if inserted && strings.Contains(line, victimDrivers[driverName].line) {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // read all lines before Wait closes the pipe
	}
	_ = cmd.Wait() // it was killed
	if !inserted {
		t.Fatal("the process exited before its second migration")
	}
}

func TestMigrate_KilledProcess(t *testing.T) {
	for _, tc := range []struct {
		driver string
		states string
		done   int
	}{
		{driver: "one transaction", states: "applied/pending"},
		{driver: "each statement", states: "applied/running", done: 2},
	} {
		t.Run(tc.driver, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			killVictim(t, tc.driver, path)
			db := openWith(t, victimDrivers[tc.driver].driver,
				xdb.Options{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}})
			fixed := halfWay("INSERT INTO runs VALUES ('last')")
			if got := states(t, db, fixed); got != tc.states {
				t.Errorf("states after the kill = %s, want %s", got, tc.states)
			}
			if list, err := migrate.List(t.Context(), db, fixed); err != nil ||
				list[1].Done != tc.done {
				t.Errorf("migration after the kill = %+v, %v; want %d statements done",
					list[1], err, tc.done)
			}
			if err := migrate.Apply(t.Context(), db, fixed); err != nil {
				t.Fatal(err)
			}
			wantRuns(t, db, "first", "last")
			if got := states(t, db, fixed); got != "applied/applied" {
				t.Errorf("states = %s", got)
			}
		})
	}
}

func TestMigrate_UnknownOutcome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	killVictim(t, "each statement", path)
	var r xdb.Registry
	r.Register(victimDrivers["each statement"].driver)
	_, err := r.Open(t.Context(), xdb.Options{
		Driver: sqlite.Name, Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		Migrations: []fs.FS{halfWay("CREATE TABLE half (x)")},
	})
	if err == nil || !strings.Contains(err.Error(), "0002_half.sql:3: ") ||
		!strings.Contains(err.Error(), "may have applied it already") {
		t.Errorf("error = %v, want a note that the statement may have been applied", err)
	}
}

func TestMigrate_Cancellation(t *testing.T) {
	t.Run("is recorded and can be resumed", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			driver driver.Driver
			done   int
		}{
			{name: "one transaction", driver: sqlite.Driver{}},
			{name: "each statement", driver: victimDrivers["each statement"].driver, done: 2},
		} {
			t.Run(tc.name, func(t *testing.T) {
				db := openWith(t, tc.driver, file(t))
				// the timeout is long enough to apply the first migration on a slow
				// machine
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				err := migrate.Apply(ctx, db, halfWay(slow))
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Apply = %v, want DeadlineExceeded", err)
				}
				fixed := halfWay("INSERT INTO runs VALUES ('last')")
				list, err := migrate.List(t.Context(), db, fixed)
				if err != nil || list[1].State != migrate.Failed ||
					!strings.Contains(list[1].Error, "0002_half.sql:3: context deadline exceeded") {
					t.Fatalf("migration = %+v, %v; want one failed migration", list, err)
				}
				if got := db.Migrator().HasTable("half"); got != (tc.done > 0) ||
					list[1].Done != tc.done {
					t.Errorf("applied statements = %d, table exists: %t; want %d",
						list[1].Done, got, tc.done)
				}
				if err := migrate.Apply(t.Context(), db, fixed); err != nil {
					t.Error(err)
				}
				wantRuns(t, db, "first", "last")
			})
		}
	})

	// The context is canceled at a random moment: between statements, during a statement,
	// while waiting for the lock, or while recording the state.
	t.Run("at a random moment can be resumed", func(t *testing.T) {
		for name, v := range victimDrivers {
			t.Run(name, func(t *testing.T) {
				for range 100 {
					db := openWith(t, v.driver, file(t))
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(8*time.Millisecond))
					err := migrate.Apply(ctx, db, halfWay(slow))
					cancel()
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Apply = %v, want DeadlineExceeded", err)
					}
					if err := migrate.Apply(t.Context(), db,
						halfWay("INSERT INTO runs VALUES ('last')")); err != nil {
						t.Error(err)
					}
					wantRuns(t, db, "first", "last")
				}
			})
		}
	})
}

func TestMigrate_Transaction(t *testing.T) {
	t.Run("rejects a file without a transaction", func(t *testing.T) {
		db := open(t, file(t))
		files := sqlFiles("0001_runs.sql",
			"-- plinth:no-transaction\nCREATE TABLE runs (name TEXT);")
		err := migrate.Apply(t.Context(), db, files)
		if err == nil || !strings.Contains(err.Error(),
			"migration 0001_runs.sql: the lock of sqlite is a transaction") {
			t.Errorf("Apply = %v, want an error", err)
		}
		if got := states(t, db, files); got != "pending" {
			t.Errorf("state = %s, want pending", got)
		}
	})

	t.Run("is rolled back by a failed statement", func(t *testing.T) {
		db := open(t, file(t))
		files := sqlFiles("0001_runs.sql",
			"CREATE TABLE runs (name TEXT UNIQUE);\nINSERT INTO runs VALUES ('a');\n"+
				"INSERT OR ROLLBACK INTO runs VALUES ('a');")
		err := migrate.Apply(t.Context(), db, files)
		if !errors.Is(err, gorm.ErrDuplicatedKey) {
			t.Errorf("Apply = %v, want the violated constraint", err)
		}
		if got := states(t, db, files); got != "failed" || db.Migrator().HasTable("runs") {
			t.Errorf("state = %s, want failed and no table", got)
		}
	})
}

func TestMigrate_ReadOnly(t *testing.T) {
	path := empty(t)
	o := xdb.Options{DSN: xlog.Secret(path), Migrations: []fs.FS{countedFiles}}
	if err := autoMigrate(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"?mode=ro", "?mode=ro&_txlock=immediate"} {
		o.DSN = xlog.Secret("file:" + path + query)
		if err := autoMigrate(t.Context(), o); err != nil {
			t.Errorf("migrate%s = %v", query, err)
		}
		more := o
		more.Migrations = append(more.Migrations,
			sqlFiles("0003_more.sql", "CREATE TABLE more (x);"))
		err := autoMigrate(t.Context(), more)
		if err == nil || !strings.Contains(err.Error(),
			" (DATABASE_DSN): database is read-only: ") {
			t.Errorf("migrate%s with a pending migration = %v, want the variable", query, err)
		}
	}
}

func TestMigrate_Wait(t *testing.T) {
	o := file(t)
	log, ctx := logged(t)
	synctest.Test(t, func(t *testing.T) {
		db := open(t, o) // in the bubble, to use its clock
		holder := db.Begin()
		go func() {
			<-time.After(5 * time.Minute)
			holder.Rollback()
		}()
		start := time.Now()
		if err := migrate.Apply(ctx, db, countedFiles); err != nil {
			t.Error(err)
		}
		if elapsed := time.Since(start); elapsed < 5*time.Minute {
			t.Errorf("Apply returned after %s, want at least 5 minutes", elapsed)
		}
	})
	if n := strings.Count(log.String(), "waiting for a migration of another process"); n < 3 ||
		n > 6 {
		t.Errorf("log lines while waiting = %d, want about one a minute:\n%s", n, log)
	}
}

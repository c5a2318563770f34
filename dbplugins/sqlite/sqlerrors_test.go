package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// wantRejected checks that Apply rejects the files with the error want.
func wantRejected(t *testing.T, db *gorm.DB, want string, pairs ...string) {
	t.Helper()
	if err := migrate.Apply(t.Context(), db, sqlFiles(pairs...)); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("Apply = %v, want %q", err, want)
	}
}

func TestMigrate_Files(t *testing.T) {
	t.Run("run in numeric order", func(t *testing.T) {
		db := open(t, file(t))
		const (
			create = "CREATE TABLE runs (name TEXT)"
			first  = "INSERT INTO runs VALUES ('9')"
			second = "INSERT INTO runs VALUES ('10')"
		)
		files := sqlFiles("1_runs.sql", create, "9_b.sql", first)
		if err := migrate.Apply(t.Context(), db, files); err != nil {
			t.Fatal(err)
		}
		files = sqlFiles("1_runs.sql", create, "9_b.sql", first, "10_a.sql", second)
		if got := states(t, db, files); got != "applied/applied/pending" {
			t.Errorf("states = %s", got)
		}
		if err := migrate.Apply(t.Context(), db, files); err != nil {
			t.Fatal(err)
		}
		wantRuns(t, db, "9", "10")
		wantRejected(t, db, "2_late.sql: it comes before 10_a.sql",
			"1_runs.sql", create, "2_late.sql", "SELECT 1", "9_b.sql", first,
			"10_a.sql", second)
	})

	t.Run("do not run again after a rename", func(t *testing.T) {
		db := open(t, file(t))
		const text = "CREATE TABLE runs (name TEXT); INSERT INTO runs VALUES ('once')"
		if err := migrate.Apply(t.Context(), db, sqlFiles("0001_a.sql", text)); err != nil {
			t.Fatal(err)
		}
		wantRejected(t, db, "0001_b.sql: the database has applied its version as 0001_a.sql",
			"0001_b.sql", text)
		if got := states(t, db, sqlFiles("0001_b.sql", text)); got != "changed/missing" {
			t.Errorf("states = %s", got)
		}
		wantRuns(t, db, "once")
	})

	t.Run("do not run after a newer file", func(t *testing.T) {
		db := open(t, file(t))
		const create = "CREATE TABLE runs (name TEXT)"
		wantRejected(t, db, "no such table",
			"0001_runs.sql", create, "0002_b.sql", "INSERT INTO none VALUES (1)")
		files := sqlFiles("0001_runs.sql", create,
			"0003_c.sql", "INSERT INTO runs VALUES ('c')")
		if err := migrate.Apply(t.Context(), db, files); err != nil {
			t.Fatal(err)
		}
		wantRejected(t, db, "0002_b.sql: it comes before 0003_c.sql",
			"0001_runs.sql", create, "0002_b.sql", "SELECT 1")
	})
}

func TestMigrate_OpenTransaction(t *testing.T) {
	db := open(t, file(t))
	err := db.Transaction(func(tx *gorm.DB) error {
		return migrate.Apply(t.Context(), tx, sqlFiles("0001_a.sql", "SELECT 1"))
	})
	if err == nil || !strings.Contains(err.Error(), "needs the database itself") {
		t.Errorf("Apply = %v, want an error", err)
	}
}

func TestMigrate_Errors(t *testing.T) {
	t.Run("return the context error", func(t *testing.T) {
		db := open(t, file(t))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := migrate.Apply(ctx, db,
			sqlFiles("0001_slow.sql", "CREATE TABLE runs (name TEXT);\n"+slow))
		if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "undone") {
			t.Errorf("Apply = %v, want only the context error", err)
		}
	})

	t.Run("contain no values of the file", func(t *testing.T) {
		for name, text := range map[string]string{
			"token":   "SELECT x'hunter2secret'",
			"number":  "SELECT 12345hunter2secret",
			"trigger": "CREATE TABLE a (x);\n-- plinth:begin\nCREATE TRIGGER t INSERT ON a BEGIN SELECT RAISE(ABORT, 'hunter2secret'); END;\n-- plinth:end\nINSERT INTO a VALUES (1)",
			"check":   "CREATE TABLE a (x CHECK (x <> 'hunter2secret'));\nINSERT INTO a VALUES ('hunter2secret')",
		} {
			t.Run(name, func(t *testing.T) {
				db := open(t, file(t))
				files := sqlFiles("0001_a.sql", text)
				err := migrate.Apply(t.Context(), db, files)
				if err == nil || strings.Contains(err.Error(), "hunter2secret") {
					t.Errorf("Apply = %v, want an error without the value", err)
				}
				list, listErr := migrate.List(t.Context(), db, files)
				if listErr != nil || list[0].Error == "" ||
					strings.Contains(list[0].Error, "hunter2secret") {
					t.Errorf("migrations = %+v, %v; want an error without the value", list, listErr)
				}
			})
		}
	})
}

func TestDriver_Migrate_Panic(t *testing.T) {
	o := file(t)
	o.MaxOpenConns = 1
	db := open(t, o)
	func() {
		defer func() { _ = recover() }()
		_ = sqlite.Driver{}.Migrate(t.Context(), db,
			func(*gorm.DB) error { panic("boom") })
	}()
	var on int
	if err := db.Raw("PRAGMA foreign_keys").Scan(&on).Error; err != nil || on != 1 {
		t.Errorf("foreign_keys = %d, %v; want 1", on, err)
	}
}

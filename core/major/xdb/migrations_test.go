package xdb_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func sqlFiles(pairs ...string) fs.FS {
	m := fstest.MapFS{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	return m
}

func TestResolve_Migrations(t *testing.T) {
	t.Run("reports all problems", func(t *testing.T) {
		r := registryOf(&fakeDriver{})
		o := xdb.Options{Driver: "fake", Prepare: []xdb.Prepare{nil}, Migrations: []fs.FS{
			sqlFiles("0001_a.sql", "a;\nCOMMIT;", "0001_a.fake.sql", "a", "0002_b.sqlite.sql", "b",
				"0003_c.sql", "c;\n\n'", "0004_d.myqsl.sql", "d"),
			nil,
			sqlFiles("0005_e.sql", "e", "0005_e.mysql.sql", "BEGIN", "0005_e.oracle.sql",
				"CREATE TABLE x (y);\n/"),
		}}
		_, err := r.Resolve(o)
		if err == nil {
			t.Fatal("Resolve = nil, want an error")
		}
		want := []string{
			"xdb: Prepare function 1 is nil",
			`xdb: migration 0004_d.myqsl.sql: "myqsl" is not a known database ` +
				"(known: fake, mysql, oracle, postgres, sqlite, sqlserver); " +
				"a name must not contain another dot, and down migrations are not supported",
			"xdb: migration files 2 are nil",
			"xdb: migration 0002_b.sql has no file for fake: add 0002_b.sql or 0002_b.fake.sql",
			"xdb: migration 0003_c.sql:3: unterminated string, quoted name or comment",
			"xdb: migration 0005_e.mysql.sql:1: BEGIN starts or ends a transaction, " +
				"but the migration already runs in one: remove it; " +
				"if it starts a block of statements, " +
				"put it between the lines -- plinth:begin and -- plinth:end",
		}
		if got := err.Error(); got != strings.Join(want, "\n") {
			t.Errorf("problems:\n got %s\nwant %s", got, strings.Join(want, "\n"))
		}
		f := &fakeDriver{}
		if _, err := registryOf(f).Open(t.Context(), o); err == nil || f.connectAttempts() != 0 {
			t.Errorf("Open = %v after %d connections, want an error before the first one",
				err, f.connectAttempts())
		}
	})

	t.Run("checks files without a driver", func(t *testing.T) {
		r := registryOf(&fakeDriver{})
		_, err := r.Resolve(xdb.Options{
			Driver:     "nowhere",
			Migrations: []fs.FS{sqlFiles("a.sql", "'", "1.sql", "'", "1.fake.sql", "")},
		})
		if !errors.Is(err, xdb.ErrUnknownDriver) ||
			!strings.Contains(err.Error(), "migration a.sql: the name must be a version") {
			t.Errorf("Resolve = %v, want both problems", err)
		}
		if strings.Contains(err.Error(), "1.fake.sql") {
			t.Errorf("Resolve = %v, want no problem for the valid file", err)
		}
	})
}

// busy is a driver whose lock is not granted before an attempt.
type busy struct {
	*fakeDriver

	attempts, granted int
}

func (b *busy) Migrate(context.Context, *gorm.DB, func(*gorm.DB) error) error {
	if b.attempts++; b.attempts >= b.granted {
		return nil
	}
	const text = "busy with hunter2"
	return driver.Translate(driver.LockTimeout, errors.New(text), text)
}

func (*busy) TransactionalDDL() bool { return false }

func TestOpen_MigrationLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, log := logged(t)
		b := &busy{fakeDriver: &fakeDriver{}, granted: 4}
		o := xdb.Options{
			Driver: "fake", AutoMigrate: []any{&struct{ ID int }{}},
			Parts: driver.Config{Pass: "hunter2"},
		}
		db, err := registryOf(b).Open(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if n := log.count("waiting for a migration of another process"); n != 3 ||
			strings.Contains(log.String(), "hunter2") {
			t.Errorf("log lines = %d, want 3 without the password:\n%s", n, log)
		}
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}

		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err = registryOf(&busy{fakeDriver: &fakeDriver{}, granted: 1e6}).Open(ctx, o)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Open = %v, want DeadlineExceeded", err)
		}
	})
}

package sqlite_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gormsqlite "github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// mutex is a migration lock outside of the transaction, as in server databases. It works
// in one process only.
type mutex struct{ held *sync.Mutex }

func (m mutex) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	m.held.Lock()
	defer m.held.Unlock()
	return run(db.WithContext(ctx))
}

// ownConnection runs migrations with gorm's Connection.
type ownConnection struct{ mutex }

func (m ownConnection) Migrate(
	ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error,
) error {
	m.held.Lock()
	defer m.held.Unlock()
	return db.WithContext(ctx).Connection(run)
}

// separateLock is a driver whose lock is independent of its transactions.
type separateLock struct {
	driver.Driver
	locker

	transactional bool // result of TransactionalDDL
}

// locker is the part of driver.Migrator that acquires the lock.
type locker interface {
	Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error
}

func (s separateLock) TransactionalDDL() bool { return s.transactional }

// TestMigrate_Drivers runs the migration checks with properties of server databases that
// SQLite does not have: locks outside of the transaction, and schema changes that commit.
func TestMigrate_Drivers(t *testing.T) {
	lock := mutex{&sync.Mutex{}}
	for _, tc := range []struct {
		name   string
		driver driver.Driver
	}{
		{
			name:   "lock on a separate connection",
			driver: separateLock{sqlite.Driver{}, ownConnection{lock}, true},
		},
		{name: "lock outside of transactions", driver: separateLock{sqlite.Driver{}, lock, true}},
		{
			name:   "lock with schema changes that commit",
			driver: separateLock{sqlite.Driver{}, lock, false},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := harness()
			h.Driver = tc.driver
			names := slices.DeleteFunc(dbtest.Cases(),
				func(name string) bool { return !strings.HasPrefix(name, "Migrations/") })
			for name, failures := range dbtest.Failures(t, h, names...) {
				t.Errorf("%s: %q", name, failures)
			}
		})
	}
}

func TestMigrate_ExternalDB(t *testing.T) {
	db, err := gorm.Open(gormsqlite.Open(filepath.Join(t.TempDir(), "test.db")), &gorm.Config{
		Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: "app_"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	files := sqlFiles("0001_runs.sql",
		"CREATE TABLE runs (name TEXT); INSERT INTO runs VALUES ('${prefix}');\n"+
			"INSERT INTO none VALUES ('secret')")
	err = migrate.Apply(t.Context(), db, files)
	if err == nil || !strings.Contains(err.Error(), "0001_runs.sql:2: ") ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("Apply = %v, want the line of the statement", err)
	}
	files["0001_runs.sql"].Data = []byte(
		"CREATE TABLE runs (name TEXT); INSERT INTO runs VALUES ('${prefix}');\n")
	if err := migrate.Apply(t.Context(), db, files); err != nil {
		t.Error(err)
	}
	wantRuns(t, db, "app_")
	if got := states(t, db, files); got != "applied" ||
		!db.Migrator().HasTable("app_plinth_migrations") {
		t.Errorf("state = %s", got)
	}
}

func TestMigrate_GormConfig(t *testing.T) {
	o := file(t)
	o.Gorm = func(c *gorm.Config) {
		c.PrepareStmt, c.DisableNestedTransaction, c.SkipDefaultTransaction = true, true, true
	}
	db := open(t, o)
	files := halfWay("SELEKT 1")
	if err := migrate.Apply(t.Context(), db, files); err == nil {
		t.Fatal("Apply with an invalid statement: error = nil")
	}
	if got := states(t, db, files); got != "applied/failed" || db.Migrator().HasTable("half") {
		t.Errorf("states = %s, want a failed one without effect", got)
	}
	files = halfWay("INSERT INTO runs VALUES ('it''s @name ? $1 :x')")
	if err := migrate.Apply(t.Context(), db, files); err != nil {
		t.Fatal(err)
	}
	wantRuns(t, db, "first", "it's @name ? $1 :x")
}

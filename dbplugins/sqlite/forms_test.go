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

// mutex is a lock that is no transaction, as those of servers are. It holds within one
// process.
type mutex struct{ held *sync.Mutex }

func (m mutex) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	m.held.Lock()
	defer m.held.Unlock()
	return run(db.WithContext(ctx))
}

// ownConnection hands over what gorm's Connection gives.
type ownConnection struct{ mutex }

func (m ownConnection) Migrate(
	ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error,
) error {
	m.held.Lock()
	defer m.held.Unlock()
	return db.WithContext(ctx).Connection(run)
}

// aside is a driver whose lock stands beside its transactions.
type aside struct {
	driver.Driver
	locker

	undoes bool
}

// locker is what a driver.Migrator does around a migration.
type locker interface {
	Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error
}

func (a aside) TransactionalDDL() bool { return a.undoes }

// TestMigrationsHoldInEveryFormOfADriver runs the suite's migrations with what servers do
// and SQLite does not: locks beside the transaction, and changes of the schema that
// commit by themselves.
func TestMigrationsHoldInEveryFormOfADriver(t *testing.T) {
	lock := mutex{&sync.Mutex{}}
	for _, tc := range []struct {
		name   string
		driver driver.Driver
	}{
		{
			name:   "lock on a connection of its own",
			driver: aside{sqlite.Driver{}, ownConnection{lock}, true},
		},
		{name: "lock beside transactions", driver: aside{sqlite.Driver{}, lock, true}},
		{name: "lock beside changes that commit", driver: aside{sqlite.Driver{}, lock, false}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := harness()
			h.Driver = tc.driver
			names := slices.DeleteFunc(dbtest.Cases(),
				func(name string) bool { return !strings.HasPrefix(name, "Migrations/") })
			for name, complaints := range dbtest.Failures(t, h, names...) {
				t.Errorf("%s: %q", name, complaints)
			}
		})
	}
}

func TestMigrateWorksOnADatabaseThatWasOpenedOtherwise(t *testing.T) {
	db, err := gorm.Open(gormsqlite.Open(filepath.Join(t.TempDir(), "test.db")), &gorm.Config{
		Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: "app_"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = xdb.Close(db) }()
	files := sqlFiles("0001_runs.sql",
		"CREATE TABLE runs (name TEXT); INSERT INTO runs VALUES ('${prefix}');\nINSERT INTO none VALUES ('secret')")
	err = migrate.Apply(t.Context(), db, files)
	if err == nil || !strings.Contains(err.Error(), "0001_runs.sql:2: ") ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("Migrate = %v, want the line of the statement", err)
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

func TestMigrationsAreOneUnitWhateverGormIsTold(t *testing.T) {
	o := file(t)
	o.Gorm = func(c *gorm.Config) {
		c.PrepareStmt, c.DisableNestedTransaction, c.SkipDefaultTransaction = true, true, true
	}
	db := open(t, o)
	files := halfWay("SELEKT 1")
	if err := migrate.Apply(t.Context(), db, files); err == nil {
		t.Fatal("the broken statement has no error")
	}
	if got := states(t, db, files); got != "applied/failed" || db.Migrator().HasTable("half") {
		t.Errorf("states = %s, want a failed one that left nothing", got)
	}
	files = halfWay("INSERT INTO runs VALUES ('it''s @name ? $1 :x')")
	if err := migrate.Apply(t.Context(), db, files); err != nil {
		t.Fatal(err)
	}
	wantRuns(t, db, "first", "it's @name ? $1 :x")
}

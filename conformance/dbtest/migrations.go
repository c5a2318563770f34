package dbtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
)

var migrationCases = []testCase{
	{"Migrations/run once in order", testMigrationsOnce},
	{"Migrations/List changes nothing", testMigrationsList},
	{"Migrations/driver-specific file takes precedence", testMigrationVariants},
	{"Migrations/rejects a changed file", testChangedMigration},
	{"Migrations/failed migration resumes", testFailedMigration},
	{
		"Migrations/no-transaction migration resumes after the last statement",
		testNoTransactionMigration,
	},
	{"Migrations/concurrent replicas run each migration once", testMigrationReplicas},
	{"Migrations/lock excludes a second run", testMigrationLock},
}

const (
	createThings = "CREATE TABLE ${prefix}things " +
		"(id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL);\n"
	createParts = "CREATE TABLE ${prefix}parts (id INTEGER NOT NULL PRIMARY KEY);\n"
	replicas    = 8
)

func insertThing(id int, name string) string {
	return fmt.Sprintf("INSERT INTO ${prefix}things (id, name) VALUES (%d, '%s');\n", id, name)
}

func sqlFiles(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	return m
}

// openEmpty opens a database. At the end of the check it drops the tables of the
// migrations.
func (s *suite) openEmpty(tb testing.TB, o xdb.Options) *gorm.DB {
	db, err := s.registry.Open(s.ctx, o)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tables := slices.Clone(o.AutoMigrate)
	tb.Cleanup(func() {
		uncanceled := db.WithContext(context.WithoutCancel(s.ctx))
		for _, table := range []string{"things", "parts"} {
			if s.hasTable(uncanceled, table) {
				check(tb, uncanceled.Exec("DROP TABLE "+s.prefix+table).Error, "drop "+table)
			}
		}
		check(tb, uncanceled.Migrator().DropTable(append(tables, s.prefix+"plinth_migrations")...),
			"drop the tables")
		check(tb, xdb.Close(db), "close")
		s.noSecret(tb, o.Parts)
	})
	return db.WithContext(s.ctx)
}

func (s *suite) hasTable(db *gorm.DB, table string) bool {
	var n int64
	return db.Raw("SELECT count(*) FROM "+s.prefix+table).Scan(&n).Error == nil
}

func (s *suite) wantThings(tb testing.TB, db *gorm.DB, want ...string) {
	var got []string
	check(tb, db.Raw("SELECT name FROM "+s.prefix+"things ORDER BY id").Scan(&got).Error, "read")
	if !slices.Equal(got, want) {
		tb.Errorf("rows = %q, want %q", got, want)
	}
}

func (s *suite) wantStates(
	tb testing.TB, db *gorm.DB, files fstest.MapFS, want ...migrate.State,
) []migrate.Migration {
	list, err := migrate.List(s.ctx, db, files)
	check(tb, err, "list")
	got := make([]migrate.State, len(list))
	for i, m := range list {
		got[i] = m.State
	}
	if !slices.Equal(got, want) {
		tb.Fatalf("states = %q, want %q", got, want)
	}
	return list
}

func (s *suite) transactional() bool {
	d, ok := s.Driver.(driver.Migrator)
	return ok && d.TransactionalDDL()
}

func testMigrationsOnce(tb testing.TB, s *suite) {
	first := sqlFiles("0001_things.sql", createThings+"UPDATE ${prefix}accounts SET balance = 1;",
		"0003_third.sql", insertThing(3, "third"))
	second := sqlFiles("deep/0002_second.sql",
		"-- a comment; with a semicolon\n"+insertThing(2, "a;b @c ?"))
	var prepared int64
	o := s.options(tb, &account{}) // 0001 uses its table
	o.Migrations = append(o.Migrations, first, second)
	o.Prepare = []xdb.Prepare{func(_ context.Context, db *gorm.DB) error {
		return db.Raw("SELECT count(*) FROM " + s.prefix + "things").Scan(&prepared).Error
	}}
	db := s.openEmpty(tb, o)
	if prepared != 2 {
		tb.Errorf("the Prepare function saw %d rows, want 2", prepared)
	}
	started, applied := s.log.count(`"migration started"`), s.log.count(`"migration applied"`)
	if started != 3 || applied != 3 {
		tb.Errorf("lines = %d and %d, want 3 of each:\n%s", started, applied, s.log)
	}
	s.log.Reset()
	check(tb, migrate.Apply(s.ctx, db, first, second), "migrate again")
	if n := s.log.count(`"migration started"`); n != 0 {
		tb.Errorf("%d migrations were repeated", n)
	}
	s.wantThings(tb, db, "a;b @c ?", "third")
}

func testMigrationsList(tb testing.TB, s *suite) {
	db := s.openEmpty(tb, s.options(tb))
	files := sqlFiles("0001_things.sql", createThings, "0002_rows.sql", insertThing(1, "a"))
	for range 2 {
		s.wantStates(tb, db, files, migrate.Pending, migrate.Pending)
	}
	if db.Migrator().HasTable(s.prefix + "plinth_migrations") {
		tb.Error("List created a table")
	}
	before := time.Now().Add(-time.Minute)
	check(tb, migrate.Apply(s.ctx, db, files), "migrate")
	list := s.wantStates(tb, db, files, migrate.Applied, migrate.Applied)
	m := list[1]
	if m.Name != "0002_rows.sql" || m.File != m.Name || len(m.SHA256) != 64 || m.Statements != 1 ||
		m.Done != 1 || m.Error != "" {
		tb.Errorf("migration = %+v", m)
	}
	if m.StartedAt.Before(before) || m.FinishedAt.Before(m.StartedAt) ||
		m.StartedAt.Location() != time.UTC {
		tb.Errorf("times = %v to %v", m.StartedAt, m.FinishedAt)
	}
	delete(files, "0001_things.sql")
	s.wantStates(tb, db, files, migrate.Missing, migrate.Applied)
}

func testMigrationVariants(tb testing.TB, s *suite) {
	suffix := "." + s.Driver.Name() + ".sql"
	files := sqlFiles(
		"0001_things.sql", "SELEKT 1;", "0001_things"+suffix, createThings,
		"0002_other.sql", insertThing(1, "every"),
		"0003_nothing.sql", "SELEKT 1;", "0003_nothing"+suffix, "-- nothing to do here\n",
	)
	o := s.options(tb)
	o.Migrations = append(o.Migrations, files)
	db := s.openEmpty(tb, o)
	s.wantThings(tb, db, "every")
	list := s.wantStates(tb, db, files, migrate.Applied, migrate.Applied, migrate.Applied)
	if got := list[0]; got.Name != "0001_things.sql" || got.File != "0001_things"+suffix {
		tb.Errorf("migration = %+v, want the file of the driver", got)
	}
}

func testChangedMigration(tb testing.TB, s *suite) {
	files := sqlFiles("0002_things.sql", createThings)
	o := s.options(tb)
	o.Migrations = append(o.Migrations, files)
	db := s.openEmpty(tb, o)
	late := sqlFiles("0001_late.sql", createParts, "0002_things.sql", createThings)
	rejected := []struct {
		name  string
		files fstest.MapFS
		want  string
		state migrate.State
	}{
		{
			"changed",
			sqlFiles("0002_things.sql", createThings+"\n", "0003_parts.sql", createParts),
			"0002_things.sql: it has changed", migrate.Changed,
		},
		{"late", late, "0001_late.sql: it comes before 0002_things.sql", migrate.Late},
	}
	for _, r := range rejected {
		if err := migrate.Apply(s.ctx, db, r.files); err == nil ||
			!strings.Contains(err.Error(), r.want) {
			tb.Errorf("%s: Migrate = %v, want %q", r.name, err, r.want)
		}
		list, err := migrate.List(s.ctx, db, r.files)
		check(tb, err, "list")
		hasState := func(m migrate.Migration) bool { return m.State == r.state }
		if !slices.ContainsFunc(list, hasState) {
			tb.Errorf("%s: list = %+v, want a migration in the state %s", r.name, list, r.state)
		}
	}
	if s.hasTable(db, "parts") {
		tb.Error("a migration of a rejected set was started")
	}
	check(tb, migrate.Apply(s.ctx, db, files), "migrate with the original file")
}

func testFailedMigration(tb testing.TB, s *suite) {
	files := sqlFiles(
		"0001_things.sql", createThings,
		"0002_rows.sql", createParts+insertThing(1, "one")+insertThing(1, secretValue)+
			insertThing(3, "three"),
		"0003_more.sql", insertThing(4, "four"),
	)
	db := s.openEmpty(tb, s.options(tb))
	for range 2 { // the second run starts from the state of the first
		s.wantFailure(tb, db, files)
	}
	partial := !s.transactional() // the statements before the failure are applied
	if got := s.hasTable(db, "parts"); got != partial {
		tb.Errorf("the table of the failed file exists: %t, want %t", got, partial)
	}
	var want []string
	if partial {
		want = append(want, "one")
	}
	s.wantThings(tb, db, want...)
	if partial {
		changed := sqlFiles("0001_things.sql", createThings, "0002_rows.sql",
			createParts+insertThing(1, "uno"))
		if err := migrate.Apply(s.ctx, db, changed); err == nil ||
			!strings.Contains(err.Error(), "its first 2 statements are applied") {
			tb.Errorf("Apply with a changed applied statement = %v", err)
		}
	}
	files["0002_rows.sql"].Data = []byte(createParts + insertThing(1, "one") +
		insertThing(2, "two") + insertThing(3, "three"))
	check(tb, migrate.Apply(s.ctx, db, files), "migrate with the fixed file")
	s.wantThings(tb, db, "one", "two", "three", "four")
	s.wantStates(tb, db, files, migrate.Applied, migrate.Applied, migrate.Applied)
	check(tb, migrate.Apply(s.ctx, db, files), "migrate again")
	if strings.Contains(s.log.String(), secretValue) {
		tb.Errorf("the log contains a literal:\n%s", s.log)
	}
}

// wantFailure migrates and checks the error and the record of the failure.
func (s *suite) wantFailure(tb testing.TB, db *gorm.DB, files fstest.MapFS) {
	err := migrate.Apply(s.ctx, db, files)
	if err == nil {
		tb.Fatalf("the broken file succeeded")
	}
	if !strings.Contains(err.Error(), "migration 0002_rows.sql:3: ") ||
		strings.Contains(err.Error(), secretValue) {
		tb.Errorf("error = %q, want the file and the line without a value", err)
	}
	if code := codeOf(err); code != xerror.UniqueConstraint {
		tb.Errorf("code = %v, want UniqueConstraint", code)
	}
	failed := s.wantStates(tb, db, files, migrate.Applied, migrate.Failed, migrate.Pending)[1]
	if failed.Error != err.Error() || failed.FinishedAt.IsZero() {
		tb.Errorf("migration = %+v, want the error %q", failed, err)
	}
}

func testNoTransactionMigration(tb testing.TB, s *suite) {
	const noTransaction = "-- plinth:no-transaction\n"
	files := sqlFiles(
		"0001_things.sql", createThings,
		"0002_rows.sql", noTransaction+insertThing(1, "one")+insertThing(1, secretValue),
		"0003_more.sql", insertThing(3, "three"),
	)
	db := s.openEmpty(tb, s.options(tb))
	err := migrate.Apply(s.ctx, db, files)
	if err != nil && strings.Contains(err.Error(), "-- plinth:no-transaction is not supported") {
		s.wantThings(tb, db)
		return // the driver locks with a transaction, and the error reports this
	}
	s.wantFailure(tb, db, files)
	s.wantThings(tb, db, "one")
	files["0002_rows.sql"].Data = []byte(
		noTransaction + insertThing(1, "one") + insertThing(2, "two"))
	check(tb, migrate.Apply(s.ctx, db, files), "migrate with the fixed file")
	s.wantThings(tb, db, "one", "two", "three")
}

func testMigrationReplicas(tb testing.TB, s *suite) {
	files := sqlFiles(
		// The table accepts duplicate rows.
		"0001_things.sql",
		"CREATE TABLE ${prefix}things (id INTEGER NOT NULL, name VARCHAR(40) NOT NULL);",
		"0002_rows.sql", insertThing(1, "a")+insertThing(2, "b"),
		"0003_more.sql", insertThing(3, "c"),
	)
	o := s.options(tb)
	db := s.openEmpty(tb, o)
	o.Migrations = append(o.Migrations, files)
	errs := inParallel(replicas, func(int) error {
		if s.differs(DiffPrivate) {
			return migrate.Apply(s.ctx, db, files)
		}
		replica, err := s.registry.Open(s.ctx, o)
		if err != nil {
			return err
		}
		return xdb.Close(replica)
	})
	check(tb, firstError(errs), "migrate concurrently")
	s.wantThings(tb, db, "a", "b", "c")
	if n := s.log.count(`"migration started"`); n != len(files) {
		tb.Errorf("started migrations = %d, want %d:\n%s", n, len(files), s.log)
	}
}

func testMigrationLock(tb testing.TB, s *suite) {
	o := s.options(tb)
	first := s.openEmpty(tb, o)
	m, ok := s.Driver.(driver.Migrator)
	if !ok {
		tb.Fatal("the driver does not implement driver.Migrator")
	}
	second := first
	if !s.differs(DiffPrivate) {
		other, err := s.registry.Open(s.ctx, o)
		check(tb, err, "open a second pool")
		defer func() { check(tb, xdb.Close(other), "close") }()
		second = other
	}
	started, finish, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- m.Migrate(s.ctx, first, func(*gorm.DB) error {
			close(started)
			<-finish
			return nil
		})
	}()
	select {
	case <-started:
	case err := <-done:
		tb.Fatalf("the first migration returned %v before it started", err)
	}
	entered, other := make(chan struct{}), make(chan error, 1)
	go func() {
		other <- m.Migrate(s.ctx, second, func(*gorm.DB) error {
			close(entered)
			return nil
		})
	}()
	select {
	case <-entered:
		tb.Error("a second migration did not wait for the first")
	case <-time.After(200 * time.Millisecond):
	}
	close(finish)
	check(tb, <-done, "the first migration")
	check(tb, <-other, "the second migration")
}

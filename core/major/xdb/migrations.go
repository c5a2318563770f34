package xdb

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"gorm.io/gorm"
)

// MigrationState is where a migration stands.
type MigrationState string

// The states of migrations. The first four are those of the table.
const (
	// MigrationPending has not been begun.
	MigrationPending MigrationState = "pending"
	// MigrationRunning has been begun; where no process is at it, one has died at it.
	MigrationRunning MigrationState = "running"
	// MigrationApplied is done.
	MigrationApplied MigrationState = "applied"
	// MigrationFailed has been given up at an error. The next Migrate goes on with it.
	MigrationFailed MigrationState = "failed"

	// MigrationChanged has another text, or another name, than what has been applied of it; Migrate refuses that.
	MigrationChanged MigrationState = "changed"
	// MigrationLate is to be applied and has a lower version than one that is; Migrate refuses that.
	MigrationLate MigrationState = "late"
	// MigrationMissing stands in the table, and in no file.
	MigrationMissing MigrationState = "missing"
)

// Migration is a versioned change of the schema and what a database knows of it.
type Migration struct {
	// Name is the name of the file for every database, such as 0001_users.sql. It begins with the version.
	Name string
	// File is the name of the file for this database, such as 0001_users.postgres.sql. A missing one has none.
	File string
	// SHA256 is the digest of the file, of a missing one that of the table.
	SHA256 string
	State  MigrationState
	// Statements is how many the file holds, Done how many of them have been kept.
	Statements, Done int
	// Error is what a failed one failed with.
	Error string
	// StartedAt and FinishedAt are the times of the last run, in UTC; zero where there are none.
	StartedAt, FinishedAt time.Time
}

var errInTransaction = errors.New("xdb: Migrate takes the database itself: within a transaction it would wait for its own locks")

// Migrate applies the SQL files that the database does not know yet, in the order of their versions, each once, however
// many processes do so at the same time. It is what Open does with Options.Migrations, for a database that Open has
// opened; with another one there is no lock between processes.
//
// A file that was applied and has changed since, and one that comes before an applied one, are refused before anything
// is done; so is a db that is a transaction. A file that fails is recorded with its error and ends Migrate; the next one goes on with it: from its
// beginning where the database has undone it, else behind the statements that were kept.
func Migrate(ctx context.Context, db *gorm.DB, files ...fs.FS) error {
	if _, ok := db.Statement.ConnPool.(gorm.TxCommitter); ok {
		return errInTransaction
	}
	o := originOf(db)
	set, err := o.target.registry.readMigrations(o.target, files)
	if err != nil {
		return err
	}
	return o.migrateFiles(ctx, db, set)
}

// Migrations returns every migration of the files and of the table, in the order of their versions. It changes nothing,
// and works where there is no table yet.
func Migrations(ctx context.Context, db *gorm.DB, files ...fs.FS) ([]Migration, error) {
	o := originOf(db)
	set, err := o.target.registry.readMigrations(o.target, files)
	if err != nil {
		return nil, err
	}
	known, err := o.readHistory(ctx, db)
	if err != nil {
		return nil, err
	}
	return newPlan(set, known).list(), nil
}

// list merges the migrations of the files with those that only the table knows.
func (p *plan) list() []Migration {
	all := make([]Migration, 0, len(p.steps)+len(p.missing))
	missing := p.missing
	for _, s := range p.steps {
		for ; len(missing) > 0 && missing[0].version() < s.version; missing = missing[1:] {
			all = append(all, missing[0].asMissing())
		}
		m := s.record.migration()
		m.Name, m.File, m.SHA256, m.State, m.Statements = s.name, s.file.Name, s.file.SHA256, s.state, len(s.script.Statements)
		all = append(all, m)
	}
	for _, r := range missing {
		all = append(all, r.asMissing())
	}
	return all
}

// origin is a gorm plugin that keeps what Open knows of a database, for those who only have the *gorm.DB.
type origin struct {
	target *target
	log    logLines
}

const originName = "plinth:origin"

// Name implements gorm.Plugin.
func (*origin) Name() string { return originName }

// Initialize implements gorm.Plugin.
func (*origin) Initialize(*gorm.DB) error { return nil }

// originOf returns what Open knows of db, or what can be known of a database that was opened otherwise.
func originOf(db *gorm.DB) *origin {
	if o, ok := db.Plugins[originName].(*origin); ok {
		return o
	}
	t := &target{name: db.Name(), dialector: func() gorm.Dialector { return db.Dialector }, registry: &defaultRegistry}
	return &origin{target: t, log: Options{}.withDefaults().Log}
}

// readHistory reads the table without a lock.
func (o *origin) readHistory(ctx context.Context, db *gorm.DB) (map[string]record, error) {
	h := history{db.WithContext(WithPrimary(ctx))}
	known, err := h.read()
	if err != nil || known != nil {
		return known, o.target.schemaError("migrations", err)
	}
	pool, err := db.DB()
	if err == nil {
		err = pool.PingContext(ctx) // gorm takes a database that does not answer for one without the table
	}
	return nil, o.target.schemaError("migrations", err)
}

// Package migrate changes the schema of a database: it applies versioned SQL files, each
// once, and creates and extends the tables of models.
//
//	//go:embed *.sql
//	var files embed.FS
//
//	err := migrate.Apply(ctx, db, files)
//
// Applications usually pass their files to xoptdatabase.WithMigrations, which applies
// them during startup. If xdb.Open did not open db, there is no lock against other
// processes.
package migrate

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

// State is the state of a migration.
type State string

// The states of a migration. The table stores the first four.
const (
	// Pending means that the migration has not started.
	Pending State = "pending"
	// Running means that the migration has started. If no process runs it, a process
	// exited before it finished.
	Running State = "running"
	// Applied means that the migration has finished.
	Applied State = "applied"
	// Failed means that the migration stopped with an error. The next Apply continues
	// with it.
	Failed State = "failed"

	// Changed means that the text or the name differs from what was applied. Apply
	// rejects it.
	Changed State = "changed"
	// Late means that the migration is not applied, and that its version is lower than
	// that of an applied one. Apply rejects it.
	Late State = "late"
	// Missing means that the migration is in the table but has no file.
	Missing State = "missing"
)

// Migration is a versioned schema change and its state in a database.
type Migration struct {
	// Name is the name of the file without a driver, such as 0001_users.sql. It starts
	// with the version.
	Name string
	// File is the name of the file for this database, such as 0001_users.postgres.sql. It
	// is empty for a Missing migration.
	File string
	// SHA256 is the digest of the file; for a Missing migration, that of the table.
	SHA256 string
	State  State
	// Statements is the number of statements in the file, Done the number applied.
	Statements, Done int
	// Error is the error of a Failed migration.
	Error string
	// StartedAt and FinishedAt are the times of the last run in UTC, or zero.
	StartedAt, FinishedAt time.Time
}

var errInTransaction = errors.New("xdb: migrate.Apply needs the database itself: " +
	"within a transaction it would wait for its own locks")

// Apply applies the pending SQL files in the order of their versions, each once, even if
// several processes call it concurrently. xdb.Open calls it for Options.Migrations.
//
// If an applied file has changed, or if a pending file precedes an applied one, Apply
// fails before it changes anything. It also fails if db is a transaction. If a statement
// fails, Apply records and returns its error. The next Apply continues with that file:
// from the start if the database rolled it back, else after the last applied statement.
func Apply(ctx context.Context, db *gorm.DB, files ...fs.FS) error {
	set, err := readFor(db, files)
	if err != nil {
		return err
	}
	return set.Apply(ctx, db)
}

// Set contains the migrations of one database.
type Set struct{ files []sqlfile.File }

// Read reads the files for a database without connecting to it. drivers are the valid
// driver names of files; dialects are the names of the database, the preferred one first.
// Without dialects Read checks only the file names. The error joins every problem.
func Read(drivers, dialects []string, files ...fs.FS) (*Set, error) {
	all, err := sqlfile.Read(drivers, dialects, files...)
	return &Set{all}, err
}

func readFor(db *gorm.DB, files []fs.FS) (*Set, error) {
	info := dbconn.Of(db)
	return Read(info.Drivers, []string{info.Name, db.Name()}, files...)
}

// Apply is like the function Apply for the files of the Set.
func (s *Set) Apply(ctx context.Context, db *gorm.DB) error {
	if _, ok := db.Statement.ConnPool.(gorm.TxCommitter); ok {
		return errInTransaction
	}
	p, err := s.plan(ctx, db)
	if err = errors.Join(append(p.problems, err)...); err != nil {
		return err
	}
	info := dbconn.Of(db)
	p.report(ctx, info.Log)
	// One lock per file, so that a waiting process sees the progress of another one.
	for i, f := range p.pending {
		position := []slog.Attr{
			slog.String("file", f.Name), slog.Int("number", i+1),
			slog.Int("of", len(p.pending)),
		}
		r := run{File: f, info: info, db: db, files: s.files, position: position}
		if err := r.do(ctx); err != nil {
			return err
		}
	}
	if len(p.pending) == 0 && len(s.files) > 0 {
		info.Log.Info(ctx, "schema is up to date", slog.Int("migrations", len(s.files)))
	}
	return nil
}

// List returns every migration of the files and of the table, in the order of their
// versions. It changes nothing and does not need the table.
func List(ctx context.Context, db *gorm.DB, files ...fs.FS) ([]Migration, error) {
	set, err := readFor(db, files)
	if err != nil {
		return nil, err
	}
	p, err := set.plan(ctx, db)
	if err != nil {
		return nil, err
	}
	return p.list(), nil
}

// plan compares the files with the table. If it cannot read the table, it returns an
// empty plan and the error.
func (s *Set) plan(ctx context.Context, db *gorm.DB) (*plan, error) {
	known, err := readRecords(db.WithContext(dbconn.WithPrimary(ctx)))
	if err == nil && known == nil {
		err = dbconn.Ping(ctx, db) // gorm reports a missing table if the database does not respond
	}
	if err != nil {
		return &plan{}, dbconn.Of(db).Fail("migrations", err)
	}
	return newPlan(s.files, known), nil
}

// Models creates and extends the tables of models with gorm's AutoMigrate under the lock.
func Models(ctx context.Context, db *gorm.DB, models ...any) error {
	info := dbconn.Of(db)
	return info.Fail("migrate", info.Lock(ctx, db, func(tx *gorm.DB) error {
		if err := checkTableNames(tx, models); err != nil {
			return err
		}
		return tx.AutoMigrate(models...)
	}))
}

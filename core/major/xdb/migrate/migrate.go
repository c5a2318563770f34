// Package migrate changes the schema of a database: it applies versioned SQL files, each
// once, and creates and extends the tables of models.
//
//	//go:embed *.sql
//	var files embed.FS
//
//	err := migrate.Apply(ctx, db, files)
//
// An application usually passes its files to xoptdatabase.WithMigrations, which applies
// them at the start. If db was not opened by xdb.Open, nothing locks out other processes.
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

// The states of migrations. The first four are those of the table.
const (
	// Pending has not started.
	Pending State = "pending"
	// Running has started; if no process runs it, a process exited while it ran it.
	Running State = "running"
	// Applied is done.
	Applied State = "applied"
	// Failed was aborted by an error. The next Apply continues with it.
	Failed State = "failed"

	// Changed has another text, or another name, than what was applied of it; Apply
	// rejects it.
	Changed State = "changed"
	// Late is not applied and has a lower version than one that is; Apply rejects it.
	Late State = "late"
	// Missing is in the table, and in no file.
	Missing State = "missing"
)

// Migration is a versioned change of the schema and its state in a database.
type Migration struct {
	// Name is the name of the file for every database, such as 0001_users.sql. It begins
	// with the version.
	Name string
	// File is the name of the file for this database, such as 0001_users.postgres.sql. It
	// is empty for a missing one.
	File string
	// SHA256 is the digest of the file, of a missing one that of the table.
	SHA256 string
	State  State
	// Statements is how many the file has, Done how many of them were applied.
	Statements, Done int
	// Error is the error of a failed one.
	Error string
	// StartedAt and FinishedAt are the times of the last run, in UTC; zero if there was
	// none.
	StartedAt, FinishedAt time.Time
}

var errInTransaction = errors.New(
	"xdb: migrate.Apply needs the database itself: within a transaction it would wait for its own locks")

// Apply applies the SQL files that are not applied yet, in the order of their versions,
// each once, however many processes do so at the same time. xdb.Open does it with
// Options.Migrations.
//
// If a file was applied and has changed since, or comes before an applied one, Apply
// fails before it changes anything; it also fails if db is a transaction. If a statement
// fails, its error is recorded and Apply returns it; the next Apply continues with that
// file: from its beginning if the database rolled it back, else after the statements that
// were applied.
func Apply(ctx context.Context, db *gorm.DB, files ...fs.FS) error {
	set, err := readFor(db, files)
	if err != nil {
		return err
	}
	return set.Apply(ctx, db)
}

// Set is the migrations of one database.
type Set struct{ files []sqlfile.File }

// Read reads the files for a database without connecting to it. drivers are the names
// that a file may be for, dialects those of the database, the preferred one first;
// without dialects only the names of the files are checked. The error joins every
// problem.
func Read(drivers, dialects []string, files ...fs.FS) (*Set, error) {
	all, err := sqlfile.Read(drivers, dialects, files...)
	return &Set{all}, err
}

func readFor(db *gorm.DB, files []fs.FS) (*Set, error) {
	info := dbconn.Of(db)
	return Read(info.Drivers, []string{info.Name, db.Name()}, files...)
}

// Apply is the function Apply with files that were read before.
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
	// each under its own lock, so that a process that waits sees what another one has
	// done
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
// versions. It changes nothing, and works without a table.
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

// plan compares the files with the table. If that cannot be read, the plan has no
// problems.
func (s *Set) plan(ctx context.Context, db *gorm.DB) (*plan, error) {
	known, err := readRecords(db.WithContext(dbconn.WithPrimary(ctx)))
	if err == nil && known == nil {
		err = dbconn.Ping(ctx, db) // gorm reports no table if the database does not respond
	}
	if err != nil {
		return &plan{}, dbconn.Of(db).Fail("migrations", err)
	}
	return newPlan(s.files, known), nil
}

// Models creates and extends the tables of models with gorm's AutoMigrate, while no other
// process changes the schema.
func Models(ctx context.Context, db *gorm.DB, models ...any) error {
	info := dbconn.Of(db)
	return info.Fail("migrate", info.Lock(ctx, db, func(tx *gorm.DB) error {
		if err := checkTableNames(tx, models); err != nil {
			return err
		}
		return tx.AutoMigrate(models...)
	}))
}

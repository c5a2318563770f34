// Package migrate applies and lists the SQL migrations of a service.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	_ "github.com/plinthgo/plinth/tools/plinth/internal/plugins" // the drivers of services
	"github.com/plinthgo/plinth/tools/plinth/internal/sqlitefile"
)

// DefaultDir is the directory of the SQL files in the recommended layout.
const DefaultDir = "internal/migration"

// Row is a migration in the output.
type Row struct {
	Version    string     `json:"version"`
	Name       string     `json:"name"`
	File       string     `json:"file,omitempty"`
	State      string     `json:"state"`
	Done       int        `json:"done"`
	Statements int        `json:"statements"`
	AppliedAt  *time.Time `json:"applied_at"`
	Error      string     `json:"error,omitempty"`
}

// IsApplied reports whether the migration is applied completely.
func (r Row) IsApplied() bool { return r.State == string(migrate.Applied) }

// Source is a directory of SQL files and their database.
type Source struct {
	files   fs.FS
	options xdb.Options

	// Database describes the database, without secrets.
	Database string
}

// Open reads the configuration of the database. It does not connect.
func Open(dir string) (*Source, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf(
			"the directory %s does not exist; set the directory of the SQL files with --dir",
			dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	s := &Source{files: os.DirFS(dir)}
	if !hasSQL(s.files) {
		return nil, fmt.Errorf("no .sql file in %s", dir)
	}
	s.options = xdb.NewOptions(xdb.FromEnv())
	if !s.options.Enabled() {
		return nil, fmt.Errorf(
			"no database is configured; set %s and its variables in .env or the environment (plinth env --group database)", xenv.DatabaseDriver)
	}
	db, err := xdb.Resolve(s.options)
	if err != nil {
		return nil, err
	}
	s.Database = db.String()
	return s, nil
}

func hasSQL(files fs.FS) bool {
	found := false
	_ = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		found = found || err == nil && !d.IsDir() && strings.HasSuffix(path, ".sql")
		return err
	})
	return found
}

// Status lists the migrations. It does not create or change a SQLite file.
func (s *Source) Status(ctx context.Context) (rows []Row, err error) {
	o := s.options
	if path := sqlitefile.Path(o); path != "" {
		if !sqlitefile.Exists(path) {
			// an empty database, like a new file
			o.DSN, o.Parts.Source = "", xenv.Map{"DATABASE_PATH": ":memory:"}
		} else if o, err = sqlitefile.Unchanged(o, path); err != nil {
			return nil, err
		}
	}
	db, err := xdb.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = xdb.Close(db) }()
	return s.list(ctx, db)
}

// Up applies pending migrations. It returns those that were applied, even if one failed,
// and the state of all migrations.
func (s *Source) Up(ctx context.Context) (applied, all []Row, err error) {
	db, err := xdb.Open(ctx, s.options)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = xdb.Close(db) }()
	before, err := s.list(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	err = migrate.Apply(ctx, db, s.files)
	all, listErr := s.list(context.WithoutCancel(ctx), db)
	if err != nil && len(Applied(all)) == 0 {
		err = fmt.Errorf("%w (if a table of an entity is missing, start the service once: it creates these tables before migrations)", err)
	}
	applied = slices.DeleteFunc(Applied(all), func(r Row) bool {
		return slices.ContainsFunc(Applied(before),
			func(was Row) bool { return was.Name == r.Name })
	})
	return applied, all, errors.Join(err, listErr)
}

// Applied returns the applied rows.
func Applied(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.IsApplied() })
}

func (s *Source) list(ctx context.Context, db *gorm.DB) ([]Row, error) {
	list, err := migrate.List(ctx, db, s.files)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(list))
	for i, m := range list {
		version, _, _ := strings.Cut(m.Name, "_")
		rows[i] = Row{
			Version: version, Name: m.Name, File: m.File, State: string(m.State), Done: m.Done,
			Statements: m.Statements, Error: m.Error,
		}
		if m.State == migrate.Applied && !m.FinishedAt.IsZero() {
			rows[i].AppliedAt = &m.FinishedAt
			rows[i].Done = m.Statements
		}
	}
	return rows, nil
}

// IsMissing reports whether the migration has no file.
func (r Row) IsMissing() bool { return r.State == string(migrate.Missing) }

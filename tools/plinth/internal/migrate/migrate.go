// Package migrate applies and lists the SQL files of a service against the database that
// its environment names.
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
	_ "github.com/plinthgo/plinth/tools/plinth/internal/plugins" // what a service may connect with
	"github.com/plinthgo/plinth/tools/plinth/internal/sqlitefile"
)

// DefaultDir is where the recommended layout has the files.
const DefaultDir = "internal/migration"

// Row is a migration as people and programs read it.
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

// IsApplied reports whether the database has all of it.
func (r Row) IsApplied() bool { return r.State == string(migrate.Applied) }

// Source is a folder of files and the database to which they belong.
type Source struct {
	files   fs.FS
	options xdb.Options

	// Where says which database it is, without a secret.
	Where string
}

// Open reads the environment. Nothing is connected yet.
func Open(dir string) (*Source, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no folder %s: name the one with the SQL files with --dir",
			dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	s := &Source{files: os.DirFS(dir)}
	if !hasSQL(s.files) {
		return nil, fmt.Errorf("there is no .sql file in %s", dir)
	}
	s.options = xdb.NewOptions(xdb.FromEnv())
	if !s.options.Enabled() {
		return nil, fmt.Errorf(
			"there is no database: set %s and what it needs in .env or the environment (plinth env --group database)", xenv.DatabaseDriver)
	}
	db, err := xdb.Resolve(s.options)
	if err != nil {
		return nil, err
	}
	s.Where = db.String()
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

// Status lists the migrations and changes nothing: a SQLite file that is not there is not
// made, and one that is stays as it is.
func (s *Source) Status(ctx context.Context) (rows []Row, err error) {
	o := s.options
	if path := sqlitefile.Path(o); path != "" {
		if !sqlitefile.Exists(path) {
			// empty, as the file will be
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

// Up applies what is pending. It returns what it has applied, also where one failed, and
// everything as it is then.
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
		err = fmt.Errorf("%w (the service makes the tables of its entities, before its migrations: if one is missing, start it once)", err)
	}
	applied = slices.DeleteFunc(Applied(all), func(r Row) bool {
		return slices.ContainsFunc(Applied(before),
			func(was Row) bool { return was.Name == r.Name })
	})
	return applied, all, errors.Join(err, listErr)
}

// Applied returns the rows that are applied.
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

// IsMissing reports whether only the database knows it.
func (r Row) IsMissing() bool { return r.State == string(migrate.Missing) }

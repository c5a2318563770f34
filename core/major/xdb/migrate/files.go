package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

// file is a migration as one database runs it.
type file struct {
	sqlfile.File
	sqlfile.Script

	migration string // its name for every database
	version   uint64
	digests   []string // of the statements up to each
}

// Set is the migrations of one database.
type Set struct{ files []file }

// Read reads the files for a database without connecting to it. drivers are the names
// that a file may be for, dialects those of the database, the preferred one first;
// without dialects only the names of the files are checked. The error joins every
// problem.
func Read(drivers, dialects []string, files ...fs.FS) (*Set, error) {
	set := &Set{}
	if len(files) == 0 {
		return set, nil
	}
	names := slices.Sorted(slices.Values(slices.Concat(drivers, dialects)))
	migrations, problems := sqlfile.Read(slices.Compact(names), files...)
	if len(dialects) > 0 {
		for _, m := range migrations {
			f, errs := newFile(m, dialects)
			set.files, problems = append(set.files, f), append(problems, errs...)
		}
	}
	for i, p := range problems {
		problems[i] = fmt.Errorf("xdb: %w", p)
	}
	return set, errors.Join(problems...)
}

// newFile splits the file for the database, and checks the files for others.
func newFile(m sqlfile.Migration, dialects []string) (f file, problems []error) {
	mine, ok := m.For(dialects...)
	if !ok {
		stem, name := strings.TrimSuffix(m.Name, ".sql"), dialects[0]
		problems = append(problems, fmt.Errorf("migration %s has no file for %s: add %s or %s.%s.sql", m.Name, name, m.Name, stem, name))
	}
	for _, other := range m.Files {
		isMine := ok && other.Name == mine.Name
		dialect := other.Dialect
		if isMine {
			dialect = dialects[len(dialects)-1]
		}
		if dialect == "" {
			continue // the file of unknown other databases
		}
		script, err := other.Split(dialect)
		switch {
		case err != nil:
			problems = append(problems, err)
		case isMine:
			f = file{File: other, Script: script, migration: m.Name, version: m.Version, digests: sqlfile.Digests(script.Statements)}
		}
	}
	return f, problems
}

// Package sqlfile reads SQL migrations: their names, variants and statements. It does not
// connect to a database.
package sqlfile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// File is a migration for one database.
type File struct {
	// Migration is the name without a dialect: 0001_users.sql.
	Migration string
	// Version is the leading number of the name. It is unique in a set.
	Version uint64
	// Name is the name of the file: 0001_users.postgres.sql.
	Name string
	// SHA256 is the digest of the text, in hexadecimal. Line endings are normalized to LF
	// and a byte order mark is removed first, so that editors and git do not change the
	// digest.
	SHA256 string

	Statements []Statement
	// NoTransaction reports whether each statement runs outside a transaction.
	NoTransaction bool

	dialect    string // "" for every database without a variant
	path, text string
}

// reader collects files and problems.
type reader struct {
	known    []string          // the valid dialects of file names
	found    map[string][]File // by migration
	problems []error
}

// Read returns the migrations of the file systems for one database, in the order of their
// versions. drivers are the valid driver names of files. dialects are the names of the
// database, the preferred one first. The last is the name that gorm uses, which
// determines how files are split. Without dialects Read checks only the file names. The
// error joins every problem, each with the name of its file.
func Read(drivers, dialects []string, sets ...fs.FS) ([]File, error) {
	known := slices.Sorted(slices.Values(slices.Concat(drivers, dialects)))
	r := &reader{known: slices.Compact(known), found: map[string][]File{}}
	for i, set := range sets {
		r.readSet(i, set)
	}
	all := slices.SortedFunc(maps.Values(r.found), func(a, b []File) int {
		return cmp.Or(cmp.Compare(a[0].Version, b[0].Version),
			cmp.Compare(a[0].Migration, b[0].Migration))
	})
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1][0], all[i][0]; a.Version == b.Version {
			r.problem("%s: %s has the same version; change one of them", b.Migration, a.Migration)
		}
	}
	var files []File
	for _, variants := range all {
		if len(dialects) > 0 {
			files = append(files, r.choose(variants, dialects))
		}
	}
	return files, errors.Join(r.problems...)
}

// choose splits the file for this database, and checks the files for other databases.
func (r *reader) choose(variants []File, dialects []string) (mine File) {
	slices.SortFunc(variants, func(a, b File) int { return cmp.Compare(a.dialect, b.dialect) })
	at := -1
	for _, dialect := range append(slices.Clone(dialects), "") {
		if at < 0 {
			at = slices.IndexFunc(variants, func(f File) bool { return f.dialect == dialect })
		}
	}
	if at < 0 {
		name, dialect := variants[0].Migration, dialects[0]
		r.problem("%s has no file for %s: add %s or %s.%s.sql",
			name, dialect, name, strings.TrimSuffix(name, ".sql"), dialect)
	}
	for i, f := range variants {
		dialect := f.dialect
		if i == at {
			dialect = dialects[len(dialects)-1]
		}
		if dialect == "" {
			continue // the other databases are unknown
		}
		if err := f.split(dialect); err != nil {
			r.problems = append(r.problems, err)
		}
		if i == at {
			mine = f
		}
	}
	return mine
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("xdb: migration "+format, args...))
}

// readSet reads every SQL file of one file system.
func (r *reader) readSet(i int, set fs.FS) {
	if set == nil {
		r.problem("files %d are nil", i+1)
		return
	}
	files := 0
	err := fs.WalkDir(set, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(path.Ext(file), ".sql") {
			return err
		}
		files++
		text, err := fs.ReadFile(set, file)
		if err != nil {
			return err
		}
		r.add(file, text)
		return nil
	})
	if err != nil {
		r.problem("files %d: %w", i+1, err)
	} else if files == 0 {
		r.problem("files %d contain no .sql file: check the embed pattern", i+1)
	}
}

func (r *reader) add(file string, text []byte) {
	f, err := parseName(file, r.known)
	if err != nil {
		r.problem("%s: %w", file, err)
		return
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if !utf8.Valid(text) {
		r.problem("%s: the text is not UTF-8", file)
		return
	}
	// PostgreSQL terminates a line comment at a carriage return, which an editor may not
	// show.
	if i := bytes.IndexByte(text, '\r'); i >= 0 {
		r.problem("%s:%d: a carriage return without a line feed: end lines with LF or CRLF",
			file, 1+bytes.Count(text[:i], []byte("\n")))
		return
	}
	f.SHA256, f.text = fmt.Sprintf("%x", sha256.Sum256(text)), string(text)
	variants := r.found[f.Migration]
	same := func(other File) bool { return other.dialect == f.dialect }
	if i := slices.IndexFunc(variants, same); i >= 0 {
		r.problem("%s exists twice: %s and %s", f.Name, variants[i].path, file)
		return
	}
	r.found[f.Migration] = append(variants, f)
}

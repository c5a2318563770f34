// Package sqlfile reads SQL migrations: their names, their variants for each database and
// their statements. It does not connect to a database.
package sqlfile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Migration is one version, with a file for every database, for some, or both.
type Migration struct {
	// Name is the name of the file for every database, whether or not there is one:
	// 0001_users.sql.
	Name string
	// Version is the number that it begins with. No other migration has it.
	Version uint64
	// Files are its variants.
	Files []File
}

// File is one file of a migration.
type File struct {
	// Name is the file's own name: 0001_users.postgres.sql.
	Name string
	// Dialect is the database that it is for; "" is every one.
	Dialect string
	// SHA256 is the digest of its text, in hexadecimal.
	SHA256 string
	// Text has lines that end with a line feed, and no byte order mark: what an editor or
	// git makes of them is no change.
	Text string

	path string
}

// For returns the file for a database that goes by these names, the first that there is
// one for, or else the file for every database.
func (m Migration) For(dialects ...string) (File, bool) {
	for _, dialect := range append(slices.Clone(dialects), "") {
		i := slices.IndexFunc(m.Files, func(f File) bool { return f.Dialect == dialect })
		if i >= 0 {
			return m.Files[i], true
		}
	}
	return File{}, false
}

// reader collects migrations and what is wrong with them.
type reader struct {
	known    []string
	found    map[string]*Migration
	problems []error
}

// Read finds the migrations of some file systems, in the order of their versions. known
// are the dialects that a variant may be for. Each problem names its file.
func Read(known []string, sets ...fs.FS) (all []Migration, problems []error) {
	r := &reader{known: known, found: map[string]*Migration{}}
	for i, set := range sets {
		r.readSet(i, set)
	}
	all = make([]Migration, 0, len(r.found))
	for _, m := range r.found {
		slices.SortFunc(m.Files, func(a, b File) int { return cmp.Compare(a.Dialect, b.Dialect) })
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b Migration) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
	})
	r.checkVersions(all)
	return all, r.problems
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("migration "+format, args...))
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
		r.problem("files %d hold no .sql file: check the embed pattern", i+1)
	}
}

// add adds one file.
func (r *reader) add(file string, text []byte) {
	n, err := parseName(path.Base(file), r.known)
	if err != nil {
		r.problem("%s: %w", file, err)
		return
	}
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	if !utf8.Valid(text) {
		r.problem("%s: the text is not UTF-8", file)
		return
	}
	if i := bytes.IndexByte(text, '\r'); i >= 0 { // PostgreSQL ends a comment there, an editor may not show it
		r.problem("%s:%d: a carriage return without a line feed: end lines with LF or CRLF", file, 1+bytes.Count(text[:i], []byte("\n")))
		return
	}
	m := r.found[n.base]
	if m == nil {
		m = &Migration{Name: n.base + ".sql", Version: n.version}
		r.found[n.base] = m
	}
	if i := slices.IndexFunc(m.Files, func(f File) bool { return f.Dialect == n.dialect }); i >= 0 {
		r.problem("%s is there twice: %s and %s", path.Base(file), m.Files[i].path, file)
		return
	}
	digest := sha256.Sum256(text)
	m.Files = append(m.Files, File{
		Name: path.Base(file), Dialect: n.dialect, SHA256: hex.EncodeToString(digest[:]), Text: string(text), path: file,
	})
}

// checkVersions wants each version once.
func (r *reader) checkVersions(sorted []Migration) {
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Version == sorted[i-1].Version {
			r.problem("%s: %s has the same version; give one of them another", sorted[i].Name, sorted[i-1].Name)
		}
	}
}

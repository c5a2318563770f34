package sqlfile

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxName limits the name of a migration without its extension, in bytes, because it is a
// primary key.
const maxName = 120

var namePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,18})(?:[_-][A-Za-z0-9_-]*)?\.sql$`)
})

// parseName parses the path of a file: 0001_users.postgres.sql is the postgres variant of
// 0001_users.sql, version 1. known are the valid dialects of variants.
func parseName(file string, known []string) (f File, err error) {
	f = File{Name: path.Base(file), path: file}
	stem, ok := strings.CutSuffix(f.Name, ".sql")
	if !ok {
		return f, errors.New("the file extension must be .sql, in lower case")
	}
	base, dialect, variant := strings.Cut(stem, ".")
	f.Migration, f.dialect = base+".sql", dialect
	f.Version, ok = VersionOf(f.Migration)
	switch {
	case !ok:
		return f, errors.New("the name must be a version of at most 18 digits, " +
			"then _ and letters, digits, _ or -: 0001_users.sql")
	case len(base) > maxName:
		return f, fmt.Errorf("the name is longer than %d bytes", maxName)
	case variant && !slices.Contains(known, dialect):
		return f, fmt.Errorf("%q is not a known database (known: %s); "+
			"a name must not contain another dot, and down migrations are not supported",
			dialect, strings.Join(known, ", "))
	}
	return f, nil
}

// VersionOf returns the version of a migration by its name: 1 of 0001_users.sql.
func VersionOf(name string) (uint64, bool) {
	match := namePattern().FindStringSubmatch(name)
	if match == nil {
		return 0, false
	}
	version, err := strconv.ParseUint(match[1], 10, 64)
	return version, err == nil
}

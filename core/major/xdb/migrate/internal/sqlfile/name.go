package sqlfile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxName bounds the name of a migration, in bytes: it is a primary key.
const maxName = 120

// name is a parsed file name: 0001_users.postgres.sql is version 1 of
// 0001_users for postgres.
type name struct {
	base    string
	version uint64
	dialect string // "" for every database
}

var nameForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,18})(?:[_-][A-Za-z0-9_-]*)?$`)
})

// parseName reads the name of a file without its folder. known are the dialects that a
// variant may be for.
func parseName(file string, known []string) (name, error) {
	stem, ok := strings.CutSuffix(file, ".sql")
	if !ok {
		return name{}, errors.New("the extension of a migration is .sql, in lower case")
	}
	base, dialect, variant := strings.Cut(stem, ".")
	version, ok := versionOf(base)
	switch {
	case !ok:
		return name{}, errors.New("a name is a version in at most 18 digits, then _ and letters, digits, _ and -: 0001_users.sql")
	case len(base) > maxName:
		return name{}, fmt.Errorf("the name is longer than %d bytes", maxName)
	case variant && !slices.Contains(known, dialect) && otherWay(dialect):
		return name{}, fmt.Errorf("a migration only goes up: name the part that does %s.sql, and leave the one that goes down out",
			stem[:strings.LastIndexByte(stem, '.')])
	case variant && !slices.Contains(known, dialect):
		return name{}, fmt.Errorf("%q is no known database (known: %s); the name of a migration holds no other dot",
			dialect, strings.Join(known, ", "))
	}
	return name{base: base, version: version, dialect: dialect}, nil
}

// otherWay reports whether a name ends with up or down, as those of other tools do.
func otherWay(dialect string) bool {
	last := dialect[strings.LastIndexByte(dialect, '.')+1:]
	return strings.EqualFold(last, "up") || strings.EqualFold(last, "down")
}

// VersionOf returns the version of a migration by its name: 1 of 0001_users.sql.
func VersionOf(name string) (uint64, bool) {
	base, ok := strings.CutSuffix(name, ".sql")
	if !ok {
		return 0, false
	}
	return versionOf(base)
}

func versionOf(base string) (uint64, bool) {
	form := nameForm().FindStringSubmatch(base)
	if form == nil {
		return 0, false
	}
	version, err := strconv.ParseUint(form[1], 10, 64)
	return version, err == nil
}

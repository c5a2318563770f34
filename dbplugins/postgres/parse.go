package postgres

import (
	"errors"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// errDSN replaces the library's error for a URL, which quotes the invalid host or port
// and may contain part of a password.
var errDSN = errors.New("cannot parse the DSN: " +
	"percent-encode special characters in the password, such as %40 for @ and %23 for #")

// parse parses a DSN. Its errors have kind UnknownDatabase, because a retry cannot fix
// them.
func parse(dsn string) (*pgx.ConnConfig, error) {
	if !isUnambiguous(dsn) {
		return nil, driver.Translate(driver.UnknownDatabase, errDSN, errDSN.Error())
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		text := "cannot parse the DSN"
		// cannot parse `the DSN`: reason
		if at := strings.LastIndex(err.Error(), "`: "); at >= 0 {
			text += err.Error()[at+1:]
		}
		return nil, driver.Translate(driver.UnknownDatabase, err, text)
	}
	return config, nil
}

// isUnambiguous reports whether a URL parses, contains no #, and has at most one raw @,
// which precedes the host. It returns true for a DSN that is not a URL. If a password
// contains an unescaped character, the parser reads the rest as a host, a database name
// or a parameter, which are logged or sent.
func isUnambiguous(dsn string) bool {
	rest, isURL := strings.CutPrefix(dsn, "postgres://")
	if !isURL {
		if rest, isURL = strings.CutPrefix(dsn, "postgresql://"); !isURL {
			return true
		}
	}
	if _, err := url.Parse(dsn); err != nil || strings.Contains(rest, "#") {
		return false
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority = rest[:end]
	}
	return strings.Count(rest, "@") <= 1 &&
		strings.Count(rest, "@") == strings.Count(authority, "@")
}

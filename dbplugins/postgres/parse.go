package postgres

import (
	"errors"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// errDSN stands for what the library says of a URL, which quotes the piece that it takes
// for a host or a port.
var errDSN = errors.New("the connection string does not parse: " +
	"escape @ and # in the password as %40 and %23, and whatever else is special in a URL")

// parse reads a DSN, ours or one of the application's own. No waiting mends one that does
// not parse.
func parse(dsn string) (*pgx.ConnConfig, error) {
	if !whole(dsn) {
		return nil, driver.Translate(driver.UnknownDatabase, errDSN, errDSN.Error())
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		text := "the connection string does not parse"
		// cannot parse `the whole string`: why
		if at := strings.LastIndex(err.Error(), "`: "); at >= 0 {
			text += err.Error()[at+1:]
		}
		return nil, driver.Translate(driver.UnknownDatabase, err, text)
	}
	return config, nil
}

// whole reports whether a URL has its parts where they look to be. Of a password with a
// character that is not escaped, the rest would be taken for a host, which is logged and
// looked up, or for a name or a parameter, which is sent. So the only raw @ is the one
// before the host.
func whole(dsn string) bool {
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

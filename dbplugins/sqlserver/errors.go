package sqlserver

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	conflict = 547 // violation of a foreign key or a check
	// Azure SQL Database: limit of requests, sessions or logins
	databaseLimit = 10928

	// fatal is the lowest severity at which the server closes the session.
	fatal = 20
)

// ErrorKind implements driver.Driver. The first error with a kind determines the result,
// because later errors often only report that the statement or the login failed.
func (Driver) ErrorKind(err error) driver.ErrorKind {
	for _, e := range serverErrors(err) {
		switch kind := kinds[e.Number]; {
		case e.Number == conflict:
			return conflictKind(e.Message)
		case e.Number == databaseLimit && connectionLimit.MatchString(e.Message):
			return driver.TooManyConnections
		case kind != driver.Unknown:
			return kind
		case e.Class >= fatal:
			return driver.Connection
		}
	}
	var stream mssql.StreamError // the response is incomplete
	var aborted mssql.ServerError
	if errors.As(err, &stream) || errors.As(err, &aborted) {
		return driver.Connection
	}
	return driver.Unknown
}

// serverErrors returns the server errors in err, in order.
func serverErrors(err error) []mssql.Error {
	var e mssql.Error
	if !errors.As(err, &e) {
		return nil
	}
	if len(e.All) == 0 {
		return []mssql.Error{e}
	}
	return e.All
}

// violated matches the type of a violated constraint. It is the same in every language
// and precedes any name.
var violated = regexp.MustCompile(`CHECK|FOREIGN KEY|REFERENCE`)

// conflictKind distinguishes a check from a foreign key.
func conflictKind(message string) driver.ErrorKind {
	if violated.FindString(message) == "CHECK" {
		return driver.Check
	}
	return driver.ForeignKey
}

// connectionLimit matches the resource of a databaseLimit, the first number of the
// message ("Resource ID: 2. The session limit …"): 1 is requests, 2 is sessions, 3 is
// logins.
var connectionLimit = regexp.MustCompile(`^\D*[23]\b`)

// names maps error numbers to patterns of English messages. The group matches the
// constraint, index or column, which precedes any value.
var names = map[int32]*regexp.Regexp{
	515: regexp.MustCompile(`^Cannot insert the value NULL into column '([^']+)'`),
	conflict: regexp.MustCompile(
		`^The [A-Z]+ statement conflicted with the [A-Z ]+ constraint "([^"]+)"`),
	2601: regexp.MustCompile(
		`^Cannot insert duplicate key row in object '[^']*' with unique index '([^']+)'`),
	2627: regexp.MustCompile(`^Violation of [A-Z ]+ constraint '([^']+)'`),
	2628: regexp.MustCompile(
		`^String or binary data would be truncated in table '[^']*', column '([^']+)'`),
}

// detail returns the error numbers and the name of a violated constraint. It returns
// whole messages only for logins and for the state of the server, because other messages
// quote values.
func detail(err error) string {
	list := serverErrors(err)
	if len(list) == 0 {
		return err.Error() // a network error
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = "error " + strconv.Itoa(int(e.Number))
		switch kinds[e.Number] {
		case driver.Authentication, driver.UnknownDatabase, driver.ReadOnly,
			driver.Connection, driver.TooManyConnections, driver.Full:
			parts[i] += ": " + e.Message
		default:
			if pattern := names[e.Number]; pattern != nil {
				if m := pattern.FindStringSubmatch(e.Message); m != nil {
					parts[i] += ": " + m[1]
				}
			}
		}
	}
	return strings.Join(parts, ", ")
}

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
	conflict = 547 // of a foreign key or a check
	// of Azure SQL Database: of the requests, sessions or logins of a database
	databaseLimit = 10928

	// fatal is the severity from which on the server ends the session.
	fatal = 20
)

// ErrorKind implements driver.Driver. Of several errors the first that has a kind counts:
// what follows one is often only that the statement, or the login, has failed.
func (Driver) ErrorKind(err error) driver.ErrorKind {
	for _, e := range all(err) {
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
	var stream mssql.StreamError // the answer broke off in the middle
	var aborted mssql.ServerError
	if errors.As(err, &stream) || errors.As(err, &aborted) {
		return driver.Connection
	}
	return driver.Unknown
}

// all returns the errors of the server in err, from first to last.
func all(err error) []mssql.Error {
	var e mssql.Error
	if !errors.As(err, &e) {
		return nil
	}
	if len(e.All) == 0 {
		return []mssql.Error{e}
	}
	return e.All
}

// violated finds what a conflict is with. The server says it in these words in every
// language, and before any name.
var violated = regexp.MustCompile(`CHECK|FOREIGN KEY|REFERENCE`)

// conflictKind distinguishes a check from a foreign key.
func conflictKind(message string) driver.ErrorKind {
	if violated.FindString(message) == "CHECK" {
		return driver.Check
	}
	return driver.ForeignKey
}

// connectionLimit finds the resource of a databaseLimit, which is the first number of the
// message ("Resource ID: 2. The session limit …"): 1 is requests, 2 is sessions, 3 is
// logins.
var connectionLimit = regexp.MustCompile(`^\D*[23]\b`)

// names find the constraint, index or column in a message, which stands before any value.
// In other languages than English they find nothing.
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

// detail returns what may be shown of an error: the server's numbers and the name of what
// was violated. Its texts quote values, but for those about logins and the state of the
// server.
func detail(err error) string {
	list := all(err)
	if len(list) == 0 {
		return err.Error() // of the network
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = "error " + strconv.Itoa(int(e.Number))
		switch kinds[e.Number] {
		case driver.Authentication, driver.UnknownDatabase, driver.ReadOnly, driver.Connection,
			driver.TooManyConnections,
			driver.Full:
			parts[i] += ": " + e.Message
		default:
			if find := names[e.Number]; find != nil {
				if m := find.FindStringSubmatch(e.Message); m != nil {
					parts[i] += ": " + m[1]
				}
			}
		}
	}
	return strings.Join(parts, ", ")
}

package postgres

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// kinds maps an SQLSTATE, or its class, to a kind.
var kinds = map[string]driver.ErrorKind{
	"08": driver.Connection, // connection exception
	// protocol violation: wrong number of parameters, or a setting that a pooler rejects
	"08P01": driver.Syntax,
	"0A":    driver.Syntax, // feature not supported
	// data exception, such as 22P02 (not a number) and 22021 (a NUL byte)
	"22":    driver.Malformed,
	"22001": driver.TooLong,    // string data right truncation
	"22003": driver.OutOfRange, // numeric value
	"22008": driver.OutOfRange, // datetime field
	"22009": driver.OutOfRange, // time zone displacement
	"22012": driver.OutOfRange, // division by zero
	"22015": driver.OutOfRange, // interval field
	"22023": driver.Unknown,    // invalid parameter value, such as an unknown time zone
	"22026": driver.TooLong,    // string data length mismatch
	"22P01": driver.OutOfRange, // floating point exception
	"23":    driver.Check,      // integrity constraint violation
	"23001": driver.ForeignKey, // restrict violation
	"23502": driver.NotNull,
	"23503": driver.ForeignKey,
	"23505": driver.Unique,
	"23P01": driver.Unique, // exclusion violation
	// invalid transaction state, such as 25P02 (aborted transaction)
	"25":    driver.Syntax,
	"25006": driver.ReadOnly,
	"25P03": driver.Connection, // idle in transaction for too long
	"25P04": driver.Connection, // transaction took too long
	"26":    driver.Syntax,     // unknown prepared statement
	"28":    driver.Authentication,
	"3D":    driver.UnknownDatabase,
	"3F":    driver.Syntax,             // unknown schema
	"40":    driver.Deadlock,           // 40001 serialization failure, 40P01 deadlock
	"42":    driver.Syntax,             // syntax error or access rule violation
	"42501": driver.Authentication,     // insufficient privilege
	"44":    driver.Check,              // WITH CHECK OPTION of a view
	"53":    driver.Connection,         // insufficient resources, such as 53200 (out of memory)
	"53100": driver.Full,               // disk full
	"53300": driver.TooManyConnections, // of the server, the database or the role
	"54":    driver.Syntax,             // program limit exceeded, such as 54011 (too many columns)
	"54000": driver.TooLong,            // such as a value too long for an index
	"55P03": driver.LockTimeout,
	"57014": driver.Canceled,
	"57P01": driver.Connection,      // admin shutdown
	"57P02": driver.Connection,      // crash shutdown
	"57P03": driver.Connection,      // cannot connect now
	"57P04": driver.UnknownDatabase, // dropped
	"57P05": driver.Connection,      // idle for too long
}

// ErrorKind implements driver.Driver.
func (Driver) ErrorKind(err error) driver.ErrorKind {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return driver.Unknown
	case isStalePlan(err):
		return driver.Deadlock // a retry of the transaction succeeds
	case errors.As(err, &e):
		if kind, ok := kinds[e.Code]; ok || len(e.Code) < 2 {
			return kind
		}
		return kinds[e.Code[:2]]
	case errors.Is(err, pgconn.ErrConnClosed):
		return driver.Connection
	case libraryText(err) != "":
		return driver.Syntax
	default:
		return encodingKind(err.Error())
	}
}

// isStalePlan reports whether err means that the table of a prepared statement has
// changed since the statement was prepared.
func isStalePlan(err error) bool {
	if err == nil {
		return false // errors.As would allocate for each statement
	}
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "0A000" && e.Routine == "RevalidateCachedQuery"
}

// libraryText returns the text of an error with which the library rejects a statement, or
// "". The text contains no value.
func libraryText(err error) string {
	// the library has no type for this error
	if text := err.Error(); strings.HasPrefix(text, "extended protocol limited to ") {
		return text
	}
	if errors.Is(err, pgx.ErrTxCommitRollback) { // an earlier statement of the transaction failed
		return pgx.ErrTxCommitRollback.Error()
	}
	return ""
}

// encodingKind returns the kind of a value that the library cannot encode. The library
// has no type for such an error, whose text quotes the value.
func encodingKind(text string) driver.ErrorKind {
	switch {
	case !strings.HasPrefix(text, "failed to encode args["):
		return driver.Unknown
	case strings.Contains(text, " than maximum value for ") ||
		strings.Contains(text, " than minimum value for "):
		return driver.OutOfRange
	default:
		return driver.Malformed
	}
}

// detail returns the text of an error without quoted values. The message of the server
// may quote a value, and its Detail always does.
func detail(kind driver.ErrorKind, err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		switch kind {
		case driver.Connection:
			return connectText(err)
		case driver.Syntax:
			return libraryText(err)
		default:
			return ""
		}
	}
	switch kind {
	case driver.Unique, driver.ForeignKey, driver.Check:
		return e.ConstraintName
	case driver.NotNull:
		return strings.Trim(e.TableName+"."+e.ColumnName, ".")
	case driver.TooLong, driver.OutOfRange, driver.Malformed:
		return "SQLSTATE " + e.Code
	case driver.Syntax:
		return syntaxDetail(e)
	default:
		return e.Message
	}
}

// quoted matches the quoted parts of a message; plainName matches those that cannot be
// literals.
var (
	quoted    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"`) })
	plainName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^"[\pL\pN_$.]+"$`)
	})
)

// syntaxDetail describes a syntax error without literals. The message of error 42601
// repeats the part of the statement at which the parser stopped, so syntaxDetail returns
// the position instead. Other messages quote names; syntaxDetail removes those that may
// be literals.
func syntaxDetail(e *pgconn.PgError) string {
	text := "syntax error"
	if e.Code != "42601" {
		text = quoted().ReplaceAllStringFunc(e.Message, func(name string) string {
			if plainName().MatchString(name) {
				return name
			}
			return `"…"`
		})
	}
	if strings.Count(text, `"`)%2 != 0 { // a name contains a quote
		text = "SQLSTATE " + e.Code
	}
	if e.Position > 0 {
		text += fmt.Sprintf(" at character %d", e.Position)
	}
	return text
}

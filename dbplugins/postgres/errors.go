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

// kinds is the error table: SQLSTATE, or its class if the rest makes no difference.
var kinds = map[string]driver.ErrorKind{
	"08": driver.Connection, // connection exception
	// protocol violation: a wrong number of parameters, a setting that a pooler refuses
	"08P01": driver.Syntax,
	"0A":    driver.Syntax, // feature not supported
	// data exception, such as 22P02 (a text that is no number) and 22021 (a NUL byte)
	"22":    driver.Malformed,
	"22001": driver.TooLong,    // string data right truncation
	"22003": driver.OutOfRange, // numeric value
	"22008": driver.OutOfRange, // datetime field
	"22009": driver.OutOfRange, // time zone displacement
	"22012": driver.OutOfRange, // division by zero
	"22015": driver.OutOfRange, // interval field
	"22023": driver.Unknown,    // invalid parameter value, such as a time zone that is none
	"22026": driver.TooLong,    // string data length mismatch
	"22P01": driver.OutOfRange, // floating point exception
	"23":    driver.Check,      // integrity constraint violation
	"23001": driver.ForeignKey, // restrict violation
	"23502": driver.NotNull,
	"23503": driver.ForeignKey,
	"23505": driver.Unique,
	"23P01": driver.Unique, // exclusion violation: a row that excludes another
	// a statement that the state of the transaction does not allow, such as 25P02
	// (aborted)
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
	case stale(err):
		return driver.Deadlock // the same transaction will succeed
	case errors.As(err, &e):
		if kind, ok := kinds[e.Code]; ok || len(e.Code) < 2 {
			return kind
		}
		return kinds[e.Code[:2]]
	case errors.Is(err, pgconn.ErrConnClosed):
		return driver.Connection
	case ownText(err) != "":
		return driver.Syntax
	default:
		return encodingKind(err.Error())
	}
}

// stale reports whether a statement was prepared for an earlier form of its table.
func stale(err error) bool {
	if err == nil {
		return false // errors.As would cost each statement an allocation
	}
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "0A000" && e.Routine == "RevalidateCachedQuery"
}

// ownText is the text of an error by which the library refuses a statement by itself,
// else "". It holds no value.
func ownText(err error) string {
	// it has no type
	if text := err.Error(); strings.HasPrefix(text, "extended protocol limited to ") {
		return text
	}
	if errors.Is(err, pgx.ErrTxCommitRollback) { // a statement of the transaction had failed
		return pgx.ErrTxCommitRollback.Error()
	}
	return ""
}

// encodingKind is the kind of a value that the library could not send. It has no type for
// such an error, and the text quotes the value.
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

// detail is what may be shown of an error in addition to its kind. The server's own text
// often quotes a value, and its Detail always.
func detail(kind driver.ErrorKind, err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		switch kind {
		case driver.Connection:
			return connectText(err)
		case driver.Syntax:
			return ownText(err)
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

// quoted finds what the server quotes, plainName what of that cannot be a literal.
var (
	quoted    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"`) })
	plainName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^"[\pL\pN_$.]+"$`)
	})
)

// syntaxDetail says what is wrong with a statement. The server repeats the piece at which
// it stopped, which may be a literal, so the text has its position instead; elsewhere it
// quotes names, which are left out if they look like something else.
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
	if strings.Count(text, `"`)%2 != 0 { // a name with a quote in it
		text = "SQLSTATE " + e.Code
	}
	if e.Position > 0 {
		text += fmt.Sprintf(" at character %d", e.Position)
	}
	return text
}

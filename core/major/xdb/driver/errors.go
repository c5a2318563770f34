package driver

import (
	"cmp"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// ErrorKind classifies an error in terms that all databases share.
type ErrorKind uint8

// The kinds of errors.
const (
	// Unknown is every other error.
	Unknown ErrorKind = iota
	// Unique is a second row with the same primary key or unique value.
	Unique
	// ForeignKey is a row that refers to nothing, or that another still refers to.
	ForeignKey
	// Check is a value that a check constraint refuses.
	Check
	// NotNull is NULL for a column that must not be NULL.
	NotNull
	// TooLong is a value longer than its column.
	TooLong
	// OutOfRange is a number or time outside of its column's range.
	OutOfRange
	// Malformed is a value that the column's type cannot hold at all: a text with a NUL
	// byte or a broken character, a text that is no number.
	Malformed
	// Deadlock is a transaction that the database aborted because of another one: a
	// deadlock or a serialization failure. A retry may succeed.
	Deadlock
	// LockTimeout is a lock that was not granted in time.
	LockTimeout
	// Canceled is a statement that was interrupted because its context ended.
	Canceled
	// Connection is a server that cannot be reached, or a broken connection. Waiting may
	// fix it.
	Connection
	// TooManyConnections is a server that refuses a new connection because a limit of
	// open connections is reached: of the server, the database or the user. The server is
	// up; waiting may help.
	TooManyConnections
	// Authentication is a wrong user or password, or a missing privilege.
	Authentication
	// UnknownDatabase is a database that the server does not have, or a file that cannot
	// be opened.
	UnknownDatabase
	// ReadOnly is a write to a database that only reads, such as a standby.
	ReadOnly
	// Syntax is a statement that the database does not understand, or that names an
	// unknown table or column.
	Syntax
	// Full is a write for which the database has no space left: its disk, or its quota,
	// is full.
	Full
)

// kinds are the text of each kind but Unknown, its error code, and gorm's sentinel if
// there is one.
var kinds = map[ErrorKind]struct {
	text     string
	code     *xerror.ErrorCode
	sentinel error
}{
	Unique: {"unique constraint violated", xerror.UniqueConstraint, gorm.ErrDuplicatedKey},
	ForeignKey: {
		"foreign key constraint violated",
		xerror.ForeignKeyError, gorm.ErrForeignKeyViolated,
	},
	Check: {
		"check constraint violated",
		xerror.IntegrityError, gorm.ErrCheckConstraintViolated,
	},
	NotNull:    {"not-null constraint violated", xerror.DataIncomplete, nil},
	TooLong:    {"value too long", xerror.DataTooLarge, nil},
	OutOfRange: {"value out of range", xerror.DataOutOfRange, nil},
	Malformed:  {"value not valid for its column", xerror.DataInvalid, nil},
	Deadlock: {
		"transaction given up: deadlock or serialization failure",
		xerror.ConcurrencyError, nil,
	},
	LockTimeout: {"lock not granted in time", xerror.LockConflict, nil},
	// by the server's own limit
	Canceled:           {"statement interrupted", xerror.GatewayTimeout, nil},
	Connection:         {"connection failed", xerror.ServiceUnavailable, nil},
	TooManyConnections: {"too many connections", xerror.ServiceUnavailable, nil},
	Authentication:     {"access refused", xerror.ServiceUnavailable, nil},
	UnknownDatabase:    {"database cannot be opened", xerror.ServiceUnavailable, nil},
	ReadOnly:           {"database is read-only", xerror.ServiceUnavailable, nil},
	Syntax:             {"statement not understood", xerror.DatabaseError, nil},
	Full:               {"no space left in the database", xerror.StorageError, nil},
}

// String returns what the kind means.
func (k ErrorKind) String() string { return cmp.Or(kinds[k].text, "database error") }

// Code returns the error code of the kind, which is the same for all drivers; nil for
// Unknown.
func (k ErrorKind) Code() *xerror.ErrorCode { return kinds[k].code }

// KindTable returns the kind of each error number, made from the numbers of each kind. It
// panics if a number has two kinds.
func KindTable[N comparable](numbers map[ErrorKind][]N) map[N]ErrorKind {
	table := map[N]ErrorKind{}
	for kind, all := range numbers {
		for _, n := range all {
			if _, twice := table[n]; twice {
				panic(fmt.Sprintf("driver: error %v has two kinds", n))
			}
			table[n] = kind
		}
	}
	return table
}

// Error is an error of the database with its kind. errors.Is and errors.As see both the
// library's own error and gorm's sentinel of the kind (gorm.ErrDuplicatedKey,
// gorm.ErrForeignKeyViolated, gorm.ErrCheckConstraintViolated).
//
// Its text is the kind's and the detail that the driver has declared safe. The library's
// own text is left out, because many databases quote the offending value in it.
type Error struct {
	kind   ErrorKind
	detail string
	cause  error
}

// Translate returns err as an *Error of the kind. detail is what else may be shown in a
// log: a constraint's name, or the library's text if that never quotes a value. A nil
// error, one that is translated already, and one of Unknown kind come back as they are.
func Translate(kind ErrorKind, err error, detail string) error {
	if _, known := kinds[kind]; err == nil || !known || KindOf(err) != Unknown {
		return err
	}
	return &Error{kind: kind, detail: detail, cause: err}
}

// KindOf returns the kind of an error that was translated, or Unknown.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.kind
	}
	return Unknown
}

// Kind returns the error's kind.
func (e *Error) Kind() ErrorKind { return e.kind }

// Error implements error.
func (e *Error) Error() string {
	if e.detail == "" {
		return e.kind.String()
	}
	return e.kind.String() + ": " + e.detail
}

// Unwrap returns the library's error, and gorm's sentinel if the kind has one.
func (e *Error) Unwrap() []error {
	if s := kinds[e.kind].sentinel; s != nil {
		return []error{e.cause, s}
	}
	return []error{e.cause}
}

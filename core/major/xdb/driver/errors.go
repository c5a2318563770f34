package driver

import (
	"cmp"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// ErrorKind classifies a database error independently of the driver.
type ErrorKind uint8

// The error kinds.
const (
	// Unknown is an error of no other kind.
	Unknown ErrorKind = iota
	// Unique is a duplicate primary key or unique value.
	Unique
	// ForeignKey is a missing referenced row, or a row that is still referenced.
	ForeignKey
	// Check is a violated check constraint.
	Check
	// NotNull is NULL in a NOT NULL column.
	NotNull
	// TooLong is a value longer than its column.
	TooLong
	// OutOfRange is a number or time outside the range of its column.
	OutOfRange
	// Malformed is a value that the type of the column cannot represent: a string with a
	// NUL byte or invalid encoding, or a string that is not a number.
	Malformed
	// Deadlock is a transaction that the database aborted because of a deadlock or a
	// serialization failure. A retry may succeed.
	Deadlock
	// LockTimeout is a lock that was not granted in time.
	LockTimeout
	// Canceled is a statement that was interrupted because its context ended or because
	// the server limits its duration.
	Canceled
	// Connection is an unreachable server or a broken connection. A retry may succeed.
	Connection
	// TooManyConnections is a connection that the server rejects because a limit is
	// reached: of the server, the database or the user. A retry may succeed.
	TooManyConnections
	// Authentication is a wrong user or password, or a missing privilege.
	Authentication
	// UnknownDatabase is a database that does not exist, or a file that cannot be opened.
	UnknownDatabase
	// ReadOnly is a write to a read-only database, such as a standby.
	ReadOnly
	// Syntax is an invalid statement, or an unknown table or column.
	Syntax
	// Full is a write that fails because the disk or the quota is full.
	Full
)

// kinds maps each kind except Unknown to its text, its error code and its gorm sentinel,
// if gorm has one.
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
		"transaction aborted: deadlock or serialization failure",
		xerror.ConcurrencyError, nil,
	},
	LockTimeout: {"lock not granted in time", xerror.LockConflict, nil},
	// without a context error, because the server has interrupted the statement
	Canceled:           {"statement interrupted", xerror.GatewayTimeout, nil},
	Connection:         {"connection failed", xerror.ServiceUnavailable, nil},
	TooManyConnections: {"too many connections", xerror.ServiceUnavailable, nil},
	Authentication:     {"access denied", xerror.ServiceUnavailable, nil},
	UnknownDatabase:    {"database cannot be opened", xerror.ServiceUnavailable, nil},
	ReadOnly:           {"database is read-only", xerror.ServiceUnavailable, nil},
	Syntax:             {"invalid statement", xerror.DatabaseError, nil},
	Full:               {"no space left in the database", xerror.StorageError, nil},
}

// String describes the kind.
func (k ErrorKind) String() string { return cmp.Or(kinds[k].text, "database error") }

// Code returns the error code of the kind, or nil for Unknown.
func (k ErrorKind) Code() *xerror.ErrorCode { return kinds[k].code }

// KindTable inverts a table of error numbers by kind. It panics if a number has two
// kinds.
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

// Error is a database error with its kind. errors.Is and errors.As match both the error
// of the library and gorm's sentinel of the kind (gorm.ErrDuplicatedKey,
// gorm.ErrForeignKeyViolated, gorm.ErrCheckConstraintViolated).
//
// Its text is the text of the kind and the detail that the driver declared safe. It omits
// the text of the library, because many databases quote the offending value in it.
type Error struct {
	kind   ErrorKind
	detail string
	cause  error
}

// Translate returns err as an *Error of the kind. detail is text that may be logged: the
// name of a constraint, or the text of the library if it never quotes a value. Translate
// returns err unchanged if it is nil or already translated, or if kind is Unknown.
func Translate(kind ErrorKind, err error, detail string) error {
	if _, known := kinds[kind]; err == nil || !known || KindOf(err) != Unknown {
		return err
	}
	return &Error{kind: kind, detail: detail, cause: err}
}

// KindOf returns the kind of a translated error, else Unknown.
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

// Unwrap returns the error of the library, and gorm's sentinel if the kind has one.
func (e *Error) Unwrap() []error {
	if s := kinds[e.kind].sentinel; s != nil {
		return []error{e.cause, s}
	}
	return []error{e.cause}
}

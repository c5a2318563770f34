package xdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

//nolint:gochecknoinits // the codes of database errors belong to every program that can have such errors
func init() { xerror.RegisterMapper(code) }

// codes are the error codes of the kinds of errors.
var codes = map[driver.ErrorKind]*xerror.ErrorCode{
	driver.Unique:             xerror.UniqueConstraint,
	driver.ForeignKey:         xerror.ForeignKeyError,
	driver.Check:              xerror.IntegrityError,
	driver.NotNull:            xerror.DataIncomplete,
	driver.TooLong:            xerror.DataTooLarge,
	driver.OutOfRange:         xerror.DataOutOfRange,
	driver.Malformed:          xerror.DataInvalid,
	driver.Deadlock:           xerror.ConcurrencyError,
	driver.LockTimeout:        xerror.LockConflict,
	driver.Canceled:           xerror.GatewayTimeout, // the server's own limit: the error of an ended context comes first
	driver.Connection:         xerror.ServiceUnavailable,
	driver.TooManyConnections: xerror.ServiceUnavailable,
	driver.Authentication:     xerror.ServiceUnavailable,
	driver.UnknownDatabase:    xerror.ServiceUnavailable,
	driver.ReadOnly:           xerror.ServiceUnavailable,
	driver.Syntax:             xerror.DatabaseError,
	driver.Full:               xerror.StorageError,
}

// foreign are the errors of gorm and database/sql that have a code, in the order in which they are tried.
var foreign = []struct {
	err  error
	code *xerror.ErrorCode
}{
	{gorm.ErrRecordNotFound, xerror.RecordNotFound},
	{sql.ErrNoRows, xerror.RecordNotFound},
	{gorm.ErrDuplicatedKey, xerror.UniqueConstraint},
	{gorm.ErrForeignKeyViolated, xerror.ForeignKeyError},
	{gorm.ErrCheckConstraintViolated, xerror.IntegrityError},
	{sqldriver.ErrBadConn, xerror.ServiceUnavailable},
	{sql.ErrConnDone, xerror.ServiceUnavailable},
	{sql.ErrTxDone, xerror.DatabaseError},
	{gorm.ErrInvalidTransaction, xerror.DatabaseError},
	{gorm.ErrMissingWhereClause, xerror.DatabaseError},
	{gorm.ErrInvalidData, xerror.DatabaseError},
	{gorm.ErrInvalidField, xerror.DatabaseError},
	{gorm.ErrInvalidValue, xerror.DatabaseError},
	{gorm.ErrModelValueRequired, xerror.DatabaseError},
	{gorm.ErrPrimaryKeyRequired, xerror.DatabaseError},
	{gorm.ErrUnsupportedRelation, xerror.DatabaseError},
	{gorm.ErrInvalidDB, xerror.DatabaseError},
}

// code returns the code of an error of the database, or nil if it is none. xerror.From calls
// it. An error of a context has the code of the standard library's errors.
func code(err error) *xerror.ErrorCode {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if kind := driver.KindOf(err); kind != driver.Unknown {
		return codes[kind]
	}
	for _, f := range foreign {
		if errors.Is(err, f.err) {
			return f.code
		}
	}
	return codes[defaultRegistry.kindOf(err)]
}

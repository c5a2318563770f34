package xdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"

	"gorm.io/gorm"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

//nolint:gochecknoinits // the codes of database errors belong to every program that can have such errors
func init() { xError.RegisterMapper(Code) }

// codes is the one place that says which code stands for which kind of error.
var codes = map[driver.ErrorKind]*xError.ErrorCode{
	driver.Unique:             xError.UniqueConstraint,
	driver.ForeignKey:         xError.ForeignKeyError,
	driver.Check:              xError.IntegrityError,
	driver.NotNull:            xError.DataIncomplete,
	driver.TooLong:            xError.DataTooLarge,
	driver.OutOfRange:         xError.DataOutOfRange,
	driver.Malformed:          xError.DataInvalid,
	driver.Deadlock:           xError.ConcurrencyError,
	driver.LockTimeout:        xError.LockConflict,
	driver.Canceled:           xError.GatewayTimeout, // the server's own limit: the error of an ended context comes first
	driver.Connection:         xError.ServiceUnavailable,
	driver.TooManyConnections: xError.ServiceUnavailable,
	driver.Authentication:     xError.ServiceUnavailable,
	driver.UnknownDatabase:    xError.ServiceUnavailable,
	driver.ReadOnly:           xError.ServiceUnavailable,
	driver.Syntax:             xError.DatabaseError,
	driver.Full:               xError.StorageError,
}

// foreign are the errors of gorm and database/sql that have a code, in the order in which they are tried.
var foreign = []struct {
	err  error
	code *xError.ErrorCode
}{
	{gorm.ErrRecordNotFound, xError.RecordNotFound},
	{sql.ErrNoRows, xError.RecordNotFound},
	{gorm.ErrDuplicatedKey, xError.UniqueConstraint},
	{gorm.ErrForeignKeyViolated, xError.ForeignKeyError},
	{gorm.ErrCheckConstraintViolated, xError.IntegrityError},
	{sqldriver.ErrBadConn, xError.ServiceUnavailable},
	{sql.ErrConnDone, xError.ServiceUnavailable},
	{sql.ErrTxDone, xError.DatabaseError},
	{gorm.ErrInvalidTransaction, xError.DatabaseError},
	{gorm.ErrMissingWhereClause, xError.DatabaseError},
	{gorm.ErrInvalidData, xError.DatabaseError},
	{gorm.ErrInvalidField, xError.DatabaseError},
	{gorm.ErrInvalidValue, xError.DatabaseError},
	{gorm.ErrModelValueRequired, xError.DatabaseError},
	{gorm.ErrPrimaryKeyRequired, xError.DatabaseError},
	{gorm.ErrUnsupportedRelation, xError.DatabaseError},
	{gorm.ErrInvalidDB, xError.DatabaseError},
}

// Code returns the code of an error of the database, or nil where it is none. xError.From asks it by itself.
// An error of the context is left to the codes of the standard library.
func Code(err error) *xError.ErrorCode {
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

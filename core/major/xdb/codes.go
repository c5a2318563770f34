package xdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"slices"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

//nolint:gochecknoinits // every program that uses xdb needs the codes of database errors
func init() { xerror.RegisterMapper(code) }

// libraryErrors are the errors of gorm and database/sql that have a code. The first match
// wins.
var libraryErrors = []struct {
	code   *xerror.ErrorCode
	errors []error
}{
	{xerror.RecordNotFound, []error{gorm.ErrRecordNotFound, sql.ErrNoRows}},
	{xerror.UniqueConstraint, []error{gorm.ErrDuplicatedKey}},
	{xerror.ForeignKeyError, []error{gorm.ErrForeignKeyViolated}},
	{xerror.IntegrityError, []error{gorm.ErrCheckConstraintViolated}},
	{xerror.ServiceUnavailable, []error{sqldriver.ErrBadConn, sql.ErrConnDone}},
	{xerror.DatabaseError, []error{
		sql.ErrTxDone, gorm.ErrInvalidTransaction, gorm.ErrMissingWhereClause,
		gorm.ErrInvalidData, gorm.ErrInvalidField, gorm.ErrInvalidValue,
		gorm.ErrModelValueRequired, gorm.ErrPrimaryKeyRequired,
		gorm.ErrUnsupportedRelation, gorm.ErrInvalidDB,
	}},
}

// code returns the code of a database error, or nil for other errors. xerror.From calls
// it. It returns nil for context errors, which xerror maps itself.
func code(err error) *xerror.ErrorCode {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if kind := driver.KindOf(err); kind != driver.Unknown {
		return kind.Code()
	}
	for _, f := range libraryErrors {
		if slices.ContainsFunc(f.errors, func(known error) bool { return errors.Is(err, known) }) {
			return f.code
		}
	}
	return defaultRegistry.kindOf(err).Code()
}

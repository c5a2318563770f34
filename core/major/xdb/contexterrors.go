package xdb

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// contextErrors is a gorm plugin that returns the error of the context for a statement
// that failed because its context ended. Many libraries return their own error instead,
// such as "ORA-01013" or "interrupted". It also translates the errors of Rows and Scan,
// which gorm does not.
type contextErrors struct{}

// Name implements gorm.Plugin.
func (contextErrors) Name() string { return "plinth:context_errors" }

// Initialize implements gorm.Plugin. It registers the last callback of each kind.
func (p contextErrors) Initialize(db *gorm.DB) error {
	cb := db.Callback()
	return errors.Join(
		cb.Create().After("*").Register(p.Name(), p.after),
		cb.Query().After("*").Register(p.Name(), p.after),
		cb.Update().After("*").Register(p.Name(), p.after),
		cb.Delete().After("*").Register(p.Name(), p.after),
		cb.Row().After("*").Register(p.Name(), p.afterRows),
		cb.Raw().After("*").Register(p.Name(), p.after),
	)
}

func (p contextErrors) afterRows(db *gorm.DB) {
	if t, ok := db.Dialector.(gorm.ErrorTranslator); ok && db.Error != nil && db.TranslateError {
		db.Error = t.Translate(db.Error)
	}
	p.after(db)
}

func (contextErrors) after(db *gorm.DB) {
	if db.Error == nil || db.Statement.Context == nil {
		return
	}
	ctxErr := endOf(db.Statement.Context)
	if ctxErr == nil || errors.Is(db.Error, ctxErr) || errors.Is(db.Error, gorm.ErrRecordNotFound) {
		return
	}
	switch driver.KindOf(db.Error) {
	case driver.Unknown, driver.Canceled, driver.Connection, driver.TooManyConnections,
		driver.LockTimeout:
		db.Error = &contextError{ctxErr: ctxErr, cause: db.Error}
	default: // the database responded before the cancellation
	}
}

// endOf returns the error of ctx if it has ended, else nil. It also checks the deadline,
// because the timer of a connection may fire before that of ctx.
func endOf(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// contextError combines the error of a context with the error of the library.
type contextError struct{ ctxErr, cause error }

// Error implements error.
func (e *contextError) Error() string { return e.ctxErr.Error() }

// Unwrap returns the error of the context and that of the library.
func (e *contextError) Unwrap() []error { return []error{e.ctxErr, e.cause} }

// Timeout reports whether the deadline of the context has passed, like net.Error.
func (e *contextError) Timeout() bool { return errors.Is(e.ctxErr, context.DeadlineExceeded) }

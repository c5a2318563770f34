package xdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

// basePool is what a dialector opens: a *sql.DB, or a type around one.
type basePool interface {
	gorm.ConnPool
	gorm.TxBeginner
}

// boundedPool bounds how long a statement waits for a connection, not how long it runs.
//
// database/sql has one context for both. As long as a connection is free a statement goes
// to the pool as always. If all are in use, it waits for a connection with a deadline
// first, and then runs on that one. Between the look at the pool and the statement
// another one may take the last connection; such a statement waits until its own context
// ends.
type boundedPool struct {
	basePool
	db      *sql.DB
	timeout time.Duration
}

// boundPool makes db, whose pool is given, wait for connections no longer than timeout.
func boundPool(db *gorm.DB, pool *sql.DB, timeout time.Duration) {
	at := &db.ConnPool
	if prepared, ok := db.ConnPool.(*gorm.PreparedStmtDB); ok {
		at = &prepared.ConnPool // which prepares statements and begins transactions
	}
	if base, ok := (*at).(basePool); ok {
		*at = &boundedPool{basePool: base, db: pool, timeout: timeout}
		db.Statement.ConnPool = db.ConnPool
	}
}

// GetDBConn implements gorm.GetDBConnector.
func (p *boundedPool) GetDBConn() (*sql.DB, error) { return p.db, nil }

// ExecContext implements gorm.ConnPool.
func (p *boundedPool) ExecContext(
	ctx context.Context, query string, args ...any,
) (sql.Result, error) {
	return onConn(ctx, p, func(conn basePool) (sql.Result, error) {
		return conn.ExecContext(ctx, query, args...)
	})
}

// QueryContext implements gorm.ConnPool.
func (p *boundedPool) QueryContext(
	ctx context.Context, query string, args ...any,
) (*sql.Rows, error) {
	return onConn(ctx, p, func(conn basePool) (*sql.Rows, error) {
		return conn.QueryContext(ctx, query, args...)
	})
}

// QueryRowContext implements gorm.ConnPool.
func (p *boundedPool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row, err := onConn(ctx, p, func(conn basePool) (*sql.Row, error) {
		row := conn.QueryRowContext(ctx, query, args...)
		return row, row.Err()
	})
	if row == nil {
		return p.basePool.QueryRowContext(failedContext{ctx, err}, query, args...) // it holds ctx
	}
	return row
}

// BeginTx implements gorm.TxBeginner.
func (p *boundedPool) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	return onConn(ctx, p, func(conn basePool) (*sql.Tx, error) { return conn.BeginTx(ctx, opts) })
}

// onConn calls do with the pool, or if all connections are in use with one for which it
// has waited. If that one has turned out to be broken, or the database has not started
// the statement, it calls do with the pool, which tries again. No statement that may have
// changed anything is repeated.
func onConn[T any](
	ctx context.Context, p *boundedPool, do func(conn basePool) (T, error),
) (T, error) {
	if !dbconn.Exhausted(p.db.Stats()) {
		return do(p.basePool)
	}
	conn, err := p.acquire(ctx)
	if err != nil {
		var none T
		return none, err
	}
	// which waits for the end of rows and of a transaction
	defer func() { go func() { _ = conn.Close() }() }()
	result, err := do(conn)
	retrier, retries := p.basePool.(driver.Retrier)
	if errors.Is(err, sqldriver.ErrBadConn) || err != nil && retries && retrier.NotStarted(err) {
		_ = conn.Close() // the pool may have no other
		return do(p.basePool)
	}
	return result, err
}

// acquire waits for a connection.
func (p *boundedPool) acquire(ctx context.Context) (*sql.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	conn, err := p.db.Conn(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil, xerror.Wrap(xerror.ServiceOverload, "", fmt.Errorf(
			"xdb: all %d connections of the pool were in use for %s (%s, %s): %w",
			p.db.Stats().MaxOpenConnections, p.timeout, acquireTimeoutKey, maxOpenConnsKey, err))
	}
	return conn, err
}

// failedContext is a context that has ended with err. A *sql.Row cannot be made with an
// error otherwise.
type failedContext struct {
	context.Context
	err error
}

var closed = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

// Done implements context.Context.
func (failedContext) Done() <-chan struct{} { return closed }

// Err implements context.Context.
func (c failedContext) Err() error { return c.err }

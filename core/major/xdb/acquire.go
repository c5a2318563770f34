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

// basePool is the pool of a dialector: a *sql.DB or a wrapper of one.
type basePool interface {
	gorm.ConnPool
	gorm.TxBeginner
}

// boundedPool limits how long a statement waits for a connection, independently of how
// long it runs.
//
// database/sql has one context for both. While a connection is free, statements use the
// pool directly. If all are in use, the statement first waits for a connection with a
// deadline and then runs on it. If another statement acquires the last connection between
// the check and the statement, the wait is limited by the context of the statement only.
type boundedPool struct {
	basePool
	db      *sql.DB
	timeout time.Duration
}

// boundPool limits how long db waits for a connection of pool.
func boundPool(db *gorm.DB, pool *sql.DB, timeout time.Duration) {
	target := &db.ConnPool
	if prepared, ok := db.ConnPool.(*gorm.PreparedStmtDB); ok {
		target = &prepared.ConnPool // the pool that prepared statements use
	}
	if base, ok := (*target).(basePool); ok {
		*target = &boundedPool{basePool: base, db: pool, timeout: timeout}
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
		return p.basePool.QueryRowContext(failedContext{ctx, err}, query, args...)
	}
	return row
}

// BeginTx implements gorm.TxBeginner.
func (p *boundedPool) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	return onConn(ctx, p, func(conn basePool) (*sql.Tx, error) { return conn.BeginTx(ctx, opts) })
}

// onConn calls do with the pool. If all connections are in use, it waits for one and
// calls do with that connection. If that connection is broken, or the database has not
// started the statement, onConn calls do again with the pool, which retries. It never
// repeats a statement that may have changed anything.
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
	// Close waits for open rows and transactions.
	defer func() { go func() { _ = conn.Close() }() }()
	result, err := do(conn)
	retrier, retries := p.basePool.(driver.Retrier)
	if errors.Is(err, sqldriver.ErrBadConn) || err != nil && retries && retrier.NotStarted(err) {
		_ = conn.Close() // the pool may have no other connection
		return do(p.basePool)
	}
	return result, err
}

// acquire waits for a connection.
func (p *boundedPool) acquire(ctx context.Context) (*sql.Conn, error) {
	waitCtx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	conn, err := p.db.Conn(waitCtx)
	if err != nil && waitCtx.Err() != nil && ctx.Err() == nil {
		return nil, xerror.Wrap(xerror.ServiceOverload, "", fmt.Errorf(
			"xdb: all %d connections of the pool were in use for %s (see %s, %s): %w",
			p.db.Stats().MaxOpenConnections, p.timeout, acquireTimeoutKey, maxOpenConnsKey, err))
	}
	return conn, err
}

// failedContext is a context that has ended with err. A query with this context is the
// only way to create a *sql.Row that contains err.
type failedContext struct {
	context.Context
	err error
}

var closed = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

// Done implements context.Context.
func (failedContext) Done() <-chan struct{} { return closed }

// Err implements context.Context.
func (c failedContext) Err() error { return c.err }

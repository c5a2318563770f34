package postgres

import (
	"context"
	"database/sql"
)

// pool is a *sql.DB that retries a statement whose plan is stale. Without it, "SELECT *"
// would fail once on each connection after another replica added a column. The server did
// not start such a statement, and the library discards the plan. pool does not retry
// within a transaction.
type pool struct{ *sql.DB }

// GetDBConn implements gorm.GetDBConnector.
func (p pool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// NotStarted implements driver.Retrier.
func (pool) NotStarted(err error) bool { return isStalePlan(err) }

// ExecContext implements gorm.ConnPool.
func (p pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	result, err := p.DB.ExecContext(ctx, query, args...)
	for tries := 1; p.shouldRetry(err, tries); tries++ {
		result, err = p.DB.ExecContext(ctx, query, args...)
	}
	return result, err
}

// QueryContext implements gorm.ConnPool.
func (p pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := p.DB.QueryContext(ctx, query, args...)
	for tries := 1; p.shouldRetry(err, tries); tries++ {
		rows, err = p.DB.QueryContext(ctx, query, args...)
	}
	return rows, err
}

// QueryRowContext implements gorm.ConnPool.
func (p pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row := p.DB.QueryRowContext(ctx, query, args...)
	for tries := 1; p.shouldRetry(row.Err(), tries); tries++ {
		row = p.DB.QueryRowContext(ctx, query, args...)
	}
	return row
}

// shouldRetry reports whether to retry a statement. Each retry replaces the plan of one
// connection.
func (p pool) shouldRetry(err error, tries int) bool {
	return isStalePlan(err) && tries <= p.Stats().OpenConnections
}

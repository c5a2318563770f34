package postgres

import (
	"context"
	"database/sql"
)

// pool is a *sql.DB that runs a statement again if a connection has it prepared for an
// earlier form of its table: "SELECT *" of one replica would fail once on every
// connection after another one has added a column. The server has not started such a
// statement, and the library has dropped it from that connection. Within a transaction
// there is no second try.
type pool struct{ *sql.DB }

// GetDBConn implements gorm.GetDBConnector.
func (p pool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// NotStarted implements driver.Retrier.
func (pool) NotStarted(err error) bool { return stale(err) }

// ExecContext implements gorm.ConnPool.
func (p pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	result, err := p.DB.ExecContext(ctx, query, args...)
	for tries := 1; p.again(err, tries); tries++ {
		result, err = p.DB.ExecContext(ctx, query, args...)
	}
	return result, err
}

// QueryContext implements gorm.ConnPool.
func (p pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := p.DB.QueryContext(ctx, query, args...)
	for tries := 1; p.again(err, tries); tries++ {
		rows, err = p.DB.QueryContext(ctx, query, args...)
	}
	return rows, err
}

// QueryRowContext implements gorm.ConnPool.
func (p pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row := p.DB.QueryRowContext(ctx, query, args...)
	for tries := 1; p.again(row.Err(), tries); tries++ {
		row = p.DB.QueryRowContext(ctx, query, args...)
	}
	return row
}

// again reports whether another try can help. Each mends one connection.
func (p pool) again(err error, tries int) bool {
	return stale(err) && tries <= p.Stats().OpenConnections
}

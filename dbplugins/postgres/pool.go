package postgres

import (
	"context"
	"database/sql"

	"gorm.io/gorm"
)

// pool is a *sql.DB that runs a statement again if a connection has it prepared for an
// earlier form of its table: "SELECT *" of one replica would fail once on every
// connection after another one has added a column. The server has not started such a
// statement, and the library has dropped it from that connection. Within a transaction
// there is no second try.
type pool struct {
	retrying

	db *sql.DB
}

func newPool(db *sql.DB) pool {
	return pool{retrying: retrying{ConnPool: db, tries: func() int { return db.Stats().OpenConnections }}, db: db}
}

// GetDBConn implements gorm.GetDBConnector.
func (p pool) GetDBConn() (*sql.DB, error) { return p.db, nil }

// BeginTx implements gorm.TxBeginner.
func (p pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	return p.db.BeginTx(ctx, opts)
}

// WrapConn implements driver.ConnWrapper.
func (pool) WrapConn(conn *sql.Conn) gorm.ConnPool {
	return retrying{ConnPool: conn, tries: func() int { return 1 }}
}

// retrying runs the statements of a pool or of a connection again, see pool.
type retrying struct {
	gorm.ConnPool

	tries func() int // one for each connection that may have the statement prepared
}

// ExecContext implements gorm.ConnPool.
func (r retrying) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	result, err := r.ConnPool.ExecContext(ctx, query, args...)
	for tries := 1; r.again(err, tries); tries++ {
		result, err = r.ConnPool.ExecContext(ctx, query, args...)
	}
	return result, err
}

// QueryContext implements gorm.ConnPool.
func (r retrying) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := r.ConnPool.QueryContext(ctx, query, args...)
	for tries := 1; r.again(err, tries); tries++ {
		rows, err = r.ConnPool.QueryContext(ctx, query, args...)
	}
	return rows, err
}

// QueryRowContext implements gorm.ConnPool.
func (r retrying) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row := r.ConnPool.QueryRowContext(ctx, query, args...)
	for tries := 1; r.again(row.Err(), tries); tries++ {
		row = r.ConnPool.QueryRowContext(ctx, query, args...)
	}
	return row
}

// again reports whether another try can help. Each mends one connection.
func (r retrying) again(err error, tries int) bool { return stale(err) && tries <= r.tries() }

package sqlserver

import (
	"context"
	sqldriver "database/sql/driver"
	"io"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// grace is how long the server may take to confirm a cancellation. The library waits ten
// times as long, and has no limit while it sends.
const grace = 500 * time.Millisecond

// watch closes the connection if an operation does not return soon after ctx is canceled.
// The caller must call stop when the operation has returned.
func (c *conn) watch(ctx context.Context) (stop func()) {
	return driver.Watchdog(ctx, grace, c.wires.close)
}

// contextError returns ctx.Err() instead of err if the connection was closed because ctx
// is canceled. It translates other network errors.
func (c *conn) contextError(ctx context.Context, err error) error {
	if err == nil || err == io.EOF { // io.EOF is the end of the rows and must not be wrapped
		return err
	}
	if ctx.Err() == nil || !c.wires.closed() {
		return driver.TranslateNetwork(err)
	}
	return ctx.Err()
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	defer c.watch(ctx)()
	return c.contextError(ctx, c.Conn.Ping(ctx))
}

// PrepareContext implements driver.ConnPrepareContext. It sends nothing.
func (c *conn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	inner, err := c.Conn.PrepareContext(ctx, query)
	if lib, ok := inner.(*mssql.Stmt); ok && err == nil {
		return &stmt{lib, c}, nil
	}
	return inner, err // a bulk copy
}

// stmt is a statement of the library that returns soon after its context is canceled,
// even if the server does not respond.
type stmt struct {
	*mssql.Stmt

	conn *conn
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	defer s.conn.watch(ctx)()
	result, err := s.Stmt.ExecContext(ctx, args)
	return result, s.conn.contextError(ctx, err)
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	stop := s.conn.watch(ctx)
	inner, err := s.Stmt.QueryContext(ctx, args)
	lib, ok := inner.(*mssql.Rows)
	if err != nil || !ok { // not *mssql.Rows: the rows are read as messages
		stop()
		return inner, s.conn.contextError(ctx, err)
	}
	return &rows{lib, func(err error) error { return s.conn.contextError(ctx, err) }, stop}, nil
}

// rows are rows of the library, watched like their statement.
type rows struct {
	*mssql.Rows

	translate func(error) error
	stop      func()
}

// Next implements driver.Rows.
func (r *rows) Next(dest []sqldriver.Value) error { return r.translate(r.Rows.Next(dest)) }

// Close implements driver.Rows.
func (r *rows) Close() error {
	defer r.stop()
	return r.translate(r.Rows.Close())
}

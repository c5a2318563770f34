package sqlserver

import (
	"context"
	sqldriver "database/sql/driver"
	"io"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// grace is how long the server has to confirm that a statement has ended, when its
// context has. The library waits ten times as long, and for ever while it sends.
const grace = 500 * time.Millisecond

// bound closes the connection if what is under way does not end soon after ctx. The
// caller calls end when it has.
func (c *conn) bound(ctx context.Context) (end func()) {
	return driver.Watchdog(ctx, grace, c.wires.cut)
}

// ended returns the context's error instead of err if the connection was closed for that,
// and marks an error of the network as the database's.
func (c *conn) ended(ctx context.Context, err error) error {
	if err == nil || err == io.EOF { // the end of rows is the value itself
		return err
	}
	if ctx.Err() == nil || !c.wires.closed() {
		return driver.TranslateNetwork(err)
	}
	return ctx.Err()
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	defer c.bound(ctx)()
	return c.ended(ctx, c.Conn.Ping(ctx))
}

// PrepareContext implements driver.ConnPrepareContext. It sends nothing.
func (c *conn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	inner, err := c.Conn.PrepareContext(ctx, query)
	if lib, ok := inner.(*mssql.Stmt); ok && err == nil {
		return &stmt{lib, c}, nil
	}
	return inner, err // a bulk copy
}

// stmt is the library's statement, which ends soon after its context also if the
// server is silent.
type stmt struct {
	*mssql.Stmt

	conn *conn
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	defer s.conn.bound(ctx)()
	result, err := s.Stmt.ExecContext(ctx, args)
	return result, s.conn.ended(ctx, err)
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	end := s.conn.bound(ctx)
	inner, err := s.Stmt.QueryContext(ctx, args)
	lib, ok := inner.(*mssql.Rows)
	if err != nil || !ok { // or the rows are read as messages
		end()
		return inner, s.conn.ended(ctx, err)
	}
	return &rows{lib, func(err error) error { return s.conn.ended(ctx, err) }, end}, nil
}

// rows are the library's, bound like their statement.
type rows struct {
	*mssql.Rows

	ended func(error) error
	end   func()
}

// Next implements driver.Rows.
func (r *rows) Next(dest []sqldriver.Value) error { return r.ended(r.Rows.Next(dest)) }

// Close implements driver.Rows.
func (r *rows) Close() error {
	defer r.end()
	return r.ended(r.Rows.Close())
}

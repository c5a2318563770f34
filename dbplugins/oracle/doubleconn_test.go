package oracle_test

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// doubleConn is a connection of the double.
type doubleConn struct {
	double *double
	cut    func()
}

func (c *doubleConn) Prepare(string) (sqldriver.Stmt, error) { return nil, errors.New("not used") }

func (c *doubleConn) Begin() (sqldriver.Tx, error) { return nil, errors.New("not used") }

func (c *doubleConn) Ping(ctx context.Context) error {
	c.double.mu.Lock()
	defer c.double.mu.Unlock()
	c.double.pings++
	c.double.lastPing = ctx
	return c.double.pingErr
}

func (c *doubleConn) ResetSession(context.Context) error { return nil }

func (c *doubleConn) Close() error {
	c.double.mu.Lock()
	defer c.double.mu.Unlock()
	c.double.closed++
	return c.double.closeErr
}

func (c *doubleConn) BeginTx(ctx context.Context, opts sqldriver.TxOptions) (sqldriver.Tx, error) {
	if ctx.Done() != nil || opts != (sqldriver.TxOptions{}) {
		return nil, errors.New(
			"go-ora rejects options, and interrupts a rollback if its context is canceled")
	}
	c.double.record("<begin>", nil)
	return doubleTx{c.double}, nil
}

func (c *doubleConn) PrepareContext(_ context.Context, query string) (sqldriver.Stmt, error) {
	return &doubleStmt{conn: c, query: query}, nil
}

func (c *doubleConn) ExecContext(
	_ context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if strings.HasPrefix(query, "ALTER SESSION") {
		c.double.mu.Lock()
		defer c.double.mu.Unlock()
		c.double.session = append(c.double.session, query)
		return sqldriver.RowsAffected(0), nil // setup of a connection
	}
	return sqldriver.RowsAffected(1), c.double.record(query, args).err
}

func (c *doubleConn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	a := c.double.record(query, args)
	if a.hangs {
		<-ctx.Done()
	}
	if a.err != nil {
		return nil, a.err
	}
	return &doubleRows{response: a, cut: c.cut}, nil
}

type doubleTx struct{ double *double }

func (t doubleTx) Commit() error { return t.double.record("<commit>", nil).err }

func (t doubleTx) Rollback() error { return t.double.record("<rollback>", nil).err }

type doubleStmt struct {
	conn  *doubleConn
	query string
}

func (s *doubleStmt) Close() error { return nil }

func (s *doubleStmt) NumInput() int { return -1 }

func (s *doubleStmt) Exec([]sqldriver.Value) (sqldriver.Result, error) {
	return nil, errors.New("not used")
}

func (s *doubleStmt) Query([]sqldriver.Value) (sqldriver.Rows, error) {
	return nil, errors.New("not used")
}

func (s *doubleStmt) ExecContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

func (s *doubleStmt) QueryContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	return s.conn.QueryContext(ctx, s.query, args)
}

type doubleRows struct {
	response

	next int
	cut  func()
}

func (r *doubleRows) Columns() []string { return append([]string(nil), r.columns...) }

func (r *doubleRows) Close() error { return nil }

func (r *doubleRows) Next(dest []sqldriver.Value) error {
	if r.cuts && r.next == len(r.rows)-1 {
		r.cut()
		return io.EOF // as go-ora does
	}
	if r.next == len(r.rows) {
		return io.EOF
	}
	copy(dest, r.rows[r.next])
	r.next++
	return nil
}

// Types are written as NUMBER, or NUMBER:2 with a scale.

func (r *doubleRows) ColumnTypeDatabaseTypeName(i int) string {
	if i >= len(r.types) {
		return "NCHAR"
	}
	name, _, _ := strings.Cut(r.types[i], ":")
	return name
}

func (*doubleRows) ColumnTypeScanType(int) reflect.Type { return nil }

func (r *doubleRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if i >= len(r.types) {
		return 0, 0, false
	}
	_, text, found := strings.Cut(r.types[i], ":")
	if !found {
		return 38, 255, true // as go-ora returns for count(*)
	}
	scale, _ = strconv.ParseInt(text, 10, 64)
	return 19, scale, true
}

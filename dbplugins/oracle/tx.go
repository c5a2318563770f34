package oracle

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
)

// setTransaction returns the statement that a transaction with these options begins with,
// "" where it needs none. The library itself refuses every option.
func setTransaction(opts sqldriver.TxOptions) (string, error) {
	level := sql.IsolationLevel(opts.Isolation)
	switch {
	case opts.ReadOnly && level == sql.LevelDefault:
		return "SET TRANSACTION READ ONLY", nil
	case opts.ReadOnly:
		return "", fmt.Errorf("oracle: a transaction is read-only or has an isolation level (%v), not both", level)
	case level == sql.LevelDefault, level == sql.LevelReadCommitted:
		return "", nil
	case level == sql.LevelSerializable, level == sql.LevelSnapshot:
		return "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", nil
	default:
		return "", fmt.Errorf("oracle: there is no isolation level %v: use read committed or serializable", level)
	}
}

// BeginTx implements driver.ConnBeginTx. The library would interrupt a rollback whose
// context has ended, so it gets none.
func (c *conn) BeginTx(ctx context.Context, opts sqldriver.TxOptions) (sqldriver.Tx, error) {
	first, err := setTransaction(opts)
	if err != nil {
		return nil, err
	}
	t := &tx{conn: c, ctx: ctx}
	err = c.do(ctx, func() (err error) {
		if t.inner, err = c.libraryConn.BeginTx(context.WithoutCancel(ctx), sqldriver.TxOptions{}); err != nil || first == "" {
			return err
		}
		_, err = c.libraryConn.ExecContext(ctx, first, nil)
		return err
	})
	if err != nil {
		c.spent.Store(true) // it may have begun
		return nil, err
	}
	c.inTx = true
	return t, nil
}

// tx is a transaction.
type tx struct {
	inner sqldriver.Tx
	conn  *conn
	ctx   context.Context //nolint:containedctx // that of BeginTx, as in database/sql
}

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	t.conn.inTx = false
	return t.conn.do(t.ctx, t.inner.Commit)
}

// Rollback implements driver.Tx. The server itself rolls back what has lost its
// connection.
func (t *tx) Rollback() error {
	t.conn.inTx = false
	err := t.conn.within(t.inner.Rollback)
	if err != nil {
		t.conn.spent.Store(true)
		t.conn.wire.cut()
	}
	return err
}

// libraryStmt is what the statements of the library can do.
type libraryStmt interface {
	sqldriver.Stmt
	sqldriver.StmtExecContext
	sqldriver.StmtQueryContext
}

// stmt is a prepared statement.
type stmt struct {
	libraryStmt

	conn  *conn
	query string
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	if isSelect(s.query) {
		return drain(s.QueryContext(ctx, args))
	}
	var result sqldriver.Result
	err := s.conn.do(ctx, func() (err error) {
		if result, err = s.libraryStmt.ExecContext(ctx, args); err != nil {
			return err
		}
		return s.conn.keep(ctx, s.query)
	})
	return result, err
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	var inner sqldriver.Rows
	err := s.conn.do(ctx, func() (err error) {
		inner, err = s.libraryStmt.QueryContext(ctx, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.conn.rows(ctx, s.query, inner), nil
}

// Close implements driver.Stmt.
func (s *stmt) Close() error {
	if !s.conn.IsValid() {
		return nil
	}
	return s.conn.within(s.libraryStmt.Close)
}

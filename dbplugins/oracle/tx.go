package oracle

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
)

// setTransaction returns the statement that a transaction with these options begins with,
// "" if it needs none. The library itself refuses every option.
func setTransaction(opts sqldriver.TxOptions) (string, error) {
	level := sql.IsolationLevel(opts.Isolation)
	switch {
	case opts.ReadOnly && level == sql.LevelDefault:
		return "SET TRANSACTION READ ONLY", nil
	case opts.ReadOnly:
		return "", fmt.Errorf(
			"oracle: a transaction is read-only or has an isolation level (%v), not both", level)
	case level == sql.LevelDefault, level == sql.LevelReadCommitted:
		return "", nil
	case level == sql.LevelSerializable, level == sql.LevelSnapshot:
		return "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", nil
	default:
		return "", fmt.Errorf(
			"oracle: there is no isolation level %v: use read committed or serializable", level)
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
		if t.inner, err = c.libraryConn.BeginTx(context.WithoutCancel(ctx),
			sqldriver.TxOptions{}); err != nil || first == "" {
			return err
		}
		_, err = c.libraryConn.ExecContext(ctx, first, nil)
		return err
	})
	if err != nil {
		c.spent.Store(true) // it may have started
		return nil, err
	}
	c.inTx = true
	return t, nil
}

// tx is a transaction.
type tx struct {
	inner sqldriver.Tx
	conn  *conn
	ctx   context.Context // that of BeginTx, as in database/sql
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

package oracle

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
)

// setTransaction returns the first statement of a transaction with these options, or "".
// The library itself rejects every option.
func setTransaction(opts sqldriver.TxOptions) (string, error) {
	level := sql.IsolationLevel(opts.Isolation)
	switch {
	case opts.ReadOnly && level == sql.LevelDefault:
		return "SET TRANSACTION READ ONLY", nil
	case opts.ReadOnly:
		return "", fmt.Errorf(
			"oracle: a read-only transaction cannot have an isolation level (%v)", level)
	case level == sql.LevelDefault, level == sql.LevelReadCommitted:
		return "", nil
	case level == sql.LevelSerializable, level == sql.LevelSnapshot:
		return "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", nil
	default:
		return "", fmt.Errorf(
			"oracle: unsupported isolation level %v: use read committed or serializable", level)
	}
}

// BeginTx implements driver.ConnBeginTx. It does not pass ctx to the library, which would
// interrupt the rollback after a cancellation.
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
		c.unusable.Store(true) // the transaction may have started
		return nil, err
	}
	c.inTx = true
	return t, nil
}

// tx is a transaction.
type tx struct {
	inner sqldriver.Tx
	conn  *conn
	ctx   context.Context // context of BeginTx, as in database/sql
}

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	t.conn.inTx = false
	return t.conn.do(t.ctx, t.inner.Commit)
}

// Rollback implements driver.Tx. If it fails, it closes the connection, which makes the
// server roll back.
func (t *tx) Rollback() error {
	t.conn.inTx = false
	err := t.conn.within(t.inner.Rollback)
	if err != nil {
		t.conn.unusable.Store(true)
		t.conn.wire.close()
	}
	return err
}

package sqlserver

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"time"
)

// rollbackTimeout limits the wait for the response to a rollback. When it expires, the
// connection is closed, which makes the server roll back.
const rollbackTimeout = 2 * time.Second

// readCommitted is the default isolation level, also outside of transactions.
const readCommitted = sqldriver.IsolationLevel(sql.LevelReadCommitted)

// BeginTx implements driver.ConnBeginTx. A session retains the isolation level of its
// last transaction, even after the pool resets the session. Therefore each transaction
// sets its level, and a level other than the default is reset afterwards.
func (c *conn) BeginTx(ctx context.Context, o sqldriver.TxOptions) (sqldriver.Tx, error) {
	defer c.watch(ctx)()
	if o.Isolation == sqldriver.IsolationLevel(sql.LevelDefault) {
		o.Isolation = readCommitted
	}
	txCtx := &txContext{ctx}
	inner, err := c.Conn.BeginTx(txCtx, o) // txCtx contains ctx until the rollback
	if err != nil {
		if o.Isolation != readCommitted && ctx.Err() != nil { // the transaction may have started
			c.wires.close()
		}
		return nil, c.contextError(ctx, err)
	}
	return &tx{inner, c, txCtx, o.Isolation}, nil
}

// tx is a transaction of the library that waits for the response to its rollback. The
// library does not wait if the context of the transaction is canceled. The next statement
// of the connection would then be sent with the old transaction ID.
type tx struct {
	sqldriver.Tx

	conn  *conn
	txCtx *txContext
	level sqldriver.IsolationLevel
}

// txContext is the context that the library stores for a transaction. It is replaced for
// the rollback.
type txContext struct{ context.Context }

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	ctx := t.txCtx.Context
	stop := t.conn.watch(ctx)
	err := t.conn.contextError(ctx, t.Tx.Commit())
	stop()
	t.resetLevel()
	return err
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.txCtx.Context), rollbackTimeout)
	defer cancel()
	stop := t.conn.watch(ctx)
	t.txCtx.Context = ctx
	err := t.Tx.Rollback()
	stop()
	if err != nil && ctx.Err() != nil {
		return sqldriver.ErrBadConn
	}
	t.resetLevel()
	return err
}

// resetLevel restores the default isolation level. The result of the transaction is
// already known, so a failure only closes the connection.
func (t *tx) resetLevel() {
	if t.level == readCommitted || !t.conn.IsValid() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.txCtx.Context), rollbackTimeout)
	defer cancel()
	reset, err := t.conn.PrepareContext(ctx, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
	if s, ok := reset.(*stmt); ok && err == nil {
		_, err = s.ExecContext(ctx, nil)
	}
	if err != nil {
		t.conn.wires.close()
	}
}

package sqlserver

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"time"
)

// rollbackTimeout bounds the wait for the answer to a rollback. Without one the
// connection is closed, and the server rolls back by itself.
const rollbackTimeout = 2 * time.Second

// readCommitted is the isolation level of a transaction that asks for none, and of each
// statement outside of one.
const readCommitted = sqldriver.IsolationLevel(sql.LevelReadCommitted)

// BeginTx implements driver.ConnBeginTx. The server keeps the level of a transaction for
// its session, also when the session is reset for the pool; so each transaction states
// its level, and one of another level takes it back behind itself.
func (c *conn) BeginTx(ctx context.Context, o sqldriver.TxOptions) (sqldriver.Tx, error) {
	defer c.bound(ctx)()
	if o.Isolation == sqldriver.IsolationLevel(sql.LevelDefault) {
		o.Isolation = readCommitted
	}
	life := &lifetime{ctx}
	inner, err := c.Conn.BeginTx(life, o) // it is ctx until the rollback
	if err != nil {
		if o.Isolation != readCommitted && ctx.Err() != nil { // it may have started
			c.wires.cut()
		}
		return nil, c.ended(ctx, err)
	}
	return &tx{inner, c, life, o.Isolation}, nil
}

// tx is the library's transaction, which waits for the answer to its rollback. The
// library waits for none if the context of the transaction has ended, as it has
// whenever that is the reason: the next statement of the connection would still be sent
// for the transaction that has ended.
type tx struct {
	sqldriver.Tx

	conn  *conn
	life  *lifetime
	level sqldriver.IsolationLevel
}

// lifetime is the context that the library keeps for a transaction. It is another one for
// the rollback.
type lifetime struct{ context.Context }

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	ctx := t.life.Context
	end := t.conn.bound(ctx)
	err := t.conn.ended(ctx, t.Tx.Commit())
	end()
	t.takeBackLevel()
	return err
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.life.Context), rollbackTimeout)
	defer cancel()
	end := t.conn.bound(ctx)
	t.life.Context = ctx
	err := t.Tx.Rollback()
	end()
	if err != nil && ctx.Err() != nil {
		return sqldriver.ErrBadConn
	}
	t.takeBackLevel()
	return err
}

// takeBackLevel gives the session the usual level again. What has become of the
// transaction is known by then, so a failure ends the connection only.
func (t *tx) takeBackLevel() {
	if t.level == readCommitted || !t.conn.IsValid() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.life.Context), rollbackTimeout)
	defer cancel()
	again, err := t.conn.PrepareContext(ctx, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
	if s, ok := again.(*stmt); ok && err == nil {
		_, err = s.ExecContext(ctx, nil)
	}
	if err != nil {
		t.conn.wires.cut()
	}
}

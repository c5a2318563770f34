package sqlserver

import (
	"context"
	sqldriver "database/sql/driver"
	"time"
)

// rollbackTimeout bounds the wait for the answer to a rollback. Without one the connection is closed, and the server rolls
// back by itself.
const rollbackTimeout = 2 * time.Second

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, o sqldriver.TxOptions) (sqldriver.Tx, error) {
	defer c.bound(ctx)()
	life := &lifetime{ctx}
	inner, err := c.Conn.BeginTx(life, o) //nolint:contextcheck // it is ctx until the rollback
	if err != nil {
		return nil, c.ended(ctx, err)
	}
	return &tx{inner, c, life}, nil
}

// tx is the library's transaction, which waits for the answer to its rollback. The library waits for none where the context of
// the transaction has ended, as it has whenever that is the reason: the next statement of the connection would still be sent
// for the transaction that is gone.
type tx struct {
	sqldriver.Tx

	conn *conn
	life *lifetime
}

// lifetime is the context that the library keeps for a transaction. It is another one for the rollback.
type lifetime struct{ context.Context }

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	ctx := t.life.Context
	defer t.conn.bound(ctx)()
	return t.conn.ended(ctx, t.Tx.Commit())
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.life.Context), rollbackTimeout)
	defer cancel()
	defer t.conn.bound(ctx)()
	t.life.Context = ctx
	err := t.Tx.Rollback()
	if err != nil && ctx.Err() != nil {
		return sqldriver.ErrBadConn
	}
	return err
}

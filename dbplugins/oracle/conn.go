package oracle

import (
	"cmp"
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sijms/go-ora/v2/network"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// breakWait is how long a statement may run after its context is canceled. The
	// library sends an interrupt, but the network or the server may not respond.
	breakWait = 500 * time.Millisecond
	// endWait limits a rollback and the closing of a cursor or session.
	endWait = time.Second
	// pingAfter is how long a connection may be idle before ResetSession pings it.
	pingAfter = time.Second
)

// libraryConn contains the methods of the library's connections.
type libraryConn interface {
	sqldriver.Conn
	sqldriver.ConnBeginTx
	sqldriver.ConnPrepareContext
	sqldriver.ExecerContext
	sqldriver.QueryerContext
	sqldriver.Pinger
	sqldriver.SessionResetter
}

// conn is a connection. database/sql uses it from one goroutine at a time.
type conn struct {
	libraryConn

	wire     *wire
	unusable atomic.Bool // must not be reused
	inTx     bool
	lastUsed time.Time
}

var errPanic = errors.New("oracle: cannot parse the response of the server")

// do calls f, which communicates with the server. It returns the context's error if ctx
// is canceled, and translates network errors.
//
// If ctx is canceled, the connection is not reused, whatever f returns. The library may
// have sent an interrupt, and the server would respond to it during the next statement.
func (c *conn) do(ctx context.Context, f func() error) (err error) {
	stop := driver.Watchdog(ctx, breakWait, c.wire.close)
	defer func() {
		if p := recover(); p != nil { // the library does not check the lengths in a packet
			c.unusable.Store(true)
			err = driver.Translate(driver.Connection, errPanic, errPanic.Error())
		}
		stop()
		c.lastUsed = time.Now()
		err = c.explain(ctx, err)
	}()
	return f()
}

// explain returns ctx.Err() if ctx is canceled, and translates network errors.
func (c *conn) explain(ctx context.Context, err error) error {
	ctxErr := ctx.Err()
	if ctxErr != nil {
		c.unusable.Store(true)
	}
	if err == nil {
		return nil
	}
	kind := cmp.Or(Driver{}.ErrorKind(err), driver.KindOf(driver.TranslateNetwork(err)))
	if ctxErr != nil && isInterrupt(kind) {
		return ctxErr
	}
	if kind == driver.Connection || kind == driver.TooManyConnections {
		c.unusable.Store(true)
		return driver.Translate(kind, err, detail(err))
	}
	var server *network.OracleError
	if kind == driver.Unknown && c.wire.broken.Load() && !errors.As(err, &server) {
		c.unusable.Store(true)
		return driver.Translate(driver.Connection, err, err.Error())
	}
	return err
}

// isInterrupt reports whether an interrupt can cause an error of this kind.
func isInterrupt(kind driver.ErrorKind) bool {
	switch kind {
	case driver.Unknown, driver.Canceled, driver.Connection, driver.TooManyConnections,
		driver.LockTimeout:
		return true
	default:
		return false
	}
}

// within calls f, and closes the network connection if f has not returned after endWait.
func (c *conn) within(f func() error) error {
	defer time.AfterFunc(endWait, c.wire.close).Stop()
	return c.do(context.Background(), f)
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	return c.do(ctx, func() error { return c.libraryConn.Ping(ctx) })
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.unusable.Load() && !c.wire.broken.Load() }

// ResetSession implements driver.SessionResetter. It pings a connection that was idle.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.IsValid() && time.Since(c.lastUsed) > pingAfter {
		// otherwise the library sends an interrupt when ctx is canceled
		ping := func() error { return c.libraryConn.Ping(context.WithoutCancel(ctx)) }
		if err := c.within(ping); err != nil {
			c.unusable.Store(true)
		}
	}
	if !c.IsValid() || c.libraryConn.ResetSession(ctx) != nil {
		return sqldriver.ErrBadConn
	}
	return nil
}

// Close implements driver.Conn. It closes the network connection first if the connection
// is broken, because the library would wait for a response.
func (c *conn) Close() error {
	if !c.IsValid() {
		c.wire.close()
	}
	err := c.within(c.libraryConn.Close)
	defer c.wire.close()
	if !c.IsValid() {
		return nil // the session no longer exists
	}
	return err
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if isSelect(query) {
		return drain(c.QueryContext(ctx, query, args))
	}
	var result sqldriver.Result
	err := c.do(ctx, func() (err error) {
		if result, err = c.libraryConn.ExecContext(ctx, splitLists(query), args); err != nil {
			return err
		}
		return c.commitOpen(ctx, query)
	})
	return result, err
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	var inner sqldriver.Rows
	err := c.do(ctx, func() (err error) {
		inner, err = c.libraryConn.QueryContext(ctx, splitLists(query), args)
		return err
	})
	return c.rows(ctx, query, inner, err)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	var inner sqldriver.Stmt
	err := c.do(ctx, func() (err error) {
		inner, err = c.libraryConn.PrepareContext(ctx, splitLists(query))
		return err
	})
	if err != nil {
		return nil, err
	}
	lib := inner.(libraryStmt) //nolint:forcetypeassert // the library's type
	return &stmt{libraryStmt: lib, conn: c, query: query}, nil
}

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
	// breakWait is how long a statement whose context has ended may take to end. The
	// library asks the server to interrupt it, which is not answered if the network or
	// the server hangs.
	breakWait = 500 * time.Millisecond
	// endWait bounds what ends something: a rollback, a cursor, a session.
	endWait = time.Second
	// trusted is how long an idle connection is taken to be alive without asking.
	trusted = time.Second
)

// libraryConn is what the connections of the library can do.
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

	wire  *wire
	spent atomic.Bool // not to be used again
	inTx  bool
	used  time.Time
}

var errPanic = errors.New("oracle: the library could not read what the server has answered")

// do calls f, which talks to the server. Its error says whether the context or the
// network has ended.
//
// A connection whose context ended in the meantime is spent, whatever f returns: the
// library may have sent an interrupt to which the server answers when the next statement
// is under way.
func (c *conn) do(ctx context.Context, f func() error) (err error) {
	end := driver.Watchdog(ctx, breakWait, c.wire.cut)
	defer func() {
		if p := recover(); p != nil { // it takes the lengths in a packet as they come
			c.spent.Store(true)
			err = driver.Translate(driver.Connection, errPanic, errPanic.Error())
		}
		end()
		c.used = time.Now()
		err = c.explain(ctx, err)
	}()
	return f()
}

// explain returns the context's error if that has ended, and a broken network as such.
func (c *conn) explain(ctx context.Context, err error) error {
	ended := ctx.Err()
	if ended != nil {
		c.spent.Store(true)
	}
	if err == nil {
		return nil
	}
	kind := cmp.Or(Driver{}.ErrorKind(err), driver.KindOf(driver.TranslateNetwork(err)))
	if ended != nil && gaveUp(kind) {
		return ended
	}
	if kind == driver.Connection || kind == driver.TooManyConnections {
		c.spent.Store(true)
		return driver.Translate(kind, err, detail(err))
	}
	var server *network.OracleError
	if kind == driver.Unknown && c.wire.broken.Load() && !errors.As(err, &server) {
		c.spent.Store(true)
		return driver.Translate(driver.Connection, err, err.Error())
	}
	return err
}

// gaveUp reports whether an error of the kind can come of an interrupt.
func gaveUp(kind driver.ErrorKind) bool {
	switch kind {
	case driver.Unknown, driver.Canceled, driver.Connection, driver.TooManyConnections,
		driver.LockTimeout:
		return true
	default:
		return false
	}
}

// within calls f, and cuts the wire if that takes longer than endWait.
func (c *conn) within(f func() error) error {
	defer time.AfterFunc(endWait, c.wire.cut).Stop()
	return c.do(context.Background(), f)
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	return c.do(ctx, func() error { return c.libraryConn.Ping(ctx) })
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.spent.Load() && !c.wire.broken.Load() }

// ResetSession implements driver.SessionResetter: a connection that was idle is asked
// whether it is still there.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.IsValid() && time.Since(c.used) > trusted {
		// the library would send an interrupt of its own if this context ends
		ping := func() error { return c.libraryConn.Ping(context.WithoutCancel(ctx)) }
		if err := c.within(ping); err != nil {
			c.spent.Store(true)
		}
	}
	if !c.IsValid() || c.libraryConn.ResetSession(ctx) != nil {
		return sqldriver.ErrBadConn
	}
	return nil
}

// Close implements driver.Conn. Of one that is spent the library would wait for an
// answer.
func (c *conn) Close() error {
	if !c.IsValid() {
		c.wire.cut()
	}
	err := c.within(c.libraryConn.Close)
	defer c.wire.cut()
	if !c.IsValid() {
		return nil // the session does not exist any more
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
		return c.keep(ctx, query)
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
	return &stmt{libraryStmt: inner.(libraryStmt), conn: c, query: query}, nil //nolint:forcetypeassert // the library's type
}

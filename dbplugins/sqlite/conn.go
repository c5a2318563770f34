package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"reflect"
	"strings"
	"time"

	gosqlite "github.com/glebarez/go-sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// lockTimeout is how long a statement waits for a lock.
	lockTimeout = 5 * time.Second
	// longestPause is how long it waits at most before it looks again.
	longestPause = 20 * time.Millisecond
	// interruptPause is the time between two interrupts of what has to end.
	interruptPause = 5 * time.Millisecond

	// timeLayout is how the library writes a time.
	timeLayout = "2006-01-02 15:04:05.999999999-07:00"
)

var errQueue = driver.Translate(driver.LockTimeout,
	errors.New("sqlite: the write lock was not free within 5 s"),
	"held by another transaction for more than "+lockTimeout.String())

// library is what the connections of the library can do.
type library interface {
	sqldriver.Conn
	sqldriver.ConnBeginTx
	sqldriver.ExecerContext
	sqldriver.QueryerContext
	sqldriver.Pinger
}

// handleOf returns the sqlite3* of a connection, or 0 if the library has renamed its
// field.
//
// The library interrupts a statement only until that has returned its first row, and
// exports no way to interrupt it later. Without the handle a slow query ignores its
// context, and the dbtest checks of cancellation and deadlines do
// not return.
func handleOf(c sqldriver.Conn) uintptr {
	field := reflect.Indirect(reflect.ValueOf(c)).FieldByName("db")
	if field.Kind() != reflect.Uintptr {
		return 0
	}
	return uintptr(field.Uint())
}

// conn is a connection. database/sql uses it from one goroutine at a time.
type conn struct {
	library

	queue  chan struct{}
	handle uintptr
	exec   *watcher // of ExecContext, of which no two run at a time
	inTx   bool

	latest     time.Time // of timeText
	latestText sqldriver.Value
}

// watcher interrupts a connection when the context of what that does ends. It watches one
// context at a time.
type watcher struct {
	interrupt func()        // nil where the library hides its handle
	ended     chan struct{} // takes word that nothing is to be interrupted any more
}

func newWatcher(handle uintptr) *watcher {
	w := &watcher{ended: make(chan struct{})}
	if handle != 0 {
		w.interrupt = func() { w.keepInterrupting(handle) }
	}
	return w
}

// keepInterrupting interrupts again and again, since SQLite forgets an interrupt for
// which no statement is running: the one that it is for may be about to begin.
func (w *watcher) keepInterrupting(handle uintptr) {
	again := time.NewTicker(interruptPause)
	defer again.Stop()
	for {
		lib.Xsqlite3_interrupt(nil, handle)
		select {
		case w.ended <- struct{}{}:
			return
		case <-again.C:
		}
	}
}

// begin watches ctx until end is called with what it returns.
func (w *watcher) begin(ctx context.Context) (stop func() bool) {
	if ctx.Done() == nil || w.interrupt == nil {
		return nil
	}
	return context.AfterFunc(ctx, w.interrupt)
}

func (w *watcher) end(stop func() bool) {
	if stop != nil && !stop() {
		<-w.ended // the handle must not be used after the connection is closed
	}
}

// patiently calls do until the database is not busy, for lockTimeout or until ctx ends.
func patiently(ctx context.Context, do func() error) error {
	start := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := do()
		if !busy(err) || time.Since(start) >= lockTimeout {
			return because(ctx, err)
		}
		if err := xretry.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// busy reports whether another connection holds a lock that it will give up again.
func busy(err error) bool {
	if err == nil {
		return false // errors.As would cost each statement an allocation
	}
	var e *gosqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_BUSY &&
		e.Code() != lib.SQLITE_BUSY_SNAPSHOT
}

// because returns the context's error where that is why SQLite was interrupted.
func because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	var e *gosqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_INTERRUPT {
		return ctx.Err()
	}
	return err
}

// lock takes the writer's token, after those who asked before; writers of other processes
// are SQLite's to wait for.
func (c *conn) lock(ctx context.Context) error {
	select {
	case c.queue <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(lockTimeout)
	defer timer.Stop()
	select {
	case c.queue <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return errQueue
	}
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, opts sqldriver.TxOptions) (sqldriver.Tx, error) {
	ctx = tied(ctx)
	locks := c.queue != nil && !opts.ReadOnly
	if locks {
		if err := c.lock(ctx); err != nil {
			return nil, err
		}
	}
	var inner sqldriver.Tx
	err := patiently(ctx, func() (err error) {
		inner, err = c.library.BeginTx(ctx, opts)
		return err
	})
	if err != nil {
		if locks {
			<-c.queue
		}
		return nil, err
	}
	c.inTx = true
	return &tx{inner: inner, conn: c, locked: locks}, nil
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if c.queue != nil && !c.inTx {
		if err := c.lock(ctx); err != nil {
			return nil, err
		}
		defer func() { <-c.queue }()
	}
	defer c.exec.end(c.exec.begin(ctx))
	quiet := context.WithoutCancel(ctx) // the library would start a goroutine to watch it
	if strings.Contains(query, ";") {
		// the first of several may be done already
		result, err := c.library.ExecContext(quiet, query, args)
		return result, because(ctx, err)
	}
	var result sqldriver.Result
	err := patiently(ctx, func() (err error) {
		result, err = c.library.ExecContext(quiet, query, args)
		return err
	})
	return result, err
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	w := newWatcher(c.handle)
	stop := w.begin(ctx)
	var inner sqldriver.Rows
	err := patiently(ctx, func() (err error) {
		inner, err = c.library.QueryContext(context.WithoutCancel(ctx), query, args)
		return err
	})
	if err != nil {
		w.end(stop)
		return nil, err
	}
	return &rows{libraryRows: inner.(libraryRows), ctx: ctx, watcher: w, stop: stop}, nil //nolint:forcetypeassert // the library's type
}

// Ping implements driver.Pinger. The first statement of a connection reads the schema,
// for which it may have to wait.
func (c *conn) Ping(ctx context.Context) error {
	return patiently(ctx, func() error { return c.library.Ping(ctx) })
}

// PrepareContext implements driver.ConnPrepareContext. The library's statement is no more
// than its text either.
func (c *conn) PrepareContext(_ context.Context, query string) (sqldriver.Stmt, error) {
	return &stmt{conn: c, query: query}, nil
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *conn) CheckNamedValue(v *sqldriver.NamedValue) (err error) {
	v.Value, err = sqldriver.DefaultParameterConverter.ConvertValue(v.Value)
	if t, ok := v.Value.(time.Time); ok {
		v.Value = c.timeText(t)
	}
	return err
}

// timeText returns a time as it is stored. The rows of an insert have the same times, so
// the latest text is kept.
func (c *conn) timeText(t time.Time) sqldriver.Value {
	t = t.UTC().Truncate(time.Microsecond)
	if c.latestText == nil || !t.Equal(c.latest) {
		c.latest, c.latestText = t, t.Format(timeLayout)
	}
	return c.latestText
}

// tx is a transaction that gives the writer's token back.
type tx struct {
	inner  sqldriver.Tx
	conn   *conn
	locked bool
}

// Commit implements driver.Tx. Where SQLite is too busy to commit, the transaction would
// stay open.
func (t *tx) Commit() error {
	err := patiently(context.Background(), t.inner.Commit) // database/sql has no context for it
	if err != nil {
		_ = t.inner.Rollback() // an error means that it is over already
	}
	t.end()
	return err
}

// Rollback implements driver.Tx. SQLite ends a transaction by itself after some errors,
// such as an interrupt in a write (sqlite.org/lang_transaction.html, section 3), and
// there is nothing left to roll back.
func (t *tx) Rollback() error {
	defer t.end()
	err := t.inner.Rollback()
	if err != nil && strings.Contains(err.Error(), "no transaction is active") {
		return nil
	}
	return err
}

func (t *tx) end() {
	t.conn.inTx = false
	if t.locked {
		t.locked = false
		<-t.conn.queue
	}
}

// libraryRows is what the rows of the library can do; gorm's migrator asks for the types
// of columns.
type libraryRows interface {
	sqldriver.RowsColumnTypeDatabaseTypeName
	sqldriver.RowsColumnTypeLength
	sqldriver.RowsColumnTypeNullable
	sqldriver.RowsColumnTypePrecisionScale
	sqldriver.RowsColumnTypeScanType
}

// rows are rows whose statement is watched until they are closed.
type rows struct {
	libraryRows

	ctx     context.Context // that of the query, as in database/sql
	watcher *watcher
	stop    func() bool
}

// Next implements driver.Rows.
func (r *rows) Next(dest []sqldriver.Value) error {
	err := r.libraryRows.Next(dest)
	if busy(err) {
		err = patiently(r.ctx, func() error { return r.libraryRows.Next(dest) })
	}
	return because(r.ctx, err)
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	r.watcher.end(r.stop)
	r.stop = nil
	return r.libraryRows.Close()
}

// stmt is a prepared statement.
type stmt struct {
	conn  *conn
	query string
}

// Close implements driver.Stmt.
func (s *stmt) Close() error { return nil }

// NumInput implements driver.Stmt: SQLite itself counts the parameters.
func (s *stmt) NumInput() int { return -1 }

// Exec implements driver.Stmt. database/sql uses ExecContext.
func (s *stmt) Exec([]sqldriver.Value) (sqldriver.Result, error) { return nil, sqldriver.ErrSkip }

// Query implements driver.Stmt. database/sql uses QueryContext.
func (s *stmt) Query([]sqldriver.Value) (sqldriver.Rows, error) { return nil, sqldriver.ErrSkip }

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	return s.conn.QueryContext(ctx, s.query, args)
}

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
	// lockTimeout limits how long a statement waits for a lock.
	lockTimeout = 5 * time.Second
	// maxPause limits the pause between two attempts to acquire a lock.
	maxPause = 20 * time.Millisecond
	// interruptPause is the time between two interrupts of a canceled statement.
	interruptPause = 5 * time.Millisecond

	// timeLayout is the library's layout of a stored time.
	timeLayout = "2006-01-02 15:04:05.999999999-07:00"
)

var errLockTimeout = driver.Translate(driver.LockTimeout,
	errors.New("sqlite: acquire the write lock: timeout after 5 s"),
	"another transaction held the lock for more than "+lockTimeout.String())

// library contains the methods of the library's connections.
type library interface {
	sqldriver.Conn
	sqldriver.ConnBeginTx
	sqldriver.ExecerContext
	sqldriver.QueryerContext
	sqldriver.Pinger
}

// handleOf returns the sqlite3* of a connection, or 0 if the library renamed its field.
//
// The library interrupts a statement only until the statement returns its first row, and
// exports no way to interrupt it later. Without the handle, a slow query ignores its
// context, and the dbtest checks of cancellation and deadlines do not return.
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
	exec   *watcher // used by ExecContext, which does not run concurrently
	inTx   bool

	latest     time.Time // the argument of the last timeText call
	latestText sqldriver.Value
}

// watcher interrupts a connection when a context is canceled. It watches one context at a
// time.
type watcher struct {
	interrupt func()        // nil if handleOf returned 0
	done      chan struct{} // stop receives from it to end keepInterrupting
}

func newWatcher(handle uintptr) *watcher {
	w := &watcher{done: make(chan struct{})}
	if handle != 0 {
		w.interrupt = func() { w.keepInterrupting(handle) }
	}
	return w
}

// keepInterrupting repeats the interrupt, because SQLite discards an interrupt if no
// statement is running. The canceled statement may be about to start.
func (w *watcher) keepInterrupting(handle uintptr) {
	ticker := time.NewTicker(interruptPause)
	defer ticker.Stop()
	for {
		lib.Xsqlite3_interrupt(nil, handle)
		select {
		case w.done <- struct{}{}:
			return
		case <-ticker.C:
		}
	}
}

// start watches ctx. The caller must pass the result to stop.
func (w *watcher) start(ctx context.Context) (stop func() bool) {
	if ctx.Done() == nil || w.interrupt == nil {
		return nil
	}
	return context.AfterFunc(ctx, w.interrupt)
}

func (w *watcher) stop(stop func() bool) {
	if stop != nil && !stop() {
		<-w.done // the handle must not be used after the connection is closed
	}
}

// retryBusy calls do until the database is not busy, lockTimeout expires or ctx is
// canceled.
func retryBusy(ctx context.Context, do func() error) error {
	start := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		err := do()
		if !isBusy(err) || time.Since(start) >= lockTimeout {
			return contextError(ctx, err)
		}
		if err := xretry.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// isBusy reports whether another connection holds a lock that it will release.
func isBusy(err error) bool {
	if err == nil {
		return false // errors.As would allocate for each statement
	}
	var e *gosqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_BUSY &&
		e.Code() != lib.SQLITE_BUSY_SNAPSHOT
}

// contextError returns ctx.Err() if SQLite was interrupted because ctx is canceled, and
// err otherwise.
func contextError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	var e *gosqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_INTERRUPT {
		return ctx.Err()
	}
	return err
}

// lock acquires the writer token of the pool. SQLite itself makes writers of other
// processes wait.
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
		return errLockTimeout
	}
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, opts sqldriver.TxOptions) (sqldriver.Tx, error) {
	ctx = outerContext(ctx)
	locks := c.queue != nil && !opts.ReadOnly
	if locks {
		if err := c.lock(ctx); err != nil {
			return nil, err
		}
	}
	var inner sqldriver.Tx
	err := retryBusy(ctx, func() (err error) {
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
	defer c.exec.stop(c.exec.start(ctx))
	detached := context.WithoutCancel(ctx) // otherwise the library starts a goroutine to watch ctx
	if strings.Contains(query, ";") {
		// no retry: the first statements may have run already
		result, err := c.library.ExecContext(detached, query, args)
		return result, contextError(ctx, err)
	}
	var result sqldriver.Result
	err := retryBusy(ctx, func() (err error) {
		result, err = c.library.ExecContext(detached, query, args)
		return err
	})
	return result, err
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	w := newWatcher(c.handle)
	stop := w.start(ctx)
	var inner sqldriver.Rows
	err := retryBusy(ctx, func() (err error) {
		inner, err = c.library.QueryContext(context.WithoutCancel(ctx), query, args)
		return err
	})
	if err != nil {
		w.stop(stop)
		return nil, err
	}
	libRows := inner.(libraryRows) //nolint:forcetypeassert // the library's type
	return &rows{libraryRows: libRows, ctx: ctx, watcher: w, stop: stop}, nil
}

// Ping implements driver.Pinger. The first statement of a connection reads the schema and
// may wait for a lock.
func (c *conn) Ping(ctx context.Context) error {
	return retryBusy(ctx, func() error { return c.library.Ping(ctx) })
}

// PrepareContext implements driver.ConnPrepareContext. It only stores the query, as the
// library does.
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

// timeText returns a time as it is stored. It caches the last text, because the rows of
// an insert share their times.
func (c *conn) timeText(t time.Time) sqldriver.Value {
	t = t.UTC().Truncate(time.Microsecond)
	if c.latestText == nil || !t.Equal(c.latest) {
		c.latest, c.latestText = t, t.Format(timeLayout)
	}
	return c.latestText
}

// tx is a transaction that releases the writer token.
type tx struct {
	inner  sqldriver.Tx
	conn   *conn
	locked bool
}

// Commit implements driver.Tx. It rolls back if the commit fails; otherwise a busy
// database would leave the transaction open.
func (t *tx) Commit() error {
	err := retryBusy(context.Background(), t.inner.Commit) // database/sql passes no context
	if err != nil {
		_ = t.inner.Rollback() // an error means that the transaction has already ended
	}
	t.end()
	return err
}

// Rollback implements driver.Tx. SQLite rolls back a transaction automatically after some
// errors, such as an interrupted write (sqlite.org/lang_transaction.html, section 3).
// Rollback then returns nil.
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

// libraryRows contains the methods of the library's rows. gorm's migrator needs the
// column types.
type libraryRows interface {
	sqldriver.RowsColumnTypeDatabaseTypeName
	sqldriver.RowsColumnTypeLength
	sqldriver.RowsColumnTypeNullable
	sqldriver.RowsColumnTypePrecisionScale
	sqldriver.RowsColumnTypeScanType
}

// rows watches the context of its query until it is closed.
type rows struct {
	libraryRows

	ctx     context.Context // context of the query, as in database/sql
	watcher *watcher
	stop    func() bool
}

// Next implements driver.Rows.
func (r *rows) Next(dest []sqldriver.Value) error {
	err := r.libraryRows.Next(dest)
	if isBusy(err) {
		err = retryBusy(r.ctx, func() error { return r.libraryRows.Next(dest) })
	}
	return contextError(r.ctx, err)
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	r.watcher.stop(r.stop)
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

// NumInput implements driver.Stmt. It returns -1 because SQLite counts the parameters.
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

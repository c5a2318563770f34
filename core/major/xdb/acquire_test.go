package xdb_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	shortWait = 50 * time.Millisecond // timeout of waits that fail
	longWait  = time.Second           // timeout of waits that succeed within milliseconds
)

// operations are the operations that acquire a connection of the pool.
var operations = map[string]func(db *gorm.DB) error{
	"Exec": func(db *gorm.DB) error { return db.Exec("UPDATE x").Error },
	"Scan": func(db *gorm.DB) error {
		var n []int
		return db.Raw("SELECT 1").Scan(&n).Error
	},
	"Rows": func(db *gorm.DB) error {
		rows, err := db.Raw("SELECT 1").Rows()
		if err != nil {
			return err
		}
		return errors.Join(rows.Err(), rows.Close())
	},
	"Row": func(db *gorm.DB) error {
		row := db.Raw("SELECT 1").Row()
		if err := row.Err(); err != nil {
			return err
		}
		var n int
		if err := row.Scan(&n); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return nil
	},
	"Transaction": func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error { return tx.Exec("UPDATE x").Error })
	},
}

func openPool(t *testing.T, f *fakeDriver, timeout time.Duration) *gorm.DB {
	t.Helper()
	db, err := registryOf(f).Open(t.Context(),
		xdb.Options{Driver: "fake", MaxOpenConns: 2, AcquireTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
	})
	return db
}

// acquireAll acquires all connections of the pool until release is called.
func acquireAll(t *testing.T, db *gorm.DB) (release func()) {
	t.Helper()
	var txs []*gorm.DB
	for range 2 {
		tx := db.Begin()
		if tx.Error != nil {
			t.Fatal(tx.Error)
		}
		txs = append(txs, tx)
	}
	return func() {
		for _, tx := range txs {
			if err := tx.Rollback().Error; err != nil {
				t.Error(err)
			}
		}
	}
}

// wantIdle fails the test unless all connections return to the pool.
func wantIdle(t *testing.T, db *gorm.DB) {
	t.Helper()
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * longWait); pool.Stats().InUse > 0; {
		if time.Now().After(end) {
			t.Fatalf("connections in use = %d, want 0", pool.Stats().InUse)
		}
		<-time.After(time.Millisecond)
	}
}

func TestOpen_AcquireTimeout(t *testing.T) {
	t.Parallel()
	for name, operate := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("limits the wait for a connection", func(t *testing.T) {
				t.Parallel()
				db := openPool(t, &fakeDriver{}, shortWait)
				release := acquireAll(t, db)
				start := time.Now()
				err := operate(db)
				if code := xerror.From(err).GetErrorCode(); code != xerror.ServiceOverload ||
					time.Since(start) < shortWait {
					t.Errorf("error = %v (%v) after %s, want %v after %s",
						err, code, time.Since(start), xerror.ServiceOverload, shortWait)
				}
				if err != nil && !strings.Contains(err.Error(), "DATABASE_ACQUIRE_TIMEOUT") {
					t.Errorf("error = %v, want the name of the variable", err)
				}
				release()
				if err := operate(db); err != nil {
					t.Errorf("error with a free connection = %v", err)
				}
				wantIdle(t, db)
			})
			t.Run("does not limit the statement", func(t *testing.T) {
				t.Parallel()
				var slow atomic.Bool
				db := openPool(t, &fakeDriver{query: func(ctx context.Context, _ string) error {
					if !slow.Load() {
						return nil
					}
					select {
					case <-time.After(longWait + longWait/4):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}}, longWait)
				release := acquireAll(t, db)
				slow.Store(true)
				time.AfterFunc(shortWait, release)
				if err := operate(db); err != nil {
					t.Errorf("error = %v", err)
				}
				wantIdle(t, db)
			})
			t.Run("returns the error of the context if it ends first", func(t *testing.T) {
				t.Parallel()
				db := openPool(t, &fakeDriver{}, time.Minute)
				defer acquireAll(t, db)()
				ctx, cancel := context.WithTimeout(t.Context(), shortWait)
				defer cancel()
				if err := operate(db.WithContext(ctx)); !errors.Is(err, context.DeadlineExceeded) ||
					errors.As(err, new(*xerror.Error)) {
					t.Errorf("error = %v, want the error of the context", err)
				}
			})
			t.Run("retries a lost connection", func(t *testing.T) {
				t.Parallel()
				if name == "Transaction" {
					t.Skip("statements in a transaction are not retried")
				}
				var lost atomic.Bool
				db := openPool(t, &fakeDriver{query: func(context.Context, string) error {
					if lost.CompareAndSwap(true, false) {
						return sqldriver.ErrBadConn
					}
					return nil
				}}, longWait)
				release := acquireAll(t, db)
				time.AfterFunc(shortWait, func() { lost.Store(true); release() })
				if err := operate(db); err != nil || lost.Load() {
					t.Errorf("error = %v", err)
				}
				wantIdle(t, db)
			})
			t.Run("is disabled if negative", func(t *testing.T) {
				t.Parallel()
				db := openPool(t, &fakeDriver{}, -1)
				time.AfterFunc(4*shortWait, acquireAll(t, db))
				if err := operate(db); err != nil {
					t.Errorf("error = %v", err)
				}
			})
		})
	}
}

var (
	errStale    = errors.New("statement prepared for an old schema")
	errDeadlock = errors.New("statement aborted by the database")
)

// retrier is a pool for which errStale means that the statement has not started.
type retrier struct{ *sql.DB }

func (r retrier) GetDBConn() (*sql.DB, error) { return r.DB, nil }

func (retrier) NotStarted(err error) bool { return errors.Is(err, errStale) }

func TestOpen_AcquireTimeout_Retry(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want int32
	}{
		{name: "retries a statement that has not started", err: errStale, want: 2},
		{name: "does not repeat an aborted statement", err: errDeadlock, want: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var calls atomic.Int32
			db, err := registryOf(&fakeDriver{
				pool: func(pool *sql.DB) gorm.ConnPool { return retrier{pool} },
				kind: func(error) driver.ErrorKind { return driver.Deadlock },
				query: func(context.Context, string) error {
					if calls.Add(1) == 1 {
						return tc.err
					}
					return nil
				},
			}).Open(t.Context(),
				xdb.Options{Driver: "fake", MaxOpenConns: 1, AcquireTimeout: longWait})
			if err != nil {
				t.Fatal(err)
			}
			tx := db.Begin()
			time.AfterFunc(shortWait, func() { _ = tx.Rollback() })
			err = operations["Exec"](db)
			if (err == nil) != (tc.want == 2) || calls.Load() != tc.want {
				t.Errorf("error = %v after %d calls, want %d calls", err, calls.Load(), tc.want)
			}
			wantIdle(t, db)
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpen_AcquireTimeout_PreparedStatements(t *testing.T) {
	db, err := registryOf(&fakeDriver{}).Open(t.Context(), xdb.Options{
		Driver: "fake", MaxOpenConns: 2, AcquireTimeout: shortWait,
		Gorm: func(c *gorm.Config) { c.PrepareStmt = true },
	})
	if err != nil {
		t.Fatal(err)
	}
	release := acquireAll(t, db)
	err = operations["Transaction"](db)
	if code := xerror.From(err).GetErrorCode(); code != xerror.ServiceOverload {
		t.Errorf("error = %v, want %v", err, xerror.ServiceOverload)
	}
	release()
	if err := operations["Exec"](db); err != nil {
		t.Error(err)
	}
	if err := xdb.Close(db); err != nil {
		t.Error(err)
	}
}

// twoRows are two rows with one column.
type twoRows struct {
	noRows
	read *int
}

func (r twoRows) Next(dest []sqldriver.Value) error {
	if *r.read == 2 {
		return io.EOF
	}
	*r.read++
	dest[0] = int64(*r.read)
	return nil
}

func TestOpen_AcquireTimeout_Rows(t *testing.T) {
	db := openPool(t, &fakeDriver{rows: func() sqldriver.Rows { return twoRows{read: new(int)} }},
		longWait)
	time.AfterFunc(shortWait, acquireAll(t, db))
	rows, err := db.Raw("SELECT 1").Rows()
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(longWait + shortWait)
	n := 0
	for rows.Next() {
		n++
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != 2 { //nolint:sqlclosecheck // closed before wantIdle
		t.Errorf("%d rows, %v, want 2", n, err)
	}
	wantIdle(t, db)
}

package sqlite_test

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

type row struct {
	ID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Name string
}

// open opens a database with a table of rows.
func open(tb testing.TB, o xdb.Options) *gorm.DB {
	tb.Helper()
	o.Driver, o.AutoMigrate = sqlite.Name, []any{&row{}}
	db, err := xdb.Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := xdb.Close(db); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// file returns the options of a new database file.
func file(tb testing.TB) xdb.Options {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.db")
	return xdb.Options{Parts: driver.Config{Source: xenv.Map{"DATABASE_PATH": path}}}
}

func TestOpen_Pragmas(t *testing.T) {
	pool, err := open(t, file(t)).DB()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }() // all three are open at the same time
		for _, tc := range []struct{ pragma, want string }{
			{"foreign_keys", "1"},
			{"journal_mode", "wal"},
			{"synchronous", "1"},
			{"busy_timeout", "5000"},
		} {
			var got string
			if err := c.QueryRowContext(t.Context(), "PRAGMA "+tc.pragma).Scan(&got); err != nil ||
				got != tc.want {
				t.Errorf("%s = %q, %v; want %q", tc.pragma, got, err, tc.want)
			}
		}
	}
}

func TestOpen_DSN(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole.db")
	for i, tc := range []struct {
		name        string
		dsn         string
		description string
	}{
		{name: "path", dsn: path, description: path},
		{name: "uri", dsn: "file:" + path + "?_pragma=foreign_keys(1)", description: path},
		{name: "memory", dsn: ":memory:", description: ":memory:"},
		{name: "memory by uri", dsn: "file::memory:?_txlock=immediate", description: ":memory:"},
		{
			name: "memory by mode", dsn: "file:any?mode=memory&_pragma=foreign_keys(1)",
			description: "any",
		},
		{
			name: "shared by the application", dsn: "file:shared?mode=memory&cache=shared",
			description: "shared",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := xdb.Options{Driver: sqlite.Name, DSN: xlog.Secret(tc.dsn), MaxIdleConns: 4}
			db := open(t, o)
			var wg sync.WaitGroup
			for j := range 4 {
				wg.Go(func() {
					if err := db.Create(&row{ID: int64(10*i + j)}).Error; err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			d, err := xdb.Resolve(o)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := d.String(), "sqlite "+tc.description; got != want {
				t.Errorf("String = %q, want %q", got, want)
			}
		})
	}
}

func TestOpen_Locks(t *testing.T) {
	t.Run("do not block readers of a file", func(t *testing.T) {
		db := open(t, file(t))
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&row{ID: 1}).Error; err != nil {
				return err
			}
			var n int64
			if err := db.Model(&row{}).Count(&n).Error; err != nil {
				return err
			}
			if n != 0 {
				t.Errorf("rows outside of the transaction = %d, want 0", n)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})

	t.Run("do not block read-only transactions", func(t *testing.T) {
		db := open(t, file(t))
		holder := db.Begin()
		defer holder.Rollback()
		err := db.Transaction(func(tx *gorm.DB) error {
			var n int64
			return tx.Model(&row{}).Count(&n).Error
		}, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestOpen_LockTimeout(t *testing.T) {
	for _, tc := range []struct {
		name  string
		write func(db *gorm.DB) error
	}{
		{name: "transaction", write: func(db *gorm.DB) error {
			return db.Create(&row{ID: 2}).Error
		}},
		{name: "statement", write: func(db *gorm.DB) error {
			return db.Exec("DELETE FROM rows").Error
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := file(t)
			synctest.Test(t, func(t *testing.T) {
				db := open(t, o)
				holder := db.Begin()
				defer holder.Rollback()
				start := time.Now()
				err := tc.write(db)
				if code := xerror.From(err).GetErrorCode(); code != xerror.LockConflict {
					t.Errorf("error = %v with code %v, want LockConflict", err, code)
				}
				if elapsed := time.Since(start); elapsed != 5*time.Second {
					t.Errorf("the write failed after %s, want 5 s", elapsed)
				}
			})
		})
	}
}

func TestConn_PrepareContext(t *testing.T) {
	o := file(t)
	o.Gorm = func(c *gorm.Config) { c.PrepareStmt = true }
	db := open(t, o)
	at := time.Now().In(time.FixedZone("east", 3600))
	for i := range 3 {
		if err := db.Create(&row{ID: int64(i), Name: at.String()}).Error; err != nil {
			t.Fatal(err)
		}
	}
	var got []row
	if err := db.Where("id > ?", 0).Find(&got).Error; err != nil || len(got) != 2 {
		t.Errorf("rows = %v, %v; want two", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var n int64
	err := db.WithContext(ctx).Raw(slow).Scan(&n).Error
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want DeadlineExceeded", err)
	}
}

// SQLite discards an interrupt that precedes the statement. A statement that starts at
// that moment must still be interrupted.
func TestConn_Cancellation(t *testing.T) {
	pool, err := open(t, file(t)).DB()
	if err != nil {
		t.Fatal(err)
	}
	c, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = c.Raw(func(raw any) error {
		_, execErr := raw.(sqldriver.ExecerContext).ExecContext(ctx, slow, nil)
		rows, queryErr := raw.(sqldriver.QueryerContext).QueryContext(ctx, slow, nil)
		if queryErr == nil {
			queryErr = errors.Join(rows.Next(make([]sqldriver.Value, 1)), rows.Close())
		}
		for _, err := range []error{execErr, queryErr} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v, want the context error", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// SQLite rolls back a transaction automatically after some errors, such as an interrupted
// write. Rollback must not hide them.
func TestTx_Rollback(t *testing.T) {
	db := open(t, file(t))
	if err := db.Exec("CREATE TABLE once (id INTEGER PRIMARY KEY)").Error; err != nil {
		t.Fatal(err)
	}
	tx := db.Begin()
	first := tx.Exec("INSERT INTO once VALUES (1)").Error
	second := tx.Session(&gorm.Session{}).Exec("INSERT OR ROLLBACK INTO once VALUES (1)").Error
	if first != nil || second == nil {
		t.Fatalf("inserts = %v, %v; want an error of the second", first, second)
	}
	pool, ok := tx.Statement.ConnPool.(gorm.TxCommitter)
	if !ok {
		t.Fatalf("connection = %T", tx.Statement.ConnPool)
	}
	if err := pool.Rollback(); err != nil {
		t.Errorf("Rollback = %v, want nil", err)
	}
	if err := db.Exec("INSERT INTO once VALUES (1)").Error; err != nil {
		t.Errorf("the next write = %v, want nil", err)
	}
}

func TestClose(t *testing.T) {
	for _, path := range []string{":memory:", filepath.Join(t.TempDir(), "test.db")} {
		before := goleak.IgnoreCurrent()
		db, err := xdb.Open(t.Context(), xdb.Options{
			Driver: sqlite.Name,
			Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": path}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := db.WithContext(ctx).Exec("CREATE TABLE x (y)").Error; err != nil {
			t.Error(err)
		}
		cancel()
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, before)
	}
}

func TestDialector_Translate(t *testing.T) {
	err := open(t, file(t)).Exec("INSERT 'secret'").Error
	var e *driver.Error
	if !errors.As(err, &e) || e.Kind() != driver.Syntax {
		t.Fatalf("error = %v, want kind Syntax", err)
	}
	if got := err.Error(); got != "invalid statement: syntax error at a literal" {
		t.Errorf("error = %q, want it without the literal", got)
	}
}

func TestDialector_BatchSize(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*gorm.Config)
		want   int
	}{
		{name: "default", want: 100},
		{
			name:   "set by the application",
			change: func(c *gorm.Config) { c.CreateBatchSize = 7 },
			want:   7,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db, err := xdb.Open(t.Context(),
				xdb.Options{Driver: sqlite.Name, DSN: ":memory:", Gorm: tc.change})
			if err != nil {
				t.Fatal(err)
			}
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
			if got := db.CreateBatchSize; got != tc.want {
				t.Errorf("CreateBatchSize = %d, want %d", got, tc.want)
			}
		})
	}
}

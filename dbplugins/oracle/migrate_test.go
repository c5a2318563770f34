package oracle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sijms/go-ora/v2/network"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/oracle"
)

func TestDriver_Migrate(t *testing.T) {
	t.Run("creates the lock and waits for it", func(t *testing.T) {
		d := &double{}
		db := openDouble(t, d, nil)
		d.script = []response{
			{pattern: "FROM plinth_migration_lock", err: &network.OracleError{ErrCode: 942}},
			{pattern: "^CREATE TABLE plinth", err: &network.OracleError{ErrCode: 1031}},
		}
		err := oracle.Driver{}.Migrate(db.Statement.Context, db, func(*gorm.DB) error {
			t.Error("Migrate called run without the lock")
			return nil
		})
		if kindOfError(err) != driver.Authentication || !slices.Contains(d.statements(),
			"CREATE TABLE plinth_migration_lock (id NUMBER(1) PRIMARY KEY)") {
			t.Errorf("Migrate = %v, want the error of CREATE TABLE", err)
		}
		d.script = []response{
			// the table exists, but its row is missing
			{pattern: "FROM plinth_migration_lock", columns: []string{"ID"}},
			{pattern: "^INSERT INTO plinth", err: &network.OracleError{ErrCode: 1031}},
		}
		err = oracle.Driver{}.Migrate(db.Statement.Context, db, nil)
		if kindOfError(err) != driver.Authentication {
			t.Errorf("Migrate = %v, want the error of INSERT", err)
		}
		d.statements()
		d.script = []response{{
			pattern: "FROM plinth_migration_lock",
			err:     &network.OracleError{ErrCode: 54},
		}}
		ctx, cancel := context.WithTimeout(db.Statement.Context, 300*time.Millisecond)
		defer cancel()
		if err := (oracle.Driver{}).Migrate(ctx, db,
			func(*gorm.DB) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Migrate = %v, want the context's error", err)
		}
		if requests := slices.DeleteFunc(d.statements(),
			func(s string) bool { return !strings.HasPrefix(s, "SELECT id") }); len(requests) < 2 {
			t.Errorf("lock requests = %d, want a retry", len(requests))
		}
	})

	// A pool of one connection is sufficient, because the lock uses a connection outside
	// of the pool. The connection of the migration is closed.
	t.Run("works with a pool of one connection", func(t *testing.T) {
		d := &double{}
		db := openDouble(t, d, func(o *xdb.Options) { o.MaxOpenConns = 1 })
		boom := errors.New("boom")
		ctx, cancel := context.WithTimeout(db.Statement.Context, 5*time.Second)
		defer cancel()
		err := oracle.Driver{}.Migrate(ctx, db, func(tx *gorm.DB) error {
			return errors.Join(boom, tx.Exec("CREATE TABLE x (id NUMBER)").Error)
		})
		if !errors.Is(err, boom) {
			t.Errorf("Migrate = %v, want the error of run", err)
		}
		want := []string{"<begin>", lockQuery, "CREATE TABLE x (id NUMBER)", "<rollback>"}
		if got := d.statements(); !slices.Equal(got, want) {
			t.Errorf("statements = %q, want %q", got, want)
		}
		if d.opened-d.closed != 0 {
			t.Errorf("open connections = %d, want 0", d.opened-d.closed)
		}
	})

	// The session of the lock is idle during a migration, so a firewall or an IDLE_TIME
	// may close it.
	t.Run("fails if the lock was lost", func(t *testing.T) {
		d := &double{}
		db := openDouble(t, d, nil)
		err := oracle.Driver{}.Migrate(db.Statement.Context, db, func(*gorm.DB) error {
			d.script = []response{{
				pattern: "FROM plinth_migration_lock",
				err:     &network.OracleError{ErrCode: 2396},
			}}
			return nil
		})
		if kindOfError(err) != driver.Connection ||
			!strings.Contains(err.Error(), "lock was lost") {
			t.Errorf("Migrate = %v, want an error that the lock was lost", err)
		}
	})

	t.Run("ignores a cancellation after run returned", func(t *testing.T) {
		d := &double{}
		db := openDouble(t, d, nil)
		ctx, cancel := context.WithCancel(db.Statement.Context)
		err := oracle.Driver{}.Migrate(ctx, db, func(*gorm.DB) error {
			d.closeErr = errors.New("cannot close the session")
			d.statements()
			cancel()
			return nil
		})
		d.closeErr = nil
		want := []string{lockQuery, "<rollback>"}
		if got := d.statements(); err != nil || !slices.Equal(got, want) {
			t.Errorf("Migrate = %v with %q, want nil and a check of the lock", err, got)
		}
	})
}

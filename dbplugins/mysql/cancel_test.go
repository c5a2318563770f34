package mysql_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/mysql"
)

const shortTimeout = 150 * time.Millisecond

// stock is a row that two transactions update.
type stock struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	Amount int
}

// eventually waits up to a second for a condition.
func eventually(tb testing.TB, condition string, isMet func() bool) {
	tb.Helper()
	deadline := time.After(time.Second)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !isMet() {
		select {
		case <-ticker.C:
		case <-deadline:
			tb.Fatalf("%s: not within a second", condition)
		}
	}
}

// running counts the connections that run a statement matching pattern.
func running(tb testing.TB, db *sql.DB, pattern string) (n int) {
	tb.Helper()
	const query = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE ?"
	if err := db.QueryRowContext(tb.Context(), query, pattern).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// encryptions returns configurations without and with TLS.
func encryptions(tb testing.TB) map[string]driver.Config {
	tb.Helper()
	c := serverConfig(tb)
	encrypted := c
	encrypted.TLS = driver.TLSRequire
	return map[string]driver.Config{"plain": c, "TLS": encrypted}
}

func TestConn_Cancellation(t *testing.T) {
	t.Run("stops the statement on the server", func(t *testing.T) {
		observer := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
		for name, c := range encryptions(t) {
			t.Run(name, func(t *testing.T) {
				db := open(t, logContext(t, io.Discard), xdb.Options{Parts: c})
				pool, err := db.DB()
				if err != nil {
					t.Fatal(err)
				}
				for i, run := range []func(ctx context.Context, query string) error{
					func(ctx context.Context, query string) error {
						var n int
						return pool.QueryRowContext(ctx, query).Scan(&n)
					},
					func(ctx context.Context, query string) error {
						_, err := pool.ExecContext(ctx, query)
						return err
					},
					func(ctx context.Context, query string) error {
						stmt, err := pool.PrepareContext(ctx, query)
						if err != nil {
							return err
						}
						defer func() { _ = stmt.Close() }()
						_, err = stmt.ExecContext(ctx)
						return err
					},
				} {
					ctx, cancel := context.WithTimeout(t.Context(), shortTimeout)
					start := time.Now()
					err := run(ctx, fmt.Sprintf("SELECT SLEEP(30) /* canceled %s %d */", name, i))
					cancel()
					if !errors.Is(err, context.DeadlineExceeded) ||
						time.Since(start) > shortTimeout+15*time.Second {
						t.Errorf(
							"run %d = %v after %s, want context.DeadlineExceeded without delay",
							i, err, time.Since(start))
					}
					eventually(t, "the statement stopped",
						func() bool { return running(t, observer, "SELECT SLEEP%canceled%") == 0 })
				}
			})
		}
	})

	t.Run("stops a statement that returns rows", func(t *testing.T) {
		observer := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
		db := open(t, logContext(t, io.Discard), xdb.Options{Parts: serverConfig(t)})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		// The first row is large enough to be sent before the second row exists.
		const query = "SELECT REPEAT('x', 100000), SLEEP(n) /* one by one */ FROM (SELECT 0 AS n UNION ALL SELECT 30) AS s"
		rows, err := db.WithContext(ctx).Raw(query).Rows()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		if n := running(t, observer, "SELECT REPEAT%one by one%"); n != 1 {
			t.Fatalf("running statements = %d, want 1", n)
		}
		cancel()
		eventually(t, "the statement stopped",
			func() bool { return running(t, observer, "SELECT REPEAT%one by one%") == 0 })
	})

	t.Run("discards an update that waits for a lock", func(t *testing.T) {
		for name, c := range encryptions(t) {
			t.Run(name, func(t *testing.T) {
				// gorm's transaction would roll the update back.
				db := open(t, logContext(t, io.Discard), xdb.Options{
					Parts: c, AutoMigrate: []any{&stock{}}, SkipDefaultTransaction: true,
				})
				for id := int64(1); id <= 20; id++ {
					if err := cancelUpdate(t, db, id); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})

	t.Run("works through a Unix socket", func(t *testing.T) {
		c := serverConfig(t)
		server := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
		if err := server.QueryRowContext(t.Context(), "SELECT @@socket").Scan(&c.Host); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.Host); err != nil {
			t.Skip("the server's socket is not on this machine: " + err.Error())
		}
		c.User, c.Pass = "plinth "+rand.Text()[:8], "p"
		grantee := quoted(c.User) + "@'localhost'"
		execAll(t, server, "CREATE USER "+grantee+" IDENTIFIED BY 'p'",
			"GRANT ALL ON *.* TO "+grantee)
		t.Cleanup(func() { execAll(t, server, "DROP USER "+grantee) })
		db := open(t, logContext(t, io.Discard),
			xdb.Options{Parts: c, AutoMigrate: []any{&stock{}}, SkipDefaultTransaction: true})
		if err := cancelUpdate(t, db, 1); err != nil {
			t.Error(err)
		}
	})

	t.Run("does not close the connection after the statement", func(t *testing.T) {
		db := open(t, logContext(t, io.Discard),
			xdb.Options{Parts: serverConfig(t), MaxOpenConns: 1})
		id := func(ctx context.Context) (n int64) {
			if err := db.WithContext(ctx).Raw("SELECT CONNECTION_ID()").Scan(&n).Error; err != nil {
				t.Fatal(err)
			}
			return n
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := id(ctx)
		cancel()
		if second := id(t.Context()); second != first {
			t.Errorf("connection IDs = %d and %d, want the same", first, second)
		}
	})
}

// cancelUpdate cancels an update that waits for a row lock, then releases the lock. It
// returns an error if the canceled update is applied.
func cancelUpdate(tb testing.TB, db *gorm.DB, id int64) error {
	tb.Helper()
	if err := db.Create(&stock{ID: id, Amount: 1}).Error; err != nil {
		return err
	}
	holder := db.Begin()
	defer holder.Rollback()
	if err := holder.Model(&stock{ID: id}).Update("amount", 2).Error; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Millisecond)
	defer cancel()
	err := db.WithContext(ctx).Model(&stock{ID: id}).Update("amount", 3).Error
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waiting update = %w, want context.DeadlineExceeded", err)
	}
	if err := holder.Commit().Error; err != nil {
		return err
	}
	var got stock
	if err := db.Where("id = ?", id).Take(&got).Error; err != nil {
		return err
	}
	if got.Amount != 2 {
		return fmt.Errorf("amount = %d, want 2: the canceled update took effect", got.Amount)
	}
	return nil
}

func TestConn_Read(t *testing.T) {
	t.Run("fails when the server stops", func(t *testing.T) {
		outage := dbtest.CutOff(t, serverConfig(t))
		db := open(t, logContext(t, io.Discard), xdb.Options{Parts: outage.Config})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		failed := make(chan error, 1)
		go func() { failed <- db.WithContext(ctx).Exec("SELECT SLEEP(30)").Error }()
		pool := admin(t, dbtest.FindServer(t, mysql.Name).DSN)
		eventually(t, "the statement is running",
			func() bool { return running(t, pool, "SELECT SLEEP(30)") > 0 })
		if err := outage.Stop(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-failed:
			if got := driver.KindOf(err); got != driver.Connection {
				t.Errorf("error = %v of kind %v, want kind %v", err, got, driver.Connection)
			}
		case <-time.After(time.Second):
			t.Error("the statement is still waiting after a second")
		}
		if err := outage.Start(); err != nil {
			t.Fatal(err)
		}
	})
}
